"""Where to begin: at a point from the machine of a part of the samples, where rows of the Gram matrix are shorter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.decomposition.ascent import Ascent
from fsvm_cli.svm.decomposition.problem import KernelProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.svm.decomposition.problem import Rows
    from fsvm_cli.svm.vectors import Array

PART, LEAST_PART = 0.25, 2000
"""The part of the samples whose machine is found first, if they are so many at least."""
OF_A_PART = 0.3
"""Violation, in units of the decision value, at which a part has told what it can."""
ROUNDS = 200
"""Working sets of a part, at most."""
CROWDED = 0.25
"""The part of the support vectors that are at their bounds from which on all samples are guessed."""


def begin(problem: KernelProblem, memory: Array) -> Ascent:
    """Return where to begin: the first point of `grown` whose decision values are not far too large, else 0.

    sum_i c_i f_i is at most sum_i alpha_i at the optimum. A guess is of use up to four times that, for it tells who is
    on a bound: of 30,000 samples the next point took twice as many working sets.
    """
    for alpha in grown(problem, memory):
        ascent = Ascent(problem, alpha, memory, rough=True)
        if ascent.objective >= -float(alpha.sum()):
            return ascent
    return Ascent(problem, np.zeros(len(problem.y)), memory, rough=True)


def grown(problem: KernelProblem, memory: Array) -> Iterator[Array]:
    """Yield feasible points, each (n,), from the machine of a part of the samples, evenly drawn.

    There C is as much larger as samples are fewer, so that the losses weigh as much against the margin, and decision
    values are about those of the machine on all. Where many support vectors are at their bounds, they tell who of the
    other samples will be: those within the margin. Second, and else first, the others begin at 0.
    """
    n = len(problem.y)
    size = int(PART * n)
    if size < LEAST_PART:
        return
    order, alpha = _mixed(problem.y), np.zeros(n)
    rows, others = np.sort(order[:size]), np.sort(order[size:])
    C = problem.C[rows] * (n / size)
    own = KernelProblem(problem.kernel, problem.X[rows], problem.y[rows], C, problem.equality, problem.ridge)
    ascent = Ascent(own, alpha[rows], memory, rough=True)
    ascent.rise(OF_A_PART, ROUNDS, of_all=False)
    alpha[rows] = ascent.alpha
    if np.count_nonzero(alpha[rows] == C) >= CROWDED * np.count_nonzero(alpha):
        slack = 1.0 - problem.y[others] * (problem.rough_outputs(alpha * problem.y, others) + ascent.bias)
        guess, rank = np.minimum(alpha * (size / n), problem.C), np.full(n, np.inf)
        guess[others], rank[others] = np.where(slack > 0.0, problem.C[others], 0.0), slack
        yield _balanced(problem, guess, rank)
    yield _balanced(problem, np.minimum(alpha, problem.C), -alpha)


def _balanced(problem: KernelProblem, alpha: Array, order: Array) -> Array:
    """Return the point with coefficients that sum to zero: those of the heavier class go to 0, the first of an order.

    Parameters
    ----------
    problem : KernelProblem
    alpha : (n,) array
        In the box.
    order : (n,) array
        Numbers by which to sort the samples.
    """
    surplus = float(alpha @ problem.y)
    if not problem.equality or surplus == 0.0:
        return alpha
    heavier = np.flatnonzero((alpha > 0.0) & (problem.y * surplus > 0.0))
    heavier = heavier[np.argsort(order[heavier], kind="stable")]
    left = np.cumsum(alpha[heavier]) - abs(surplus)
    balanced = alpha.copy()
    balanced[heavier] = np.clip(left, 0.0, alpha[heavier])
    return balanced


def _mixed(y: Array) -> Rows:
    """Return the samples in an order in which every beginning holds both classes evenly, and either first sample."""
    place = np.empty(len(y))
    for label in (-1.0, 1.0):
        of_class = np.flatnonzero(y == label)
        place[of_class] = _spread(len(of_class))
    return np.argsort(place, kind="stable")


def _spread(n: int) -> Array:
    """Return the van der Corput sequence, n numbers in 0 .. 1 any beginning of which is spread evenly."""
    place, base = np.arange(n), 0.5
    values = np.zeros(n)
    while place.any():
        values += base * (place % 2)
        place, base = place // 2, 0.5 * base
    return values
