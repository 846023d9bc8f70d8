"""Curves end where fewer columns have a score than a subset would keep, in some trials earlier than in others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli.evaluation.statistics import difference_interval, p_value
from fsvm_cli.experiment.plan import plan
from fsvm_cli.report.curve_table import curve_tables, summarise_measures
from fsvm_cli.report.ranking_statistics import area_under_curve, compare_rankings, summarise_rankings
from fsvm_cli.report.tables import summarise
from fsvm_cli.report.verdicts import Trials, judge
from fsvm_cli.spec.claims.base import Place
from fsvm_cli.spec.claims.kinds.numbers import GainWithinRangeClaim, ValueClaim
from fsvm_cli.spec.claims.rules import sizes_of_best_subsets
from fsvm_cli.spec.config import load_config
from tests.report.test_verdicts import TEXTS, samples_of

if TYPE_CHECKING:
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials

SIZES = np.arange(1, 14)
LABELS = ("gradient-angle", "average-separation")
Collected = dict[tuple[str, int], "CompleteTrials"]


@pytest.fixture(scope="module")
def wine() -> Experiment:
    return plan(load_config("wine", ["protocol.splits=40"]), lambda _: None)


@pytest.fixture
def collected(wine: Experiment, rng: np.random.Generator) -> Collected:
    """The first curve has gaps from 5 features on in one trial, and from 8 on in a third of them."""
    (n_train,) = wine.n_test
    first, second = (0.5 + SIZES / 50 + 0.02 * rng.standard_normal((40, 13)) for _ in LABELS)
    first[0, 4:-1] = first[::3, 7:-1] = np.nan
    return {(label, n_train): samples_of(values) for label, values in zip(LABELS, (first, second), strict=True)}


def test_areas_and_pairs_are_over_the_sizes_that_curves_reach(wine: Experiment, collected: Collected) -> None:
    first, second = (trials.values["accuracy", "test"] for trials in collected.values())
    reached = np.r_[0:4, 12]
    areas = summarise_rankings(wine, collected, "accuracy").set_index("ranking")
    assert areas["n_trials"].tolist() == [40, 40]
    for label, values, sizes in zip(LABELS, (first, second), (reached, np.arange(13)), strict=True):
        expected = area_under_curve(values[:, sizes], SIZES[sizes]).mean()
        assert areas.loc[label, "area"] == pytest.approx(expected)
    pairs = compare_rankings(wine, collected, "accuracy").set_index("n_features")
    differences = area_under_curve(first[:, reached], SIZES[reached]) - area_under_curve(
        second[:, reached], SIZES[reached]
    )
    (n_test,) = wine.n_test.values()
    (n_train,) = wine.n_test
    assert pairs.loc[0, "p"] == pytest.approx(p_value(difference_interval(differences, n_test / n_train, 1 / n_test)))
    assert pairs.loc[0, "n_trials"] == 40
    assert pairs.loc[8, "n_trials"] == 40 - len(range(0, 40, 3))


def test_a_run_whose_curves_end_is_complete(wine: Experiment, collected: Collected) -> None:
    curves = summarise(wine, collected)[0]
    (table,) = curve_tables(curves, summarise_measures(collected), wine.config)
    assert "over 40 splits" in table.note
    assert "the curve ends" in table.note


@pytest.mark.parametrize(("features", "is_judged"), [(4, True), (5, False), ((3, 5), False), ("all", True)])
def test_a_number_beyond_the_end_of_a_curve_is_not_judged(
    wine: Experiment, collected: Collected, features: int, is_judged: bool
) -> None:
    at = Place(ranking=LABELS[0], features=features)
    claim = ValueClaim(kind="value", at=at, published=60.0, tolerance=1.0, **TEXTS)
    judged = judge(claim, Trials(wine, collected), overridden=False)
    assert (judged.verdict != "not comparable") == is_judged
    assert is_judged or "fewer columns have a score in 1 of 40 trials" in judged.rule


def test_nor_is_a_gain(wine: Experiment, collected: Collected) -> None:
    content = {"kind": "gain-within-range", "labels": LABELS, "features": 8, "over": 1}
    claim = GainWithinRangeClaim(published=1.0, tolerance=1.0, **content, **TEXTS)
    assert judge(claim, Trials(wine, collected), overridden=False).verdict == "not comparable"


def test_no_size_beyond_the_end_is_that_of_the_best_subset(collected: Collected, rng: np.random.Generator) -> None:
    values = next(iter(collected.values())).values["accuracy", "test"].copy()
    values[:, -1] = 0.0
    sizes = tuple(SIZES.tolist())
    counts = sizes_of_best_subsets(values, sizes, rng, n_splits=1, within_standard_error=False)
    expected = SIZES[np.nan_to_num(values, nan=-np.inf).argmax(axis=1)]
    np.testing.assert_array_equal(counts, expected)
    assert counts[0] <= 4
    assert counts.max() > 7
