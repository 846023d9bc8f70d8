"""Hostile tables for machines with kernels, and the gap of what they predict in extended precision.

``python -m tests.svm.certified_machines 10000`` prints what shares converge, and every gap that is larger than stated.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fsvm_cli.svm import SVM, Anova, Gaussian, Kernel, Laplace, Polynomial, UnitDiagonal, WeightedSum

TOLERANCE = 1e-6
UNIT = float(np.finfo(np.longdouble).eps)
Long = Any
"""An array of extended precision; numpy's stubs know it on some systems only."""


@dataclass(frozen=True)
class Task:
    """A table, and how a machine is to be trained on it."""

    X: np.ndarray
    y: np.ndarray
    kernel: Kernel
    C: float
    solver: str


def hostile_task(seed: int) -> Task:
    """Offsets and scales to 1e8, thetas over ten magnitudes, duplicates, lattices, C from 1e-6 to 1e8."""
    rng = np.random.default_rng(seed)
    n, d = int(np.exp(rng.uniform(np.log(5), np.log(150)))), int(rng.integers(1, 6))
    X = [
        lambda: rng.standard_normal((n, d)),
        lambda: rng.integers(1, 4, (n, d)).astype(float),
        lambda: rng.standard_t(1.5, (n, d)),
        lambda: rng.standard_normal((n, d)) + 10.0 ** rng.uniform(0, 8) * rng.integers(0, 3, (n, 1)),
    ][rng.integers(4)]()
    y = (rng.random(n) < 0.5).astype(int)
    if rng.random() < 0.5:
        y = (X[:, 0] + 0.3 * rng.standard_normal(n) > np.median(X[:, 0])).astype(int)
    y[:2] = 0, 1
    if rng.random() < 0.3:
        X[rng.integers(0, n, n // 2)] = X[rng.integers(0, n, n // 2)]
    scale = 10.0 ** rng.uniform(-8, 8) if rng.random() < 0.5 else 1.0
    X = X * scale
    if rng.random() < 0.5:
        X = X + scale * 10.0 ** rng.uniform(0, 8) * rng.choice([0.0, 1.0, -1.0], d)
    theta = d * 10.0 ** (rng.uniform(-6, 6) if rng.random() < 0.4 else rng.uniform(-1, 1)) * scale**2
    weights = tuple(10.0 ** rng.uniform(-3, 3, d)) if rng.random() < 0.2 else None
    gaussian = Gaussian(theta, weights)
    kernels = [
        *[gaussian] * 6,
        Laplace(np.sqrt(theta), weights),
        Anova(1.0 / theta, int(rng.integers(1, 4))),
        UnitDiagonal(gaussian),
        WeightedSum((gaussian, Laplace(np.sqrt(theta))), (0.5, 10.0 ** rng.uniform(-6, 6)), constant=0.1),
        Polynomial(int(rng.integers(2, 4)), scale=1.0 / scale**2),
    ]
    kernel = kernels[rng.integers(len(kernels))]
    solver = ["auto", "auto", "smo", "interior-point", "libsvm", "decomposition"][rng.integers(6)]
    if isinstance(kernel, Polynomial):
        X, y = X[:30], y[:30]
    return Task(X, y, kernel, float(10.0 ** rng.uniform(-6, 8)), solver)


def long_gram(kernel: Kernel, X: np.ndarray) -> Long:
    """Return the Gram matrix in extended precision, of differences or of rational numbers: nothing cancels."""
    if isinstance(kernel, UnitDiagonal):
        gram = long_gram(kernel.kernel, X)
        roots = np.sqrt(gram.diagonal())
        return gram / roots[:, None] / roots
    if isinstance(kernel, WeightedSum):
        terms = zip(kernel.coefficients, kernel.kernels, strict=True)
        return sum(np.longdouble(mu) * long_gram(each, X) for mu, each in terms) + np.longdouble(kernel.constant)
    if isinstance(kernel, Polynomial):
        rows = [[Fraction(value) for value in row] for row in X.tolist()]
        scale, offset = Fraction(kernel.scale), Fraction(kernel.offset)
        weighted = rows
        if kernel.weights is not None:
            factors = [Fraction(weight) for weight in kernel.weights]
            weighted = [[a * weight for a, weight in zip(row, factors, strict=True)] for row in rows]
        inner = [[offset + scale * sum(a * b for a, b in zip(u, v, strict=True)) for v in rows] for u in weighted]
        return np.array([[_long(value**kernel.degree) for value in row] for row in inner])
    assert isinstance(kernel, Gaussian | Laplace | Anova)
    differences = X[:, None, :].astype(np.longdouble) - X[None].astype(np.longdouble)
    if isinstance(kernel, Anova):
        return np.exp(-np.longdouble(kernel.gamma) * differences**2).sum(axis=-1) ** kernel.degree
    powers = differences**2 if isinstance(kernel, Gaussian) else np.abs(differences)
    weights = np.ones(X.shape[1]) if kernel.weights is None else np.array(kernel.weights)
    return np.exp(-(powers * weights.astype(np.longdouble)).sum(axis=-1) / np.longdouble(kernel.theta))


def _long(value: Fraction) -> Any:
    high = float(value)
    return np.longdouble(high) + np.longdouble(float(value - Fraction(high)))


def true_gap(machine: Any, X: np.ndarray, y: np.ndarray, C: float, kernel: Kernel) -> tuple[float, float]:
    """Return the relative duality gap of what a machine of two classes predicts, and what this may be off by.

    The larger one of the losses of the exact outputs and of those that `decision_function` returns.
    """
    labels = np.where(y == 1, 1.0, -1.0).astype(np.longdouble)
    c = np.zeros(len(y), dtype=np.longdouble)
    c[machine.support_] = machine.dual_coef_[0]
    gram = long_gram(kernel, X)
    outputs = gram @ c
    square, total = c @ outputs, np.abs(c).sum()
    dual = total - square / 2
    scores = (outputs + np.longdouble(machine.intercept_[0]), machine.decision_function(X).astype(np.longdouble))
    losses = [(C * np.maximum(1 - labels * values, 0)).sum() for values in scores]
    primal = square / 2 + max(losses)
    size = max(abs(primal), abs(dual))
    sizes = np.abs(gram) @ np.abs(c)
    blur = UNIT * (len(y) + 8) * ((1 + sizes).sum() * C + total * sizes.max() + abs(size))
    return (float((primal - dual) / size), float(blur / size)) if size else (0.0, 0.0)


def trained(task: Task) -> SVM:
    """Return the machine of a task, converged or not."""
    machine = SVM(task.kernel, C=task.C, tolerance=TOLERANCE, solver=task.solver, on_failure="flag")
    with np.errstate(all="ignore"):
        return machine.fit(task.X, task.y)


def report(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main() -> None:
    """Train machines, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    closest, alone = 0.0, 0.0
    for seed in range(options.first, options.first + options.n):
        task = hostile_task(seed)
        machine = trained(task)
        name = task.kernel.name
        counts[name] += 1
        row = task.X[:1]
        size = 1.0 + np.abs(machine.dual_coef_).sum() * float(np.abs(task.kernel.diagonal(task.X)).max())
        alone = max(alone, abs(float(machine.decision_function(row)[0] - machine.decision_function(task.X)[0])) / size)
        true, blur = true_gap(machine, task.X, task.y, task.C, task.kernel)
        stated = float(machine.duality_gap_[0])
        counts["undecided"] += bool(machine.converged_[0]) and true - blur <= stated < true + blur
        if machine.converged_[0]:
            counts[f"{name} converged"] += 1
            closest = max(closest, (true - blur) / stated if stated else 0.0)
        if true - blur > stated:
            counts["larger than stated"] += 1
            report(f"seed {seed} {task.kernel!r} C {task.C:.1e} {task.solver}: stated {stated:.2e}, found {true:.2e}")
    report(f"largest part of a stated gap {closest:.3f}; a row alone is off by {alone:.1e} of the size of its terms")
    report("; ".join(f"{name} {count}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
