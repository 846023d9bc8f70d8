"""The kinds of claims, each in a file of its own, and the ladder of verdicts."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
import scipy.stats

from fsvm_cli.evaluation.statistics import MeanInterval
from fsvm_cli.spec.claims.base import Claim, Comparison, Judgement, Place, verdict_of, verdict_on_bounds
from fsvm_cli.spec.claims.kinds import claim_kinds


@pytest.mark.parametrize(("name", "kind"), claim_kinds().items())
def test_a_kind_is_called_by_its_own_word(name: str, kind: type[Claim]) -> None:
    assert kind.model_fields["kind"].annotation == Literal[name]
    assert kind.judge is not Claim.judge


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


class Found:
    """What was found in 200 trials, for claims about what is chosen and about scores."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.numbers = {"near": rng.integers(17, 22, 200), "far": rng.integers(40, 45, 200), "none": np.empty(0)}
        common = rng.normal(size=(200, 30))
        self.of_features = {
            "one": common,
            "alike": 5 + 2 * common + rng.normal(size=common.shape),
            "other": rng.normal(size=common.shape),
            "level": np.ones_like(common),
        }

    def chosen(self, ranking: str, name: str) -> Any:
        assert name == "n_active"
        return self.numbers[ranking].astype(float)

    def scores(self, ranking: str) -> Any:
        return self.of_features[ranking]

    def compared(self, higher: Place, lower: Place) -> Comparison:
        centre = {30: 0.5, 11: 3.0}[int(higher.features)]  # type: ignore[arg-type]
        found = MeanInterval(centre, 1.0, centre - 1.0, centre + 1.0, 200)
        return Comparison(found, 0.5, found, "an interval")


SAID = {"id": "c", "claim": "c", "where": "w"}


@pytest.mark.parametrize(
    ("settings", "published", "verdict", "nearest"),
    [
        (["near"], 20, "reproduced", "near"),
        (["far"], 20, "differs", "far"),
        (["far", "near", "none"], 20, "reproduced", "near"),
        (["far", "near"], 30, "differs", "near"),
        (["none"], 20, "not comparable", None),
    ],
)
def test_one_of_the_settings_that_a_source_leaves_open_is_enough(
    settings: list[str], published: int, verdict: str, nearest: str | None
) -> None:
    said = SAID | {"settings": tuple(settings), "parameter": "n_active", "published": published, "decimals": 0}
    judged = claim_kinds()["chosen-number"].model_validate(said | {"kind": "chosen-number"}).judge(Found())
    assert judged.verdict == verdict
    if nearest:
        assert judged.reproduced == Found().numbers[nearest].mean()
        assert f"{nearest}: {Found().numbers[nearest].min()} to" in judged.rule


@pytest.mark.parametrize(
    ("between", "verdict"),
    [
        (["one", "alike"], "reproduced"),
        (["one", "other"], "differs"),
        (["one", "alike", "other"], "differs"),
        (["one", "level"], "differs"),
    ],
)
def test_the_least_correlated_two_decide(between: list[str], verdict: str) -> None:
    said = SAID | {"kind": "correlation", "between": tuple(between), "at_least": 0.7}
    judged = claim_kinds()["correlation"].model_validate(said).judge(Found())
    assert judged.verdict == verdict
    if between == ["one", "alike"]:
        pairs = zip(Found().scores("one"), Found().scores("alike"), strict=True)
        expected = [round(scipy.stats.pearsonr(*pair)[0], 5) for pair in pairs]
        assert judged.reproduced == pytest.approx(np.mean(expected), rel=1e-12)


def test_last_digits_of_scores_do_not_reach_a_correlation(rng: np.random.Generator) -> None:
    class AlmostFound(Found):
        def scores(self, ranking: str) -> Any:
            scores = super().scores(ranking)
            return scores * (1.0 + 1e-10 * rng.standard_normal(scores.shape))

    claim = claim_kinds()["correlation"].model_validate(
        SAID | {"kind": "correlation", "between": ("one", "alike"), "at_least": 0.7}
    )
    assert claim.judge(AlmostFound()) == claim.judge(Found())


@pytest.mark.parametrize(
    ("features", "within", "verdict"),
    [(30, 1.5, "reproduced"), (30, 1.0, "inconclusive"), (11, 1.5, "differs"), (11, 3.5, "inconclusive")],
)
def test_what_is_similar_is_so_by_the_whole_interval(features: int, within: float, verdict: str) -> None:
    said = SAID | {"kind": "similar", "one": {"features": features}, "other": {}, "within": within}
    assert claim_kinds()["similar"].model_validate(said).judge(Found()).verdict == verdict


@pytest.mark.parametrize(
    ("quantity", "published", "expected"),
    [
        ("accuracy", 83.3, 100 * 50 / 60),
        ("class-uncertainty", 1.6, np.log2(3)),
        ("classifier-information", 1.0, 0.9591),
    ],
)
def test_numbers_of_a_printed_confusion_matrix_are_computed_again(
    quantity: str, published: float, expected: float
) -> None:
    said = SAID | {"kind": "confusion-matrix", "quantity": quantity, "published": published, "decimals": 1}
    said |= {"matrix": ((15, 0, 5), (0, 15, 5), (0, 0, 20)), "tolerance": 0.1}
    judged = claim_kinds()["confusion-matrix"].model_validate(said).judge(Found())
    assert judged.verdict == "reproduced"
    assert judged.reproduced == pytest.approx(expected, abs=5e-5)
    wrong = claim_kinds()["confusion-matrix"].model_validate(said | {"published": published + 0.3}).judge(Found())
    assert wrong.verdict == "differs"


@pytest.mark.parametrize("matrix", [((1, 2), (3, 4), (5, 6)), ((0, 0), (0, 0))])
def test_a_confusion_matrix_that_is_none_is_refused(matrix: tuple[tuple[int, ...], ...]) -> None:
    said = SAID | {"kind": "confusion-matrix", "quantity": "accuracy", "published": 1, "tolerance": 1}
    with pytest.raises(ValueError, match="as many columns as rows"):
        claim_kinds()["confusion-matrix"].model_validate(said | {"matrix": matrix})


@pytest.mark.parametrize(
    ("content", "nature"),
    [
        ({"kind": "value", "at": {}, "published": 1, "tolerance": 1}, "finding"),
        ({"kind": "count", "ranking": "r", "published": (1, 2), "tolerance": 1}, "finding"),
        ({"kind": "difference", "higher": {}, "lower": {}}, "order"),
        ({"kind": "top-features", "ranking": "r", "features": ("x",), "at_least": 0.5}, "order"),
        ({"kind": "problem", "fact": "major-class", "published": 1, "tolerance": 1}, "fact"),
        ({"kind": "problem", "fact": "classifier-information", "published": 1, "tolerance": 1}, "finding"),
        ({"kind": "value", "at": {}, "published": 1, "tolerance": 1, "repeats": "d"}, "repeat"),
        ({"kind": "problem", "fact": "n_train", "published": 1, "tolerance": 1, "repeats": "d"}, "repeat"),
        ({"kind": "statement", "note": "n", "nature": "order"}, "order"),
    ],
)
def test_a_claim_is_about_what_its_kind_is_about_unless_it_says_otherwise(content: Any, nature: str) -> None:
    assert claim_kinds()[content["kind"]].model_validate(SAID | content).effective_nature == nature


@pytest.mark.parametrize("content", [{"nature": "repeat"}, {"nature": "fact", "repeats": "d"}])
def test_a_repeat_says_of_what_and_nothing_else(content: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="repeat"):
        claim_kinds()["statement"].model_validate(SAID | {"kind": "statement", "note": "n"} | content)
