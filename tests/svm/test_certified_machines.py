"""The gap that a machine states is that of what it predicts, in extended precision.

``python -m tests.svm.certified_machines`` tries many more.
"""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli import SVM, Gaussian
from fsvm_cli.svm import DualProblem, Kernel, Laplace, Polynomial, Tanh, UnitDiagonal, WeightedSum, solve
from tests.svm.certified_machines import TOLERANCE, UNIT, hostile_task, long_gram, trained, true_gap

PARTS = 6
UNDERFLOW = 1e-300


@pytest.mark.parametrize("part", range(PARTS))
def test_no_machine_states_less_than_the_gap_of_what_it_predicts(part):
    converged = 0
    for seed in range(part, 60, PARTS):
        task = hostile_task(seed)
        machine = trained(task)
        true, blur = true_gap(machine, task.X, task.y, task.C, task.kernel)
        assert true - blur <= machine.duality_gap_[0], seed
        assert (machine.duality_gap_[0] <= TOLERANCE) == machine.converged_[0]
        converged += int(machine.converged_[0])
    assert converged >= 5


KERNELS = [
    Gaussian(0.5, weights=(2.0, 1.0, 0.5)),
    Laplace(3.0),
    Polynomial(3),
    UnitDiagonal(Polynomial(2)),
    WeightedSum((Gaussian(1.0), Laplace(2.0)), (3.0, -1.0), free_sign=True),
]


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernel_values_lie_within_what_rounding_is_said_to_do(kernel: Kernel, offset: float) -> None:
    X = np.random.default_rng(0).standard_normal((30, 3)) * [1.0, 1e3, 1.0] + offset
    rounding, exact = kernel.rounding(X), long_gram(kernel, X)
    bound = rounding.relative[:, None] * np.abs(exact) + np.multiply.outer(rounding.reach, rounding.lengths)
    bound += 1e3 * UNIT * np.abs(exact) + UNDERFLOW
    for gram in (kernel.gram(X, X), kernel.gram(X, X.copy())):
        assert (np.abs(gram - exact) <= bound).all()
    assert (np.abs(exact) <= np.multiply.outer(rounding.lengths, rounding.lengths) * (1 + 1e-12)).all()


def test_tanh_values_lie_within_what_rounding_is_said_to_do() -> None:
    X = np.random.default_rng(0).integers(-3000, 3000, (30, 3)) * 2.0**-9
    kernel = Tanh(scale=0.3, offset=0.7)
    exact = np.tanh(np.longdouble(0.3) * (X @ X.T) - np.longdouble(0.7))
    rounding = kernel.rounding(X)
    bound = np.multiply.outer(rounding.reach, rounding.lengths)
    assert (np.abs(kernel.gram(X, X) - exact) <= bound).all()


def test_what_kernel_values_lose_keeps_a_machine_from_its_gap() -> None:
    """Inner products of samples near 1e6 lose what the labels depend on; with an exact Gram matrix, all is well."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)) + 1e6, np.where(rng.random(60) < 0.5, 1.0, -1.0)
    kernel = Polynomial(2)
    gram = kernel.gram(X, X)
    found = solve(DualProblem(gram, y, 1.0, rounding=kernel.rounding(X).of_machine()), on_failure="flag")
    assert not found.converged
    machine = SVM(kernel, on_failure="flag").fit(X, y)
    assert not machine.converged_.any()
