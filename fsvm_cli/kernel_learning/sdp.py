"""Weights of either sign: the semidefinite programme of Lanckriet et al. (2004), by cutting planes over the weights.

The value is convex in the weights, which are few. A machine at one point bounds it from below everywhere by a linear
function, and an eigenvector v of a negative eigenvalue forbids a half-space, for v'Kv >= 0 must hold. A linear
programme over all these cuts gives a lower bound and the next point, which is moved towards the centre, where all
kernels have equal shares, until it is semidefinite; the machine there bounds the optimum from above. In which
directions it is indefinite tell coordinates in which the sum of all kernels is the identity; what these leave out, or
rounding takes from them where kernels nearly depend on each other, the sum of the kernels itself.

References
----------
- G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui and M. I. Jordan, "Learning the Kernel Matrix with
  Semidefinite Programming", Journal of Machine Learning Research 5, 2004, pages 27-72.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy.optimize
from scipy.linalg import eigh, lapack, qr, solve_triangular

from fsvm_cli.kernel_learning.margin import relative_gap
from fsvm_cli.kernel_learning.qcqp import MACHINE_TOLERANCE, descend
from fsvm_cli.kernel_learning.trained import Trainer
from fsvm_cli.svm.compiled import EPSILON

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fsvm_cli.kernel_learning.base_kernels import GramMatrices
    from fsvm_cli.kernel_learning.margin import LearnedSum, Margin
    from fsvm_cli.kernel_learning.trained import Trained
    from fsvm_cli.svm.compiled import Array

INITIAL_GAP = 1e-2
"""The gap of weights that are not negative, from which the search begins: their machines are the first cuts."""
RANK_TOLERANCE = 1e-10
"""Eigenvalues of the sum of all kernels below this part of the largest are those of a space that no kernel reaches."""
DEPENDENCE_TOLERANCE = 1e-8
"""A kernel that is a sum of others up to this part of itself has no weight of its own."""
MAX_ABSOLUTE_SHARE = 1e6
"""Limit of the search over shares; where a bound on the value depends on it, it is no bound."""
INWARD_SHIFT = 1e-9
"""Part of the way to the centre by which boundary points are moved, so that rounding leaves them semidefinite."""
BOUNDARY_FRACTIONS = (1.0, 0.99, 0.9, 0.5)
"""Parts of the way to the boundary at which a machine is tried in turn, where there is none on the boundary."""
MAX_CUTS_PER_POINT = 3
"""Cuts from one point, at most: one for each negative eigenvalue."""
EIGENVALUE_ROUNDING_ULPS = 1.0
"""Last digits, for each row and in units of the largest sums of rows of the kernels times their weights, that an
eigenvalue may be below 0: about what the rounding of kernel values and of their sum can do."""
MAX_MOVES_TO_CENTRE = 30
"""Times that a point whose sum of kernels is indefinite is moved towards the centre."""


def learn_signed_weights(
    kernels: GramMatrices, y: Array, margin: Margin, *, tolerance: float = 1e-4, max_machines: int = 200
) -> LearnedSum:
    """Find weights mu_i of either sign whose sum of kernels gives the machine of largest margin.

    The problem of `learn_weights`, with mu_i >= 0 replaced by sum_i mu_i K_i positive semidefinite on all rows, those
    of the training part and others.

    Parameters
    ----------
    kernels : GramMatrices
        A few, each positive semidefinite.
    y : (n,) array
        Labels of the training rows, -1 or +1.
    margin : Margin
        Its ridge may not be learned.
    tolerance : float
        The relative gap to reach, > 0.
    max_machines : int
        Machines to train, at most.

    Returns
    -------
    LearnedSum
        Positive semidefinite up to `EIGENVALUE_ROUNDING_ULPS`. Kernels that are zero or a sum of others have no weight.

    Raises
    ------
    ConvergenceError
        If the margin is hard and no machine is found with all kernels together: `InfeasibleError` where the classes are
        not separable.
    ValueError
        If there is one class only, the sizes disagree, or the margin's ridge is to be learned.

    Notes
    -----
    Source: jebara-slides, "SVM Kernel Selection", Table 1, after Lanckriet et al. (2004), eq. (12); the slides print
    the conic problem, and the table is that of this one.
    """
    if not tolerance > 0.0:
        raise ValueError(f"tolerance must be > 0, not {tolerance!r}")
    if margin.kind == "learned-2-norm":
        raise ValueError("a ridge is learned with weights that are not negative only; use the qcqp, or give C")
    trainer = Trainer(kernels, y, margin, MACHINE_TOLERANCE * tolerance)
    points, _ = descend(trainer, max(tolerance, INITIAL_GAP), max_machines)
    search = _WeightSearch(kernels, trainer, points)
    best, lower = search.best_of(points), 0.0
    while tolerance < relative_gap(best.upper, lower) < math.inf and trainer.n_machines < max_machines:
        found = search.lowest()
        if found is None:
            break
        target, bound = found
        lower = max(lower, bound)
        if relative_gap(best.upper, lower) > tolerance:
            reached = search.towards(target)
            between = search.between(best, reached)
            best = min(best, reached, between, key=lambda point: point.upper)
    return trainer.learned(trainer.refined(best), lower, tolerance)


class _WeightSearch:
    """The cuts so far, and the coordinates in which the sum of all kernels is the identity."""

    def __init__(self, kernels: GramMatrices, trainer: Trainer, points: Sequence[Trained]) -> None:
        self.trainer = trainer
        self.chosen = independent_kernels(kernels)
        self.centre = np.full(len(self.chosen), 1.0 / len(self.chosen))
        self.scaled = kernels.grams[self.chosen] * kernels.units[self.chosen, None, None]
        self.sizes = np.abs(self.scaled).sum(axis=2).max(axis=1)
        self.whitened, self.root = whitened(self.scaled, self.centre)
        self.unit = points[0].upper if 0.0 < points[0].upper < math.inf else 1.0
        self.rows: list[Array] = []
        self.sides: list[float] = []
        self.doubts: list[float] = []
        for point in points:
            self._bound_value(point)

    def best_of(self, points: Sequence[Trained]) -> Trained:
        """Return the best of points whose shares are those of the chosen kernels only; the centre if there is none."""
        others = np.setdiff1d(np.arange(len(points[0].shares)), self.chosen)
        own = [point for point in points if not point.shares[others].any()]
        return min(own, key=lambda point: point.upper) if own else self._at(self.centre)

    def lowest(self) -> tuple[Array, float] | None:
        """Return the shares of least value that the cuts allow, with this lower bound; None if rounding forbids."""
        n = len(self.chosen)
        found = scipy.optimize.linprog(
            np.append(np.zeros(n), 1.0),
            A_ub=np.array(self.rows),
            b_ub=np.array(self.sides),
            A_eq=[np.append(np.ones(n), 0.0)],
            b_eq=[1.0],
            bounds=[*[(-MAX_ABSOLUTE_SHARE, MAX_ABSOLUTE_SHARE)] * n, (0.0, None)],
        )
        if found.x is None:
            return None
        shares: Array = found.x[:-1]
        rests_on_cuts = bool((np.abs(shares) < 0.99 * MAX_ABSOLUTE_SHARE).all())
        return shares, self.unit * self._bound_of_cuts(shares, -found.ineqlin.marginals) if rests_on_cuts else 0.0

    def _bound_of_cuts(self, shares: Array, multipliers: Array) -> float:
        """Return a lower bound of the value, in its unit, from multipliers of the cuts, which the programme rounds.

        The values of the cuts at the shares are exact up to their last digits. Any multipliers >= 0 give a bound: the
        shares, at most `MAX_ABSOLUTE_SHARE`, can gain no more than their remaining derivatives allow. To make this gain
        negligible, the multipliers of active cuts are solved for again.
        """
        rows, sides = np.array(self.rows), np.array(self.sides)
        active = np.flatnonzero(multipliers > 0.0)
        n = len(self.chosen)
        # The derivatives by the shares are alike, that by the value is 0: unknown are multipliers, and what is alike.
        system = np.column_stack([rows[active].T, np.append(np.ones(n), 0.0)])
        target = np.append(np.zeros(n), -1.0)
        solution = np.linalg.lstsq(system, target, rcond=None)[0]
        best = 0.0
        for weights in (np.maximum(solution[:-1], 0.0), multipliers[active]):
            of_value = -float(weights @ rows[active, -1])
            if not of_value > 0.0:
                continue
            scaled = weights / of_value
            slopes = scaled @ rows[active, :-1]
            level = float(np.median(slopes))
            rounding = EPSILON * (len(active) + self.trainer.y.size)
            rounding *= float(scaled @ np.abs(rows[active, :-1]).max(axis=1)) * float(np.abs(shares).sum())
            rounding += float(scaled @ np.array(self.doubts)[active]) * float(np.abs(shares).sum())
            left = float(np.abs(slopes - level).sum())
            # Shares add up to 1, so that what is alike in the derivatives counts once.
            best = max(best, level - float(scaled @ sides[active]) - left * MAX_ABSOLUTE_SHARE - rounding)
        return best

    def towards(self, target: Array) -> Trained:
        """Move from the centre to the shares while the sum of kernels is semidefinite; add the cuts there."""
        direction = target - self.centre
        n_rows = self.whitened.shape[1]
        values, vectors = eigh(
            np.tensordot(direction, self.whitened, 1),
            subset_by_index=(0, min(MAX_CUTS_PER_POINT, n_rows) - 1),
            overwrite_a=True,
            check_finite=False,
        )
        length = 1.0
        if values[0] < -1.0:
            length = (1.0 - INWARD_SHIFT) / -float(values[0])
            for vector in vectors[:, values < -1.0].T:
                self._forbid(np.einsum("i,mij,j->m", vector, self.whitened, vector, optimize=True), self.root @ vector)
        length = self._semidefinite_length(direction, length)
        for part in BOUNDARY_FRACTIONS:
            point = self._at(self.centre + part * length * direction)
            if math.isfinite(point.upper):
                break
        self._bound_value(point)
        return point

    def _semidefinite_length(self, direction: Array, length: float) -> float:
        """Return a length, at most the given one, at which the sum of kernels itself is semidefinite; add cuts."""
        for _ in range(MAX_MOVES_TO_CENTRE):
            shares = self.centre + length * direction
            total = np.tensordot(shares, self.scaled, 1)
            allowed = EIGENVALUE_ROUNDING_ULPS * EPSILON * len(total) * float(np.abs(shares) @ self.sizes)
            shifted = total.copy()
            shifted.flat[:: len(total) + 1] += allowed
            if not lapack.dpotrf(shifted.T, lower=1, clean=0, overwrite_a=1)[1]:
                return length
            vectors = eigh(total, subset_by_index=(0, min(MAX_CUTS_PER_POINT, len(total)) - 1), check_finite=False)[1]
            farthest = length
            for vector in vectors.T:
                forms = np.einsum("i,mij,j->m", vector, self.scaled, vector, optimize=True)
                at_centre, along = float(self.centre @ forms), float(direction @ forms)
                if at_centre + length * along < -0.5 * allowed:
                    self._forbid(forms, vector)
                    farthest = min(farthest, max(at_centre, 0.0) / -along)
            length = (1.0 - INWARD_SHIFT) * min(farthest, 0.9 * length)
        return 0.0

    def between(self, first: Trained, second: Trained) -> Trained:
        """Add the cut half-way between two points, where the optimum is often nearer: a machine costs the least."""
        point = self.trainer.at(0.5 * (first.shares + second.shares), first)
        self._bound_value(point)
        return point

    def _at(self, shares: Array) -> Trained:
        of_all = np.zeros(len(self.trainer.kernels.traces))
        of_all[self.chosen] = shares
        return self.trainer.at(of_all)

    def _forbid(self, forms: Array, vector: Array) -> None:
        """Add the cut sum_i shares_i v' K_i v >= 0, by these forms.

        What a vector makes of the kernels themselves tells how far the forms are off: coordinates in which the sum of
        kernels is the identity lose as many digits as it has in its condition number.
        """
        size = float(np.abs(forms).max())
        exact = np.einsum("i,mij,j->m", vector, self.scaled, vector, optimize=True)
        rounding = EPSILON * len(vector) * self.sizes.max() * float(vector @ vector)
        self.doubts.append((float(np.abs(forms - exact).max()) + rounding) / size)
        self.rows.append(np.append(-forms / size, 0.0))
        self.sides.append(0.0)

    def _bound_value(self, point: Trained) -> None:
        """Add the cut that the value is no smaller than the dual objective of the machine's alpha."""
        alpha = point.machine.alpha
        constant = float(alpha.sum() - 0.5 * self.trainer.margin.ridge * (alpha @ alpha))
        row = np.append(-0.5 * point.forms[self.chosen] / self.unit, -1.0)
        size = float(np.abs(row).max())
        self.rows.append(row / size)
        self.sides.append(-constant / self.unit / size)
        self.doubts.append(0.0)


def independent_kernels(kernels: GramMatrices) -> npt.NDArray[np.intp]:
    """Return the numbers, ascending, of kernels of which none is zero or a weighted sum of the others."""
    present = np.flatnonzero(kernels.traces > 0.0)
    # Matrices depend on each other, but for a chance of 0, just where their products with random vectors do.
    vectors = np.random.default_rng(0).standard_normal((kernels.n_all, len(present) + 1))
    columns = (kernels.grams[present] @ vectors).reshape(len(present), -1).T
    columns = columns / np.linalg.norm(columns, axis=0)
    triangle, order = qr(columns, mode="r", pivoting=True, check_finite=False)
    kept = np.abs(triangle.diagonal()) > DEPENDENCE_TOLERANCE
    return np.sort(present[order[: len(kept)][kept]])


def whitened(grams: Array, shares: Array) -> tuple[Array, Array]:
    """Return positive semidefinite matrices in coordinates in which the sum of shares times them is the identity.

    Parameters
    ----------
    grams : (m, n, n) array
    shares : (m,) array
        > 0.

    Returns
    -------
    white : (m, r, r) array
        r is the rank of the sum: what no matrix reaches is left out.
    root : (n, r) array
        Of which the matrices are root' grams root.
    """
    total = np.tensordot(shares, grams, 1)
    factor, failed = lapack.dpotrf(total, lower=1, clean=0)
    pivots = factor.diagonal() ** 2
    if failed or pivots.min() <= RANK_TOLERANCE * pivots.max():
        values, vectors = eigh(total, check_finite=False, driver="evd")
        reached = values > RANK_TOLERANCE * values[-1]
        basis = vectors[:, reached] / np.sqrt(values[reached])
        return np.array([basis.T @ (gram @ basis) for gram in grams]), basis
    white = np.empty_like(grams)
    white[-1] = np.eye(len(total))
    for number, gram in enumerate(grams[:-1]):
        lower = np.tril(lapack.dsygst(gram, factor, itype=1, lower=1)[0])
        white[number] = lower + np.tril(lower, -1).T
        white[-1] -= shares[number] * white[number]
    white[-1] /= shares[-1]
    return white, solve_triangular(factor, np.eye(len(total)), lower=True, trans="T", check_finite=False)
