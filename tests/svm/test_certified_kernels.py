"""Bounds on the distance of a machine with a kernel from the optimum, against machines in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli import certify
from fsvm_cli.svm import Gaussian, Laplace, Linear, Polynomial, WeightedSum
from fsvm_cli.svm.kernels.derivative_bounds import derivatives, has_derivative_bounds
from tests.svm.exact_kernel_machines import exact_machine, kernel_samples, located, rational_gram, trained
from tests.svm.exact_machines import ROUNDING

if TYPE_CHECKING:
    from fsvm_cli.svm.kernels.additive import AdditiveKernel


@pytest.mark.parametrize("repairs", [0, 2])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_no_exact_machine_is_outside_its_bounds(tolerance: float, repairs: int) -> None:
    ratios, known = [], 0
    for seed in range(16):
        outcome = located(seed, tolerance, repairs=repairs)
        if outcome is None:
            continue
        known += 1
        error, radius = outcome
        assert error <= radius, seed
        if error > ROUNDING:
            ratios.append(radius / error)
    assert known > 8
    if not repairs:
        assert np.median(ratios) < 10.0


def test_certified_predictions_and_biases_are_those_of_exact_machines() -> None:
    known = 0
    for seed in range(12):
        X, y, C, kernel = kernel_samples(seed)
        gram = rational_gram(kernel, X)
        exact = exact_machine(gram, y, C)
        machine, _ = trained(X, y, C, kernel, 1e-2)
        found = certify(machine, X, y)
        (own,) = found.machines
        if exact is None:
            continue
        known += 1
        assert own.bias[0] <= exact.bias <= own.bias[1], seed
        outputs = [sum((a * b for a, b in zip(row, exact.c, strict=True)), exact.bias) for row in gram]
        wrong = np.array([value > 0 for value in outputs]) != (machine.decision_function(X) > 0)
        np.testing.assert_array_equal(found.other_predictions, np.flatnonzero(wrong & found.decided_predictions))
        assert own.radius < 1e-6 * own.norm or not found.decided_predictions.all()
    assert known > 6


KERNELS = [
    Linear(),
    Linear(weights=(0.5, 2.0, 1.0)),
    Polynomial(1),
    Polynomial(3, offset=0.5, scale=0.25, weights=(1.0, 0.0, 2.0)),
    Gaussian(2.0),
    Gaussian(0.5, weights=(1.0, 3.0, 0.0)),
]


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_derivatives_and_their_lengths_are_those_of_the_kernel(kernel: AdditiveKernel, offset: float) -> None:
    rng = np.random.default_rng(0)
    X, c = rng.standard_normal((9, 3)) + offset, rng.standard_normal(9)
    c[2] = 0.0
    points = np.array([0, 2, 5])
    found = derivatives(kernel, X, c, points)
    gradient = kernel.input_gradient(X, X[points], c)
    assert (np.abs(found.values - gradient) <= 2.0 * found.rounding + 1e-9 * np.abs(gradient)).all()
    if not offset:
        step = 1e-4
        for j in range(3):
            moved = np.eye(3)[j] * step
            both = np.vstack([X[points] + moved, X[points] - moved])
            G = kernel.gram(both, both)
            second = (np.diag(G[:3, :3]) + np.diag(G[3:, 3:]) - 2.0 * np.diag(G[:3, 3:])) / (2.0 * step) ** 2
            np.testing.assert_allclose(found.lengths[:, j] ** 2, second, rtol=1e-5, atol=1e-6)


def test_rounding_of_derivatives_is_within_its_bound() -> None:
    X = np.random.default_rng(1).integers(-400, 400, (12, 3)) * 2.0**-6 + 100.0
    c = np.random.default_rng(2).integers(-50, 50, 12) * 2.0**-5
    kernel, points = Polynomial(3, offset=1.0, scale=0.5), np.arange(12)
    found = derivatives(kernel, X, c, points)
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    for k, row in enumerate(rows):
        for j in range(3):
            exact = Fraction(0)
            for factor, other in zip(c.tolist(), rows, strict=True):
                inner = 1 + Fraction(1, 2) * sum(a * b for a, b in zip(row, other, strict=True))
                exact += Fraction(factor) * Fraction(3, 2) * inner**2 * other[j]
            assert abs(Fraction(found.values[k, j]) - exact) <= Fraction(found.rounding[k, j])


def test_of_other_kernels_no_bound_is_known() -> None:
    assert all(map(has_derivative_bounds, KERNELS))
    assert not any(map(has_derivative_bounds, [Laplace(1.0), WeightedSum((Gaussian(1.0),), (2.0,))]))
