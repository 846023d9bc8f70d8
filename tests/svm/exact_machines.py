"""Linear machines in rational arithmetic, and a campaign that holds `fsvm_cli.svm.certified` against them.

``python -m tests.svm.exact_machines 1000`` prints every bound that the exact optimum breaks, and how wide bounds are.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from sklearn.svm import SVC

from fsvm_cli.svm import DualProblem, solve
from fsvm_cli.svm.certified import KeptFactor, Points, lengths_of, leverages, locate, normal_vector_of

ROUNDING = 1e-11
"""Errors below are those of rounding, of which a bound holds the worst case."""


def exact_weights(X: np.ndarray, y: np.ndarray, C: np.ndarray) -> list[Fraction] | None:
    """Return the optimal normal vector, without any rounding; None where the active set was not found.

    A numerical solution names the samples that are free; the equations of the Karush-Kuhn-Tucker conditions for these
    are solved, and all conditions checked, in rational numbers.
    """
    centre = X.mean(axis=0)
    found = solve(DualProblem((X - centre) @ (X - centre).T, y, C), tolerance=1e-12, on_failure="flag")
    for margin in (1e-9, 1e-6, 1e-4):
        alpha = found.alpha
        free = np.flatnonzero((alpha > margin * C) & (alpha < (1 - margin) * C))
        bound = np.flatnonzero(alpha >= (1 - margin) * C)
        w = _checked(X, y, C, free.tolist(), bound.tolist())
        if w is not None:
            return w
    return None


def _checked(X: np.ndarray, y: np.ndarray, C: np.ndarray, free: list[int], bound: list[int]) -> list[Fraction] | None:
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    labels, bounds = [int(v) for v in y], [Fraction(v) for v in C.tolist()]
    d = len(rows[0])
    fixed = [sum((bounds[i] * labels[i] * rows[i][j] for i in bound), Fraction(0)) for j in range(d)]
    if free:
        system = []
        for i in free:
            products = [sum((a * b for a, b in zip(rows[i], rows[k], strict=True)), Fraction(0)) for k in free]
            known = sum((a * b for a, b in zip(rows[i], fixed, strict=True)), Fraction(0))
            system.append([*products, Fraction(1), labels[i] - known])
        balance = -sum((bounds[i] * labels[i] for i in bound), Fraction(0))
        system.append([Fraction(1)] * len(free) + [Fraction(0), balance])
        solution = solved(system)
        if solution is None:
            return None
        c, bias = solution[:-1], solution[-1]
    else:
        c, bias = [], None
        if sum(bounds[i] * labels[i] for i in bound) != 0:
            return None
    w = [fixed[j] + sum((a * rows[i][j] for a, i in zip(c, free, strict=True)), Fraction(0)) for j in range(d)]
    if any(not 0 <= a * labels[i] <= bounds[i] for a, i in zip(c, free, strict=True)):
        return None
    outputs = [sum((a * b for a, b in zip(row, w, strict=True)), Fraction(0)) for row in rows]
    low, high = [], []
    for i in range(len(y)):
        if i in free:
            if outputs[i] + bias != labels[i]:
                return None
            continue
        # At a bound of C the sample is within the margin, else beyond it: each bounds the bias from one side.
        (low if (labels[i] > 0) != (i in bound) else high).append(labels[i] - outputs[i])
    if bias is None:
        return w if not low or not high or max(low) <= min(high) else None
    return w if all(v <= bias for v in low) and all(v >= bias for v in high) else None


def solved(system: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve by Gauss and Jordan; unknowns that nothing determines are 0; None where the equations contradict."""
    rows, n = [row[:] for row in system], len(system[0]) - 1
    pivots, at = [], 0
    for column in range(n):
        chosen = next((r for r in range(at, len(rows)) if rows[r][column]), None)
        if chosen is None:
            continue
        rows[at], rows[chosen] = rows[chosen], rows[at]
        rows[at] = [v / rows[at][column] for v in rows[at]]
        for r in range(len(rows)):
            if r != at and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[at], strict=True)]
        pivots.append(column)
        at += 1
    if any(row[n] for row in rows[at:]):
        return None
    solution = [Fraction(0)] * n
    for r, column in enumerate(pivots):
        solution[column] = rows[r][n]
    return solution


def hostile_samples(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return samples, labels and C: normal ones, lattices, duplicates, copied features, machines that see nothing."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 15)), int(rng.integers(2, 8))
    X = rng.standard_normal((n, d)) if rng.random() < 0.5 else rng.integers(0, 3, (n, d)).astype(float)
    y = np.where(X[:, 0] + rng.standard_normal(n) > np.median(X[:, 0]), 1.0, -1.0)
    y[:2] = -1.0, 1.0
    kind = rng.integers(7)
    if kind == 0:
        X[rng.integers(0, n, n // 2)] = X[rng.integers(0, n, n // 2)]
    if kind == 1:
        X[:, 1] = X[:, 0] * rng.choice([1.0, -1.0])
    if kind == 2:  # each sample in both classes: no machine tells them apart
        X, y = np.vstack([X, X]), np.concatenate([y, -y])
    if kind == 3:
        X = X + rng.choice([0.0, 1e3], d)
    if kind == 4:
        X, y = np.vstack([X, X]), np.concatenate([y, y])
    return X, y, float(10.0 ** rng.uniform(-3, 2))


@dataclass(frozen=True)
class Outcome:
    """One bound beside the truth: the distance of the computed weights from the exact ones, and its bound."""

    error: float
    radius: float
    single: list[tuple[float, float]]
    """For each feature."""


def located(seed: int, tolerance: float, *, repairs: int = 0) -> Outcome | None:
    """Bound one machine; None where the exact one is not known."""
    X, y, C = hostile_samples(seed)
    bounds = np.full(len(y), C)
    exact = exact_weights(X, y, bounds)
    if exact is None:
        return None
    columns, features = np.ascontiguousarray(X.T), np.arange(X.shape[1])
    points = Points(columns, columns, features, lengths_of(columns, features), y, bounds)
    machine = SVC(kernel="linear", C=C, tol=tolerance).fit(X, y)
    c, bias = np.zeros(len(y)), float(machine.intercept_[0])
    c[machine.support_] = np.clip(machine.dual_coef_[0], -C, C)
    w = normal_vector_of(columns, features, c)
    location = locate(points, c, w, bias)
    for _ in range(repairs):
        c, bias = location.c, location.bias
        w = normal_vector_of(columns, features, c)
        location = locate(points, c, w, bias)
    differences = [Fraction(a) - b for a, b in zip(w.tolist(), exact, strict=True)]
    shares = np.sqrt(leverages(points, features))
    single = [
        (abs(float(each)), float(share * location.radius + location.rounding * (1 + 1e-12)))
        for each, share in zip(differences, shares, strict=True)
    ]
    # The root of a rational number: of a square that a double may not hold, in units of its size.
    square = sum((each * each for each in differences), Fraction(0))
    return Outcome(float(square) ** 0.5, location.radius, single)


def kept(seed: int, tolerance: float) -> list[tuple[float, float]]:
    """Return errors and bounds along an elimination, by one factor: of the machines for which it serves."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 16)).round(2)
    y, C = np.where(X[:, 0] + X[:, 1] > np.median(X[:, 0] + X[:, 1]), 1.0, -1.0), float(10.0 ** rng.uniform(-2, 0))
    columns, bounds, left = np.ascontiguousarray(X.T), np.full(len(y), C), np.arange(X.shape[1])
    found, factor = [], None
    while len(left) > 4:
        machine = SVC(kernel="linear", C=C, tol=tolerance).fit(X[:, left], y)
        points = Points(columns, columns, left, lengths_of(columns, left), y, bounds)
        c, bias = np.zeros(len(y)), float(machine.intercept_[0])
        c[machine.support_] = np.clip(machine.dual_coef_[0], -C, C)
        w = normal_vector_of(columns, left, c)
        factor = factor or KeptFactor(points, c, w, bias)
        radius, exact = factor.locate(points, c, w, bias).radius, exact_weights(X[:, left], y, bounds)
        if np.isfinite(radius) and exact is not None:
            differences = [Fraction(a) - b for a, b in zip(w.tolist(), exact, strict=True)]
            found.append((float(sum((each * each for each in differences), Fraction(0))) ** 0.5, radius))
        feature = left[np.argmin(np.abs(w))]
        factor.drop(feature)
        left = left[left != feature]
    return found


def main() -> None:
    """Hold bounds against exact machines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    known = broken = 0
    ratios: dict[str, list[float]] = {}
    for seed in range(options.first, options.first + options.n):
        tolerance = (1e-2, 1e-3, 1e-6, 1e-9)[seed % 4]
        repairs = (seed // 4) % 2
        outcome = located(seed, tolerance, repairs=repairs)
        if outcome is None:
            continue
        known += 1
        is_broken = outcome.error > outcome.radius * (1 + 1e-12) or any(a > b * (1 + 1e-12) for a, b in outcome.single)
        broken += is_broken
        if is_broken:
            sys.stdout.write(f"seed {seed}: error {outcome.error:.3e}, bound {outcome.radius:.3e}, {outcome.single}\n")
        kind = "repaired" if repairs else f"tolerance {tolerance:g}"
        if outcome.error > ROUNDING:
            ratios.setdefault(kind, []).append(outcome.radius / outcome.error)
    of_kept = [pair for seed in range(options.n // 10) for pair in kept(options.first + seed, 1e-3)]
    sys.stdout.write(f"{known} exact machines; {broken} bounds broken\n")
    sys.stdout.write(f"{len(of_kept)} by kept factors; {sum(a > b for a, b in of_kept)} bounds broken\n")
    for kind, values in sorted(ratios.items()):
        sys.stdout.write(f"{kind}: {len(values)} bounds, median {np.median(values):.3g} times the error\n")


if __name__ == "__main__":
    main()
