"""Steps of decomposition: the dual objective is raised on a few samples at a time, whose Gram rows are cached.

Joachims (1999); the pairs are selected by second order information, as in Fan et al. (2005).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fsvm_cli.svm.large.decomposition_problem import RowCache
from fsvm_cli.svm.solvers.active_set import RESIDUAL_ROUNDING
from fsvm_cli.svm.solvers.optimality import subtract_rows
from fsvm_cli.svm.solvers.working_set import Part, optimise_part, signed_bounds

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.large.decomposition_problem import KernelProblem, Rows

MAX_WORKING_SET = 512
"""Samples whose coefficients move together; half of them stay from one set to the next. Of 512, 1,024 and 2,048 the
fastest on 8,000 samples."""
LOOSE_VIOLATION_SHARE, TIGHT_VIOLATION_SHARE = 0.3, 0.1
"""Of the present violation: what may be left within a large working set on the way, and within any other."""
ROUNDS_BETWEEN_SHRINKING = 5
SINGLE_PRECISION_ROUNDING = 2.0**-24
"""The part of a kernel value by which rounding to single precision changes it, at most."""
SINGLE_PRECISION_ERRORS = 4.0
"""Times that part, the largest kernel value and the length of the vector of coefficients: more than such changes, in
either direction alike, do to a residual."""
MIN_SINGLE, MAX_SINGLE = 1e-30, 1e30
"""Largest kernel values whose rows single precision can hold."""
ROWS_NOT_CACHED = 1024
"""As long as all samples, whose memory is taken for rows that single precision computes: to compute one again costs no
more than the first use of fresh memory. Of 30,000 samples all from 640 such rows on took the same time."""
MIN_SHRUNK_SHARE = 0.2
"""The part of the active samples that must leave to be worth it, for all cached rows are cut then."""


class _Known(NamedTuple):
    """A point and its residuals, which are sums of kernel values in doubles; `terms` and `moved` as of `Ascent`."""

    coefficients: Array
    residuals: Array
    terms: int
    moved: float


class Ascent:
    """A point of the dual problem that rises.

    As in SVM-light (Joachims 1999), a working set holds the samples that violate their conditions most, those whose
    coefficients may rise and those whose may fall in equal parts; it is solved by the dense solver, and all residuals
    follow. Half of a set stays in the next (Wen et al. 2018), else two sets would take turns. Samples on a bound that
    do not violate their condition by the present extremes leave until the others are optimal (shrinking, as in LIBSVM,
    Chang and Lin 2011, section 5.1); then all residuals are computed anew.

    Until then rows may be kept in single precision, so that twice as many find room: what rounding does to residuals on
    the way is gone with those that are computed anew, and all rows after that are doubles. So are they from the start
    where kernel values have no bound or no place in single precision, and as soon as it could hide the violation that
    is asked for. Where the kernel computes values in single precision, rows on the way are made of these, and so are
    the residuals to begin with.

    Parameters
    ----------
    problem : KernelProblem
    alpha : (n,) array
        A feasible point.
    memory : (n_values,) array
        Of the cache; see `RowCache`.
    rough : bool
        Whether rows may be kept in single precision until all residuals are computed anew.

    Attributes
    ----------
    rounds : int
        Working sets so far.
    terms, moved : int and float
        Products of coefficients, or of their changes, with kernel values in a residual, where these are doubles, and
        the sum of the magnitudes of these coefficients and changes.
    """

    def __init__(self, problem: KernelProblem, alpha: Array, memory: Array, *, rough: bool = False) -> None:
        self.problem, self.rounds, self.terms, self.moved = problem, 0, 0, 0.0
        self._known: _Known | None = None
        self._memory, self._largest = memory, problem.largest_kernel_value()
        self._rough = rough and problem.kernel.positive_semidefinite and MIN_SINGLE <= self._largest <= MAX_SINGLE
        self._c = problem.y * alpha
        self._bounds = signed_bounds(problem)
        self._singles = problem.singles if self._rough else None
        if self._singles is None:
            self._start_from(self._known_anew())
        else:
            outputs = problem.rough_outputs(self._c, np.arange(len(self._c)))
            self._activate(problem.y - outputs - problem.ridge * self._c)

    @property
    def alpha(self) -> Array:
        """The point, shape (n,)."""
        self._c[self._active] = self._own
        return np.abs(self._c)

    @property
    def residuals(self) -> Array:
        """Of all samples, shape (n,), where all are active, as after `rise`."""
        return self._r

    @property
    def objective(self) -> float:
        """The dual objective, where all samples are active."""
        return 0.5 * float((self._own * (self.problem.y + self._r)).sum())

    @property
    def largest_set(self) -> int:
        """Samples of a working set, at most."""
        return min(MAX_WORKING_SET, len(self._cache), len(self._active))

    @property
    def bias(self) -> float:
        """The mean residual of the active samples that are free; where none is, the middle of the extremes."""
        if not self.problem.equality:
            return 0.0
        free = (self._own > self._lower) & (self._own < self._upper)
        return float(self._r[free].mean()) if free.any() else 0.5 * sum(self._extremes())

    def _start_from(self, known: _Known) -> None:
        self._known, self.terms, self.moved = known, known.terms, known.moved
        self._activate(known.residuals)

    def _activate(self, residuals: Array) -> None:
        """Continue with all samples, from their residuals, and with an empty cache."""
        n = len(self._c)
        self._active, self._samples = np.arange(n), self.problem.X
        self._own, self._r = self._c.copy(), residuals.copy()
        self._lower, self._upper = self._bounds
        self._last = np.array([], dtype=np.intp)
        memory: Any = self._memory.view(np.float32) if self._rough else self._memory
        self._cache = RowCache(n, memory[: ROWS_NOT_CACHED * n] if self._singles else memory)

    def rise(self, max_violation: float, rounds: int, *, of_all: bool = True) -> float:
        """Take working sets until the largest violation is within the bound; return it.

        Parameters
        ----------
        max_violation : float
        rounds : int
            Working sets at most.
        of_all : bool
            Whether those that rest must not violate their conditions either, and none rests in the end.
        """
        for done in range(rounds):
            highest, lowest = self._extremes()
            if self._is_too_rough(max_violation):
                self._reconstruct()
                continue
            if highest - lowest <= max(max_violation, self._rounding()):
                if self._is_exact() or not of_all:
                    return highest - lowest
                self._reconstruct()
                continue
            if done % ROUNDS_BETWEEN_SHRINKING == ROUNDS_BETWEEN_SHRINKING - 1:
                self._shrink(highest, lowest)
            self.rounds += 1
            loose = self._rough and self.largest_set == MAX_WORKING_SET
            left = (LOOSE_VIOLATION_SHARE if loose else TIGHT_VIOLATION_SHARE) * (highest - lowest)
            if not self._optimise(self._working_set(highest, lowest), left):
                break
        if of_all and not self._is_exact():
            self._reconstruct()
        highest, lowest = self._extremes()
        return highest - lowest

    def _rounding(self) -> float:
        """Return the violation that rounding may leave; without it, some sets would go on for ever."""
        return RESIDUAL_ROUNDING * self._largest * float(np.abs(self._own).sum())

    def _is_too_rough(self, max_violation: float) -> bool:
        """Return whether single precision may be too coarse for such a violation."""
        error = SINGLE_PRECISION_ERRORS * (self._singles.error if self._singles else SINGLE_PRECISION_ROUNDING)
        return self._rough and not error * self._largest * float(np.linalg.norm(self._own)) <= max_violation

    def _is_exact(self) -> bool:
        """Return whether the residuals of all samples are available, with the rounding errors of doubles only."""
        return not self._rough and len(self._active) == len(self._c)

    def _extremes(self) -> tuple[float, float]:
        """Return the largest residual in I_up and the smallest in I_low; of a machine without bias 0 is among both."""
        highest = np.max(self._r, where=self._own < self._upper, initial=-np.inf)
        lowest = np.min(self._r, where=self._own > self._lower, initial=np.inf)
        if not self.problem.equality:
            return max(float(highest), 0.0), min(float(lowest), 0.0)
        return float(highest), float(lowest)

    def _working_set(self, highest: float, lowest: float) -> Rows:
        """Choose active samples: the worst violators of either kind, and the half of the last set, free ones first."""
        size = self.largest_set
        each = max(size // 4, 1)
        rising = np.where(self._own < self._upper, self._r, -np.inf)
        falling = np.where(self._own > self._lower, self._r, np.inf)
        top = np.argpartition(-rising, each - 1)[:each]
        bottom = np.argpartition(falling, each - 1)[:each]
        new = np.union1d(top[rising[top] > lowest], bottom[falling[bottom] < highest])
        before = self._last[~np.isin(self._last, new)]
        free = (self._own[before] > self._lower[before]) & (self._own[before] < self._upper[before])
        kept = before[np.argsort(~free, kind="stable")][: size - len(new)]
        self._last = np.concatenate([new, kept])
        return np.sort(self._last)

    def _optimise(self, members: Rows, max_violation: float) -> bool:
        """Move the coefficients of a working set to their optimum, let all residuals follow; return if any moved."""
        slots = self._cache.fetch(members, self._compute)
        gram = self.problem.block(self._active[members])  # faster than to pick it out of rows so long
        start = self._own[members]
        part = Part(start, self._r[members], self._lower[members], self._upper[members])
        moved, _ = optimise_part(self.problem, gram, part, max_violation)
        change = np.zeros(len(self._cache))
        change[slots] = moved - start
        subtract_rows(self._r, self._cache.values, change)
        self.terms, self.moved = self.terms + int(np.count_nonzero(change)), self.moved + float(np.abs(change).sum())
        self._r[members] -= self.problem.ridge * (moved - start)
        self._own[members] = moved
        return bool(change.any())

    def _compute(self, rows: Rows, out: Array, slots: Rows) -> None:
        if self._singles:
            self._singles.write(rows, out, slots)
        else:
            self.problem.fill_rows(self._active[rows], self._samples, out, slots)

    def _shrink(self, highest: float, lowest: float) -> None:
        """Shrink: deactivate samples that are on a bound and on its side of both extremes."""
        at_lower, at_upper = self._own <= self._lower, self._own >= self._upper
        resting = (at_upper & (self._r > highest)) | (at_lower & (self._r < lowest))
        if np.count_nonzero(resting) < MIN_SHRUNK_SHARE * len(resting):
            return
        kept = np.flatnonzero(~resting)
        self._c[self._active] = self._own
        self._cache.restrict(kept)
        place = np.full(len(resting), -1, dtype=np.intp)
        place[kept] = np.arange(len(kept))
        self._last = place[self._last]
        self._last = self._last[self._last >= 0]
        self._active, self._samples = self._active[kept], self._samples[kept]
        self._singles = self._singles.restrict(kept) if self._singles else None
        self._own, self._r = self._own[kept], self._r[kept]
        self._lower, self._upper = self._lower[kept], self._upper[kept]

    def _reconstruct(self) -> None:
        """Reactivate all samples; residuals are recomputed, and all later rows are computed in doubles."""
        self._c[self._active] = self._own
        self._rough, self._singles = False, None
        self._start_from(self._known_by_change() or self._known_anew())

    def _known_anew(self) -> _Known:
        coefficients = self._c.copy()
        terms, moved = int(np.count_nonzero(coefficients)), float(np.abs(coefficients).sum())
        return _Known(coefficients, self.problem.residuals(coefficients), terms, moved)

    def _known_by_change(self) -> _Known | None:
        """Return the residuals by what has changed since others were known; None where that would be no less work."""
        if (before := self._known) is None:
            return None
        coefficients = self._c.copy()
        rows = np.flatnonzero(coefficients != before.coefficients)
        if len(rows) >= np.count_nonzero(coefficients):
            return None
        change = coefficients[rows] - before.coefficients[rows]
        residuals = self.problem.residuals_after(before.residuals, coefficients, rows, change)
        return _Known(coefficients, residuals, before.terms + len(rows), before.moved + float(np.abs(change).sum()))
