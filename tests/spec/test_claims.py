"""The kinds of claims, each in a file of its own, and the ladder of verdicts."""

from __future__ import annotations

import math
from typing import Literal

import pytest

from fsvm_cli.spec.claims.base import Claim
from fsvm_cli.spec.claims.registry import claim_kinds
from fsvm_cli.spec.claims.verdict import Judgement, verdict_of, verdict_on_bounds


@pytest.mark.parametrize(("name", "kind"), claim_kinds().items())
def test_a_file_holds_the_kind_that_it_is_called_by(name: str, kind: type[Claim]) -> None:
    assert kind.model_fields["kind"].annotation == Literal[name]
    assert kind.judge is not Claim.judge
    assert kind.__module__.endswith(f".{name.replace('-', '_')}")


def test_numbers_that_show_neither_leave_a_claim_open() -> None:
    assert verdict_of(holds=True, fails=False) == "reproduced"
    assert verdict_of(holds=False, fails=True) == "differs"
    assert verdict_of(holds=False, fails=False) == "inconclusive"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.8, 0.9, "reproduced"),
        (0.7, 0.9, "reproduced"),
        (0.6, 0.9, "inconclusive"),
        (0.5, 0.69, "differs"),
        (math.nan, math.nan, "inconclusive"),
    ],
)
def test_a_bound_is_judged_by_the_whole_interval(low: float, high: float, expected: str) -> None:
    assert verdict_on_bounds(low, high, at_least=0.7) == expected


def test_an_obstacle_keeps_the_numbers_and_takes_the_verdict() -> None:
    judged = Judgement("reproduced", "a rule", "a quantity", reproduced=1.0)
    assert judged.held_against(None) is judged
    held = judged.held_against("only half of it ran")
    assert (held.verdict, held.rule, held.reproduced) == ("not comparable", "only half of it ran", 1.0)
    withheld = Judgement.withheld("nothing ran", "a claim")
    assert withheld.held_against("the config was overridden") is withheld
