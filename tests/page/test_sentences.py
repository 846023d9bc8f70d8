"""Claims as sentences with units, and as marks."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import pytest

from fsvm_cli.page.sentences import MARGIN, WIDTH, features_by_name, mark_of, sentence_of
from fsvm_cli.report.comparison import read_verdicts
from fsvm_cli.spec.claims.kinds.orders import TopFeaturesClaim

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS = Path(__file__).parents[2] / "results"


def row(what: str, found: float, interval: tuple[float, float] | None, printed: object, **settings: Any) -> Any:
    """Make a row of a table of verdicts."""
    low, high = interval or (math.nan, math.nan)
    values = {"rule": "by rule", "n": 50, "verdict": "reproduced"} | settings
    return SimpleNamespace(what=what, reproduced=found, ci_low=low, ci_high=high, published=printed, **values)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (
            row("test accuracy, 'rfe' at 4 features (%)", 91.94, (84.96, 98.91), "98.0"),
            "Test accuracy of rfe with 4 features is 91.94 % (95 % interval 84.96 to 98.91; 50 trials), "
            "where 98 % is printed.",
        ),
        (
            row("test accuracy, 'a' at 1 to 12 features minus test accuracy, all features (points)", 0.5, None, "A."),
            "Test accuracy of a with 1 to 12 features minus that with all features is +0.500 points (50 trials).",
        ),
        (row("n_features (features)", 33, None, "33.0", n=1), "Number of features is 33, where 33 is printed."),
        (
            row("class-uncertainty (bits)", 1.9933, None, "1.99", n=1),
            "Uncertainty of the class is 1.99 bits, where 1.99 bits is printed.",
        ),
        (
            row("share of runs that select just these as the best ones, 'a b'", 0.855, (0.8, 0.9), "Some do."),
            "Share of runs that select just these as the best ones of 'a b' is 85.50 % "
            "(95 % interval 80.00 to 90.00; 50 trials).",
        ),
        (
            row("test errors, 'K1'", 20.2267, None, "19.7"),
            "Number of test errors of K1 is 20.23 (50 trials), where 19.7 is printed.",
        ),
        (row("", math.nan, None, "A.", rule="only 3 of 5 trials have it"), "Only 3 of 5 trials have it."),
    ],
)
def test_a_sentence_has_quantity_unit_and_interval(claim: Any, sentence: str) -> None:
    assert sentence_of(claim) == sentence


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (
            "test accuracy, 'another' at all features minus test accuracy, all features (points)",
            "Test accuracy of another minus that of the machine of this experiment (gaussian, tuned), "
            "both with all features, is",
        ),
        (
            "test accuracy, all features minus test accuracy, 'an ARD SVM' at all features (points)",
            "Test accuracy of the machine of this experiment (gaussian, tuned) minus that of 'an ARD SVM', "
            "both with all features, is",
        ),
        (
            "test accuracy, 'ard, most relevant 0.6' at all features minus test accuracy, all features (points)",
            "Test accuracy of 'ard, most relevant 0.6' minus that with all features is",
        ),
        (
            "test accuracy, all features minus test accuracy, 'ard, most relevant 0.6' at all features (points)",
            "Test accuracy with all features minus that of 'ard, most relevant 0.6' is",
        ),
        (
            "test accuracy, 'ard, most relevant 0.6' at all features minus test accuracy, "
            "'ard, least relevant 0.2' at all features (points)",
            "Test accuracy of 'ard, most relevant 0.6' minus that of 'ard, least relevant 0.2' is",
        ),
    ],
)
def test_both_sides_of_a_difference_are_named(what: str, sentence: str) -> None:
    said = sentence_of(row(what, 0.5, None, "A."), "gaussian, tuned")
    assert said == f"{sentence} +0.500 points (50 trials)."


def committed() -> Iterator[Any]:
    for path in sorted(RESULTS.glob("*/published.csv")):
        yield from read_verdicts(path).itertuples(index=False)


def test_every_committed_claim_is_a_sentence_with_its_unit() -> None:
    rows = list(committed())
    assert len(rows) > 500
    for each in rows:
        said = sentence_of(each)
        assert said[0].isupper(), said
        assert said.endswith("."), said
        if pd.isna(each.reproduced):
            continue
        assert " is " in said, said
        for unit in ("points", "bits", "%"):
            if f"({unit})" in each.what:
                assert f" {unit}" in said.partition(" is ")[2], said
        assert said.count("'") % 2 == 0, said
        assert "all features minus that with all features" not in said, said


def test_a_mark_keeps_the_order_of_the_numbers() -> None:
    n = 0
    for each in committed():
        mark = mark_of(each)
        if mark is None:
            continue
        n += 1
        low, high = mark.interval or (mark.found, mark.found)
        assert MARGIN <= low <= mark.found <= high <= WIDTH - MARGIN
        printed = pd.to_numeric(each.published, errors="coerce")
        if not pd.isna(printed) and mark.reference is not None:
            assert (mark.reference - mark.found) * (printed - each.reproduced) >= 0
        # Readings decide over several numbers, of which the row has one.
        is_decided_alone = pd.isna(getattr(each, "readings", math.nan))
        if mark.accepts and each.verdict == "reproduced" and mark.reference is not None and is_decided_alone:
            assert mark.accepts[0] <= mark.reference <= mark.accepts[1], each.id
    assert n > 500


def test_an_order_is_marked_against_the_bound_of_its_rule() -> None:
    rule = "95 % interval of the mean difference over the splits lies above -1 points"
    what = "test accuracy, 'a' at 7 features minus test accuracy, all features (points)"
    mark = mark_of(row(what, 0.0, (-0.5, 0.5), "No loss.", rule=rule))
    assert mark is not None
    assert mark.reference == MARGIN
    assert mark.interval is not None
    assert mark.interval[1] == WIDTH - MARGIN


@pytest.mark.parametrize(
    ("end", "claimed", "found", "others"),
    [
        ("best", ("c",), "The most relevant feature is a", "; c has the mean rank 3.5 of 4"),
        ("worst", ("d",), "The least relevant feature is d", ""),
        ("worst", ("a", "d"), "The 2 least relevant features are d and c", "; a has the mean rank 1.5 of 4"),
    ],
)
def test_features_are_named_where_others_are_claimed(
    end: Literal["best", "worst"], claimed: tuple[str, ...], found: str, others: str
) -> None:
    claim = TopFeaturesClaim(
        id="doc.top",
        claim="It is.",
        where="Table 1",
        kind="top-features",
        ranking="ard",
        features=claimed,
        end=end,
        at_least=0.5,
    )
    scores = pd.DataFrame(
        {
            "ranking": ["ard"] * 4 + ["rfe"],
            "feature": ["a", "b", "c", "d", "a"],
            "mean_rank": [1.5, 2.0, 3.5, 3.8, 9.0],
        }
    )
    judged = row("share of the claimed features among the best of 'ard'", 0.0, (0.0, 0.0), "It is.", n=10)
    said = features_by_name(claim, judged, scores)
    assert said.startswith(f"{found} (by the mean rank of ard over 10 trials){others}. ")
