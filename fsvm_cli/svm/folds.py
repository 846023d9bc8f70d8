"""One machine on all samples and without those of a fold, for ascending C on one Gram matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fsvm_cli.svm.active_set import CONVERGED
from fsvm_cli.svm.block_pivots import pivot_certified
from fsvm_cli.svm.engine import STEPS_PER_SAMPLE, make_scratch, maximise_certified

if TYPE_CHECKING:
    from fsvm_cli.svm.dual import Array
    from fsvm_cli.svm.factor import Factor
    from fsvm_cli.svm.pair_steps import Box

Booleans = npt.NDArray[np.bool_]
Fold = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def restore_balance(c: Array, lower: Array, upper: Array) -> Array:
    """Return coefficients that sum to zero: moved are the free ones as far as that goes, then any."""
    missing = -float(c.sum())
    room = upper - c if missing > 0.0 else c - lower
    free_first = np.argsort(~((c > lower) & (c < upper)), kind="stable")
    room = room[free_first]
    moves = np.clip(abs(missing) - (np.cumsum(room) - room), 0.0, room)
    balanced = c.copy()
    balanced[free_first] += np.sign(missing) * moves
    return np.clip(balanced, lower, upper)


def fit_all(K: Array, y: Array, Cs: Array, tolerance: float) -> tuple[Array, Array, Booleans]:
    """Fit one machine on all samples, for each C from the solution for the one before.

    Parameters
    ----------
    K : (n, n) array
        Gram matrix.
    y : (n,) array
        Labels.
    Cs : (n_C,) array
        Ascending.
    tolerance : float
        Relative duality gap.

    Returns
    -------
    coefficients, scores : (n_C, n) arrays
    converged : (n_C,) array of bool
    """
    box, factor = make_scratch(len(y))
    coefficients, scores = np.zeros((len(Cs), len(y))), np.empty((len(Cs), len(y)))
    converged = np.zeros(len(Cs), dtype=bool)
    for c, C in enumerate(Cs):
        _set_bounds(box, y, C)
        done, bias = False, 0.0
        if c > 0:
            previous = coefficients[c - 1]
            box.c[:] = np.where(np.abs(previous) == Cs[c - 1], C * y, previous)
            done, bias = pivot_certified(K, y, box, factor, tolerance)
        if not done:
            box.c[:] = np.clip(_grow(K, y, previous, C / Cs[c - 1]), box.lower, box.upper) if c > 0 else 0.0
            done, bias = _climb(K, y, box, factor, tolerance)
        coefficients[c:], scores[c:], converged[c:] = box.c, y - box.r + bias, done
        if not _is_bounded(box):
            break
    return coefficients, scores, converged


def score_fold(  # noqa: PLR0917
    K: Array, y: Array, Cs: Array, fold: Fold, tolerance: float, coefficients: Array, scores: Array
) -> Booleans:
    """Write the scores of the samples that a fold leaves out by machines without them; return which converged.

    A machine none of whose support vectors is left out is the machine on all samples, whose scores are there already.
    Others begin at that machine.

    Parameters
    ----------
    K, y, Cs, tolerance
        As in `fit_all`.
    fold : pair of arrays of int
        Training and test rows.
    coefficients : (n_C, n) array
        Of the machines on all samples.
    scores : (n_C, n) array
        On entry those of the machines on all samples.
    """
    train, test = fold
    converged = np.ones(len(Cs), dtype=bool)
    changed = np.flatnonzero((coefficients[:, test] != 0.0).any(axis=1))
    if not len(changed):
        return converged
    part, labels, cross = K[np.ix_(train, train)], y[train], K[np.ix_(test, train)]
    box, factor = make_scratch(len(train))
    for place, c in enumerate(changed):
        _set_bounds(box, labels, Cs[c])
        box.c[:] = coefficients[c, train]
        done, bias = pivot_certified(part, labels, box, factor, tolerance)
        if not done:
            box.c[:] = restore_balance(coefficients[c, train], box.lower, box.upper)
            done, bias = _climb(part, labels, box, factor, tolerance)
        beyond = changed[place:]
        converged[beyond], scores[np.ix_(beyond, test)] = done, cross @ box.c + bias
        if not _is_bounded(box):
            break
    return converged


def _climb(K: Array, y: Array, box: Box, factor: Factor, tolerance: float) -> tuple[bool, float]:
    """Maximise from the point in the box; return whether the gap was reached, and the bias."""
    status, _, bias, _ = maximise_certified(K, y, box, factor, tolerance, STEPS_PER_SAMPLE * len(y))
    return status == CONVERGED, bias


def _set_bounds(box: Box, y: Array, C: float) -> None:
    box.lower[:], box.upper[:] = np.minimum(0.0, C * y), np.maximum(0.0, C * y)


def _is_bounded(box: Box) -> bool:
    """Return whether an alpha is C; where none is, the machine is that of every larger C, too."""
    return bool((box.c == box.lower + box.upper).any())


def _grow(K: Array, y: Array, previous: Array, ratio: float) -> Array:
    """Return the better of a solution and its multiple by the ratio of two C, both feasible for the larger C."""
    sum_alpha, curvature = float(previous @ y), float(previous @ (K @ previous))
    multiple_is_better = ratio * sum_alpha - 0.5 * ratio**2 * curvature > sum_alpha - 0.5 * curvature
    return previous * ratio if multiple_is_better else previous
