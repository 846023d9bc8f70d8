"""Figures of merit of scores in trials, tables and the recommendation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score, roc_curve
from sklearn.svm import SVC

from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.folds import stratified_folds
from fsvm_cli.experiment.chance import permuted_experiment
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.curve_table import curve_tables
from fsvm_cli.report.ranking_statistics import summarise_rankings
from fsvm_cli.report.recommendation import recommendation
from fsvm_cli.report.recommendation_in_words import describe_recommendation
from fsvm_cli.report.tables import summarise
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.config import LoadedConfig

    Planned = Callable[..., Experiment]

SENSITIVITY = "sensitivity-at-specificity-0.9"
ALL = ["auc", "average-precision", "f1", "log-loss", SENSITIVITY, "accuracy"]


def own_table(folder: Path, n_rows: int = 60, n_classes: int = 2) -> dict[str, Any]:
    """Write a table of which the first column tells the rarer class, and give the keys of its experiment."""
    rng = np.random.default_rng(3)
    y = np.where(np.arange(n_rows) % 3 == 0, 0, 1 + np.arange(n_rows) % (n_classes - 1))
    X = rng.normal(size=(n_rows, 4))
    X[:, 0] += 1.5 * y
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.array(["ill", "well", "other"])[y])
    frame.to_csv(folder / "mine.csv", index=False)
    return {
        "dataset": {"file": "mine.csv", "target": "y"},
        "classifier": {"kernel": "linear", "C": 1, "tolerance": 1e-6},
        "protocol": {"splits": 3, "train": "2/3", "seed": 1},
        "rankings": [{"method": "fisher"}, {"method": "random"}],
        "subsets": [1, 2],
        "recommendation": {"permutations": 0},
    }


@pytest.mark.parametrize("positive", [None, "well"])
def test_trials_compute_what_scikit_learn_does(planned: Planned, tmp_path: Path, positive: str | None) -> None:
    experiment = planned(**own_table(tmp_path), metrics=ALL, positive=positive)
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        trials = collect(experiment, store)["fisher", 40]
    assert not trials.measures
    code = experiment.source.class_names.index(positive or "ill")
    for split in range(3):
        parts = draw_parts(experiment, Trial(40, split))
        drawn = DrawnTrial(experiment, Trial(40, split), parts)
        order = experiment.compared_methods[0].order(drawn).columns
        for place, size in enumerate((1, 2, 4)):
            kept = np.sort(order[:size])
            machine = SVC(kernel="linear", C=1, tol=1e-9).fit(parts.X_train[:, kept], parts.y_train)
            scores = machine.decision_function(parts.X_test[:, kept])
            towards, is_positive = scores if code else -scores, parts.y_test == code
            found = {metric: trials.values[metric, "test"][split, place] for metric in ALL}
            assert found["auc"] == pytest.approx(roc_auc_score(parts.y_test, scores))
            assert found["average-precision"] == pytest.approx(average_precision_score(is_positive, towards))
            false, true, _ = roc_curve(is_positive, towards, drop_intermediate=False)
            assert found[SENSITIVITY] == pytest.approx(true[false <= 0.1 + 1e-9].max())
            state = int(drawn.stream("calibration").integers(2**31))
            folds = stratified_folds(parts.y_train, 5, state)
            peer = CalibratedClassifierCV(SVC(kernel="linear", C=1, tol=1e-9), cv=folds, ensemble=False)
            probabilities = peer.fit(parts.X_train[:, kept], parts.y_train).predict_proba(parts.X_test[:, kept])
            assert found["log-loss"] == pytest.approx(log_loss(parts.y_test, probabilities), rel=5e-3)


def test_keys_change_with_the_metrics_of_scores_alone(planned: Planned, tmp_path: Path) -> None:
    keys = own_table(tmp_path)
    plain = planned(**keys, metrics=["accuracy"]).groups
    assert planned(**keys, metrics=["f1", "balanced-accuracy", "mcc"], positive="well").groups == plain
    scored = planned(**keys, metrics=["accuracy", "auc"])
    assert not set(scored.groups) & set(plain)
    assert planned(**keys, metrics=["auc"], positive="well").groups == scored.groups  # of which it does not depend
    precise = planned(**keys, metrics=["average-precision"]).groups
    assert planned(**keys, metrics=["average-precision"], positive="well").groups != precise
    assert not permuted_experiment(scored, 1).score_metrics


def test_the_smallest_loss_is_recommended(planned: Planned, load: Callable[..., LoadedConfig], tmp_path: Path) -> None:
    keys = own_table(tmp_path) | {"metrics": ["log-loss", "accuracy"], "subsets": [1, 2, 3]}
    experiment = planned(**keys)
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        collected = collect(experiment, store)
    table = recommendation(experiment, collected, None)
    losses = {label: trials.values["log-loss", "test"].mean(axis=0) for (label, _), trials in collected.items()}
    rows = table.set_index("ranking")
    smallest = losses["fisher"].min()
    assert rows.loc["fisher", "best_mean"] == pytest.approx(smallest)
    near = np.flatnonzero(losses["fisher"] <= smallest + 0.01 + 1e-12)[0]
    assert rows.loc["fisher", "n_features"] == near + 1
    assert rows.loc["fisher", "mean"] == pytest.approx(losses["fisher"][near])
    assert rows.loc["fisher", "behind_best"] == pytest.approx(losses["fisher"][near] - smallest)
    assert rows.loc["fisher", "above_all"] == pytest.approx(losses["fisher"][-1] - losses["fisher"][near])
    assert rows.loc["fisher", "above_random"] > 0
    assert rows.loc["fisher", "ci_low"] < rows.loc["fisher", "mean"] < rows.loc["fisher", "ci_high"]
    summary = summarise_rankings(experiment, collected, "log-loss").set_index("ranking")
    assert summary.loc["fisher", "best_n_features"] == int(np.argmin(losses["fisher"])) + 1
    said = " ".join(describe_recommendation(table, experiment.config, tmp_path, tmp_path))
    assert f"test log loss {losses['fisher'][near]:.3f} [" in said
    assert "%" not in said.split(".")[0]
    curves, _ = summarise(experiment, collected)
    (in_nats, in_per_cent) = curve_tables(
        curves,
        pd.DataFrame(columns=["measure", "mean", "ranking", "train_size", "n_features", "n_trials"]),
        experiment.config,
    )
    assert in_nats.title.startswith("log loss in nats")
    assert in_per_cent.title.startswith("accuracy in %")
    assert f"{losses['fisher'][0]:.3f} [" in str(in_nats.rows[0][1])


def test_several_classes_have_an_area_and_a_loss_and_nothing_positive(planned: Planned, tmp_path: Path) -> None:
    keys = own_table(tmp_path, 90, 3)
    experiment = planned(**keys, metrics=["auc", "log-loss"])
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        trials = collect(experiment, store)["fisher", 60]
    assert np.isfinite(trials.values["auc", "test"]).all()
    for metric in ("f1", "average-precision", SENSITIVITY):
        with pytest.raises(UsageError, match=f"{metric} is of two classes, and .* has 3; write (macro-f1|auc)"):
            planned(**keys, metrics=[metric])
    with pytest.raises(UsageError, match=r"one of two classes is positive, and .* has 3; leave it out"):
        planned(**keys, positive="ill")
    pairs = {"type": "tuned-machine", "kernel": "linear", "C": [1], "multiclass": "one-vs-one"}
    with pytest.raises(UsageError, match="which machines of pairs do not have; write one-vs-rest"):
        planned(**keys | {"classifier": pairs}, metrics=["auc"])
    bends = pairs | {"kernel": "gaussian"}
    rankings = [{"method": "fisher", "label": f"{number}", "classifier": bends} for number in range(2)]
    with pytest.raises(UsageError) as refusal:
        planned(**keys | {"classifier": pairs, "rankings": rankings}, metrics=["auc", "log-loss"])
    (line,) = str(refusal.value).splitlines()
    assert "auc, log-loss" in line
    assert "here, and in rankings.0.classifier, rankings.1.classifier, or" in line


def test_a_test_part_of_one_class_has_no_area_and_the_split_does_not_count(planned: Planned, tmp_path: Path) -> None:
    keys = own_table(tmp_path) | {"metrics": ["auc"]}
    frame = pd.read_csv(tmp_path / "mine.csv")
    frame.loc[frame.index[3:], "y"] = "well"
    frame.loc[:2, "y"] = "ill"
    frame.to_csv(tmp_path / "mine.csv", index=False)
    experiment = planned(**keys | {"protocol": {"splits": 8, "train": "1/2", "seed": 1}})
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        collected = collect(experiment, store)
    values = collected["fisher", 30].values["auc", "test"]
    n_defined = np.isfinite(values).all(axis=1).sum()
    assert 2 <= n_defined < len(values)
    assert (recommendation(experiment, collected, None)["n_trials"] == n_defined).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": ["sensitivity-at-specificity-1"]}, "states no specificity above 0 and below 1; write sensitivity"),
        ({"metrics": ["aux"]}, "'aux' is no figure of merit; did you mean 'auc'"),
        ({"metrics": ["f1"], "positive": "sick"}, "has no class 'sick'; it has ill, well"),
        ({"metrics": ["auc"], "parts": ["train", "test"]}, "auc is of the test part alone"),
    ],
)
def test_what_cannot_be_computed_is_refused(
    planned: Planned, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        planned(**own_table(tmp_path) | changes)
