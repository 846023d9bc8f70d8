"""Hostile linear problems, and the gap of what a fitted machine computes in rational arithmetic.

`python -m tests.helpers.linear_campaign 10000` tries so many and prints each machine that is better in its own words
than in fact.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.svm import SVM

if TYPE_CHECKING:
    from fsvm_cli.svm.solvers.dual import Solver

SOLVERS: tuple[Solver, ...] = ("auto", "auto", "feature-space", "feature-space", "smo", "interior-point")
"""That problems are given to, by their number."""
MANY = 5001
"""Rows of which "auto" makes no Gram matrix."""


class Problem(NamedTuple):
    """Samples, classes 0 and 1, C and the solver."""

    X: np.ndarray
    y: np.ndarray
    C: float
    solver: Solver


class Attempt(NamedTuple):
    """What a machine says of itself, and what it is."""

    converged: bool
    stated: float
    true: float


def hostile_problem(seed: int, *, many: bool = False) -> Problem:
    """Draw a problem with what breaks arithmetic: offsets, scales far apart, duplicates, tiny and huge C."""
    rng = np.random.default_rng(seed)
    n, d = (MANY + int(rng.integers(2000)), int(rng.integers(1, 9))) if many else _sizes(rng)
    X = rng.standard_normal((n, d))
    noise = rng.choice([0.0, 0.1, 1.0, 10.0])
    y = (X @ rng.standard_normal(d) + noise * np.sqrt(d) * rng.standard_normal(n) > 0).astype(np.intp)
    y[:2] = 0, 1
    if rng.random() < 0.3:
        X = np.rint(X)
    if rng.random() < 0.3:
        copies = rng.integers(0, n, n // 3)
        X[: len(copies)] = X[copies]
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = X[:, rng.integers(d)]
    if rng.random() < 0.2:
        X[:, rng.integers(d)] = 1.0
    if rng.random() < 0.5:
        X *= 10.0 ** (rng.choice([1.0, 3.0, 8.0]) * rng.uniform(-1.0, 1.0, d))
    if rng.random() < 0.5:
        X += np.where(rng.random(d) < 0.5, 10.0 ** rng.uniform(0.0, rng.choice([6.0, 9.0])), 0.0)
    solver: Solver = (
        "auto" if many and rng.random() < 0.5 else "feature-space" if many else SOLVERS[seed % len(SOLVERS)]
    )
    return Problem(X, y, 10.0 ** rng.uniform(-6.0, 8.0), solver)


def _sizes(rng: np.random.Generator) -> tuple[int, int]:
    return int(np.exp(rng.uniform(np.log(5.0), np.log(300.0)))), int(np.exp(rng.uniform(0.0, np.log(50.0))))


def attempt(problem: Problem) -> Attempt:
    """Fit a machine, and compute its gap."""
    X, y, C, solver = problem
    machine = SVM(C=C, solver=solver, on_failure="flag").fit(X, y)
    stated, converged = float(machine.duality_gap_[0]), bool(machine.converged_[0])
    return Attempt(converged, stated, true_gap(machine, X, y, C))


def true_gap(machine: SVM, X: np.ndarray, y: np.ndarray, C: float) -> float:
    """Return the relative gap of the decision values, norm and dual coefficients of a machine of two classes, exactly.

    The dual objective is that of the rows as they are given, whatever the machine subtracts from them.
    """
    w = [Fraction(value) for value in machine.coef_[0].tolist()]
    primal = sum((value * value for value in w), Fraction(0)) / 2
    for value, label in zip(machine.decision_function(X).tolist(), y.tolist(), strict=True):
        primal += Fraction(C) * max(Fraction(0), 1 - (2 * label - 1) * Fraction(value))
    coefficients = [Fraction(value) for value in machine.dual_coef_[0].tolist()]
    columns = X[machine.support_].T.tolist()
    normal = [
        sum((c * Fraction(x) for c, x in zip(coefficients, column, strict=True)), Fraction(0)) for column in columns
    ]
    dual = sum((abs(c) for c in coefficients), Fraction(0)) - sum((value * value for value in normal), Fraction(0)) / 2
    size = max(abs(primal), abs(dual))
    return float((primal - dual) / size) if size else 0.0


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(n_problems: int, first: int, many: bool) -> None:
    """Try problems, and tell which are better in their own words."""
    converged: dict[str, list[bool]] = {}
    worse = 0
    for seed in range(first, first + n_problems):
        problem = hostile_problem(seed, many=many)
        found = attempt(problem)
        converged.setdefault(str(problem.solver), []).append(found.converged)
        if found.true > found.stated or (found.converged and found.true > 1e-6):
            worse += 1
            say(f"{seed} {problem.solver} {problem.X.shape} C {problem.C:.1e} {found}")
    for solver, each in converged.items():
        say(f"{solver}: {sum(each)} of {len(each)} converged")
    say(f"{worse} of {n_problems} state less than their gap")


if __name__ == "__main__":
    main(int(sys.argv[1]), int((sys.argv[2:3] or ["0"])[0]), sys.argv[3:] == ["many"])
