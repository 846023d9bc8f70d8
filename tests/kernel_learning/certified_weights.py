"""Nearly dependent kernels whose weights are learned, and what is true of the gap and the sum of kernels.

``python -m tests.kernel_learning.certified_weights 1000`` prints what shares converge, and each that is worse than
stated.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsvm_cli import LearnedKernelSVM
from fsvm_cli.svm import Gaussian, InfeasibleError, Kernel, Laplace, Polynomial
from tests.svm.certified_machines import UNIT, long_gram

TIGHTER = (1e-6, 1e-8)
"""Tolerances of further runs, which look for weights that are better than a stated gap allows."""


@dataclass(frozen=True)
class Task:
    """A table, and how weights are to be learned."""

    X: np.ndarray
    y: np.ndarray
    kernels: list[Kernel]
    margin: Any
    C: float
    combine: Any


def hostile_task(seed: int) -> Task:
    """Two or three kernels that differ by 1e-9 to 1e-1 of theta, and others; C from 1e-3 to 1e4."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 50)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, d))
    y = (X[:, 0] + rng.choice([0.0, 0.5]) * rng.standard_normal(n) > 0).astype(int)
    y[:2] = 0, 1
    if rng.random() < 0.2:
        X[rng.integers(0, n, n // 3)] = X[rng.integers(0, n, n // 3)]
    theta, apart = 10.0 ** rng.uniform(-1, 1.5), 10.0 ** rng.uniform(-9, -1)
    kernels: list[Kernel] = [Gaussian(theta), Gaussian(theta * (1 + apart))]
    others: list[Kernel] = [
        Polynomial(1),
        Polynomial(2),
        Laplace(theta),
        Gaussian(theta * (1 - 2 * apart)),
        Gaussian(20),
    ]
    kernels += [others[i] for i in rng.permutation(len(others))[: rng.integers(0, 3)]]
    margin = ["1-norm", "1-norm", "2-norm", "hard"][rng.integers(4)]
    combine = ["sdp", "sdp", "qcqp"][rng.integers(3)]
    return Task(X, y, kernels, margin, float(10.0 ** rng.uniform(-3, 4)), combine)


def trained(task: Task, tolerance: float = 1e-4) -> LearnedKernelSVM:
    """Return the machine of a task, converged or not."""
    machine = LearnedKernelSVM(
        task.kernels, task.combine, task.margin, C=task.C, tolerance=tolerance, on_failure="flag"
    )
    return machine.fit(task.X, task.y)


def true_objectives(machine: LearnedKernelSVM, task: Task) -> tuple[float, float, float]:
    """Return the primal and the dual objective of what a machine predicts, and what these may be off by.

    The weights of the kernels are exact, the kernels in extended precision. A hard margin is made to hold by a scale.
    """
    labels = np.where(task.y == 1, 1.0, -1.0).astype(np.longdouble)
    c = np.zeros(len(labels), dtype=np.longdouble)
    c[machine.support_] = machine.dual_coef_[0]
    grams = [long_gram(kernel, task.X) for kernel in task.kernels]
    weights = machine.weights_[0].astype(np.longdouble)
    outputs = sum(weight * (gram @ c) for weight, gram in zip(weights, grams, strict=True))
    square, ridge = c @ outputs, np.longdouble(machine.ridge_[0])
    dual = np.abs(c).sum() - (square + ridge * (c @ c)) / 2
    scores = (outputs + machine.intercept_[0], machine.decision_function(task.X).astype(np.longdouble))
    sizes = sum(abs(weight) * (np.abs(gram) @ np.abs(c)) for weight, gram in zip(weights, grams, strict=True))
    blur = 40 * UNIT * len(c) * (np.abs(c) @ sizes + (task.C if ridge == 0 else 1 / ridge) * (1 + sizes).sum())
    if task.margin == "hard":
        smallest = min((labels * values).min() for values in scores)
        primal = square / 2 * max(1 / smallest, 1) ** 2 if smallest > 0 else np.inf
        blur = 40 * UNIT * len(c) * (np.abs(c) @ sizes + square * sizes.max())
    else:
        slacks = [np.maximum(1 - labels * values, 0) for values in scores]
        costs = [(slack**2).sum() / ridge / 2 if ridge else task.C * slack.sum() for slack in slacks]
        primal = square / 2 + max(costs)
    return float(primal), float(dual), float(blur)


def lowest_pivot(machine: LearnedKernelSVM, task: Task, part: float) -> float:
    """Return the least pivot of the sum of kernels plus a part of its terms' sizes; > 0 where that is definite."""
    grams = [long_gram(kernel, task.X) for kernel in task.kernels]
    weights = machine.weights_[0].astype(np.longdouble)
    total = sum(weight * gram for weight, gram in zip(weights, grams, strict=True))
    size = sum(abs(weight) * np.abs(gram).sum(axis=1).max() for weight, gram in zip(weights, grams, strict=True))
    total = total + part * size * np.eye(len(total))
    least = np.inf
    for k in range(len(total)):
        pivot = total[k, k]
        least = min(least, float(pivot))
        if pivot <= 0:
            return least
        total[k + 1 :, k + 1 :] -= np.outer(total[k + 1 :, k], total[k + 1 :, k]) / pivot
    return least


def complaint(task: Task, *, look_for_better: bool = True) -> tuple[str, bool]:
    """Return what is worse than a machine says, empty where nothing is, and whether it says that it has converged."""
    try:
        machine = trained(task)
    except InfeasibleError:
        return "", False
    stated, converged = float(machine.duality_gap_[0]), bool(machine.converged_[0])
    if not converged:
        return "", False
    primal, dual, blur = true_objectives(machine, task)
    size = max(abs(primal), abs(dual))
    if (primal - dual - blur) > stated * size:
        return f"the machine's gap is {(primal - dual) / size:.2e}, stated {stated:.2e}", True
    n = len(task.y)
    if lowest_pivot(machine, task, 4.0 * n * np.finfo(float).eps) <= 0.0:
        return "the sum of kernels is indefinite", True
    for tolerance in TIGHTER if look_for_better else ():
        other = trained(task, tolerance)
        if lowest_pivot(other, task, 4.0 * n * UNIT) <= 0.0:
            continue  # beyond what is allowed but for rounding
        value, _, other_blur = true_objectives(other, task)
        if primal - value - blur - other_blur > stated * primal:
            return f"weights with a value smaller by {(primal - value) / primal:.2e} exist, stated {stated:.2e}", True
    return "", True


def report(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Learn weights, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(options.first, options.first + options.n):
        task = hostile_task(seed)
        found, converged = complaint(task)
        counts[task.combine] += 1
        counts[f"{task.combine} converged"] += converged
        counts["worse than stated"] += bool(found)
        if found:
            report(f"seed {seed} {task.combine} {task.margin} C {task.C:.1e} {task.kernels}: {found}")
    report("; ".join(f"{name} {count}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
