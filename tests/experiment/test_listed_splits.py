"""Folds and bootstrap samples of a whole experiment: their rows, their keys, their places in a config, .632+."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.svm import SVC

from fsvm_cli.data.dataset import Dataset
from fsvm_cli.data.source import fixed_source
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment import plan as planning
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.tables import summarise
from fsvm_cli.report.verdicts import Trials
from fsvm_cli.runner.tasks import PackedExperiment
from fsvm_cli.spec.claims.base import Place
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.report.complete_trials import CompleteTrials

    Planned = Callable[..., Experiment]

N = 24
LEAVE_ONE_OUT = {"splits": N, "train": "leave-one-out", "seed": 7}
FOLDS = {"splits": 8, "train": "4 folds", "seed": 7}
BOOTSTRAP = {"splits": 12, "train": "bootstrap", "seed": 7}
FISHER = [{"method": "fisher"}]


def small_set(groups: Any = None) -> Dataset:
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    X = rng.normal(size=(N, 5)) + 0.8 * y[:, None]
    return Dataset("small", X, y, tuple("abcde"), ("no", "yes"), sha256="0" * 64, groups=groups)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Put a small data set in the place of every other."""
    dataset = small_set()
    monkeypatch.setattr(planning, "open_source", lambda *_, **__: fixed_source(dataset))
    return dataset


def rows_of(experiment: Experiment) -> list[tuple[list[int], list[int]]]:
    """Tell the rows of each trial by their values."""
    known = {value: row for row, value in enumerate(small_set().X[:, 0])}
    packed = PackedExperiment.of(experiment).unpacked()
    drawn = [draw_parts(packed, trial) for trial in experiment.trials()]
    return [([known[x] for x in each.X_train[:, 0]], [known[x] for x in each.X_test[:, 0]]) for each in drawn]


def collected(experiment: Experiment, folder: Path) -> dict[str, CompleteTrials]:
    run_job(experiment, folder)
    with Store(folder, writable=False) as store:
        return {label: trials for (label, _), trials in collect(experiment, store).items()}


def test_each_row_is_left_out_once(planned: Planned, small: Dataset) -> None:
    experiment = planned(protocol=LEAVE_ONE_OUT, scaling="none")
    divided = rows_of(experiment)
    assert sorted(row for _, test in divided for row in test) == list(range(N))
    assert all(sorted(train + test) == list(range(N)) for train, test in divided)
    assert experiment.n_test == {N - 1: 1}


def test_folds_share_the_rows_out_and_are_divided_anew_after_each_division(planned: Planned, small: Dataset) -> None:
    experiment = planned(protocol=FOLDS, scaling="none")
    divided = rows_of(experiment)
    for first in (0, 4):
        tests = [test for _, test in divided[first : first + 4]]
        assert sorted(row for test in tests for row in test) == list(range(N))
        assert all(np.mean(small.y[test]) == 0.5 for test in tests)
    assert {tuple(test) for _, test in divided[:4]} != {tuple(test) for _, test in divided[4:]}
    assert all(sorted(train + test) == list(range(N)) for train, test in divided)
    assert experiment.n_test == {18: 6}


def test_before_bootstrap_samples_comes_the_whole_one(planned: Planned, small: Dataset) -> None:
    experiment = planned(protocol=BOOTSTRAP, scaling="none")
    (whole, tested), *samples = rows_of(experiment)
    assert whole == tested == list(range(N))
    assert len(samples) == 12
    assert all(len(train) == N and set(train) | set(test) == set(range(N)) for train, test in samples)
    assert all(set(train).isdisjoint(test) for train, test in samples)
    assert experiment.n_trials() == len(list(experiment.trials())) == 13


def test_copies_of_a_row_stay_in_one_fold(planned: Planned, small: Dataset) -> None:
    experiment = planned(protocol=BOOTSTRAP, scaling="none")
    parts = draw_parts(experiment, Trial(N, 1))
    assert parts.groups_train is not None
    alike = parts.X_train[:, None, 0] == parts.X_train[None, :, 0]
    np.testing.assert_array_equal(alike, parts.groups_train[:, None] == parts.groups_train[None, :])


@pytest.mark.parametrize("protocol", [LEAVE_ONE_OUT, FOLDS, BOOTSTRAP])
def test_fewer_trials_are_the_first_of_many(planned: Planned, small: Dataset, protocol: dict[str, Any]) -> None:
    many = planned(protocol=protocol, scaling="none")
    few = planned(protocol=protocol | {"splits": 5}, scaling="none")
    shared = list(few.trials())
    assert rows_of(few) == rows_of(many)[: len(shared)]
    assert [few.key(0, trial) for trial in shared] == [many.key(0, trial) for trial in shared]


def test_keys_tell_how_the_rows_were_divided(planned: Planned, small: Dataset) -> None:
    protocols = [FOLDS, FOLDS | {"train": "18"}, FOLDS | {"train": 18}]
    trial = Trial(18, 0)
    assert planned(protocol=protocols[0]).key(0, trial) != planned(protocol=protocols[2]).key(0, trial)


@pytest.mark.parametrize("protocol", [LEAVE_ONE_OUT | {"splits": 6}, FOLDS, BOOTSTRAP])
def test_groups_are_not_divided(planned: Planned, monkeypatch: pytest.MonkeyPatch, protocol: dict[str, Any]) -> None:
    groups = np.arange(N) // 4
    monkeypatch.setattr(planning, "open_source", lambda *_, **__: fixed_source(small_set(groups)))
    divided = rows_of(planned(protocol=protocol, scaling="none"))
    for train, test in divided[protocol is BOOTSTRAP :]:
        assert set(groups[train].tolist()).isdisjoint(groups[test].tolist())


def test_leaving_one_out_averages_over_the_rows(planned: Planned, small: Dataset, tmp_path: Path) -> None:
    experiment = planned(protocol=LEAVE_ONE_OUT, rankings=FISHER, subsets=[2], scaling="none")
    (trials,) = collected(experiment, tmp_path).values()
    right = 0
    for row in range(N):
        train = np.delete(np.arange(N), row)
        best = Fisher().fit(small.X[train], small.y[train]).ranking_ <= 2
        machine = SVC(kernel="linear", C=1, tol=1e-6).fit(small.X[train][:, best], small.y[train])
        right += int(machine.predict(small.X[[row]][:, best])[0] == small.y[row])
    assert trials.values["accuracy", "test"][:, 0].mean() == pytest.approx(right / N)


def reference_632_plus(X: np.ndarray, y: np.ndarray, samples: list[tuple[list[int], list[int]]], size: int) -> float:
    """Compute the .632+ error with other machines, row by row, as Ambroise and McLachlan write it."""

    def rule(train: list[int]) -> Callable[[int], int]:
        best = Fisher().fit(X[train], y[train]).ranking_ <= size
        machine = SVC(kernel="linear", C=1, tol=1e-8).fit(X[train][:, best], y[train])
        return lambda row: int(machine.predict(X[[row]][:, best])[0])

    n = len(y)
    whole = rule(list(range(n)))
    assigned = [whole(row) for row in range(n)]
    apparent = sum(assigned[row] != y[row] for row in range(n)) / n
    rules = [(rule(train), set(test)) for train, test in samples]
    of_rows = []
    for row in range(n):
        errors = [each(row) != y[row] for each, test in rules if row in test]
        if errors:
            of_rows.append(sum(errors) / len(errors))
    left_out = sum(of_rows) / len(of_rows)
    p, q = sum(y) / n, sum(assigned) / n
    gamma = p * (1 - q) + (1 - p) * q
    rate = 0.0
    if left_out > apparent and gamma > apparent:
        rate = min((left_out - apparent) / (gamma - apparent), 1.0)
    weight = 0.632 / (1 - 0.368 * rate)
    return float((1 - weight) * apparent + weight * min(left_out, gamma))


def test_the_estimate_is_that_of_a_reference(planned: Planned, small: Dataset, tmp_path: Path) -> None:
    classifier = {"kernel": "linear", "C": 1, "tolerance": 1e-6}
    changes = {"rankings": FISHER, "subsets": [1, 3], "scaling": "none", "classifier": classifier}
    experiment = planned(protocol=BOOTSTRAP, **changes)
    trials = collected(experiment, tmp_path)["fisher"]
    samples = rows_of(experiment)[1:]
    found = 1 - trials.values["accuracy", "test"].mean(axis=0)
    expected = [reference_632_plus(small.X, small.y, samples, size) for size in (1, 3, 5)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert len(set(expected)) > 1
    assert trials.splits.tolist() == list(range(1, 13))


def test_a_table_and_a_verdict_have_the_estimate(planned: Planned, small: Dataset, tmp_path: Path) -> None:
    experiment = planned(protocol=BOOTSTRAP, rankings=FISHER, subsets=[1, 3])
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        found = collect(experiment, store)
        curves, _ = summarise(experiment, found)
    (trials,) = found.values()
    tested = curves[(curves["part"] == "test") & (curves["n_features"] == 3)].iloc[0]
    assert tested["mean"] == pytest.approx(trials.values["accuracy", "test"][:, 1].mean())
    assert tested["n_trials"] == 12
    assert tested["ci_low"] < tested["mean"] < tested["ci_high"]
    estimate = Trials(experiment, found).estimate(Place(ranking="fisher", features=3))
    assert estimate.mean == pytest.approx(100 * tested["mean"])


def test_without_the_whole_sample_there_is_no_estimate(planned: Planned, small: Dataset, tmp_path: Path) -> None:
    experiment = planned(protocol=BOOTSTRAP, rankings=FISHER, subsets=[1])
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=True) as store:
        found = collect(experiment, store)
        assert found
        first = experiment.key(0, next(experiment.trials()))
        without = type("Without", (), {"entry": lambda _, key: None if key == first else store.entry(key)})()
        assert collect(experiment, without) == {}


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        (LEAVE_ONE_OUT | {"splits": 25}, r"small has 24 rows to leave out one by one; write 24 or fewer"),
        (FOLDS | {"train": "13 folds"}, "the smallest class has 12 samples, and 13 are needed"),
        (FOLDS | {"test": 5}, "'4 folds' says which rows are tested: write it alone"),
        (FOLDS | {"train": ["4 folds", 5]}, "'4 folds' says which rows are tested: write it alone"),
        (FOLDS | {"train": "1 folds"}, "'1 folds' is no fraction"),
    ],
)
def test_what_cannot_be_divided_so_is_refused(
    planned: Planned, small: Dataset, protocol: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        planned(protocol=protocol)


@pytest.mark.parametrize("train", ["leave-one-out", "4 folds", "bootstrap"])
def test_a_distribution_has_no_rows_to_divide(planned: Planned, train: str) -> None:
    with pytest.raises(UsageError, match="noise20 is drawn anew for each trial, and has no rows to divide"):
        planned(protocol={"splits": 3, "train": train, "seed": 1})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": ["accuracy", "rci"]}, "the .632. estimate is one of the accuracy"),
        ({"control": "permute-labels"}, "labels are shuffled anew for each trial"),
    ],
)
def test_what_the_estimate_is_not_for_is_refused(
    planned: Planned, small: Dataset, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        planned(protocol=BOOTSTRAP, **changes)
