"""What the rules of claims accept: by the rules themselves, and by chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.report.scorecard import lenient_rules, power_of, quantity_of
from fsvm_cli.spec.claims.base import Place
from fsvm_cli.spec.claims.kinds.numbers import ValueClaim
from fsvm_cli.spec.claims.rules import agreement, ordinariness

NEAR = 1e-9
"""So near to a bound, rounding decides."""


def claim(published: float, decimals: int, how: str, tolerance: float) -> ValueClaim:
    content = {"id": "t", "claim": "c", "where": "w", "kind": "value", "at": Place(), "print": how}
    return ValueClaim.model_validate(
        content | {"published": published, "decimals": decimals, "tolerance": tolerance}, strict=False
    )


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([1, 5, 38, 39, 40, 100]),
    decimals=st.integers(0, 3),
    how=st.sampled_from(["rounded", "truncated"]),
    tolerance=st.sampled_from([0.5, 1.0, 5.0]),
    rule=st.sampled_from(["agreement", "ordinariness"]),
    published_n=st.sampled_from([1, 4, 30, 1000]),
)
def test_exactly_the_numbers_between_the_bounds_are_reproduced(
    seed: int, n: int, decimals: int, how: str, tolerance: float, rule: str, published_n: int
) -> None:
    rng = np.random.default_rng(seed)
    values = 90 + rng.choice([0.5, 3.0]) * rng.standard_normal(n)
    if n > 1 and rng.random() < 0.2:
        values[0] = np.nan

    def ruled(published: float) -> Any:
        asked = claim(published, decimals, how, tolerance)
        if rule == "agreement":
            return agreement(asked, values, "points", published_n=published_n)
        return ordinariness(asked, values, tolerance)

    low, high = ruled(90.0).accepts
    for published in [*rng.uniform(80, 100, 40), *(bound + by for bound in (low, high) for by in (-0.01, 0.01))]:
        if np.isfinite(published) and min(abs(published - low), abs(published - high)) > NEAR:
            assert (ruled(published).verdict == "reproduced") == (low <= published <= high)
            assert ruled(published).accepts == pytest.approx((low, high), nan_ok=True)


def test_a_quantity_has_no_place() -> None:
    told = {
        "test accuracy, 'mifs' at 4 features (%)": "test accuracy (%)",
        "test accuracy, all features (%)": "test accuracy (%)",
        "margin, 'K1'": "margin",
        "H_d (bits)": "H_d (bits)",
        "most relevant features of 'a (b)' at a relevance of 0.8 (features)": "most relevant features (features)",
    }
    assert {what: quantity_of(what) for what in told} == told


def row(experiment: str, published: float, accepts: tuple[float, float], **other: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "experiment": experiment,
        "published": published,
        "accepts_low": accepts[0],
        "accepts_high": accepts[1],
    }
    usual = {"verdict": "reproduced", "fixed": "before", "nature": "finding", "decides": True}
    return usual | known | {"what": f"test accuracy, at {published} (%)"} | other


def test_chance_is_the_share_of_other_claims_numbers_that_a_rule_accepts() -> None:
    rows = [
        row("a", 90.0, (89.0, 92.0)),
        row("a", 91.0, (99.0, 99.5), verdict="differs", fixed="after"),
        row("b", 80.0, (79.0, 90.5)),
        row("b", 70.0, (90.0, 60.0), verdict="not comparable"),  # asks nothing, and lends its number
        row("c", 90.2, (0.0, 100.0), decides=False),
        row("c", 5.0, (4.0, 6.0), what="margin, 'K1'"),
        row("c", np.nan, (np.nan, np.nan), what="difference (points)"),
        row("c", 3.0, (9.0, 1.0), verdict="inconclusive", what="size (features)"),  # accepts nothing
        row("c", 4.0, (3.0, 5.0), nature="repeat", what="rows (rows)"),
    ]
    power = power_of(pd.DataFrame(rows)).set_index("rule fixed")
    # a's 90 takes 91 beside it, and neither 80 nor 70; its 91 takes nothing; b's 80 takes 90 of 90 and 91, and not 70.
    assert power.loc["before"].tolist() == [3, 3, 0.5, 1.0]
    assert power.loc["after"].tolist() == [1, 0, 0.0, 0.0]
    assert power.loc["all"].tolist() == [4, 3, 0.5, 1.0]
    assert power_of(pd.DataFrame(rows).drop(columns="accepts_low")).empty


def test_rules_that_hardly_fail_are_named() -> None:
    rows = [
        row("a", 80.0, (60.0, 95.0), id="takes all others"),
        row("a", 81.0, (80.5, 81.5), id="narrow"),
        row("b", 90.0, (89.0, 91.0), id="narrow too"),
        row("b", 0.62, (0.3, 0.97), id="wider than the number", what="H_svm (bits)"),
        row("b", 0.0, (9.0, -9.0), id="accepts nothing", what="H_svm (bits)"),
        row("b", 3.0, (0.0, 9.0), id="a fact", nature="fact", what="rows (rows)"),
        row("b", 3.0, (0.0, 9.0), id="open", verdict="not comparable", what="support vectors"),
    ]
    lenient = lenient_rules(pd.DataFrame(rows)).set_index("claim")
    assert lenient["reproduces"].to_dict() == {"takes all others": "60 to 95", "wider than the number": "0.3 to 0.97"}
    assert lenient.loc["takes all others", "accepts others' numbers"] == "2 of 2"
