"""Receiver operating characteristics: the areas against their definition, the record against the machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.roc import area_under_roc, with_ties
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.plan import plan
from fsvm_cli.experiment.records import record_kinds
from fsvm_cli.experiment.running import record_key
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.report.diagnostics import RecordToDraw, draw_record
from fsvm_cli.svm import SVM
from tests.helpers.small import recorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.config import LoadedConfig

ROC: dict[str, Any] = {
    "dataset": {"name": "noise20", "samples": 80},
    "classifier": {"kernel": "linear", "C": 1, "tolerance": 1e-8},
    "rankings": [{"method": "fisher"}, {"method": "random"}],
    "subsets": [3],
    "record": ["roc"],
}


def test_the_area_is_the_share_of_pairs_in_the_right_order(rng: np.random.Generator) -> None:
    values = rng.integers(0, 9, size=60).astype(float)
    is_positive = rng.random(60) < 0.4
    pairs = values[is_positive][:, None] - values[~is_positive]
    found = area_under_roc(values, is_positive)
    assert found.area == pytest.approx(np.mean(pairs > 0) + np.mean(pairs == 0) / 2)
    assert found.area == pytest.approx(roc_auc_score(is_positive, values))


def test_its_interval_covers_the_truth_as_often_as_it_says(rng: np.random.Generator) -> None:
    # Normal values one apart: the area is the probability that N(1, 2) is above 0.
    truth = 0.7602499389065233
    is_positive = np.arange(120) < 50
    found = [area_under_roc(rng.normal(size=120) + is_positive, is_positive) for _ in range(800)]
    covered = np.mean([each.low <= truth <= each.high for each in found])
    # Four standard deviations of a share of 95 % in 800 draws, and a little that the interval is too narrow.
    assert 0.90 < covered < 0.985


def test_what_solvers_leave_undetermined_puts_samples_on_the_margin_in_no_order(rng: np.random.Generator) -> None:
    values = np.repeat([-1.0, 0.2, 1.0], 40)
    is_positive = rng.random(120) < 0.5
    exact = area_under_roc(values, is_positive)
    for _ in range(5):
        found = with_ties(values + 1e-8 * rng.standard_normal(120), 1e-5)
        assert len(np.unique(found)) == 3
        assert area_under_roc(found, is_positive) == exact


def test_values_farther_apart_than_the_width_keep_their_order(rng: np.random.Generator) -> None:
    values = rng.permutation(np.arange(50.0))
    np.testing.assert_array_equal(with_ties(values, 0.5), values)
    np.testing.assert_array_equal(with_ties(values, 0.0), values)


def test_a_class_of_one_sample_has_an_area_without_interval() -> None:
    found = area_under_roc(np.array([1.0, 2.0, 3.0]), np.array([False, False, True]))
    assert found.area == 1
    assert np.isnan([found.low, found.high]).all()


def test_a_class_without_samples_has_no_area() -> None:
    with pytest.raises(ValueError, match="samples of both classes"):
        area_under_roc(np.array([1.0, 2.0]), np.array([True, True]))


def test_the_tables_are_those_of_machines_trained_on_the_best_features(planned: Callable[..., Experiment]) -> None:
    experiment = planned(**ROC)
    tables = recorded(experiment, "roc")
    parts = draw_parts(experiment, Trial(40, 0))
    best = np.flatnonzero(Fisher(n_features_to_select=3).fit(parts.X_train, parts.y_train).support_)
    auc = tables["auc"].set_index(["ranking", "n_features"])["auc"]
    for label, features in {("fisher", 3): best, ("all features", 20): np.arange(20)}.items():
        svm = SVM("linear", C=1, tolerance=1e-8).fit(parts.X_train[:, features], parts.y_train)
        values = svm.decision_function(parts.X_test[:, features])
        assert auc[label] == pytest.approx(roc_auc_score(parts.y_test, values))
    assert set(auc.index) == {("fisher", 3), ("random", 3), ("all features", 20)}
    for _, curve in tables["roc"].groupby(["ranking", "n_features"]):
        rates = curve[["false_positive_rate", "true_positive_rate"]].to_numpy()
        assert (rates[0] == 0).all()
        assert (rates[-1] == 1).all()
        assert (np.diff(rates, axis=0) >= 0).all()


@pytest.mark.parametrize(
    ("changes", "labels"),
    [
        ({"rankings": None}, {("all features", 20)}),
        ({"oracle": ["x1"]}, {("fisher", 3), ("random", 3), ("oracle", 3), ("all features", 20)}),
        (
            {"classifier": {"type": "naive-bayes", "likelihood": "gaussian"}, "rankings": [{"method": "fisher"}]},
            {("fisher", 3), ("all features", 20)},
        ),
        (
            {"rankings": [{"method": "fisher", "classifier": {"kernel": "gaussian", "C": 1}}]},
            {("fisher", 3), ("fisher", 20)},
        ),
    ],
)
def test_every_competitor_has_its_curves_and_a_figure(
    load: Callable[..., LoadedConfig], tmp_path: Path, changes: dict[str, Any], labels: set[tuple[str, int]]
) -> None:
    loaded = load(**(ROC | changes))
    experiment = plan(loaded, print)
    tables = recorded(experiment, "roc")
    assert {*tables["auc"].set_index(["ranking", "n_features"]).index} == labels
    data = {"class_names": experiment.source.class_names}
    styles = {each.label: {"color": f"#12345{place}"} for place, each in enumerate(loaded.config.rankings)}
    (path,) = draw_record("roc", RecordToDraw(tables, loaded.config, data, styles, tmp_path, ("svg",)))
    drawn = path.read_text()
    assert all(style["color"] in drawn for style in styles.values())
    for label, _ in labels:
        assert f"<!-- {label}\n" in drawn or f"<!-- {label} -->" in drawn


def test_other_numbers_of_features_are_another_record(planned: Callable[..., Experiment]) -> None:
    keys = {record_key(planned(**(ROC | {"subsets": sizes})), "roc") for sizes in ([3], [3, 4], [4])}
    assert len(keys) == 3


def test_values_grow_with_the_class_that_is_called_positive(planned: Callable[..., Experiment]) -> None:
    experiment = planned(**ROC)
    trial = DrawnTrial(experiment, Trial(40, 0), draw_parts(experiment, Trial(40, 0)))
    areas = record_kinds()["roc"].compute(trial)["auc"].set_index("ranking")["auc"]
    assert areas["fisher"] > 0.7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dataset": "wine"}, "a roc needs 2 classes; wine has 3"),
        ({"subsets": "all"}, "a roc has a panel for each number of features; list at most 4"),
    ],
)
def test_what_has_no_roc_is_refused(load: Callable[..., LoadedConfig], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=rf"small\.yaml:\d+:\d+: {message}"):
        plan(load(**(ROC | changes)), print)
