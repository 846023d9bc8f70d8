"""The choice of a machine inside the training part, and a machine for each ranking."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from fsvm_cli.config_io import model_from_json, parse_document, validate
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.outcome import stored_outcome
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts, tuned
from fsvm_cli.learners.machine import Machine
from fsvm_cli.report.folder import read_table
from fsvm_cli.report.tables import describe_choices, write_tables
from fsvm_cli.spec.schema import Config
from fsvm_cli.spec.tuning import TuneStep
from fsvm_cli.store.store import Store
from fsvm_cli.svm import SVM, Gaussian, Laplace, Linear, Polynomial
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.spec.config import LoadedConfig

    Planned = Callable[..., Experiment]

FIRST = Trial(n_train=12, split=0)
LINEAR = {"kernel": "linear", "C": 1, "tolerance": 0.01}
THETAS, CS = (1.0, 8.0, 64.0), (0.1, 1.0, 10.0)
TUNE = [
    {"kernels": [{"kernel": "gaussian", "theta": [1, 8, 64]}, {"kernel": "polynomial", "degree": [2, 3]}], "folds": 3},
    {"C": [0.1, 1, 10], "folds": "leave-one-out"},
]
START = Machine(SVM(Linear(), 1.0, 1e-9))


def noisy_data(n_samples: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n_samples, 4))
    return X, (X[:, 0] ** 2 + X[:, 1] + rng.normal(size=n_samples) > 1).astype(int)


def step(**content: Any) -> TuneStep:
    return model_from_json(TuneStep, TuneStep(**content).model_dump_json())


def test_kernel_and_C_are_those_of_the_best_accuracy_in_cross_validation() -> None:
    X, y = noisy_data()
    search = step(kernels=({"kernel": "gaussian", "theta": THETAS},), C=CS, folds=4)
    found = tuned(START, [search], X, y, n_classes=2, rng=np.random.default_rng(1))
    shuffle = int(np.random.default_rng(1).integers(2**31))
    folds = list(StratifiedKFold(4, shuffle=True, random_state=shuffle).split(X, y))
    accuracy = {
        (C, theta): cross_val_score(SVC(C=C, gamma=1 / theta, tol=1e-9), X, y, cv=folds).mean()
        for C, theta in itertools.product(CS, THETAS)
    }
    best = [place for place, value in accuracy.items() if value == pytest.approx(max(accuracy.values()), abs=1e-12)]
    C, theta = min(best, key=lambda place: (place[0], -place[1]))
    assert 1 <= len(best) < len(accuracy)
    assert (found.kernel, found.svm.C) == (Gaussian(theta), C)
    assert found.chosen == {"theta": theta, "C": C}
    assert found.converged


def test_a_step_begins_with_what_the_one_before_it_chose() -> None:
    X, y = noisy_data(30)
    start = START.with_parameters(kernel=Gaussian(8.0))
    found = tuned(start, [step(C=CS, folds="leave-one-out")], X, y, n_classes=2, rng=np.random.default_rng(0))
    accuracy = {C: cross_val_score(SVC(C=C, gamma=1 / 8, tol=1e-9), X, y, cv=LeaveOneOut()).mean() for C in CS}
    best = min(C for C in CS if accuracy[C] == pytest.approx(max(accuracy.values()), abs=1e-12))
    assert len(set(accuracy.values())) > 1
    assert (found.kernel, found.svm.C, found.chosen) == (Gaussian(8.0), best, {"C": best})
    kernel_first = [step(kernels=({"kernel": "gaussian", "theta": 8.0},), folds=2), step(C=CS, folds="leave-one-out")]
    again = tuned(START, kernel_first, X, y, n_classes=2, rng=np.random.default_rng(0))
    assert (again.kernel, again.svm.C, again.chosen) == (found.kernel, found.svm.C, found.chosen)


def test_kernels_of_several_kinds_are_told_by_name() -> None:
    X, y = noisy_data()
    kinds = ({"kernel": "linear"}, {"kernel": "laplace", "theta": (2, 4)}, {"kernel": "polynomial", "degree": 2})
    found = tuned(START, [step(kernels=kinds, folds=3)], X, y, n_classes=2, rng=np.random.default_rng(0))
    assert found.kernel in {Linear(), Laplace(2.0), Laplace(4.0), Polynomial(2)}
    theta = {"theta": found.kernel.theta} if isinstance(found.kernel, Laplace) else {}
    assert found.chosen == {"kernel": found.kernel.name, **theta}


@pytest.mark.parametrize(("folds", "needed"), [(4, 4), ("leave-one-out", 2)])
def test_a_class_too_small_for_the_folds_is_told(folds: Any, needed: int) -> None:
    X, y = np.ones((9, 2)), np.array([0] * 8 + [1])
    with pytest.raises(ValueError, match=f"folds is {folds}; .* the smallest class has 1 samples, and {needed} are"):
        tuned(START, [step(C=CS, folds=folds)], X, y, n_classes=2, rng=np.random.default_rng(0))


def test_only_the_training_part_decides(planned: Planned) -> None:
    experiment = planned(classifier=LINEAR | {"tune": TUNE})
    parts = draw_parts(experiment, FIRST)
    blind = replace(parts, X_test=np.full_like(parts.X_test, np.nan), y_test=1 - parts.y_test)
    classifier = experiment.config.classifier
    machine, same = (DrawnTrial(experiment, FIRST, each).learner(classifier) for each in (parts, blind))
    assert isinstance(machine, Machine)
    assert isinstance(same, Machine)
    assert same.svm.get_params() == machine.svm.get_params()
    assert same.chosen == machine.chosen
    outcome = run_trial(experiment, FIRST, {0: experiment.sizes}).outcomes[0]
    assert outcome.chosen == machine.chosen


def test_rankings_and_subsets_use_the_machine_that_was_chosen(planned: Planned) -> None:
    angle = [{"method": "gradient-angle", "epsilon": 0.1}]
    experiment = planned(classifier=LINEAR | {"tune": TUNE}, rankings=angle)
    outcome = run_trial(experiment, FIRST, {0: experiment.sizes}).outcomes[0]
    trial = DrawnTrial(experiment, FIRST, draw_parts(experiment, FIRST))
    machine = trial.learner(experiment.config.classifier)
    assert isinstance(machine, Machine)
    fixed = {"kernel": machine.kernel.name, "C": machine.svm.C, "tolerance": 0.01}
    fixed |= {name: value for name, value in machine.chosen.items() if name not in {"kernel", "C"}}
    expected = planned(classifier=fixed, rankings=angle)
    same = run_trial(expected, FIRST, {0: expected.sizes}).outcomes[0]
    assert replace(outcome, chosen={}) == same


def test_a_ranking_with_a_classifier_of_its_own_is_as_in_an_experiment_with_that_classifier(planned: Planned) -> None:
    own, tree = {"kernel": "gaussian", "theta": 9, "C": 3}, {"type": "decision-tree"}
    fisher = {"method": "fisher"}
    mixed = planned(
        rankings=[fisher, *(fisher | {"label": str(i), "classifier": c} for i, c in enumerate((own, tree)))]
    )
    outcomes = run_trial(mixed, FIRST, dict.fromkeys(mixed.numbers(), mixed.sizes)).outcomes
    for place, classifier in enumerate([LINEAR, own, tree]):
        alone = planned(classifier=classifier, rankings=[fisher])
        assert run_trial(alone, FIRST, {0: alone.sizes}).outcomes[0] == outcomes[place]
        assert mixed.key(place, FIRST) == alone.key(0, FIRST)


def test_a_table_counts_what_was_chosen(load: Callable[..., LoadedConfig], planned: Planned, tmp_path: Path) -> None:
    kpd = {"method": "kpd", "strength": [0.1, 10.0], "max_step": ["automatic", 2.0], "threshold": 0.1}
    changes = {"classifier": LINEAR | {"tune": TUNE}, "rankings": [kpd, {"method": "random"}], "subsets": [1]}
    changes["classifier"] = changes["classifier"] | {"tune": [TUNE[0] | {"kernels": TUNE[0]["kernels"][:1]}, TUNE[1]]}
    experiment = planned(**changes)
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        outcomes = [stored_outcome(store, experiment.key(0, trial)) for trial in experiment.trials()]
        write_tables(load(**changes), experiment, store, tmp_path)
    table = read_table(tmp_path / "chosen.csv")
    assert list(dict.fromkeys(zip(table["ranking"], table["parameter"], strict=True))) == [
        *(("kpd", name) for name in ("theta", "C", "strength", "max_step", "n_active")),
        *(("random", name) for name in ("theta", "C")),
    ]
    for row in table[table["ranking"] == "kpd"].itertuples():
        value = row.value if row.value == "automatic" else float(row.value)
        assert row.n_chosen == sum(outcome.chosen[row.parameter] == value for outcome in outcomes)
        assert (row.n_trials, row.train_size) == (3, 12)
    first, second = describe_choices(table)
    assert first.startswith("kpd, 12 rows: most frequent values in 3 trials: theta = ")
    assert second.startswith("random, 12 rows")
    (alone, *_) = describe_choices(table.assign(n_chosen=1, n_trials=1))
    assert alone.startswith("kpd, 12 rows: in one trial: theta = ")
    assert "(in " not in alone
    strengths = Counter(outcome.chosen["strength"] for outcome in outcomes)
    assert f"strength = {max(sorted(strengths), key=strengths.__getitem__):g} (in {max(strengths.values())})" in first


GOOD = """\
title: t
dataset: plane
scaling: none
classifier:
  kernel: gaussian
  C: 1
  tune: {kernels: [{kernel: gaussian, theta: [1, 2]}], folds: 5}
protocol: {splits: 2, train: 1/2, seed: 0}
rankings:
  - {method: random, classifier: {kernel: linear, C: 1}}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "theta: [1, 2]",
            "theta: [1, 0]",
            "c.yaml:7:50: classifier.tune.kernels.0.theta.1 is 0; it should be more than 0, or 'scale'",
        ),
        ("theta: [1, 2]", "degree: [1, 2]", "c.yaml:7:39: unknown key 'degree'; allowed: kernel, theta"),
        (
            "theta: [1, 2]",
            "theta: []",
            "c.yaml:7:46: classifier.tune.kernels.0.theta is empty; write at least one value",
        ),
        ("{kernel: gaussian,", "{kernel: gausian,", "c.yaml:7:29: 'gausian' is no kernel"),
        (
            "kernels: [{kernel: gaussian, theta: [1, 2]}], ",
            "",
            "c.yaml:7:9: classifier.tune: there is nothing to choose",
        ),
        (
            "folds: 5",
            "folds: 1",
            "c.yaml:7:63: classifier.tune.folds: 1 is no number of folds; write 2 or more",
        ),
        (
            "folds: 5",
            "fold: 5",
            "c.yaml:7:56: unknown key 'fold'; allowed: C, folds, kernels, ties; did you mean 'folds'?",
        ),
        ("{kernel: linear, C: 1}", "{kernel: linear}", "c.yaml:10:34: the key 'C' is missing"),
    ],
)
def test_a_mistake_is_told_with_its_place(old: str, new: str, message: str) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(UsageError) as caught:
        validate(parse_document(GOOD.replace(old, new), "c.yaml"), Config)
    assert any(line.startswith(message) for line in str(caught.value).splitlines()), str(caught.value)


def test_a_claim_about_all_features_needs_one_machine() -> None:
    claim = "expected:\n  - {id: a, kind: value, claim: c, where: w, at: {}, published: 90, tolerance: 1}\n"
    with pytest.raises(UsageError, match="the claim a speaks of all features, where rankings with classifiers of"):
        validate(parse_document(GOOD + claim, "c.yaml"), Config)
    one = GOOD.replace(", classifier: {kernel: linear, C: 1}", "")
    assert validate(parse_document(one + claim, "c.yaml"), Config).shares_classifier


def test_a_config_without_these_words_is_written_without_them() -> None:
    plain = GOOD.replace(", classifier: {kernel: linear, C: 1}", "").replace("  tune:", "  # tune:")
    written = validate(parse_document(plain, "c.yaml"), Config).model_dump()
    assert "tune" not in written["classifier"]
    assert "classifier" not in written["rankings"][0]
