"""Claims about the tables of a record, by made tables whose numbers are plain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from fsvm_cli.experiment.plan import plan
from fsvm_cli.report.verdicts import Trials, judge
from fsvm_cli.spec.claims.kinds.records import RecordedClaim
from fsvm_cli.spec.config import load_config

if TYPE_CHECKING:
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.claims.base import Judgement

TABLES = {
    "row-orders": pd.DataFrame(
        {
            "solver": ["SVC", "SVC", "SVC", "rfe", "rfe"],
            "tolerance": [1e-3, 1e-3, 1e-6, 1e-3, 1e-6],
            "n_same": [50, 54, 64, 64, 64],
        }
    ),
    "elimination-bounds": pd.DataFrame({"difference": [0.5, 0.2, 0.1, 0.4], "by_gap": [1.0, 0.1, 0.3, 0.2]}),
}


@pytest.fixture(scope="module")
def wine() -> Experiment:
    return plan(load_config("wine", ["protocol.splits=2"]), lambda _: None)


def judged(wine: Experiment, **changes: Any) -> Judgement:
    content = {"table": "row-orders", "column": "n_same"} | changes
    claim = RecordedClaim(
        id="a", claim="So it is.", where="its own claim", kind="recorded", record="row-orders", **content
    )
    return judge(claim, Trials(wine, {}, records={"row-orders": TABLES}), overridden=False)


@pytest.mark.parametrize(
    ("rows", "bounds", "verdict", "mean"),
    [
        ({"solver": "SVC", "tolerance": 1e-3}, (50, 54), "reproduced", 52.0),
        ({"solver": "SVC", "tolerance": 1e-3}, (50, 53), "differs", 52.0),
        ({"solver": "SVC", "tolerance": 1e-3}, (51, 60), "differs", 52.0),
        ({"solver": "rfe"}, (64, 64), "reproduced", 64.0),
        (None, (64, 64), "differs", 59.2),
    ],
)
def test_each_number_lies_between_the_bounds(
    wine: Experiment, rows: dict[str, Any] | None, bounds: tuple[float, float], verdict: str, mean: float
) -> None:
    found = judged(wine, rows=rows, published=bounds)
    assert (found.verdict, found.reproduced) == (verdict, pytest.approx(mean))


def test_the_quantity_names_its_rows_as_the_config_writes_them(wine: Experiment) -> None:
    found = judged(wine, rows={"solver": "rfe", "n_same": 64}, published=(64, 64))
    assert found.what == "n_same where solver = rfe, n_same = 64"


@pytest.mark.parametrize(("bounds", "verdict"), [((-20, -12), "reproduced"), ((-11, 0), "differs")])
def test_means_over_two_sets_of_rows_are_subtracted(
    wine: Experiment, bounds: tuple[float, float], verdict: str
) -> None:
    found = judged(wine, rows={"solver": "SVC", "tolerance": 1e-3}, minus={"solver": "rfe"}, published=bounds)
    assert (found.verdict, found.reproduced, found.n) == (verdict, -12.0, 1)


@pytest.mark.parametrize(("bounds", "verdict"), [((50, 60), "reproduced"), ((51, 100), "differs")])
def test_a_share_is_that_of_rows_in_which_one_column_is_smaller(
    wine: Experiment, bounds: tuple[float, float], verdict: str
) -> None:
    found = judged(wine, table="elimination-bounds", column="by_gap", below="difference", published=bounds)
    assert (found.verdict, found.reproduced) == (verdict, 50.0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"table": "others"}, "the record is not stored"),
        ({"column": "n_others"}, "no column n_others"),
        ({"rows": {"solver": "LinearSVC"}}, "no such rows"),
        ({"minus": {"tolerance": 1.0}}, "no such rows"),
    ],
)
def test_what_is_not_recorded_is_not_judged(wine: Experiment, changes: dict[str, Any], reason: str) -> None:
    found = judged(wine, published=(0, 64), **changes)
    assert found.verdict == "not comparable"
    assert reason in found.rule


def test_a_share_and_a_difference_are_two_claims(wine: Experiment) -> None:
    with pytest.raises(ValueError, match="leave out 'minus' or 'below'"):
        judged(wine, below="difference", minus={"solver": "rfe"}, published=(0, 1))
