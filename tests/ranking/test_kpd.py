"""Kernel parameter descent: derivatives by finite differences, what holds along the path, the choice of C2 and θ."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from fsvm_cli.ranking.content import content_order
from fsvm_cli.ranking.kernel_descent import (
    DescentPath,
    DescentSettings,
    Objective,
    Penalty,
    Point,
    descend,
    kernel_at,
    starting_weights,
    survival,
)
from fsvm_cli.ranking.kpd import KernelParameterDescent
from fsvm_cli.svm import SVM, Gaussian, Kernel, Laplace, Linear, Polynomial, predict_codes


def curved_classes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(31)
    X = rng.normal(size=(50, 6))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=50) > 0.8, 1.0, -1.0)


X, Y = curved_classes()
KERNELS = [Gaussian(theta=8.0), Laplace(theta=5.0), Polynomial(degree=2), Polynomial(degree=3, offset=4.0, scale=0.5)]
PENALTIES = [Penalty("l0", 0.7, 3.0), Penalty("l1", 0.7, 3.0), Penalty("l2", 0.7, 3.0)]
SETTINGS = DescentSettings(
    threshold=0.01,
    max_step=np.inf,
    inner_iterations=1,
    relative_change=1e-3,
    absolute_change=1e-6,
    max_iterations=500,
)
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: penalty.name)


def objective_of(kernel: Kernel, penalty: Penalty, variant: str = "saddle") -> Objective:
    return Objective(X, Y, kernel, 1.0, penalty, variant, 1e-11, "auto")


def central_differences(function, v: np.ndarray, step: float = 1e-5) -> np.ndarray:
    shifts = step * np.eye(len(v))
    return np.array([(function(v + shift) - function(v - shift)) / (2 * step) for shift in shifts])


@every_kernel
@every_penalty
def test_the_gradient_is_that_of_the_saddle_objective(
    rng: np.random.Generator, kernel: Kernel, penalty: Penalty
) -> None:
    objective = objective_of(kernel, penalty)
    v = starting_weights(kernel, 6) * rng.uniform(0.5, 1.5, size=6)
    total = v.sum()

    def value(weights: np.ndarray) -> float:
        scale = total / weights.sum() if objective.keeps_total else 1.0
        return objective.at(scale * weights, np.zeros(50)).objective

    gradient = objective.gradient(objective.at(v, np.zeros(50)))
    np.testing.assert_allclose(gradient, central_differences(value, v), rtol=1e-4, atol=1e-5)


@every_kernel
@every_penalty
def test_as_printed_the_gradient_is_that_of_equation_14_at_fixed_alpha(
    rng: np.random.Generator, kernel: Kernel, penalty: Penalty
) -> None:
    objective = objective_of(kernel, penalty, "as-printed")
    v = starting_weights(kernel, 6) * rng.uniform(0.5, 1.5, size=6)
    point = objective.at(v, np.zeros(50))
    signed = point.alpha * Y

    def value(weights: np.ndarray) -> float:
        return 0.5 * signed @ kernel_at(kernel, weights).gram(X, X) @ signed + penalty.value(weights)

    assert point.objective == pytest.approx(value(v), rel=1e-9)
    gradient = objective.gradient(point)
    np.testing.assert_allclose(gradient, central_differences(value, v), rtol=1e-6, atol=1e-6)


def test_the_saddle_objective_is_the_dual_optimum_and_the_penalty() -> None:
    objective = objective_of(KERNELS[0], PENALTIES[0])
    v = starting_weights(KERNELS[0], 6)
    svm = SVM(KERNELS[0], 1.0, 1e-11).fit(X, Y)
    gram = KERNELS[0].gram(svm.support_vectors_, svm.support_vectors_)
    dual = np.abs(svm.dual_coef_[0]).sum() - 0.5 * svm.dual_coef_[0] @ gram @ svm.dual_coef_[0]
    expected = dual + 0.7 * np.sum(1 - np.exp(-3.0 * v))
    assert objective.at(v, np.zeros(50)).objective == pytest.approx(expected, rel=1e-9)


def in_own_units(kernel: Kernel, v: np.ndarray) -> tuple[float, ...]:
    """Return the weights of the kernel for those of kpd2018, by its formulas."""
    if isinstance(kernel, Polynomial):
        return tuple(v / kernel.scale)
    return tuple(kernel.theta * (v**2 / 2 if isinstance(kernel, Gaussian) else v))


def as_in_the_paper(kernel: Kernel, v: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    if isinstance(kernel, Polynomial):
        return (kernel.offset + np.einsum("ij,j,kj->ik", A, v, B)) ** kernel.degree
    differences = A[:, None, :] - B
    if isinstance(kernel, Gaussian):
        return np.exp(-0.5 * np.sum((v * differences) ** 2, axis=2))
    return np.exp(-np.abs(differences) @ v)


@every_kernel
def test_the_machine_on_the_path_is_the_svm_with_the_kernel_at_the_weights_there(kernel: Kernel) -> None:
    objective = objective_of(kernel, Penalty("l0", 3.0, 3.0))
    path = descend(objective, starting_weights(kernel, 6), SETTINGS)
    last = [np.flatnonzero(path.n_active == n_active)[-1] for n_active in np.unique(path.n_active) if n_active]
    assert len(last) > 1, "the descent drops features"
    new = np.random.default_rng(5).normal(size=(30, 6))
    for place in last:
        v = path.weights[place]
        active = np.flatnonzero(v)
        svm = SVM(replace(kernel, weights=in_own_units(kernel, v[active])), 1.0, 1e-11).fit(X[:, active], Y)
        dual, support = svm.dual_coef_[0], svm.support_
        fit = np.abs(dual).sum() - 0.5 * dual @ as_in_the_paper(kernel, v, X[support], X[support]) @ dual
        assert path.objective[place] == pytest.approx(fit + objective.penalty.value(v), rel=1e-8)
        signed = objective.at(v, np.zeros(50)).alpha * Y
        free = (np.abs(signed) > 1e-3) & (np.abs(signed) < 1 - 1e-3)
        outputs = signed @ as_in_the_paper(kernel, v, X, np.vstack([X[free], new]))
        bias = np.mean(Y[free] - outputs[: free.sum()])
        np.testing.assert_allclose(svm.decision_function(new[:, active]), outputs[free.sum() :] + bias, atol=1e-4)


@pytest.mark.parametrize("weights", [None, (0.5, 1.0, 2.0, 0.1, 1.0, 3.0)])
@every_kernel
def test_the_descent_begins_at_the_given_kernel(kernel: Kernel, weights: tuple[float, ...] | None) -> None:
    given = replace(kernel, weights=weights)
    np.testing.assert_allclose(kernel_at(given, starting_weights(given, 6)).gram(X, X), given.gram(X, X), rtol=1e-12)


@every_kernel
@every_penalty
@pytest.mark.parametrize("inner_iterations", [1, 4])
def test_the_saddle_objective_falls_along_the_path(kernel: Kernel, penalty: Penalty, inner_iterations: int) -> None:
    start = starting_weights(kernel, 6)
    settings = replace(SETTINGS, threshold=0.01 * start[0], inner_iterations=inner_iterations)
    # What rounding may do to the values of a polynomial exceeds the gap of the other tests.
    path = descend(replace(objective_of(kernel, penalty), tolerance=1e-9), start, settings)
    assert path.converged
    assert len(path.objective) > 3
    assert (np.diff(path.objective) <= 0).all()
    assert path.objective[-1] < path.objective[0]
    np.testing.assert_array_equal(path.weights[0], start)
    np.testing.assert_array_equal(path.n_active, np.count_nonzero(path.weights, axis=1))
    assert (np.diff(path.weights != 0, axis=0).astype(int) * (path.weights[1:] != 0) == 0).all(), "one came back"
    assert (path.weights[path.weights > 0] >= min(settings.threshold, start[0])).all()
    if isinstance(kernel, Polynomial):
        np.testing.assert_allclose(path.weights.sum(axis=1), start.sum(), rtol=1e-12)


def test_the_first_step_moves_the_median_weight_by_the_threshold() -> None:
    start = starting_weights(KERNELS[0], 6)
    settings = replace(SETTINGS, threshold=0.002)
    path = descend(objective_of(KERNELS[0], PENALTIES[0]), start, settings)
    assert np.median(np.abs(path.weights[1] - path.weights[0])) == pytest.approx(0.002, abs=settings.spacing)


def test_no_step_is_longer_than_the_largest() -> None:
    objective, start = objective_of(KERNELS[0], PENALTIES[0]), starting_weights(KERNELS[0], 6)
    gradient = objective.gradient(objective.at(start, np.zeros(50)))
    largest = 0.5 * SETTINGS.threshold / np.median(np.abs(gradient))
    path = descend(objective, start, replace(SETTINGS, max_step=0.5, relative_change=0.0, max_iterations=40))
    np.testing.assert_allclose(path.weights[1], start - largest * gradient, rtol=0, atol=SETTINGS.spacing)
    for before, after in itertools.pairwise(path.weights):
        gradient = objective.gradient(objective.at(before, np.zeros(50)))
        rounding = SETTINGS.spacing / 2 * np.sqrt(6)
        assert np.linalg.norm(after - before) <= largest * np.linalg.norm(gradient[before > 0]) * (1 + 1e-6) + rounding
    free = descend(objective, start, replace(SETTINGS, relative_change=0.0, max_iterations=40))
    steps = [np.median(np.abs(np.diff(found.weights, axis=0)[-1])) for found in (path, free)]
    assert steps[0] < 0.5 * steps[1], "the automatic step grows as the slopes fall, the bound does not"


@pytest.mark.parametrize("rule", [{"relative_change": 0.05}, {"absolute_change": 0.1}])
def test_either_rule_ends_the_descent(rule: dict[str, float]) -> None:
    objective, start = objective_of(KERNELS[0], PENALTIES[0]), starting_weights(KERNELS[0], 6)
    none = replace(SETTINGS, relative_change=0.0, absolute_change=0.0, max_iterations=3)
    assert not descend(objective, start, none).converged
    path = descend(objective, start, replace(none, **rule))
    assert path.converged
    assert len(path.objective) == 2


def test_it_ends_when_no_feature_is_left() -> None:
    path = descend(objective_of(KERNELS[0], Penalty("l1", 1e4, 1.0)), starting_weights(KERNELS[0], 6), SETTINGS)
    assert path.n_active[-1] == 0
    assert path.converged


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_last_digit_of_the_samples_leads_along_the_same_path(kernel: Kernel) -> None:
    nudged = X * (1.0 + 1e-15 * np.random.default_rng(0).standard_normal(X.shape))
    first, second = (
        descend(
            Objective(each, Y, kernel, 1.0, PENALTIES[0], "saddle", 1e-11, "auto"),
            starting_weights(kernel, 6),
            replace(SETTINGS, relative_change=1e-4),
        )
        for each in (X, nudged)
    )
    assert len(first.weights) > 10
    np.testing.assert_allclose(first.weights, second.weights, rtol=4 * np.finfo(float).eps)


def test_the_printed_objective_gives_up_the_features_that_matter(rng: np.random.Generator) -> None:
    informative = np.column_stack([Y + 0.3 * rng.normal(size=50), rng.normal(size=(50, 5))])
    for kernel in KERNELS:
        printed, saddle = (
            KernelParameterDescent(kernel, variant=variant).fit(informative, Y) for variant in ("as-printed", "saddle")
        )
        assert saddle.ranking_[0] == 1
        assert printed.ranking_[0] > 3


def test_features_are_ordered_by_when_they_go_and_then_by_weight() -> None:
    weights = np.array([[1, 1, 1, 1, 0], [0, 0.5, 0.8, 1, 0], [0, 0, 0, 2, 0.0]])
    path = DescentPath(weights, np.zeros(3), np.array([4, 3, 1]), converged=True)
    np.testing.assert_allclose(survival(path), np.array([1, 1.5, 1.8, 3, 0]) / 3)


def test_several_classes_are_averaged_one_against_the_rest() -> None:
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    ranker = KernelParameterDescent(Gaussian(theta=8.0)).fit(X, y)
    alone = [KernelParameterDescent(Gaussian(theta=8.0)).fit(X, y == code).scores_ for code in range(3)]
    assert len(ranker.path_) == 3
    np.testing.assert_allclose(ranker.scores_, np.mean(alone, axis=0), rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_strength_and_step_are_chosen_by_cross_validation_on_the_training_data(n_classes: int) -> None:
    rng = np.random.default_rng(8)
    data = rng.normal(size=(30, 3))
    y = np.digitize(data[:, 0] + 0.3 * rng.normal(size=30), [0.0] if n_classes == 2 else [-0.5, 0.5])
    rows = content_order(data, y).rows
    data, y = data[rows], y[rows]
    settings = {"kernel": Gaussian(theta=4.0), "threshold": 0.05, "relative_change": 0.01}

    @functools.cache
    def n_right(strength: float, max_step: float | str) -> int:
        right = 0
        for train, test in StratifiedKFold(3, shuffle=True, random_state=1).split(data, y):
            paths = (
                KernelParameterDescent(strength=strength, max_step=max_step, **settings)
                .fit(data[train], y[train])
                .path_
            )
            decision = []
            for code, path in zip([1] if n_classes == 2 else range(3), paths, strict=True):
                svm = SVM(kernel_at(settings["kernel"], path.weights[-1])).fit(data[train], y[train] == code)
                decision.append(svm.decision_function(data[test]))
            # Machines without features tie, and the tie has a rule.
            predicted = predict_codes(np.array(decision), np.bincount(y[train]), 1e-5)
            right += np.count_nonzero(predicted == y[test])
        return right

    # max takes the first of equals.
    strengths = {strength: n_right(strength, "automatic") for strength in (3000.0, 30.0, 0.01)}
    strength = max(strengths, key=strengths.get)
    steps = {step: n_right(strength, step) for step in ("automatic", 0.4, 0.2)}
    best = strength, max(steps, key=steps.get)
    assert len(set(strengths.values())) > 1
    assert len(set(steps.values())) > 1
    ranker = KernelParameterDescent(
        strength=(0.01, 30.0, 3000.0), max_step=(0.2, "automatic", 0.4), random_state=1, **settings
    ).fit(data, y)
    assert (ranker.strength_, ranker.max_step_) == best
    assert {name: ranker.chosen_[name] for name in ("strength", "max_step")} == {
        "strength": best[0],
        "max_step": best[1],
    }
    alone = KernelParameterDescent(strength=best[0], max_step=best[1], **settings).fit(data, y)
    np.testing.assert_array_equal(ranker.scores_, alone.scores_)
    assert list(alone.chosen_) == ["n_active"]


@every_kernel
def test_the_strength_is_free_of_the_scale_of_the_kernel(kernel: Kernel) -> None:
    ranker = KernelParameterDescent(kernel, C=1.0, strength=2.0).fit(X, Y)
    start = objective_of(kernel, Penalty("l0", 0.0, 1.0)).at(starting_weights(kernel, 6), np.zeros(50)).objective
    expected = start + 2.0 * start / 6 * np.sum(1 - np.exp(-5.0 * np.ones(6)))
    assert ranker.path_[0].objective[0] == pytest.approx(expected, rel=1e-5)


def test_more_folds_than_samples_of_a_class_are_refused() -> None:
    y = np.arange(50) < 3
    with pytest.raises(ValueError, match=r"kpd: folds is 4; .* the smallest class has 3 samples"):
        KernelParameterDescent(strength=(1.0, 2.0), folds=4).fit(X, y)


def test_a_kernel_without_weights_in_the_paper_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="not for the linear one"):
        KernelParameterDescent(Linear()).fit(X, Y)


class Uphill:
    """An objective that rises wherever the descent goes, with a limit on how often it may be asked."""

    y = Y
    variant = "saddle"
    keeps_total = False

    def __init__(self, rise: float) -> None:
        self.rise, self.asked = rise, 0

    def at(self, v: np.ndarray, alpha: np.ndarray) -> Point:
        self.asked += 1
        assert self.asked < 5_000, "the descent does not end"
        return Point(v, np.zeros((len(Y), len(Y))), alpha, self.rise * self.asked, True)

    def gradient(self, point: Point) -> np.ndarray:
        return np.full_like(point.v, self.rise)


def test_a_descent_without_stopping_rules_ends_where_steps_move_nothing() -> None:
    endless = replace(SETTINGS, relative_change=0.0, absolute_change=0.0)
    path = descend(Uphill(1.0), np.ones(6), endless)
    np.testing.assert_array_equal(path.weights, np.ones((1, 6)))


def test_a_derivative_that_is_not_a_number_ends_the_descent() -> None:
    with pytest.raises(FloatingPointError, match="not a number"):
        descend(Uphill(np.nan), np.ones(6), SETTINGS)


@pytest.mark.parametrize("names", [None, ["a", "b", "c"]])
def test_diagnostics_hold_the_descents_of_all_machines(names: list[str] | None) -> None:
    data = X[:40, :3]
    y = np.digitize(data[:, 0], [-0.5, 0.5])
    ranker = KernelParameterDescent(Gaussian(theta=8.0)).fit(pd.DataFrame(data, columns=names) if names else data, y)
    table = pd.DataFrame(ranker.diagnostics_["path"])
    weights = [f"weight of {name}" for name in names or ["x0", "x1", "x2"]]
    assert list(table) == ["machine", "iteration", "objective", "n_active", *weights]
    for machine, path in enumerate(ranker.path_):
        rows = table[table["machine"] == machine]
        assert rows["iteration"].tolist() == list(range(len(path.objective)))
        np.testing.assert_array_equal(rows["objective"], path.objective)
        np.testing.assert_array_equal(rows["n_active"], path.n_active)
        np.testing.assert_array_equal(rows[weights], path.weights)


def test_it_tells_how_many_features_are_active_when_the_descents_end() -> None:
    ranker = KernelParameterDescent(kernel="gaussian", strength=3.0).fit(X, Y)
    assert ranker.chosen_ == {"n_active": int(ranker.path_[0].n_active[-1])}
    assert ranker.chosen_["n_active"] < X.shape[1]
