"""Machines on all samples and on the training parts of folds, for ascending C, on one Gram matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numba import njit

from fsvm_cli.svm.compiled import COMPILED, Array, add_scaled
from fsvm_cli.svm.kernels.base import Rounding
from fsvm_cli.svm.paths.nested_compiled import rounding_of_gap
from fsvm_cli.svm.solvers.active_set import CONVERGED, MAX_VIOLATION, STEPS_PER_SAMPLE, make_scratch, maximise_certified
from fsvm_cli.svm.solvers.block_pivoting import pivot, pivot_certified
from fsvm_cli.svm.solvers.certificate import stated
from fsvm_cli.svm.solvers.dual import DualProblem, DualSolution
from fsvm_cli.svm.solvers.optimality import compiled_bias, finish_fit, refresh, refresh_bounded
from fsvm_cli.svm.solvers.smo import Box, count_inside, set_bounds, set_coefficient

if TYPE_CHECKING:
    from fsvm_cli.svm.solvers.cholesky import Factor

Booleans = npt.NDArray[np.bool_]
Fold = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

MAX_FAILED_FOLDS = 2
"""Folds in a row on which block pivoting fails, as on kernels of low rank, before it is given up for this C."""


def restore_balance(c: Array, lower: Array, upper: Array) -> Array:
    """Return coefficients that sum to zero: the free ones are moved as far as that goes, then others."""
    missing = -float(c.sum())
    distance = upper - c if missing > 0.0 else c - lower
    free_first = np.argsort(~((c > lower) & (c < upper)), kind="stable")
    before = np.concatenate([[0.0], np.cumsum(distance[free_first])[:-1]])
    moves = np.empty(len(c))
    moves[free_first] = np.maximum(abs(missing) - before, 0.0)
    bound = upper if missing > 0.0 else lower
    # A bound is assigned, not computed: coefficient plus distance may miss it by rounding.
    return np.where(moves >= distance, bound, np.clip(c + np.sign(missing) * moves, lower, upper))


class FoldMachines:
    """One machine on all samples for each C, and the ones without the samples that a fold leaves out.

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
    weights : (n,) array, optional
        What C is multiplied by for each sample.
    rounding : Rounding, optional
        As of `fsvm_cli.svm.DualProblem`. It changes no machine, and decides which are `certified`.

    Attributes
    ----------
    coefficients, scores : (n_C, n) arrays
        Of the machines on all samples.
    converged : (n_C,) array of bool
        Whether they reached the gap.
    certified : (n_C,) array of bool
        Whether they reached it for exact kernel values, too.
    has_margin_vectors : (n_C,) array of bool
        Whether a coefficient is strictly within its bounds, and so fixes the bias.
    """

    def __init__(  # noqa: PLR0917
        self,
        K: Array,
        y: Array,
        Cs: Array,
        tolerance: float,
        weights: Array | None = None,
        rounding: Rounding | None = None,
    ) -> None:
        self.K, self.y, self.Cs, self.tolerance = K, y, Cs, tolerance
        self.bounds = np.multiply.outer(Cs, np.ones(len(y)) if weights is None else weights)
        none = np.zeros(len(y))
        self.rounding = Rounding(none, none, none) if rounding is None else rounding
        relative, reach, lengths = self.rounding
        self.digits = relative + np.divide(reach, lengths, out=np.zeros(len(y)), where=lengths > 0.0)
        self.box, self.factor = make_scratch(len(y))
        self.coefficients, self.scores = np.zeros((len(Cs), len(y))), np.empty((len(Cs), len(y)))
        self.converged, self.certified = np.zeros(len(Cs), dtype=bool), np.zeros(len(Cs), dtype=bool)
        self.has_margin_vectors = np.zeros(len(Cs), dtype=bool)
        self.missed = np.zeros(len(Cs), dtype=np.int64)
        self._fit_all()

    def score(self, fold: Fold) -> tuple[Array, Booleans, Booleans]:
        """Score a fold's test rows by machines on its training rows.

        A machine none of whose support vectors is left out is the machine on all samples, but for a bias that no
        margin vector fixes. Others begin at that one.

        Parameters
        ----------
        fold : pair of arrays of int
            Training and test rows.

        Returns
        -------
        scores : (n_C, n_test) array
        converged, certified : (n_C,) arrays of bool
        """
        train, test = fold
        times = np.bincount(train, minlength=len(self.y))
        left_out = np.flatnonzero(times == 0)
        scores, converged, certified = self.scores[:, test], self.converged.copy(), self.certified.copy()
        scores += self._bias_shifts(left_out)[:, None]
        repeated = bool((times > 1).any())
        changed = np.flatnonzero((self.coefficients[:, left_out] != 0.0).any(axis=1) | repeated)
        for first, c in enumerate(changed):
            done = False
            if not repeated and self.missed[c] < MAX_FAILED_FOLDS:
                machine = self.coefficients[c], self.scores[c], left_out, self.digits, self.rounding.lengths
                done, bias, worst = pivot_without(
                    self.K, self.y, self.box, self.factor, self.bounds[c], *machine, self.tolerance
                )
            if not done:
                self.missed[c] += 1
                scores[c], converged[c], certified[c] = self._ascend_without(c, fold)
                continue
            self.missed[c] = 0
            is_certified, bias = self._certify(bias, worst)
            # Where no alpha is at its bound, the machine is that of every larger C.
            beyond = slice(first, first + 1) if _is_bounded(self.box) else slice(first, None)
            scores[changed[beyond]] = (self.y - self.box.r + bias)[test]
            converged[changed[beyond]], certified[changed[beyond]] = True, is_certified
            if beyond.stop is None:
                break
        return scores, converged, certified

    def _fit_all(self) -> None:
        """Fit the machines on all samples, each from the one before."""
        K, y, box, factor = self.K, self.y, self.box, self.factor
        for c, bounds in enumerate(self.bounds):
            set_bounds(box, y, bounds)
            done, bias, gap = False, 0.0, np.inf
            if c > 0:
                previous = self.coefficients[c - 1]
                box.c[:] = np.where(np.abs(previous) == self.bounds[c - 1], bounds * y, previous)
                refresh(K, y, box)
                rounds, bias, gap = pivot_certified(K, y, box, factor, self.tolerance)
                done = rounds > 0
            if not done:
                growth = self.Cs[c] / self.Cs[c - 1] if c > 0 else 1.0
                box.c[:] = np.clip(_grow(K, y, previous, growth), box.lower, box.upper) if c > 0 else 0.0
                done, bias, gap = _ascend(K, y, box, factor, self.tolerance)
            self.certified[c:] = False
            if done:
                worst = gap_with_rounding(K, y, box, bias, gap, self.digits, self.rounding.lengths)
                self.certified[c:], bias = self._certify(bias, worst)
            self.coefficients[c:], self.scores[c:], self.converged[c:] = box.c, y - box.r + bias, done
            self.has_margin_vectors[c:] = count_inside(box) > 0
            if not _is_bounded(box):
                break

    def _bias_shifts(self, left_out: npt.NDArray[np.int64]) -> Array:
        """Return by how much the biases change where samples are left out that may have bounded their intervals."""
        shifts, box = np.zeros(len(self.Cs)), self.box
        for c in np.flatnonzero(~self.has_margin_vectors):
            set_bounds(box, self.y, self.bounds[c])
            box.c[:], box.r[:] = self.coefficients[c], self.y - self.scores[c]
            box.lower[left_out] = box.upper[left_out] = 0.0
            shifts[c] = compiled_bias(box)
        return shifts

    def _ascend_without(self, c: np.intp, fold: Fold) -> tuple[Array, bool, bool]:
        """Score a fold's test rows by a machine that is fitted by ascent; a row that it has twice has twice the C."""
        train, test = fold
        box, times = self.box, np.bincount(train, minlength=len(self.y))
        set_bounds(box, self.y, self.bounds[c] * times)
        box.c[:] = restore_balance(self.coefficients[c] * times, box.lower, box.upper)
        done, bias, gap = _ascend(self.K, self.y, box, self.factor, self.tolerance)
        certified = False
        if done:
            worst = gap_with_rounding(self.K, self.y, box, bias, gap, self.digits, self.rounding.lengths)
            certified, bias = self._certify(bias, worst)
        return (self.y - box.r + bias)[test], done, certified

    def _certify(self, bias: float, worst: float) -> tuple[bool, float]:
        """Return whether a machine that has reached its gap reaches it for exact kernel values, too, and its bias.

        That it does is not only so where the gap with what rounding may add to it, `worst`, is within the tolerance:
        that is a coarse bound. See `stated` for the other. Where only the machine scaled up does, the box has that one.
        """
        if worst <= self.tolerance:
            return True, bias
        box = self.box
        own = np.flatnonzero(box.upper > box.lower)
        bounds, alpha = (box.upper - box.lower)[own], np.abs(box.c[own])
        problem = DualProblem(self.K[np.ix_(own, own)], self.y[own], bounds, rounding=self.rounding.restrict(own))
        found = stated(problem, DualSolution(alpha, bias, 0.0, 0.0, 0, "smo", converged=True), self.tolerance)
        if not np.array_equal(found.alpha, alpha):
            box.c[own] = found.alpha * self.y[own]
            refresh(self.K, self.y, box)
        return found.converged, found.bias


@njit(**COMPILED)
def pivot_without(  # noqa: PLR0917
    K: Array,
    y: Array,
    box: Box,
    factor: Factor,
    C: Array,
    coefficients: Array,
    scores: Array,
    left_out: npt.NDArray[np.int64],
    digits: Array,
    lengths: Array,
    tolerance: float,
) -> tuple[bool, float, float]:
    """Look for the machine without some samples from the one with them.

    Return whether it was found, its bias, and its gap with what the rounding of kernel values may add to it.

    Parameters
    ----------
    K, y, box, factor, tolerance
        As in `pivot_certified`, the factor that of any indices' block of `K`. On return of True the residuals are those
        of all samples, those that are left out having both bounds at 0.
    C : (n,) array
    coefficients, scores : (n,) arrays
        Of the machine on all samples.
    left_out : (n_left_out,) array of int
    digits, lengths : (n,) arrays
        As in `rounding_of_gap`.
    """
    set_bounds(box, y, C)
    for i in range(y.size):
        set_coefficient(box, i, coefficients[i])
        box.r[i] = y[i] - scores[i]  # but for the bias, which pivots do not depend on
    for i in left_out:
        add_scaled(box.r, K[i], box.c[i])
        box.lower[i], box.upper[i] = 0.0, 0.0
        set_coefficient(box, i, 0.0)
    if not pivot(K, box, factor, MAX_VIOLATION * tolerance):
        return False, 0.0, np.inf
    refresh_bounded(K, y, box)
    bias, gap = finish_fit(K, y, box, tolerance)
    return gap <= tolerance, bias, gap_with_rounding(K, y, box, bias, gap, digits, lengths)


@njit(**COMPILED)
def gap_with_rounding(  # noqa: PLR0917
    K: Array, y: Array, box: Box, bias: float, gap: float, digits: Array, lengths: Array
) -> float:
    """Return a gap with the most that the rounding of kernel values adds to it, as `with_rounding` does."""
    rounding = rounding_of_gap(K, y, box, bias, digits, lengths, False)
    return (gap + rounding) / (1.0 - rounding) if rounding < 1.0 else 2.0


def _ascend(K: Array, y: Array, box: Box, factor: Factor, tolerance: float) -> tuple[bool, float, float]:
    """Maximise by steps that each raise the objective; return whether the gap was reached, the bias and the gap."""
    refresh(K, y, box)
    status, _, bias, gap = maximise_certified(K, y, box, factor, tolerance, STEPS_PER_SAMPLE * len(y))
    return status == CONVERGED, bias, gap


def _is_bounded(box: Box) -> bool:
    """Return whether an alpha is at its upper bound."""
    return bool(((box.c == box.lower + box.upper) & (box.c != 0.0)).any())


def _grow(K: Array, y: Array, previous: Array, ratio: float) -> Array:
    """Return the better of a solution and its multiple by the ratio of two C, both feasible for the larger C."""
    sum_alpha, curvature = float(previous @ y), float(previous @ (K @ previous))
    multiple_is_better = ratio * sum_alpha - 0.5 * ratio**2 * curvature > sum_alpha - 0.5 * curvature
    return previous * ratio if multiple_is_better else previous
