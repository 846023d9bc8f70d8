"""A split that comes with the data: its rows, its key, its place in a config, and its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.stats

from fsvm_cli.data.dataset import Dataset
from fsvm_cli.data.source import fixed_source
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment import plan as planning
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.trial import draw_parts
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

    Planned = Callable[..., Experiment]

GIVEN = {"splits": 1, "train": "given", "seed": 7}
TEST_ROWS = np.array([1, 5, 7, 8, 11, 14, 20, 23, 30, 31, 35, 39])


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Put a data set that fixes its split in the place of every other."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    dataset = Dataset(
        name="divided",
        X=rng.normal(size=(40, 5)) + 0.8 * y[:, None],
        y=y,
        feature_names=tuple("abcde"),
        class_names=("no", "yes"),
        sha256="0" * 64,
        train_indices=np.setdiff1d(np.arange(40), TEST_ROWS),
        test_indices=TEST_ROWS,
    )
    monkeypatch.setattr(planning, "open_source", lambda *_, **__: fixed_source(dataset))
    return dataset


def test_the_parts_are_those_of_the_source(planned: Planned, divided: Dataset) -> None:
    experiment = planned(protocol=GIVEN, scaling="none")
    assert list(experiment.trials()) == [Trial(n_train=28, split=0)]
    for each in (experiment, PackedExperiment.of(experiment).unpacked()):
        parts = draw_parts(each, next(each.trials()))
        np.testing.assert_array_equal(parts.X_train, divided.X[divided.train_indices])
        np.testing.assert_array_equal(parts.y_test, divided.y[TEST_ROWS])


def test_its_key_is_not_that_of_a_random_split_of_the_same_sizes(planned: Planned, divided: Dataset) -> None:
    given, drawn = planned(protocol=GIVEN), planned(protocol=GIVEN | {"train": 28})
    (trial,) = given.trials()
    assert list(drawn.trials()) == [trial]
    assert drawn.n_test == given.n_test
    assert given.key(0, trial) != drawn.key(0, trial)


@pytest.mark.parametrize("changes", [{"test": 5}, {"train": ["given", 20]}, {"train": ["given", "given"]}])
def test_a_given_split_stands_alone(planned: Planned, divided: Dataset, changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="a given split has its own parts"):
        planned(protocol=GIVEN | changes)


def test_the_test_part_cannot_be_given_alone(planned: Planned) -> None:
    with pytest.raises(UsageError, match="'given' is no fraction"):
        planned(protocol={"splits": 1, "train": 5, "test": "given", "seed": 7})


def test_data_without_a_split_are_refused_with_the_place(planned: Planned) -> None:
    with pytest.raises(UsageError, match=r"small\.yaml:\d+:\d+: noise20 comes without a split"):
        planned(protocol=GIVEN)


def test_its_interval_is_that_of_a_test_part_drawn_again(planned: Planned, divided: Dataset, tmp_path: Path) -> None:
    experiment = planned(protocol=GIVEN, subsets=[1])
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        curves, _ = summarise(experiment, collect(experiment, store))
    assert curves["std"].isna().all()
    on_test, on_train = (curves[curves["part"] == part] for part in ("test", "train"))
    assert on_train["ci_low"].isna().all()
    for _, row in on_test.iterrows():
        expected = scipy.stats.binom.ppf([0.025, 0.975], len(TEST_ROWS), row["mean"]) / len(TEST_ROWS)
        np.testing.assert_allclose([row["ci_low"], row["ci_high"]], expected, atol=1.01 / len(TEST_ROWS))


def test_what_the_machines_said_of_the_test_rows_is_kept_for_pairs(
    planned: Planned, divided: Dataset, tmp_path: Path
) -> None:
    experiment = planned(protocol=GIVEN, subsets=[1, 3])
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        collected = collect(experiment, store)
    for trials in collected.values():
        y, *said = trials.predictions
        np.testing.assert_array_equal(y, divided.y[TEST_ROWS])
        for predicted, accuracy in zip(said, trials.values["accuracy", "test"][0], strict=True):
            assert np.mean(predicted == y) == accuracy
    label, n_train = next(iter(collected))
    one, three = (Place(ranking=label, features=size) for size in (1, 3))
    compared = Trials(experiment, collected).compared(three, one)
    accuracies = collected[label, n_train].values["accuracy", "test"][0]
    assert compared.found.mean == pytest.approx(100 * (accuracies[1] - accuracies[0]))
    assert compared.found.low <= compared.found.mean <= compared.found.high
    assert np.isnan(compared.on_new_data.low)


def test_of_many_splits_nothing_is_kept_row_by_row(planned: Planned, tmp_path: Path) -> None:
    experiment = planned()
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        assert all(not trials.predictions.size for trials in collect(experiment, store).values())


IN_ORDERS = GIVEN | {"splits": 5, "row_order": "drawn"}


def stopped(label: str, n_steps: int | None) -> dict[str, Any]:
    stop = {} if n_steps is None else {"solver": "libsvm", "stop_after": n_steps}
    return {"method": "fisher", "label": label, "classifier": {"kernel": "linear", "C": 1} | stop}


def test_each_trial_has_the_rows_of_the_split_in_an_order_of_its_own(planned: Planned, divided: Dataset) -> None:
    experiment, given = planned(protocol=IN_ORDERS, scaling="none"), planned(protocol=GIVEN, scaling="none")
    trials = list(experiment.trials())
    assert trials == [Trial(n_train=28, split=number) for number in range(5)]
    all_parts = [draw_parts(PackedExperiment.of(experiment).unpacked(), trial) for trial in trials]
    orders = {tuple(parts.X_train[:, 0]) for parts in all_parts}
    assert len(orders) == 5
    assert tuple(divided.X[divided.train_indices, 0]) not in orders
    (of_source,) = (draw_parts(given, trial) for trial in given.trials())
    for parts in all_parts:
        np.testing.assert_array_equal(parts.X_test, of_source.X_test)
        rows = np.argsort(parts.X_train[:, 0])
        expected = np.argsort(of_source.X_train[:, 0])
        np.testing.assert_array_equal(parts.X_train[rows], of_source.X_train[expected])
        np.testing.assert_array_equal(parts.y_train[rows], of_source.y_train[expected])
    assert experiment.key(0, trials[0]) != given.key(0, trials[0])
    fewer = planned(protocol=IN_ORDERS | {"splits": 2}, scaling="none")
    assert [fewer.key(0, trial) for trial in trials[:2]] == [experiment.key(0, trial) for trial in trials[:2]]


def test_the_order_of_the_rows_is_that_of_a_given_split(planned: Planned, divided: Dataset) -> None:
    with pytest.raises(UsageError, match="'row_order' is for a given split"):
        planned(protocol=IN_ORDERS | {"train": 20})
    with pytest.raises(UsageError, match="1 split is given with divided"):
        planned(protocol=GIVEN | {"splits": 2})


def test_only_machines_short_of_their_optimum_depend_on_the_order(
    planned: Planned, divided: Dataset, tmp_path: Path
) -> None:
    rankings = [stopped("9 steps", 9), stopped("optimum", None)]
    experiment = planned(protocol=IN_ORDERS, rankings=rankings, subsets=[2], scaling="none")
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        collected = collect(experiment, store)
    values = {label: trials.values["accuracy", "test"] for (label, _), trials in collected.items()}
    assert np.ptp(values["9 steps"], axis=0).max() > 0
    np.testing.assert_array_equal(np.ptp(values["optimum"], axis=0), 0)
    early, best = (Place(ranking=label, features=2) for label in ("9 steps", "optimum"))
    compared = Trials(experiment, collected).compared(best, early)
    differences = 100 * (values["optimum"][:, 0] - values["9 steps"][:, 0])
    assert compared.found.mean == pytest.approx(differences.mean())
    half_width = scipy.stats.t.ppf(0.975, 4) * differences.std(ddof=1) / np.sqrt(5)
    assert compared.found.high - compared.found.mean == pytest.approx(half_width)
    assert np.isnan(compared.on_new_data.low), "one training part in several orders tells nothing of other rows"
    assert "over the orders" in compared.test


def test_stratified_splits_are_others_with_the_shares_of_all_rows(planned: Planned) -> None:
    protocol = {"splits": 2, "train": "2/3", "seed": 3}
    plain, stratified = (planned(protocol=protocol | more) for more in ({}, {"stratified": True}))
    trial = next(stratified.trials())
    assert plain.key(0, trial) != stratified.key(0, trial)
    parts = draw_parts(stratified, trial)
    y = np.concatenate([parts.y_train, parts.y_test])
    shares = np.bincount(y) / len(y)
    for of_part in (parts.y_train, parts.y_test):
        assert (np.abs(np.bincount(of_part, minlength=len(shares)) - len(of_part) * shares) < 2).all()
    with pytest.raises(UsageError, match="'stratified' is for random splits, not for '10 folds'"):
        planned(protocol={"splits": 10, "train": "10 folds", "seed": 3, "stratified": True})
