"""The gap that a machine states is that of what it predicts, in extended precision.

``python -m tests.svm.certified_machines`` tries many more.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fsvm_cli import SVM, Gaussian
from fsvm_cli.svm import DualProblem, Kernel, Laplace, Polynomial, Tanh, UnitDiagonal, WeightedSum, solve
from tests.svm.certified_machines import TOLERANCE, UNIT, Task, hostile_task, long_gram, trained, true_gap

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


def ordinary_or_heavy_tailed(seed: int) -> Task:
    """Draw a table that people have: normal columns, t(2) or t(1), one row far out; C up to 100,000."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 121)), int(rng.integers(1, 9))
    X = rng.standard_t((1e6, 2, 2, 1)[seed % 4], (n, d))
    if seed % 4 == 2:
        X[0] *= 10.0 ** rng.uniform(1, 4)
    y = (X[:, 0] + 0.5 * rng.standard_normal(n) > np.median(X[:, 0])).astype(int)
    spread = np.subtract(*np.percentile(X, [75, 25], axis=0))
    theta = float((spread**2).sum() * 10.0 ** rng.uniform(-1, 1))
    return Task(X, y, Gaussian(theta), float(10.0 ** rng.uniform(-1, 5)), "auto")


@pytest.mark.parametrize("part", range(PARTS))
def test_a_solved_machine_is_told_to_be_solved_where_rows_lie_far_out(part):
    for seed in range(part, 40, PARTS):
        task = ordinary_or_heavy_tailed(seed)
        machine = trained(task)
        true, blur = true_gap(machine, task.X, task.y, task.C, task.kernel)
        assert true - blur <= machine.duality_gap_[0], seed
        assert true > 1e-8 or machine.converged_[0], seed


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


@pytest.mark.parametrize("weights", [None, (0.3, 2.0)])
@pytest.mark.parametrize("samples", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_outputs_in_twice_the_precision_are_exact_but_for_their_last_digit(weights: Any, samples: Any) -> None:
    rng = np.random.default_rng(0)
    X, c = rng.standard_normal((40, 2)) + 1e4, rng.standard_normal(40)
    kernel = Polynomial(3, weights=weights, scale=0.7, offset=0.1)
    found = kernel.sharp_expansion(X, samples(X), c)
    assert found is not None
    factors = [Fraction(w) for w in weights or (1.0, 1.0)]
    for k, b in enumerate(X.tolist()):
        total = Fraction(0)
        for a, factor in zip(X.tolist(), c.tolist(), strict=True):
            inner = sum(w * Fraction(u) * Fraction(v) for w, u, v in zip(factors, a, b, strict=True))
            total += Fraction(factor) * (Fraction(0.1) + Fraction(0.7) * inner) ** 3
        assert abs(float(Fraction(found[k]) - total)) <= np.spacing(abs(float(total)))
        assert kernel.sharp_expansion(X, samples(X[k : k + 1]), c) == found[k]
    assert kernel.sharp_expansion(sparse.csr_array(X), X, c) is None


def test_a_polynomial_machine_on_samples_far_from_the_origin_reaches_its_gap() -> None:
    rng = np.random.default_rng(1)
    X, kernel = rng.standard_normal((30, 2)) + 100.0, Polynomial(2)
    y = np.repeat([0, 1], 15)
    rounding = kernel.rounding(X).of_machine()
    labels = 2.0 * y - 1.0
    assert not solve(DualProblem(kernel.gram(X, X), labels, 0.1, rounding=rounding), on_failure="flag").converged
    machine = SVM(kernel, C=0.1).fit(X, y)
    assert machine.converged_.all()
    true, _ = true_gap(machine, X, y, 0.1, kernel)
    assert true <= machine.duality_gap_[0] <= TOLERANCE
    alone = [machine.decision_function(row[None])[0] for row in X]
    np.testing.assert_array_equal(machine.decision_function(X), alone)
