"""Rankings by the radius-margin and the span bound: the toy problems of Weston et al. (2000), descent, bad input."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds, minimize
from sklearn.svm import SVC

from fsvm_cli.bounds.bound import hard_margin_machine
from fsvm_cli.ranking.bound_ranker import MAX_SCALE, MIN_SCALE, BoundObjective, ScalePenalty, descend
from fsvm_cli.ranking.kernel_selection import KernelSelection
from fsvm_cli.ranking.radius_margin import RadiusMargin
from fsvm_cli.ranking.span import Span
from fsvm_cli.svm import Gaussian, Kernel, Laplace, Linear, Polynomial
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    from fsvm_cli.ranking.bound_ranker import BoundRanker

every_ranker = pytest.mark.parametrize("ranker", [RadiusMargin, Span], ids=lambda each: each.method)
NO_PENALTY = ScalePenalty(0.0, 1.0)


@functools.cache
def linear_problem(n: int = 50, n_noise: int = 44) -> tuple[np.ndarray, np.ndarray]:
    """Six relevant features, of which three at a time are shifted by the class, and noise; standardised."""
    rng = np.random.default_rng(1)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(n, 6 + n_noise))
    shifted = np.where(rng.random(n) < 0.7, 0, 3)
    for i in range(3):
        X[np.arange(n), shifted + i] += (i + 1) * y
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@functools.cache
def nonlinear_problem() -> tuple[np.ndarray, np.ndarray]:
    """Two features in which each class has two opposite centres, and noise; standardised."""
    rng = np.random.default_rng(2)
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    X = rng.normal(size=(60, 12))
    sign = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    X[:, :2] += sign[:, None] * np.where(y[:, None] > 0, [3.0, -3.0], [0.75, 3.0])
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def objective_of(
    ranker: BoundRanker,
    X: np.ndarray,
    y: np.ndarray,
    kernel: Kernel,
    relative_ridge: float = 0.0,
) -> BoundObjective:
    labels, _ = machine_labels(np.unique(y, return_inverse=True)[1], len(np.unique(y)))
    return BoundObjective(X, labels, kernel, 1.0, relative_ridge, ranker._bounds, 1e-10, "auto")


@pytest.mark.parametrize("ranker", [RadiusMargin(tolerance=1e-10), Span()], ids=lambda each: each.method)
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(2), Polynomial(1)], ids=repr)
def test_a_bound_is_the_same_wherever_its_machines_begin(ranker: BoundRanker, kernel: Kernel) -> None:
    X, y = nonlinear_problem()
    objective, features = objective_of(ranker, X, y, kernel), np.arange(X.shape[1])
    nearby = objective.at(features, np.full(len(features), 0.5))
    cold = objective.at(features, np.linspace(0.2, 0.9, len(features)))
    warm = objective.at(features, np.linspace(0.2, 0.9, len(features)), nearby.starts)
    assert warm.converged
    assert warm.value == pytest.approx(cold.value, rel=1e-10)
    np.testing.assert_allclose(warm.slope, cold.slope, rtol=1e-7, atol=1e-8 * np.abs(cold.slope).max())


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(2)], ids=lambda each: each.name)
def test_a_feature_that_is_out_can_never_come_back(kernel: Kernel) -> None:
    # The slides start from s = (0, 1, 1, 0) and print slopes of 29 and 163 where these go to 0.
    X, y = nonlinear_problem()
    objective = objective_of(RadiusMargin(), X[:, :4], y, kernel)
    near, twice = (objective.at(np.arange(4), np.array([h, 1.0, 1.0, h])).slope for h in (1e-3, 2e-3))
    np.testing.assert_allclose(twice[[0, 3]], 2 * near[[0, 3]], rtol=1e-3)


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_the_radius_margin_bound_finds_what_matters_in_the_linear_problem(C: float, penalty: float) -> None:
    ranker = RadiusMargin(C=C, penalty=penalty, n_features_to_select=2).fit(*linear_problem())
    assert np.flatnonzero(ranker.support_).max() < 6
    assert ranker.converged_


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_the_span_bound_finds_what_matters_in_the_linear_problem(penalty: float) -> None:
    ranker = Span(C=0.1, penalty=penalty, n_features_to_select=2).fit(*linear_problem(80, 14))
    assert np.flatnonzero(ranker.support_).max() < 6


@every_ranker
@pytest.mark.parametrize("kernel", [Polynomial(2), Gaussian(12.0)], ids=repr)
def test_both_find_features_that_matter_together(ranker: type[BoundRanker], kernel: Kernel) -> None:
    found = ranker(kernel, n_features_to_select=2).fit(*nonlinear_problem())
    assert np.flatnonzero(found.support_).tolist() == [0, 1]


@every_ranker
@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(2), Gaussian(8.0), Gaussian(8.0, weights=(0.5, 1.0, 2.0, 0.3, 1.0))], ids=repr
)
@pytest.mark.parametrize("relative_ridge", [0.0, 0.1])
def test_the_slope_is_the_derivative_by_the_scales(
    ranker: type[BoundRanker], kernel: Kernel, relative_ridge: float
) -> None:
    X, y = nonlinear_problem()
    objective = objective_of(ranker(), X[:40, :5], np.digitize(X[:40, 0] + y[:40], [-1, 1]), kernel, relative_ridge)
    features = np.array([0, 1, 3, 4])
    s = np.array([0.9, 0.4, 0.2, 0.7])
    here = objective.at(features, s)
    shifts = 1e-6 * np.eye(4)
    numeric = [(objective.at(features, s + e).value - objective.at(features, s - e).value) / 2e-6 for e in shifts]
    np.testing.assert_allclose(here.slope, numeric, rtol=1e-3, atol=1e-4 * np.abs(numeric).max())


@every_ranker
def test_the_bounds_of_several_classes_are_added_up(ranker: type[BoundRanker]) -> None:
    X, y = nonlinear_problem()
    codes = np.digitize(X[:, 0] + y, [-1, 1])
    features, s = np.arange(12), np.full(12, 0.5)
    together = objective_of(ranker(), X, codes, Linear()).at(features, s)
    alone = [objective_of(ranker(), X, codes == code, Linear()).at(features, s) for code in range(3)]
    assert together.value == pytest.approx(sum(each.value for each in alone))
    np.testing.assert_allclose(together.slope, np.sum([each.slope for each in alone], axis=0), rtol=1e-6, atol=1e-8)


@every_ranker
def test_the_path_tells_how_the_bound_fell(ranker: type[BoundRanker]) -> None:
    X, y = nonlinear_problem()
    names = [f"f{i}" for i in range(12)]
    found = ranker(Gaussian(12.0), step=4).fit(pd.DataFrame(X, columns=names), y)
    path = pd.DataFrame(found.diagnostics_["path"])
    assert list(path) == ["round", "n_active", "bound", "n_evaluations", *[f"scale of {name}" for name in names]]
    assert path["n_active"].tolist() == [12, 8, 4]
    scales = path.iloc[:, 4:].to_numpy()
    np.testing.assert_array_equal(np.count_nonzero(scales, axis=1), path["n_active"])
    start = objective_of(found, X, y, Gaussian(12.0)).at(np.arange(12), np.ones(12)).value
    assert path["bound"][0] < start
    last = scales[-1] > 0
    end = objective_of(found, X, y, Gaussian(12.0)).at(np.flatnonzero(last), scales[-1][last]).value
    assert path["bound"].iloc[-1] == pytest.approx(end, rel=1e-5)
    assert sorted(found.scores_) == list(range(1, 13))


@every_ranker
def test_a_penalty_takes_the_place_of_the_elimination(ranker: type[BoundRanker]) -> None:
    X, y = nonlinear_problem()
    few, many = (ranker(Gaussian(12.0), penalty=penalty).fit(X, y) for penalty in (10.0, 1e-6))
    for found in (few, many):
        scales = np.array([found.diagnostics_["path"][f"scale of x{i}"] for i in range(12)])
        assert scales.shape == (12, 1)
        assert (np.diff(scales[np.argsort(found.ranking_), 0]) <= 0).all()
    assert sum(few.diagnostics_["path"][f"scale of x{i}"][0] for i in range(12)) < sum(
        many.diagnostics_["path"][f"scale of x{i}"][0] for i in range(12)
    )


def least_bound(objective: BoundObjective, features: tuple[int, ...]) -> float:
    """Minimise the bound of some features by scipy."""

    def of_scales(s: np.ndarray) -> tuple[float, np.ndarray]:
        point = objective.at(np.array(features), s)
        return point.value, point.slope

    limits = Bounds(MIN_SCALE, MAX_SCALE)
    found = minimize(of_scales, np.ones(len(features)), jac=True, method="L-BFGS-B", bounds=limits)
    return float(found.fun)


@functools.cache
def unscaled_problem() -> tuple[np.ndarray, np.ndarray]:
    """The linear problem with features in units of their own, the noise in the largest."""
    rng = np.random.default_rng(3)
    y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(40, 9))
    first = rng.random(40) < 0.7
    for i in range(6):
        X[first if i < 3 else ~first, i] += (i % 3 + 1) * y[first if i < 3 else ~first]
    return X * [1, 1, 1, 1, 1, 1, 20, 20, 20], y


@pytest.mark.parametrize("options", [{}, {"ridge": 0.1}], ids=str)
def test_the_finish_drops_that_feature_without_which_the_bound_is_least(options: dict[str, Any]) -> None:
    X, y = unscaled_problem()
    X = X[:, [1, 2, 4, 5, 6]]
    found = RadiusMargin(Linear(), finish=5, **options).fit(X, y)
    objective = objective_of(found, X - X.mean(axis=0), y, Linear())
    if options:
        objective = dataclasses.replace(objective, ridge=0.0, relative_ridge=0.1)
    left = tuple(range(5))
    for dropped in np.argsort(found.scores_)[:-1].tolist():
        without = {each: least_bound(objective, tuple(f for f in left if f != each)) for each in left}
        assert without[dropped] == pytest.approx(min(without.values()), rel=1e-3)
        left = tuple(f for f in left if f != dropped)


def test_the_finish_finds_the_best_of_all_pairs_where_halves_miss_it() -> None:
    X, y = unscaled_problem()
    halves, finished = (RadiusMargin(Linear(), finish=finish, n_features_to_select=2).fit(X, y) for finish in (1, 8))
    objective = objective_of(halves, X - X.mean(axis=0), y, Linear())
    by_pair = {pair: least_bound(objective, pair) for pair in itertools.combinations(range(9), 2)}
    best = min(by_pair, key=by_pair.__getitem__)
    assert best == (2, 5)
    assert tuple(np.flatnonzero(finished.support_).tolist()) == best
    assert tuple(np.flatnonzero(halves.support_).tolist()) != best


@every_ranker
def test_the_path_of_a_finish_goes_down_to_one_feature(ranker: type[BoundRanker]) -> None:
    X, y = nonlinear_problem()
    found = ranker(Gaussian(12.0), finish=4).fit(X, y)
    path = pd.DataFrame(found.diagnostics_["path"])
    assert path["n_active"].tolist() == [12, 6, 4, 3, 2, 1]
    for (_, before), (_, after) in itertools.pairwise(path.iloc[2:, 4:].iterrows()):
        (dropped,) = np.flatnonzero((before > 0) & (after == 0))
        assert found.scores_[dropped] == 13 - (before > 0).sum()


def radius_margin_of(X: np.ndarray, y: np.ndarray, ridge: float) -> float:
    """Squared radius over squared margin of a linear machine, by libsvm and scipy."""
    gram = X @ X.T + ridge * np.eye(len(X))
    squared_norm = np.abs(SVC(C=1e8, kernel="precomputed", tol=1e-8).fit(gram, y).dual_coef_).sum()

    def minus_radius(beta: np.ndarray) -> tuple[float, np.ndarray]:
        return beta @ gram @ beta - beta @ gram.diagonal(), 2 * gram @ beta - gram.diagonal()

    start = np.full(len(X), 1 / len(X))
    on_simplex = {"type": "eq", "fun": lambda beta: beta.sum() - 1, "jac": np.ones_like}
    ball = minimize(
        minus_radius,
        start,
        jac=True,
        bounds=Bounds(0, 1),
        constraints=on_simplex,
        options={"maxiter": 500, "ftol": 1e-10},
    )
    return float(-ball.fun * squared_norm)


def test_forward_search_adds_the_feature_with_which_the_bound_is_least() -> None:
    X, y = linear_problem(24, 1)
    found = RadiusMargin(Linear(), search="forward", finish=3).fit(X, y)
    order = np.argsort(found.ranking_)
    for n_added in range(3):
        added = order[:n_added].tolist()
        bounds = {
            feature: radius_margin_of(X[:, [*added, feature]], y, 1.0) for feature in range(7) if feature not in added
        }
        assert min(bounds, key=bounds.__getitem__) == order[n_added]
    del bounds[order[2]]
    assert sorted(bounds, key=bounds.__getitem__) == order[3:].tolist()
    path = pd.DataFrame(found.diagnostics_["path"])
    assert path["n_active"].tolist() == [1, 2, 3]
    assert path["n_evaluations"].tolist() == [7, 6, 5]
    assert path["bound"].iloc[-1] == pytest.approx(radius_margin_of(X[:, order[:3]], y, 1.0), rel=1e-4)


def test_forward_search_by_the_span_takes_the_fewest_predicted_errors() -> None:
    X, y = linear_problem(30, 2)
    found = Span(Linear(), search="forward", finish=2).fit(X, y)
    objective = objective_of(found, X, y, Linear())
    first, second = np.argsort(found.ranking_)[:2]
    alone = [objective.at(np.array([feature]), np.ones(1)).value for feature in range(8)]
    assert first == np.argmin(alone)
    beside = {
        feature: objective.at(np.array([first, feature]), np.ones(2)).value for feature in range(8) if feature != first
    }
    assert min(beside, key=beside.__getitem__) == second


def test_an_exhaustive_search_finds_the_best_of_252_subsets() -> None:
    X, y = linear_problem(30, 4)
    found = RadiusMargin(Linear(), search="exhaustive", finish=5, n_features_to_select=5).fit(X, y)
    objective = objective_of(found, X, y, Linear())
    subsets = [*itertools.combinations(range(10), 5)]
    assert len(subsets) == 252
    values = {each: objective.at(np.array(each), np.ones(5)).value for each in subsets}
    best = min(values, key=values.__getitem__)
    assert tuple(np.flatnonzero(found.support_).tolist()) == best
    assert values[best] == pytest.approx(radius_margin_of(X[:, best], y, 1.0), rel=1e-4)
    by_rank = np.argsort(found.ranking_)
    without = [objective.at(np.array([f for f in best if f != each]), np.ones(4)).value for each in by_rank[:5]]
    assert without == sorted(without, reverse=True)
    beside = [min(value for each, value in values.items() if feature in each) for feature in by_rank[5:]]
    assert beside == sorted(beside)
    for other in (RadiusMargin(finish=8), RadiusMargin(search="forward", finish=5), KernelSelection()):
        selected = tuple(np.sort(np.argsort(other.fit(X, y).ranking_)[:5]).tolist())
        assert values[selected] >= values[best]


@every_ranker
@pytest.mark.parametrize("search", ["forward", "exhaustive"])
def test_a_search_without_a_descent_refuses_what_it_has_no_use_for(ranker: type[BoundRanker], search: Any) -> None:
    X, y = nonlinear_problem()
    who = f"{ranker.method}: search '{search}'"
    with pytest.raises(ValueError, match=f"{who} needs a ridge; choose a finite C, or set ridge"):
        ranker(search=search, C=np.inf, kernel=Polynomial(4)).fit(X, y)
    with pytest.raises(ValueError, match=f"{who} has no descent for a penalty; leave out one"):
        ranker(search=search, penalty=1.0).fit(X, y)
    nothing = ranker(search=search, finish=3).fit(np.ones((6, 3)), [0, 0, 0, 1, 1, 1])
    assert nothing.scores_.tolist() == [0, 0, 0]


def test_an_exhaustive_search_of_too_many_subsets_is_refused_in_a_line() -> None:
    X, y = linear_problem()
    with pytest.raises(
        ValueError, match="would try 2,118,760 subsets of 5 features, more than 10,000; choose another"
    ) as said:
        RadiusMargin(search="exhaustive", finish=5).fit(X, y)
    assert "\n" not in str(said.value)


def test_a_relative_ridge_does_not_depend_on_the_unit_of_the_features() -> None:
    X, y = linear_problem(30, 6)
    paths = [RadiusMargin(ridge=0.1, finish=4).fit(unit * X, y).diagnostics_["path"] for unit in (1.0, 1024.0)]
    for name, column in paths[0].items():
        np.testing.assert_allclose(paths[1][name], column, rtol=1e-6)
    spread = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    relative, absolute = RadiusMargin(ridge=0.1, step=0.9), RadiusMargin(C=1 / (0.1 * spread), step=0.9)
    at_start = [
        objective_of(absolute, X, y, Linear(), relative_ridge=0.0),
        dataclasses.replace(objective_of(relative, X, y, Linear()), ridge=0.0, relative_ridge=0.1),
    ]
    at_start[0] = dataclasses.replace(at_start[0], ridge=0.1 * spread)
    values = [objective.at(np.arange(12), np.ones(12)).value for objective in at_start]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_where_a_hard_margin_is_lost_the_finish_leaves_the_rest_to_the_scales() -> None:
    X, y = linear_problem()
    found = RadiusMargin(C=np.inf, finish=8).fit(X, y)
    path = pd.DataFrame(found.diagnostics_["path"])
    assert path["n_active"].tolist()[:4] == [50, 25, 13, 8]
    kept = np.flatnonzero(path.iloc[-1, 4:].to_numpy() > 0)
    assert sorted(found.ranking_[kept]) == list(range(1, len(kept) + 1))
    for feature in kept:
        others = kept[kept != feature]
        assert hard_margin_machine(X[:, others] @ X[:, others].T, y, on_failure="flag").duality_gap == np.inf


def test_scales_that_run_to_their_limit_can_come_back() -> None:
    X, y = linear_problem()
    objective = objective_of(RadiusMargin(), X, y, Linear())
    features = np.array([2, 5, 20, 21])
    start = np.array([MIN_SCALE, MIN_SCALE, 1.0, 1.0])
    unit = objective.at(features, start).value
    found = descend(objective, features, start, unit=unit, penalty=NO_PENALTY, max_iterations=200)
    assert (found.s[:2] > 0.2).all()
    np.testing.assert_array_equal(found.s[2:], MIN_SCALE)
    assert (found.keys[2:] <= MIN_SCALE).all()
    assert (found.s <= MAX_SCALE).all()
    assert found.converged


def test_a_ridge_that_leaves_nothing_to_tell_becomes_relative() -> None:
    X, y = nonlinear_problem()
    objective = objective_of(RadiusMargin(), X, y, Polynomial(2))
    features, start = np.arange(12), np.ones(12)
    unit = objective.at(features, start).value
    collapsed = descend(objective, features, start, unit=unit, penalty=NO_PENALTY, max_iterations=200)
    assert collapsed.has_collapsed
    assert collapsed.bound == pytest.approx(len(X) - 1, rel=1e-3)
    relative = objective.relative(features, start)
    assert relative.at(features, start).value == pytest.approx(unit)
    small = relative.at(features, 1e-2 * start)
    assert small.value > len(X) - 1
    found = descend(relative, features, start, unit=unit, penalty=NO_PENALTY, max_iterations=200)
    assert not found.has_collapsed
    assert found.s[:2].min() > found.s[2:].max()
    flat = objective_of(RadiusMargin(), np.ones((4, 2)), np.array([0, 0, 1, 1]), Gaussian())
    assert flat.relative(np.arange(2), np.ones(2)) is flat


@pytest.mark.parametrize("ranker", [RadiusMargin, Span])
@pytest.mark.parametrize("kernel", [Polynomial(2), Gaussian(theta=8.0)], ids=repr)
def test_a_last_digit_of_the_samples_leads_to_the_same_scales(ranker: type[BoundRanker], kernel: Kernel) -> None:
    X, y = nonlinear_problem()
    nudged = X * (1.0 + 1e-15 * np.random.default_rng(0).standard_normal(X.shape))
    features, start = np.arange(X.shape[1]), np.ones(X.shape[1])
    first, second = (
        descend(
            objective_of(ranker(), each, y, kernel),
            features,
            start,
            unit=1.0,
            penalty=NO_PENALTY,
            max_iterations=30,
        )
        for each in (X, nudged)
    )
    assert first.n_evaluations > 3
    assert first.n_evaluations == second.n_evaluations
    np.testing.assert_array_equal(first.s, second.s)


@pytest.mark.parametrize("options", [{}, {"finish": 6}, {"search": "forward", "finish": 6}], ids=str)
def test_constant_features_go_first_and_copies_as_the_seed_draws(options: dict[str, Any]) -> None:
    X, y = linear_problem(30, 2)
    table = np.column_stack([np.full(30, 4.0), X[:, :3], X[:, 2], np.zeros(30)])
    found = [RadiusMargin(**options, tie_seed=seed).fit(table, y) for seed in range(4)]
    assert all(each.scores_[[0, 5]].tolist() == [0, 0] for each in found)
    assert len({bool(each.ranking_[3] < each.ranking_[4]) for each in found}) == 2
    nothing = RadiusMargin().fit(np.ones((6, 3)), [0, 0, 0, 1, 1, 1])
    assert nothing.scores_.tolist() == [0, 0, 0]


@every_ranker
def test_copies_of_samples_change_little(ranker: type[BoundRanker]) -> None:
    X, y = nonlinear_problem()
    twice = np.repeat(X, 2, axis=0)
    found = ranker(Gaussian(12.0), C=np.inf, n_features_to_select=2).fit(twice, np.repeat(y, 2))
    assert sorted(found.scores_) == list(range(1, 13))


@every_ranker
@pytest.mark.parametrize("X", [[[0.0], [1.0], [0.0], [1.0]], np.ones((4, 2))], ids=["one feature", "constant"])
def test_no_hard_margin_is_said_in_a_line(ranker: type[BoundRanker], X: np.ndarray) -> None:
    with pytest.raises(
        ValueError, match=rf"{ranker.method}: the classes are not separable .*; choose a finite C"
    ) as said:
        ranker(C=np.inf).fit(X, [0, 0, 1, 1])
    assert "\n" not in str(said.value)


def test_where_a_hard_margin_is_lost_the_last_scales_decide() -> None:
    X, y = linear_problem()
    found = RadiusMargin(C=np.inf).fit(X, y)
    path = pd.DataFrame(found.diagnostics_["path"])
    n_active = int(path["n_active"].iloc[-1])
    assert n_active > 2, "the two best features alone do not separate the classes"
    kept = np.flatnonzero(path.iloc[-1, 4:].to_numpy() > 0)
    assert sorted(found.ranking_[kept]) == list(range(1, n_active + 1))
    best = np.argsort(found.ranking_)[: max(n_active // 2, 1)]
    assert hard_margin_machine(X[:, best] @ X[:, best].T, y, on_failure="flag").duality_gap == np.inf


@every_ranker
def test_other_kernels_are_refused_by_name(ranker: type[BoundRanker]) -> None:
    with pytest.raises(ValueError, match="linear, polynomial and gaussian kernels, not for the laplace one"):
        ranker(Laplace()).fit(*nonlinear_problem())


@every_ranker
@pytest.mark.parametrize("C", [0.0, -1.0, np.nan])
def test_a_penalty_of_slack_that_is_none_is_refused(ranker: type[BoundRanker], C: float) -> None:
    with pytest.raises(ValueError, match=f"{ranker.method}: C must be > 0"):
        ranker(C=C).fit(*nonlinear_problem())


@every_ranker
def test_a_kernel_that_tells_no_samples_apart_is_refused_in_a_line(ranker: type[BoundRanker]) -> None:
    X, y = nonlinear_problem()
    with pytest.raises(ValueError, match=f"{ranker.method}: .*change the parameters") as said:
        ranker(Gaussian(1e300), C=1e300).fit(X, y)
    assert "\n" not in str(said.value)
