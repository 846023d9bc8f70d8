"""The duality gap of a point in rational arithmetic: no rounding at all."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fsvm_cli.svm import DualProblem


def exact_gap(problem: DualProblem, alpha: np.ndarray, bias: float) -> float:
    """Return (primal - dual) over the larger of the two; infinity where no scaling of w makes a hard margin hold."""
    y = [int(label) for label in problem.y]
    a = [Fraction(value) for value in alpha.tolist()]
    used = [j for j in range(len(a)) if a[j]]
    ridge, b = Fraction(problem.ridge), Fraction(bias)
    values = [sum((Fraction(row[j]) * a[j] * y[j] for j in used), Fraction(0)) for row in problem.gram.tolist()]
    norm = sum((a[j] * y[j] * values[j] for j in used), Fraction(0))
    margins = [y[i] * (values[i] + b) for i in range(len(y))]
    hard = np.isinf(problem.C)
    scale = Fraction(1)
    if ridge == 0 and hard.any():
        smallest = min(margins[i] for i in np.flatnonzero(hard))
        if smallest <= 0:
            return float("inf")
        scale = max(scale, 1 / smallest)
    primal = scale**2 * norm / 2
    for i, margin in enumerate(margins):
        slack = max(Fraction(0), 1 - scale * margin)
        if ridge:
            weight = slack / ridge if hard[i] else min(slack / ridge, Fraction(problem.C[i]))
            primal += weight * slack - ridge * weight**2 / 2
        elif not hard[i]:
            primal += Fraction(problem.C[i]) * slack
    dual = sum(a) - (norm + ridge * sum(value**2 for value in a)) / 2
    size = max(abs(primal), abs(dual))
    return float((primal - dual) / size) if size else 0.0
