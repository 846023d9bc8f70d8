"""A linear machine whose optimum is not far from a known point: the samples near its margin are optimised alone.

All others are held on their bounds, where they add a constant vector to w. When one feature of a hundred goes, few of
the samples lie so near the margin that they may change sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.linear.interior_point import Near, solve_interior_point
from fsvm_cli.svm.linear.problem import LinearProblem
from fsvm_cli.svm.solvers.solve import balanced

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array

FEWEST = 5000
"""Samples of a problem that is worth it."""
WIDTH = 1.0
"""Of the band to either side of the margin, in units of the mean distance of the free samples from it. A wider one
costs more than the rounds of working sets that it saves."""
LARGEST_PART = 0.5
"""Of the samples; where more are near, the start is not."""
ROUGHLY = 1e-3
"""Relative gap of the interior point, which goes on until it is decided which samples are free."""


def optimise_in_band(problem: LinearProblem, alpha: Array) -> tuple[Array, int]:
    """Return a point nearer the optimum, and the steps that it took; the given point where the band is no help.

    Parameters
    ----------
    problem : LinearProblem
    alpha : (n,) array
        In the box, balanced where the machine has a bias, and optimal for a problem much like this one.
    """
    free = (alpha > 0.0) & (alpha < problem.C)
    if len(alpha) < FEWEST or problem.ridge > 0.0 or not free.any():
        return alpha, 0
    coefficients = problem.y * alpha
    w = problem.normal_vector(coefficients)
    outputs = problem.outputs(w)
    b = float((problem.y - outputs)[free].mean()) if problem.equality else 0.0
    slack = 1.0 - problem.y * (outputs + b)
    on_wrong_bound = np.where(slack > 0.0, alpha < problem.C, alpha > 0.0)
    near = on_wrong_bound | (np.abs(slack) <= WIDTH * float(np.abs(slack[free]).mean()))
    rows = np.flatnonzero(near | free)
    has_both_classes = abs(problem.y[rows].sum()) < len(rows)
    if len(rows) > LARGEST_PART * len(alpha) or not has_both_classes:
        return alpha, 0
    part = LinearProblem(problem.X[rows], problem.y[rows], problem.C[rows], problem.equality)
    held_w = w - part.normal_vector(coefficients[rows])
    start = Near(w, b, float(alpha.max()), held_w, -float(coefficients[rows].sum()))
    found = solve_interior_point(part, ROUGHLY, start)
    moved = alpha.copy()
    moved[rows] = found.alpha
    return balanced(problem, moved), found.steps
