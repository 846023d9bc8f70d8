"""All folds and values of C on one Gram matrix, compiled: the inner loop of tuning."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from fsvm_cli.svm.active_set import CONVERGED
from fsvm_cli.svm.engine import STEPS_PER_SAMPLE, make_scratch, maximise_certified
from fsvm_cli.svm.pair_steps import ALLOCATING, COMPILED, Array, Box, move, place, total

Booleans = npt.NDArray[np.bool_]


@njit(**COMPILED)
def set_bounds(box: Box, y: Array, C: float) -> None:
    """Write the box 0 <= alpha <= C in signed coefficients."""
    for i in range(y.size):
        box.lower[i], box.upper[i] = min(0.0, C * y[i]), max(0.0, C * y[i])


@njit(**COMPILED)
def restore_balance(box: Box, y: Array) -> None:
    """Make the coefficients sum to zero again: with the free samples as far as that goes, then with any."""
    for only_free in (True, False):
        for i in range(y.size):
            missing = -total(box.c)
            room = (box.upper[i] if missing > 0.0 else box.lower[i]) - box.c[i]
            is_free = (box.c[i] != box.lower[i]) & (box.c[i] != box.upper[i])
            if missing != 0.0 and room != 0.0 and (is_free or not only_free):
                move(box, i, room if abs(room) < abs(missing) else missing)


@njit(**ALLOCATING)
def grow_start(K: Array, y: Array, previous: Array, ratio: float) -> Array:
    """Return the better of a solution and its multiple by the ratio of the two C, both feasible for the larger C."""
    sum_alpha = np.sum(previous * y)
    curvature = np.dot(previous, np.dot(K, previous))
    if ratio * sum_alpha - 0.5 * ratio * ratio * curvature > sum_alpha - 0.5 * curvature:
        return previous * ratio
    return previous.copy()


@njit(**ALLOCATING)
def fit_all(  # noqa: PLR0917
    K: Array, y: Array, Cs: Array, tolerance: float, coefficients: Array, scores: Array
) -> Booleans:
    """Fit one machine on all samples for ascending C; write coefficients and scores, return which converged."""
    n = y.size
    box, factor = make_scratch(n)
    converged = np.zeros(Cs.size, np.bool_)
    for c in range(Cs.size):
        set_bounds(box, y, Cs[c])
        if c > 0:
            start = grow_start(K, y, coefficients[c - 1], Cs[c] / Cs[c - 1])
            for i in range(n):
                place(box, i, min(max(start[i], box.lower[i]), box.upper[i]))
        status, _, bias, _ = maximise_certified(K, y, box, factor, tolerance, STEPS_PER_SAMPLE * n)
        converged[c] = status == CONVERGED
        coefficients[c] = box.c
        scores[c] = y - box.r + bias
    return converged


@njit(**ALLOCATING)
def score_fold(  # noqa: PLR0917
    K: Array,
    y: Array,
    Cs: Array,
    train: npt.NDArray[np.int64],
    test: npt.NDArray[np.int64],
    tolerance: float,
    coefficients: Array,
    scores: Array,
) -> Booleans:
    """Write the scores of the samples of `test` by machines without them, one row per C; return which converged.

    A machine none of whose support vectors is left out is the machine on all samples, whose scores are there already.
    Others begin at that machine.

    Parameters
    ----------
    K : (n, n) array
    y : (n,) array
    Cs : (n_C,) array
    train, test : arrays of int
    tolerance : float
        Relative duality gap.
    coefficients : (n_C, n) array
        Of the machines on all samples.
    scores : (n_C, n) array
        On entry those of the machines on all samples; written where `test` says.
    """
    m = train.size
    converged = np.ones(Cs.size, np.bool_)
    part, labels = np.empty((0, 0)), y[train]
    box, factor = make_scratch(m)
    for c in range(Cs.size):
        left_out = 0.0
        for i in test:
            left_out += abs(coefficients[c, i])
        if left_out == 0.0:
            continue
        if part.size == 0:
            part = np.empty((m, m))
            for a in range(m):
                for b in range(m):
                    part[a, b] = K[train[a], train[b]]
        set_bounds(box, labels, Cs[c])
        for a in range(m):
            place(box, a, coefficients[c, train[a]])
        restore_balance(box, labels)
        status, _, bias, _ = maximise_certified(part, labels, box, factor, tolerance, STEPS_PER_SAMPLE * m)
        converged[c] = status == CONVERGED
        for i in test:
            value = bias
            for a in range(m):
                value += box.c[a] * K[i, train[a]]
            scores[c, i] = value
    return converged
