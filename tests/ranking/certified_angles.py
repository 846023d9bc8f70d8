"""Certified scores of `gradient-angle` against exact machines: a campaign.

``python -m tests.ranking.certified_angles 300`` prints every score outside its interval, and every place that counts as
decided and that the exact scores give otherwise.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli import GradientAngle
from fsvm_cli.svm import Gaussian, Polynomial
from fsvm_cli.svm.multiclass import TIE_TOLERANCES
from tests.svm.exact_kernel_machines import ExactMachine, Row, exact_machine, kernel_samples, rational_gram
from tests.svm.exact_machines import exact_weights, hostile_samples

if TYPE_CHECKING:
    from collections.abc import Sequence

OF_TRUTH = 1e-15
"""Rounding of the score of exact cosines."""


def angle(squares: Sequence[Fraction]) -> list[float]:
    """Return 2/pi arcsin(|g_j| / |g|) by the squares of g_j."""
    total = sum(squares, Fraction(0))
    roots = [(math.sqrt(each / total), math.sqrt((total - each) / total)) for each in squares]
    return [2.0 / math.pi * math.atan2(sine, cosine) for sine, cosine in roots]


def exact_scores(
    kernel: Gaussian | Polynomial, X: np.ndarray, y: np.ndarray, machine: ExactMachine, epsilon: float, tolerance: float
) -> np.ndarray:
    """Return the scores by an exact machine with a free sample."""
    gram, rows = rational_gram(kernel, X), [[Fraction(value) for value in row] for row in X.tolist()]
    spread = [Fraction(value) for value in np.ptp(X, axis=0).tolist()]
    scores = []
    for i, row in enumerate(gram):
        margin = int(y[i]) * (sum((a * b for a, b in zip(row, machine.c, strict=True)), machine.bias))
        if abs(margin - 1) > Fraction(epsilon):
            continue
        gradient = [_derivative(kernel, rows, row, machine.c, i, j) for j in range(X.shape[1])]
        moved = sum((abs(g) * width for g, width in zip(gradient, spread, strict=True)), Fraction(0))
        if moved > Fraction(TIE_TOLERANCES * tolerance):
            scores.append(angle([g * g for g in gradient]))
    return np.mean(scores, axis=0) if scores else np.zeros(X.shape[1])


def _derivative(kernel: Gaussian | Polynomial, rows: list[Row], gram_row: Row, c: Row, i: int, j: int) -> Fraction:
    x = rows[i]
    if isinstance(kernel, Gaussian):
        terms = (a * k * (other[j] - x[j]) for a, k, other in zip(c, gram_row, rows, strict=True))
        return 2 / Fraction(kernel.theta) * sum(terms, Fraction(0))
    scale, offset, degree = Fraction(kernel.scale), Fraction(kernel.offset), kernel.degree
    total = Fraction(0)
    for a, other in zip(c, rows, strict=True):
        inner = offset + scale * sum(u * v for u, v in zip(x, other, strict=True))
        total += a * degree * scale * inner ** (degree - 1) * other[j]
    return total


def ranked(seed: int) -> tuple[GradientAngle, np.ndarray] | None:
    """Return a certified ranking and the exact scores; None where the exact machine is not known."""
    tolerance, epsilon = (1e-2, 1e-3, 1e-6)[seed // 3 % 3], (0.1, 0.0, 0.5)[seed // 9 % 3]
    if seed % 3 == 0:
        X, y, C = hostile_samples(seed)
        w = exact_weights(X, y, np.full(len(y), C))
        spread = [Fraction(value) for value in np.ptp(X, axis=0).tolist()]
        if w is None:
            return None
        moved = sum((abs(a) * b for a, b in zip(w, spread, strict=True)), Fraction(0))
        counts = moved > Fraction(TIE_TOLERANCES * tolerance)
        scores = np.array(angle([a * a for a in w])) if counts else np.zeros(len(w))
        kernel: Any = "linear"
    else:
        X, y, C, kernel = kernel_samples(seed // 3 * 2 + seed % 3 - 1)
        machine = exact_machine(rational_gram(kernel, X), y, C)
        if machine is None:
            return None
        scores = exact_scores(kernel, X, y, machine, epsilon, tolerance)
    return GradientAngle(kernel, C, epsilon, tolerance=tolerance, certify=True).fit(X, y), scores


def mistakes(seed: int, counts: Counter[str], widths: list[float]) -> list[str]:
    """Return what is wrong with the certificate of one ranking; count its verdicts where the truth is known."""
    found = ranked(seed)
    if found is None:
        counts["unknown"] += 1
        return []
    ranker, truth = found
    low, high = ranker.score_intervals_.T
    widths += (high - low).tolist()
    outside = np.flatnonzero((truth < low - OF_TRUTH) | (truth > high + OF_TRUTH))
    wrong = [f"seed {seed}: score {truth[j]} of {j} is outside {low[j]} to {high[j]}" for j in outside.tolist()]
    counts.update(ranker.certificate_["verdict"].tolist())
    order = ranker.certificate_["feature"]
    for place, feature in enumerate(order.tolist()):
        rivals = order[:place][truth[order[:place]] <= truth[feature]], order[place + 1 :]
        rivals = *rivals[:1], rivals[1][truth[rivals[1]] >= truth[feature]]
        if ranker.decided_[feature] and sum(map(len, rivals)):
            wrong.append(f"seed {seed}: the place of {feature} counts as decided, but not before {rivals}")
    return wrong


def main() -> None:
    """Hold certified scores against exact machines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    widths: list[float] = []
    wrong = 0
    for seed in range(options.first, options.first + options.n):
        for line in mistakes(seed, counts, widths):
            wrong += 1
            sys.stdout.write(line + "\n")
    sys.stdout.write(f"{options.n} rankings: {dict(counts)}; {wrong} mistakes\n")
    sys.stdout.write(
        f"intervals: median {np.median(widths):.3g} wide, {np.mean(np.array(widths) > 1e-6):.3g} above 1e-6\n"
    )


if __name__ == "__main__":
    main()
