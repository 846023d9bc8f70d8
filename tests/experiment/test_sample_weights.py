"""A column of sample weights, from the table to the machine: a row of weight 2 counts as two in training."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance

from fsvm_cli import rank
from fsvm_cli.data.opening import load_dataset
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.splits import random_split
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts
from fsvm_cli.learners.base import NestedSubsets
from fsvm_cli.own_data.export import as_python, export
from fsvm_cli.own_data.held_out import importance_on_splits
from fsvm_cli.own_data.init import first_config
from fsvm_cli.own_data.rank import source_of
from fsvm_cli.own_data.standalone import stand_alone
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.svm import SVM
from tests.helpers.calling import fsvm_here

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment

    Planned = Callable[..., Experiment]

TIMES = np.random.default_rng(3).integers(0, 4, 90)
LINEAR = {"kernel": "linear", "C": 0.1}


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    frame = pd.DataFrame(rng.normal(size=(90, 3)) + np.outer(y, [1.5, 0.7, 0.0]), columns=["a", "b", "c"])
    return frame.assign(y=np.array(["ill", "well"])[y])


def written(folder: Path, weights: Any = TIMES) -> dict[str, Any]:
    table().assign(times=weights).to_csv(folder / "visits.csv", index=False)
    return {"file": str(folder / "visits.csv"), "target": "y", "sample_weight": "times"}


def experiment_on(planned: Planned, folder: Path, **changes: Any) -> Experiment:
    keys = {
        "dataset": written(folder) | {"file": "visits.csv"},
        "scaling": "none",
        "classifier": LINEAR,
        "rankings": [{"method": "fisher"}],
        "subsets": [1, 2],
    }
    return planned(**keys | changes)


def test_rows_of_weight_zero_are_left_out_and_said(tmp_path: Path) -> None:
    found = load_dataset(written(tmp_path))
    assert found.feature_names == ("a", "b", "c")
    assert found.sample_weight is not None
    np.testing.assert_array_equal(found.sample_weight, TIMES[TIMES > 0])
    np.testing.assert_array_equal(found.X, table()[["a", "b", "c"]].to_numpy()[TIMES > 0])
    n_zero = np.count_nonzero(TIMES == 0)
    assert f"left out: {n_zero} rows have the weight 0 in 'times'" in found.remarks
    assert load_dataset(written(tmp_path, 2 * TIMES)).sha256 != found.sha256


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["many"] * 90, "'times' weighs no rows, since it holds no numbers"),
        (np.where(TIMES == 1, -1, TIMES), "'times' weighs no rows, since a value is negative or infinite"),
        (np.zeros(90), "'times' weighs no rows, since all values are 0"),
        (
            np.where(table()["y"] == "ill", 1, 0),
            r"'y' has only one class \(ill\) in the rows whose weight 'times' is above 0",
        ),
        (np.where(TIMES == 1, np.nan, TIMES), r"missing values in \d+ of 90 rows; by column: 'times'"),
    ],
)
def test_what_weighs_no_rows_is_refused(tmp_path: Path, weights: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_dataset(written(tmp_path, weights))
    with pytest.raises(UsageError, match="there is no column 'tims' to weigh by"):
        load_dataset(written(tmp_path) | {"sample_weight": "tims"})


def test_weights_that_look_like_marks_are_weights(tmp_path: Path) -> None:
    weights = np.where(TIMES == 3, 99, TIMES % 3 + 1)
    found = load_dataset(written(tmp_path, weights))
    assert found.sample_weight is not None
    np.testing.assert_array_equal(found.sample_weight, weights)


@pytest.mark.parametrize(
    "classifier",
    [
        LINEAR,
        {"kernel": "gaussian", "theta": 4.0, "C": 0.5},
        LINEAR | {"class_weight": {"well": 3.0}},
        LINEAR | {"output_scaling": "times-margin"},
    ],
    ids=["linear", "gaussian", "classes", "estimator"],
)
def test_a_trial_learns_from_weighted_rows(planned: Planned, tmp_path: Path, classifier: dict[str, Any]) -> None:
    experiment = experiment_on(planned, tmp_path, classifier=classifier)
    trial = next(experiment.trials())
    parts = draw_parts(experiment, trial)
    weights = parts.weights_train
    assert weights is not None
    times = weights.astype(int)
    drawn = DrawnTrial(experiment, trial, parts)
    ranker = drawn.ranker(experiment.config.rankings[0], experiment.config.classifier)
    X, y = np.repeat(parts.X_train, times, axis=0), np.repeat(parts.y_train, times)
    np.testing.assert_allclose(ranker.scores_, Fisher().fit(X, y).scores_)
    subsets = NestedSubsets(parts.X_train, parts.y_train, parts.X_test, [np.arange(3)], (1, 2, 3), 2)
    learner = drawn.learner(experiment.config.classifier)
    found = learner.curves(subsets)
    estimator = learner.ranking_arguments()["estimator"]
    alone = SVM(**estimator.get_params(deep=False))
    expected = [alone.fit(X[:, :size], y).predict(parts.X_test[:, :size]) for size in (1, 2, 3)]
    np.testing.assert_array_equal(found.test_predicted[0], expected)


@pytest.mark.parametrize(
    "classifier",
    [
        {"kernel": "linear", "C": 1.0, "tune": {"C": [0.003, 0.03, 0.3], "folds": 3}},
        {"type": "tuned-machine", "kernel": "gaussian", "C": [0.1, 1, 10]},
    ],
    ids=["tune", "tuned-machine"],
)
def test_tuning_counts_weights(planned: Planned, tmp_path: Path, classifier: dict[str, Any]) -> None:
    experiment = experiment_on(planned, tmp_path, classifier=classifier)
    trial = next(experiment.trials())
    parts = draw_parts(experiment, trial)
    learner = DrawnTrial(experiment, trial, parts).learner(experiment.config.classifier)
    assert learner.chosen.keys() == {"C"}
    assert learner.weights is parts.weights_train


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rankings": [{"method": "relief-f"}]}, "relief-f takes no sample weights; methods that do: .*fisher.*rfe"),
        ({"rankings": [{"method": "fisher", "ranked_on": "all rows"}]}, "weights are of training rows; leave out"),
        ({"classifier": LINEAR | {"nystroem": {"landmarks": 9}}}, "takes no sample weights; take an exact machine"),
        ({"classifier": LINEAR | {"C_unit": "mean-diagonal"}}, "the unit of C is a mean over rows"),
        ({"record": ["roc"]}, "'record' knows no sample weights"),
        ({"extractors": [{"method": "pca"}]}, "'extractors' knows no sample weights"),
    ],
)
def test_what_takes_no_weights_is_refused(
    planned: Planned, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        experiment_on(planned, tmp_path, **changes)


def test_the_exported_pipeline_learns_from_weighted_rows(
    planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = experiment_on(planned, tmp_path)
    exported = export(experiment, "fisher", 2)
    model = exported.fitted()
    data = load_dataset(written(tmp_path))
    assert data.sample_weight is not None
    ranker = Fisher(n_features_to_select=2).fit(data.X, data.y, sample_weight=data.sample_weight)
    np.testing.assert_array_equal(model["selector"].get_support(), ranker.support_)
    alone = SVM(C=0.1).fit(ranker.transform(data.X), data.labels(), sample_weight=data.sample_weight)
    np.testing.assert_allclose(model["classifier"].coef_, alone.coef_, rtol=1e-5)
    asked: list[Any] = []

    def ask(fitted: Any, X: pd.DataFrame, *_: Any, **options: Any) -> Any:
        asked.append(fitted)
        return permutation_importance(fitted, X, *_, **options)

    monkeypatch.setattr("fsvm_cli.own_data.held_out.permutation_importance", ask)
    importance = importance_on_splits(exported, stand_alone(exported, probability=False), experiment)
    assert importance is not None
    assert {each["column"] for each in importance.columns} == {*np.array(["a", "b", "c"])[ranker.support_]}
    ((n_train, n_test),) = experiment.n_test.items()
    first = random_split(
        data.n_samples, n_train, n_test, random_stream(experiment.config.protocol.seed, "split", 0)
    ).train
    own = SVM(C=0.1).fit(data.X[np.ix_(first, ranker.support_)], data.labels()[first], data.sample_weight[first])
    np.testing.assert_allclose(asked[0]["machine"].coef_, own.coef_, rtol=1e-5)
    assert "selector__sample_weight=data.sample_weight" in as_python(exported, experiment, tmp_path)


def test_the_command_ranks_as_on_repeated_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    options = ("--target", "y", "--sample-weight", "times", "--scaling", "none", "--format", "json")
    told = fsvm_here("rank", "visits.csv", "--method", "fisher", *options)
    assert told.code == 0, told.err
    assert "have the weight 0 in 'times'" in told.err
    scores = {each["feature"]: each["score"] for each in json.loads(told.out)["features"]}
    repeated = table().loc[np.repeat(np.arange(90), TIMES)]
    expected = Fisher().fit(repeated[["a", "b", "c"]].to_numpy(), repeated["y"].to_numpy()).scores_
    assert scores == pytest.approx(dict(zip("abc", expected.tolist(), strict=True)))
    with pytest.warns(UserWarning, match="left out: .* rows have the weight 0 in 'times'"):
        found = rank("visits.csv", "y", sample_weight="times", method="fisher", scaling="none")
    assert found["score"].to_numpy() == pytest.approx(sorted(expected, reverse=True))
    beside = fsvm_here("rank", "visits.csv", *options)
    assert beside.code == 0, beside.err
    assert "left out: relief-f takes no sample weights" in beside.err
    for extra, message in (
        (("--method", "relief-f"), "relief-f takes no sample weights; methods that do: "),
        (("--method", "fisher", "--fdr", "permuted"), "leave --sample-weight out"),
    ):
        told = fsvm_here("rank", "visits.csv", *extra, *options)
        assert told.code == 2
        assert message in told.err


def test_a_first_config_lists_what_takes_weights(tmp_path: Path, load: Callable[..., Any]) -> None:
    keys = written(tmp_path)
    source = source_of(keys["file"], {"target": "y", "sample_weight": "times"}, lambda _: None)
    text = first_config(source, keys, "Visits", "fsvm init")
    assert "method: fisher" in text
    assert "method: rfe" in text
    assert "relief-f" not in text
    assert 'sample_weight: "times"' in text
