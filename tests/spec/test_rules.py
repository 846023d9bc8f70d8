"""Rules of claims can say yes and no, and are seldom wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.spec.claims.base import NumberClaim, Place, TolerantClaim
from fsvm_cli.spec.claims.kinds.numbers import ValueClaim
from fsvm_cli.spec.claims.rules import MIN_RUNS, agreement
from tests.helpers.shipped import shipped_experiment, shipped_experiments
from tests.spec.rule_errors import CASES, TEXTS, Printed, verdicts_on, verdicts_on_difference

MANY_TRIALS = 20_000
N_PROBLEMS = 1000
NOISE = 0.02
"""Three standard errors of a share of 5 % among as many problems."""


def value_claim(**content: Any) -> ValueClaim:
    return ValueClaim(kind="value", at=Place(), **TEXTS, **content)


def accepts_with_many_trials(claim: TolerantClaim, sd: float, **printed: Any) -> bool:
    """Whether a printed number would be reproduced by many trials of this spread."""
    z = np.random.default_rng(0).standard_normal(MANY_TRIALS)
    low, high = agreement(claim, 50 + sd * (z - z.mean()) / z.std(), "points", **printed).accepts
    return low <= high


@given(
    sd=st.floats(0.0, 50.0),
    decimals=st.integers(0, 3),
    tolerance_in_steps=st.floats(0.5, 1000.0),
    published_sd=st.none() | st.floats(0.0, 50.0),
    published_n=st.sampled_from([1, 2, 20, 100]),
    how=st.sampled_from(["rounded", "truncated"]),
)
def test_no_rule_is_void_with_many_trials(
    sd: float, decimals: int, tolerance_in_steps: float, published_sd: float | None, published_n: int, how: str
) -> None:
    tolerance = tolerance_in_steps * 10.0**-decimals
    claim = value_claim(published=50.0, decimals=decimals, tolerance=tolerance, print=how)
    # Ours must be known the better the narrower the tolerance.
    sd = min(sd, 0.25 * (tolerance - 0.5 * 10.0**-decimals) * np.sqrt(MANY_TRIALS))
    assert accepts_with_many_trials(claim, sd, published_sd=published_sd, published_n=published_n)


def test_a_tolerance_that_no_number_can_meet_is_refused() -> None:
    with pytest.raises(ValueError, match=r"less than half of the last printed digit, .* write at least 0\.5"):
        value_claim(published=50.0, decimals=0, tolerance=0.4)


OF_ONE_RUN = ("single-run", "chosen-number", "relevance-count", "selected-count", "best-of")
VARYING_FACTS = ("major-class", "class-uncertainty", "classifier-information")


def _is_of_one_run(claim: NumberClaim) -> bool:
    """Whether the printed number is that of one run among several of ours, which may differ from each other."""
    if claim.kind == "problem":
        return claim.fact in VARYING_FACTS and claim.of == "test part"
    if claim.kind in {"value", "error-count", "measure"}:
        return claim.published_n == 1 and claim.published_sd is None
    return claim.kind in OF_ONE_RUN


@pytest.mark.parametrize("name", shipped_experiments())
def test_every_rule_of_a_shipped_config_can_say_yes(name: str) -> None:
    config = shipped_experiment(name).config
    for claim in config.expected:
        assert claim.kind != "count" or config.protocol.splits >= MIN_RUNS, claim.id
        if not isinstance(claim, NumberClaim):
            continue
        if _is_of_one_run(claim):
            # Of a single split the printed run is ours.
            assert config.protocol.splits == 1 or config.protocol.splits >= MIN_RUNS, claim.id
        elif isinstance(claim, TolerantClaim) and claim.kind != "within-range":
            printed = {key: getattr(claim, key) for key in ("published_sd", "published_n") if hasattr(claim, key)}
            for sd in (0.0, 0.1, 1.0, 10.0):
                assert accepts_with_many_trials(claim, sd * claim.tolerance, **printed), claim.id


@pytest.mark.parametrize("case", CASES, ids=[f"{case.name}, {case.n_trials} trials" for case in CASES])
def test_rules_seldom_deny_a_print_within_the_tolerance(case: Printed) -> None:
    skewed_and_few = case.draw.__name__ == "failing_at_times" and case.n_trials == case.n_printed
    for shift in (0.0, case.tolerance):
        assert verdicts_on(case, shift, N_PROBLEMS).get("differs", 0.0) <= 0.05 + NOISE * (1 + skewed_and_few)


@pytest.mark.parametrize("case", [case for case in CASES if case.n_trials >= max(MIN_RUNS, 2 * case.n_printed)])
def test_with_enough_trials_rules_tell_what_is_right_from_what_is_far_off(case: Printed) -> None:
    assert verdicts_on(case, 0.0, N_PROBLEMS).get("reproduced", 0.0) >= 0.9
    far = verdicts_on(case, case.tolerance + 2 * case.printed_error, N_PROBLEMS)
    assert far.get("reproduced", 0.0) <= 0.1
    assert far.get("differs", 0.0) >= 0.8


def test_a_mean_with_its_spread_is_seldom_reproduced_beyond_the_tolerance() -> None:
    for case in CASES:
        if case.states_sd:
            assert verdicts_on(case, case.tolerance, N_PROBLEMS).get("reproduced", 0.0) <= 0.025 + NOISE


def test_non_inferiority_is_seldom_wrong_and_decides_where_both_are_alike() -> None:
    assert verdicts_on_difference(-0.5, 0.5, 30, N_PROBLEMS).get("reproduced", 0.0) <= 0.025 + NOISE
    assert verdicts_on_difference(-0.5, 0.5, 30, N_PROBLEMS).get("differs", 0.0) <= 0.025 + NOISE
    assert verdicts_on_difference(0.0, 0.5, 100, N_PROBLEMS)["reproduced"] >= 0.99
