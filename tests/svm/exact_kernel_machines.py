"""Machines with kernels in rational arithmetic, and a campaign that holds bounds on their distance against them.

``python -m tests.svm.exact_kernel_machines 1000`` prints every bound that the exact optimum breaks, and how wide bounds
are. Values of the Gaussian kernel are irrational; they are taken to `DIGITS` digits.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from sklearn.svm import SVC

from fsvm_cli.svm import DualProblem, Gaussian, Polynomial, solve
from fsvm_cli.svm.certified import locate_by_gram
from tests.svm.exact_machines import ROUNDING, solved

DIGITS = 50

Row = list[Fraction]


@dataclass(frozen=True)
class ExactMachine:
    """An optimal machine: coefficients alpha_i y_i, and the bias, which is unique where a sample is free."""

    c: Row
    bias: Fraction


def rational_gram(kernel: Gaussian | Polynomial, X: np.ndarray) -> list[Row]:
    """Return the Gram matrix without rounding, or to `DIGITS` digits."""
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    if isinstance(kernel, Polynomial):
        scale, offset = Fraction(kernel.scale), Fraction(kernel.offset)
        return [
            [(offset + scale * sum(a * b for a, b in zip(u, v, strict=True))) ** kernel.degree for v in rows]
            for u in rows
        ]
    return [[_exponential(-_distance(u, v) / Fraction(kernel.theta)) for v in rows] for u in rows]


def _distance(u: Row, v: Row) -> Fraction:
    return sum(((a - b) ** 2 for a, b in zip(u, v, strict=True)), Fraction(0))


def _exponential(exponent: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction((Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


def exact_machine(gram: list[Row], y: np.ndarray, C: float) -> ExactMachine | None:
    """Return the optimal machine; None where no sample is free, or the active set was not found.

    A numerical solution names the samples that are free; the equations of the Karush-Kuhn-Tucker conditions for these
    are solved, and all conditions checked, in rational numbers.
    """
    K = np.array([[float(value) for value in row] for row in gram])
    alpha = solve(DualProblem(K, y, C), tolerance=1e-12, on_failure="flag").alpha
    for margin in (1e-9, 1e-6, 1e-4):
        free = np.flatnonzero((alpha > margin * C) & (alpha < (1 - margin) * C)).tolist()
        bound = np.flatnonzero(alpha >= (1 - margin) * C).tolist()
        if free and (found := _checked(gram, [int(v) for v in y], Fraction(C), free, bound)):
            return found
    return None


def _checked(gram: list[Row], y: list[int], C: Fraction, free: list[int], bound: list[int]) -> ExactMachine | None:
    fixed = [sum((C * y[k] * row[k] for k in bound), Fraction(0)) for row in gram]
    system = [[*(gram[i][k] for k in free), Fraction(1), y[i] - fixed[i]] for i in free]
    system.append([Fraction(1)] * len(free) + [Fraction(0), -sum((C * y[k] for k in bound), Fraction(0))])
    solution = solved(system)
    if solution is None or any(not 0 <= a * y[i] <= C for a, i in zip(solution, free, strict=False)):
        return None
    c, bias = [Fraction(0)] * len(y), solution[-1]
    for k in bound:
        c[k] = C * y[k]
    for i, value in zip(free, solution, strict=False):
        c[i] = value
    for i, row in enumerate(gram):
        margin = y[i] * (sum((a * b for a, b in zip(row, c, strict=True)), Fraction(0)) + bias)
        if (i in free and margin != 1) or (i in bound and margin > 1) or (c[i] == 0 and margin < 1):
            return None
    return ExactMachine(c, bias)


def kernel_samples(seed: int) -> tuple[np.ndarray, np.ndarray, float, Gaussian | Polynomial]:
    """Return samples, labels, C and a kernel: normal samples, lattices, duplicates, copied features."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 12)), int(rng.integers(2, 5))
    X = rng.standard_normal((n, d)).round(3) if rng.random() < 0.6 else rng.integers(0, 3, (n, d)).astype(float)
    y = np.where(X[:, 0] + rng.standard_normal(n) > np.median(X[:, 0]), 1.0, -1.0)
    y[:2] = -1.0, 1.0
    kind = rng.integers(5)
    if kind == 0:
        X[rng.integers(0, n, n // 2)] = X[rng.integers(0, n, n // 2)]
    if kind == 1:
        X[:, 1] = X[:, 0] * rng.choice([1.0, -1.0])
    kernels = (Gaussian(float(d) * float(10.0 ** rng.uniform(-0.5, 1.0))), Polynomial(int(rng.integers(2, 4))))
    return X, y, float(10.0 ** rng.uniform(-1, 2)), kernels[seed % 2]


def trained(
    X: np.ndarray, y: np.ndarray, C: float, kernel: Gaussian | Polynomial, tolerance: float
) -> tuple[SVC, np.ndarray]:
    """Return scikit-learn's machine, and its coefficients alpha_i y_i."""
    if isinstance(kernel, Gaussian):
        machine = SVC(kernel="rbf", gamma=1.0 / kernel.theta, C=C, tol=tolerance)
    else:
        machine = SVC(kernel="poly", degree=kernel.degree, gamma=kernel.scale, coef0=kernel.offset, C=C, tol=tolerance)
    machine.fit(X, y)
    c = np.zeros(len(y))
    c[machine.support_] = np.clip(machine.dual_coef_[0], -C, C)
    return machine, c


def located(seed: int, tolerance: float, *, repairs: int = 0) -> tuple[float, float] | None:
    """Return how far a machine is from the exact one, and the bound; None where the exact one is not known."""
    X, y, C, kernel = kernel_samples(seed)
    gram = rational_gram(kernel, X)
    exact = exact_machine(gram, y, C)
    if exact is None:
        return None
    machine, c = trained(X, y, C, kernel, tolerance)
    bias, bounds = float(machine.intercept_[0]), np.full(len(y), C)
    K, rounding = kernel.gram(X, X), kernel.rounding(X)
    location = locate_by_gram(K, rounding, X, y, bounds, c, bias)
    for _ in range(repairs):
        c, bias = location.c, location.bias
        location = locate_by_gram(K, rounding, X, y, bounds, c, bias)
    a = [Fraction(given) - optimal for given, optimal in zip(c.tolist(), exact.c, strict=True)]
    square = sum((u * v * k for u, row in zip(a, gram, strict=True) for v, k in zip(a, row, strict=True)), Fraction(0))
    return float(square) ** 0.5, location.radius


def main() -> None:
    """Hold bounds against exact machines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    known = broken = 0
    ratios: dict[str, list[float]] = {}
    for seed in range(options.first, options.first + options.n):
        tolerance, repairs = (1e-2, 1e-3, 1e-6, 1e-9)[seed // 2 % 4], seed // 8 % 2
        outcome = located(seed, tolerance, repairs=repairs)
        if outcome is None:
            continue
        known += 1
        error, radius = outcome
        if error > radius:
            broken += 1
            sys.stdout.write(f"seed {seed}: error {error:.3e}, bound {radius:.3e}\n")
        if error > ROUNDING:
            ratios.setdefault("repaired" if repairs else f"tolerance {tolerance:g}", []).append(radius / error)
    sys.stdout.write(f"{known} exact machines; {broken} bounds broken\n")
    for kind, values in sorted(ratios.items()):
        sys.stdout.write(f"{kind}: {len(values)} bounds, median {np.median(values):.3g} times the error\n")


if __name__ == "__main__":
    main()
