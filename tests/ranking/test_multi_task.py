"""One vector of scales for several tasks: the sum of their bounds, its limits, and what it is for."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from fsvm_cli.data.synthetic import draw_weston_linear_tasks
from fsvm_cli.ranking.bound_ranker import BoundObjective
from fsvm_cli.ranking.multi_task import MultiTask, SharedScales
from fsvm_cli.ranking.radius_margin import RadiusMargin
from fsvm_cli.svm import Gaussian, Kernel, Linear, Polynomial

N_FEATURES = 12


@functools.cache
def two_tasks(n: int = 60, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Six features that carry the class, the other way around in the second task; six of noise; then the task."""
    X, y = draw_weston_linear_tasks(np.random.default_rng(seed), n, first_share=0.7, noise_sd=1.0)
    return X[:, [*range(N_FEATURES), -1]], y


def objective(X: np.ndarray, y: np.ndarray, kernel: Kernel, relative_ridge: float = 0.0) -> BoundObjective:
    ranker = RadiusMargin()
    return BoundObjective(
        X=X,
        labels=np.where(y == 1, 1.0, -1.0)[None],
        kernel=kernel,
        ridge=0.0 if relative_ridge else 1.0,
        relative_ridge=relative_ridge,
        bounds=ranker._bounds,
        tolerance=1e-10,
        solver="auto",
    )


@pytest.mark.parametrize("relative_ridge", [0.0, 0.1])
@pytest.mark.parametrize("kernel", [Linear(), Gaussian(theta=20.0), Polynomial(degree=2)], ids=lambda each: each.name)
def test_the_slope_of_the_sum_is_that_of_finite_differences(kernel: Kernel, relative_ridge: float) -> None:
    X, y = two_tasks()
    of_row = X[:, -1]
    shared = SharedScales([objective(X[of_row == t, :5], y[of_row == t], kernel, relative_ridge) for t in (0, 1)])
    features, s = np.arange(5), np.linspace(0.4, 0.9, 5)
    point = shared.at(features, s)
    assert point.value == sum(task.at(features, s).value for task in shared.tasks)
    steps = 1e-5 * np.eye(5)
    slope = [(shared.at(features, s + step).value - shared.at(features, s - step).value) / 2e-5 for step in steps]
    np.testing.assert_allclose(point.slope, slope, rtol=2e-4, atol=1e-4 * np.abs(slope).max())


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_two_copies_of_one_task_and_one_task_alone_are_ranked_as_by_one_machine(kernel: str) -> None:
    X, y = two_tasks()
    first = X[:, -1] == 0
    X, y = X[first, :N_FEATURES], y[first]
    expected = RadiusMargin(kernel=Gaussian(20.0) if kernel == "gaussian" else "linear").fit(X, y)
    words: dict[str, Any] = {"kernel": expected.kernel}
    twice = np.vstack([np.column_stack([X, np.full(len(X), value)]) for value in (0.0, 7.0)])
    for scales in ("shared", "own"):
        found = MultiTask(task=N_FEATURES, scales=scales, **words).fit(twice, np.tile(y, 2))
        untied = ~expected.tied_
        assert untied.sum() >= N_FEATURES / 2
        np.testing.assert_array_equal(found.ranking_[:-1][untied], expected.ranking_[untied])
        assert found.scores_[-1] == 0
    once = MultiTask(task=N_FEATURES, **words).fit(twice[: len(X)], y)
    np.testing.assert_array_equal(once.scores_[:-1][untied], expected.scores_[untied])
    np.testing.assert_array_equal(MultiTask(**words).fit(X, y).scores_, expected.scores_)


def test_which_class_is_which_in_a_task_and_the_order_of_the_rows_change_nothing() -> None:
    X, y = two_tasks()
    expected = MultiTask(task=N_FEATURES).fit(X, y)
    exchanged = np.where(X[:, -1] == 0, y, 1 - y)
    np.testing.assert_array_equal(MultiTask(task=N_FEATURES).fit(X, exchanged).scores_, expected.scores_)
    rows = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(MultiTask(task=N_FEATURES).fit(X[rows], y[rows]).scores_, expected.scores_)


def test_tasks_find_together_what_one_machine_for_both_cannot_see() -> None:
    relevant, shared, together = set(range(6)), [], []
    for seed in range(5):
        X, y = two_tasks(60, seed)
        shared.append(len(relevant & set(np.argsort(MultiTask(task=N_FEATURES).fit(X, y).ranking_)[:3])))
        together.append(len(relevant & set(np.argsort(RadiusMargin().fit(X, y).ranking_)[:3])))
    assert np.mean(shared) > np.mean(together) + 0.5


def test_the_table_holds_the_sum_of_the_bounds_without_the_feature_of_the_task() -> None:
    X, y = two_tasks()
    path = MultiTask(task=N_FEATURES).fit(X, y).diagnostics_["path"]
    assert path["n_active"].tolist() == [12, 6, 3, 2]
    assert not path[f"scale of x{N_FEATURES}"].any()
    assert (np.diff(path["bound"]) > -1e-6 * path["bound"][0]).all(), "fewer features have no smaller bound"


@pytest.mark.parametrize(
    ("task", "C", "message"),
    [
        (N_FEATURES + 1, 1.0, "task must be below 13, the number of features, not 13"),
        (0, 1.0, "are of one class, and a task needs two"),
        (N_FEATURES, np.inf, "not separable"),
    ],
)
def test_what_is_no_task_is_refused(task: int, C: float, message: str) -> None:
    X, y = two_tasks()
    if not np.isfinite(C):
        X = X.copy()
        X[:, :-1] = np.random.default_rng(0).integers(0, 2, size=(len(X), 1))
    with pytest.raises(ValueError, match=message):
        MultiTask(task=task, C=C).fit(X, y)
