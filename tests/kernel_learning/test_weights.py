"""Learned weights against general conic solvers, and by their own certificates."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli.kernel_learning.alignment import align
from fsvm_cli.kernel_learning.base_kernels import GramMatrices, SingleFeatures
from fsvm_cli.kernel_learning.margin import LearnedSum, Margin
from fsvm_cli.kernel_learning.qcqp import learn_weights
from fsvm_cli.kernel_learning.sdp import learn_signed_weights, whitened
from fsvm_cli.svm import Gaussian, InfeasibleError, Linear, Polynomial
from fsvm_cli.svm.solvers.solve import solve
from tests.kernel_learning import conic_oracle
from tests.kernel_learning.conic_oracle import unit_diagonal

if TYPE_CHECKING:
    from collections.abc import Callable

MARGINS = [Margin("hard"), Margin("1-norm", 0.5), Margin("2-norm", 2.0), Margin("learned-2-norm")]
of_every_margin = pytest.mark.parametrize("margin", MARGINS, ids=lambda margin: margin.kind)
of_stated_margins = pytest.mark.parametrize("margin", MARGINS[:3], ids=lambda margin: margin.kind)


def problem(n: int = 24, n_other: int = 12, d: int = 5) -> tuple[list[np.ndarray], np.ndarray]:
    """Three kernels on training rows and others, and the labels of the former."""
    rng = np.random.default_rng(3)
    y = np.where(np.arange(n + n_other) % 2, 1.0, -1.0)
    X = rng.normal(size=(n + n_other, d))
    X[:, 0] += 0.8 * y
    grams = [unit_diagonal(kernel.gram(X, X)) for kernel in (Polynomial(2), Gaussian(2.0), Linear())]
    return grams, y[:n]


def machine_value(grams: list[np.ndarray], y: np.ndarray, margin: Margin, weights: np.ndarray) -> float:
    """Twice the machine's objective at some weights; infinite where there is no machine."""
    n = len(y)
    gram = np.tensordot(weights, np.array(grams)[:, :n, :n], 1)
    found = solve(margin.problem(gram, y), tolerance=1e-8, on_failure="flag")
    return 2.0 * found.objective if found.converged else np.inf


@of_every_margin
@pytest.mark.parametrize("n_other", [0, 12])
def test_the_qcqp_is_that_of_a_conic_solver(margin: Margin, n_other: int) -> None:
    grams, y = problem(n_other=n_other)
    found = learn_weights(GramMatrices.of(grams, len(y)), y, margin, tolerance=1e-7)
    expected = conic_oracle.qcqp(grams, y, margin)
    assert found.converged
    assert found.objective == pytest.approx(expected.value, rel=1e-6)
    assert found.objective * (1 - found.gap) <= expected.value * (1 + 1e-7)
    all_weights = np.append(found.weights, found.ridge) if margin.kind == "learned-2-norm" else found.weights
    np.testing.assert_allclose(all_weights, expected.weights, atol=2e-3)


@of_every_margin
def test_newton_steps_converge_as_newton_steps_do(margin: Margin) -> None:
    grams, y = problem()
    kernels = GramMatrices.of(grams, len(y))
    rough, exact = (learn_weights(kernels, y, margin, tolerance=tolerance) for tolerance in (1e-3, 1e-10))
    assert exact.converged
    assert exact.iterations <= rough.iterations + 6


def test_the_qcqp_is_that_of_scs() -> None:
    grams, y = problem()
    expected = conic_oracle.qcqp(grams, y, MARGINS[2], "SCS")
    found = learn_weights(GramMatrices.of(grams, len(y)), y, MARGINS[2])
    assert found.objective == pytest.approx(expected.value, rel=1e-3)


@of_stated_margins
def test_the_sdp_is_that_of_a_conic_solver(margin: Margin) -> None:
    grams, y = problem()
    found = learn_signed_weights(GramMatrices.of(grams, len(y)), y, margin, tolerance=1e-5)
    expected = conic_oracle.sdp(grams, y, margin)
    assert found.converged
    assert found.objective == pytest.approx(expected.value, rel=2e-5)
    assert found.objective * (1 - found.gap) <= expected.value * (1 + 1e-6)
    K = np.tensordot(found.weights, np.array(grams), 1)
    assert np.linalg.eigvalsh(K)[0] >= -1e-8
    assert np.trace(K) == pytest.approx(sum(np.trace(gram) for gram in grams))


def test_the_sdp_makes_use_of_weights_below_zero() -> None:
    grams, y = problem()
    kernels = GramMatrices.of(grams, len(y))
    signed, unsigned = (
        learn(kernels, y, MARGINS[0], tolerance=1e-6) for learn in (learn_signed_weights, learn_weights)
    )
    assert signed.weights.min() < -0.01
    assert signed.objective < unsigned.objective * (1 - 1e-3)


@of_every_margin
def test_no_weights_on_a_grid_lead_to_a_larger_margin(margin: Margin) -> None:
    grams, y = problem(n_other=0)
    if margin.kind == "learned-2-norm":
        grams = [*grams[:2], np.eye(len(y))]
        found = learn_weights(GramMatrices.of(grams[:2]), y, margin, tolerance=1e-6)
        margin = Margin("hard")
    else:
        found = learn_weights(GramMatrices.of(grams), y, margin, tolerance=1e-6)
    shares = [np.array(each) / 8 for each in itertools.product(range(9), repeat=3) if sum(each) == 8]
    values = [machine_value(grams, y, margin, 3.0 * each) for each in shares]
    assert found.objective <= min(values) * (1 + 1e-6)
    assert found.objective >= 0.8 * min(values)


@of_every_margin
def test_the_machine_is_that_of_the_weights(margin: Margin) -> None:
    grams, y = problem()
    found = learn_weights(GramMatrices.of(grams, len(y)), y, margin, tolerance=1e-5)
    n = len(y)
    gram = np.tensordot(found.weights, np.array(grams)[:, :n, :n], 1)
    coefficients = found.machine.alpha * y
    assert found.squared_norm == pytest.approx(coefficients @ gram @ coefficients)
    assert found.margin == pytest.approx(2 / np.sqrt(found.squared_norm))
    outputs = gram @ coefficients + found.ridge * coefficients + found.machine.bias
    free = (found.machine.alpha > 1e-9) & (found.machine.alpha < margin.bound - 1e-9)
    np.testing.assert_allclose(outputs[free], y[free], atol=1e-4)
    if margin.kind == "hard":
        assert found.squared_norm == pytest.approx(found.machine.alpha.sum(), rel=1e-5)


@pytest.mark.parametrize("margin", MARGINS[1:3], ids=lambda margin: margin.kind)
@pytest.mark.parametrize("learn", [learn_weights, learn_signed_weights])
@pytest.mark.parametrize("n_kernels", [1, 3])
def test_the_machine_has_reached_its_gap_where_no_step_leads_down_either(
    margin: Margin, learn: Callable[..., LearnedSum], n_kernels: int
) -> None:
    grams, y = problem(200)
    found = learn(GramMatrices.of(grams[:n_kernels], len(y)), y, margin, tolerance=1e-4)
    assert found.converged
    assert found.machine.duality_gap <= 1e-6


def test_features_need_no_matrices() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = np.where(X[:, 0] - X[:, 3] + rng.normal(size=60) > 0, 1.0, -1.0)
    margin = Margin("1-norm", 1.0)
    by_features = learn_weights(SingleFeatures.of(X), y, margin, tolerance=1e-7)
    by_matrices = learn_weights(GramMatrices.of([np.outer(x, x) for x in X.T]), y, margin, tolerance=1e-7)
    assert by_features.converged
    assert by_features.objective == pytest.approx(by_matrices.objective, rel=1e-6)
    np.testing.assert_allclose(by_features.weights, by_matrices.weights, atol=1e-2)


@pytest.mark.parametrize("kind", ["1-norm", "2-norm"])
def test_sixty_features_reach_their_gap(kind: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 60))
    y = np.where(X[:, :6].sum(axis=1) + rng.normal(size=80) > 0, 1.0, -1.0)
    found = learn_weights(SingleFeatures.of(X), y, Margin(kind, 0.5))
    assert found.converged
    assert found.iterations < 100
    assert found.weights.min() < 1e-3


def test_alignment_is_that_of_a_conic_solver() -> None:
    grams, y = problem()
    kernels, n = GramMatrices.of(grams, len(y)), len(y)
    found = align(kernels, y)
    assert found.value == pytest.approx(conic_oracle.alignment([gram[:n, :n] for gram in grams], y), rel=1e-6)
    assert found.gap <= 1e-9
    assert found.weights @ kernels.traces == pytest.approx(kernels.traces.sum())
    K = np.tensordot(found.weights, kernels.training, 1)
    assert found.value == pytest.approx(y @ K @ y / (n * np.linalg.norm(K)))


def test_centred_alignment_is_that_of_centred_kernels() -> None:
    grams, y = problem(n_other=0)
    H = np.eye(len(y)) - 1 / len(y)
    centred = [H @ gram @ H for gram in grams]
    found = align(GramMatrices.of(grams), y, centre=True)
    assert found.value == pytest.approx(align(GramMatrices.of(centred), y).value, rel=1e-9)
    assert found.value > align(GramMatrices.of(grams), y).value


def test_a_constant_kernel_is_as_nothing_once_it_is_centred() -> None:
    grams, y = problem(n_other=0)
    uncentred = align(GramMatrices.of([grams[0], np.ones_like(grams[0])]), y, centre=True)
    assert uncentred.weights[1] == 0.0


def learned_by(learn: str, grams: list[np.ndarray], y: np.ndarray, margin: Margin) -> LearnedSum:
    method = {"qcqp": learn_weights, "sdp": learn_signed_weights}[learn]
    return method(GramMatrices.of(grams, len(y)), y, margin, tolerance=1e-6)


@pytest.mark.parametrize("rank", [9, 40])
def test_whitened_kernels_add_up_to_the_identity(rank: int) -> None:
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(3, 20, rank))
    roots[:, :, : 20 // 2] *= 10.0
    if rank < 20:
        roots[1:] = roots[0] @ rng.normal(size=(2, rank, rank))
    grams = roots @ roots.transpose(0, 2, 1)
    shares = np.array([0.2, 0.5, 0.3])
    white, root = whitened(grams, shares)
    np.testing.assert_allclose(root.T @ grams @ root, white, atol=1e-9)
    assert white.shape == (3, min(rank, 20), min(rank, 20))
    np.testing.assert_allclose(np.tensordot(shares, white, 1), np.eye(min(rank, 20)), atol=1e-9)
    # A sum of kernels has a negative eigenvalue where that of the whitened ones has one.
    for weights in ([1.0, -0.05, 0.1], [-0.01, 1.0, 1.0], [1.0, 1.0, -2.0]):
        least = np.linalg.eigvalsh(np.tensordot(weights, grams, 1))[0]
        least_white = np.linalg.eigvalsh(np.tensordot(weights, white, 1))[0]
        assert (least < -1e-6) == (least_white < -1e-9)


both = pytest.mark.parametrize("learn", ["qcqp", "sdp"])


@both
def test_copies_of_a_kernel_change_nothing(learn: str) -> None:
    grams, y = problem()
    alone = learned_by(learn, grams, y, MARGINS[0])
    copied = learned_by(learn, [*grams, grams[1], 7.0 * grams[1]], y, MARGINS[0])
    assert copied.converged
    # The sum has the trace of all kernels, which is now 11 and not 3 times that of one; a hard margin grows with it.
    assert copied.objective * 11 / 3 == pytest.approx(alone.objective, rel=1e-5)
    total = copied.weights[:3] + np.array([0.0, copied.weights[3] + 7.0 * copied.weights[4], 0.0])
    np.testing.assert_allclose(total * 3 / 11, alone.weights, atol=5e-3)


@both
def test_a_zero_kernel_has_no_weight_and_changes_nothing(learn: str) -> None:
    grams, y = problem()
    alone = learned_by(learn, grams, y, MARGINS[1])
    with_zero = learned_by(learn, [grams[0], np.zeros_like(grams[0]), *grams[1:]], y, MARGINS[1])
    assert with_zero.weights[1] == 0.0
    assert with_zero.converged
    np.testing.assert_allclose(np.delete(with_zero.weights, 1), alone.weights, atol=1e-3)


@both
def test_one_kernel_keeps_its_own_weight(learn: str) -> None:
    grams, y = problem()
    assert learned_by(learn, grams[1:2], y, MARGINS[0]).weights == pytest.approx([1.0])


@both
def test_classes_that_nothing_separates_have_no_hard_margin(learn: str) -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(InfeasibleError, match="not separable"):
        learned_by(learn, [X @ X.T, 2 * X @ X.T], y, Margin("hard"))
    same = np.ones((4, 4))
    with pytest.raises(InfeasibleError, match="not separable"):
        learned_by(learn, [same], y, Margin("hard"))


def test_a_kernel_that_separates_is_found_among_those_that_do_not() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.5]])
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    grams = [X @ X.T, Gaussian(0.5).gram(X, X)]
    for learn in ("qcqp", "sdp"):
        found = learned_by(learn, grams, y, Margin("hard"))
        assert found.converged
        assert found.weights[1] > 0.0


@pytest.mark.parametrize(
    ("grams", "message"),
    [
        ([np.diag([1.0, 1.0, -0.01])], "Gram matrix of base kernel 1 is indefinite"),
        ([np.eye(3), np.ones((3, 3)) - 1.1 * np.eye(3)], "Gram matrix of base kernel 2 is indefinite"),
        ([np.eye(3), np.triu(np.ones((3, 3)))], "base kernel 2 is not symmetric"),
        ([np.eye(3), np.full((3, 3), np.nan)], "base kernel 2 holds values that are not finite"),
        ([np.zeros((3, 3))], "all base kernels are zero"),
        ([], "Gram matrices of one size are needed"),
        ([np.eye(3)[:2]], "Gram matrices of one size are needed"),
    ],
)
def test_matrices_that_are_no_kernels_are_refused(grams: list[np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GramMatrices.of(grams)


def test_semidefinite_up_to_rounding_is_semidefinite() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    GramMatrices.of([X @ X.T, Gaussian(1e4).gram(X, X), np.zeros((50, 50))])


def test_labels_that_no_kernel_resembles_are_refused() -> None:
    y = np.array([1.0, -1.0])
    with pytest.raises(ValueError, match="no base kernel is aligned"):
        align(GramMatrices.of([np.ones((2, 2))]), y)


@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, np.inf])
def test_a_soft_margin_needs_a_price(C: float) -> None:
    with pytest.raises(ValueError, match="C must be a finite number > 0 with the 1-norm margin"):
        Margin("1-norm", C)


def test_a_learned_ridge_is_refused_with_weights_of_either_sign() -> None:
    grams, y = problem()
    with pytest.raises(ValueError, match="learned with weights that are not negative only"):
        learned_by("sdp", grams, y, MARGINS[3])
