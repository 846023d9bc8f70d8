"""What a machine's first and second derivatives by the shares promise, against machines at other shares."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli.kernel_learning.base_kernels import GramMatrices
from fsvm_cli.kernel_learning.margin import Margin
from fsvm_cli.kernel_learning.qcqp import Expansion, learn_weights
from fsvm_cli.kernel_learning.trained import Trainer
from fsvm_cli.svm import Gaussian, Linear, Polynomial
from tests.kernel_learning.conic_oracle import unit_diagonal

of_stated_margins = pytest.mark.parametrize(
    "margin", [Margin("hard"), Margin("1-norm", 0.5), Margin("2-norm", 2.0)], ids=lambda margin: margin.kind
)
SHARES = np.array([0.3, 0.5, 0.2])
DIRECTION = np.array([0.4, -1.0, 0.6])


def trainer_of(margin: Margin, n: int = 40) -> Trainer:
    rng = np.random.default_rng(5)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.normal(size=(n, 4))
    X[:, 0] += y
    grams = [unit_diagonal(kernel.gram(X, X)) for kernel in (Polynomial(2), Gaussian(1.0), Linear())]
    return Trainer(GramMatrices.of(grams), y, margin, 1e-12)


@of_stated_margins
def test_derivatives_are_those_of_machines_nearby(margin: Margin) -> None:
    trainer, step = trainer_of(margin), 1e-5
    point = trainer.at(SHARES)
    expansion = Expansion.of(point, trainer.y, margin)
    after, before = (trainer.at(SHARES + sign * step * DIRECTION) for sign in (1.0, -1.0))
    slope = (after.upper - before.upper) / (2 * step)
    assert slope == pytest.approx(point.slopes @ DIRECTION, rel=1e-5)
    second = (after.slopes - before.slopes) / (2 * step)
    np.testing.assert_allclose(expansion.curvature @ DIRECTION, second, rtol=1e-4, atol=1e-6 * np.abs(second).max())
    promised = expansion.alpha_after(step * DIRECTION)
    assert np.abs(promised - after.machine.alpha).max() < 1e-3 * np.abs(promised - point.machine.alpha).max()


@of_stated_margins
@pytest.mark.parametrize("length", [1e-3, 0.1, 0.49])
def test_what_a_step_promises_is_feasible_and_bounds_every_value_from_below(margin: Margin, length: float) -> None:
    trainer = trainer_of(margin)
    promised = Expansion.of(trainer.at(SHARES), trainer.y, margin).alpha_after(length * DIRECTION)
    assert promised.min() >= 0.0
    assert promised.max() <= margin.bound
    assert trainer.y @ promised == pytest.approx(0.0, abs=1e-9 * promised.sum())
    lower = trainer.lower_bound(promised)
    values = [trainer.at(shares).upper for shares in (SHARES, np.full(3, 1 / 3), *(0.9 * np.eye(3) + 1 / 30))]
    assert 0.0 < lower <= min(values)


def test_an_alpha_without_free_samples_does_not_move() -> None:
    trainer = trainer_of(Margin("1-norm", 1e-6))
    point = trainer.at(SHARES)
    expansion = Expansion.of(point, trainer.y, trainer.margin)
    assert not expansion.curvature.any()
    np.testing.assert_array_equal(expansion.alpha_after(DIRECTION), point.machine.alpha)


def test_a_kernel_of_no_use_is_out_after_few_machines() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 + 0.3 * rng.normal(size=80) > 1.4, 1.0, -1.0)
    # Beside the first kernel the second has no part in the optimum; its share falls by a limited part in each step.
    grams = [Gaussian(1.5).gram(X[:, :3], X[:, :3]), Gaussian(3.0).gram(X[:, :2], X[:, :2]), X[:, 3:] @ X[:, 3:].T]
    found = learn_weights(GramMatrices.of(grams), y, Margin("1-norm", 1.0), tolerance=1e-5)
    assert found.converged
    assert found.weights[1] < 1e-3
    assert found.iterations <= 5
