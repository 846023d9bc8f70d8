"""Weights of either sign: the semidefinite programme of Lanckriet et al. (2004), by cutting planes over the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh, qr
from scipy.optimize import linprog

from fsvm_cli.kernel_learning.margin import LearnedKernel

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.kernel_learning.base_kernels import GramMatrices
    from fsvm_cli.kernel_learning.margin import Margin
    from fsvm_cli.svm.solvers.dual import DualSolution
    from fsvm_cli.svm.vectors import Array

MACHINE_TOLERANCE = 1e-2
"""Gap of the machines, as a part of the gap of the weights."""
RANK = 1e-10
"""Eigenvalues of the sum of all kernels below this part of the largest are those of a space that no kernel reaches."""
DEPENDENT = 1e-8
"""A kernel that is a sum of others but for so small a part has no weight of its own."""
FARTHEST = 1e6
"""Shares beyond it are not looked at; a bound on the value that rests on this is none."""
INSIDE = 1e-9
"""Boundary points are moved so small a part of the way to the centre, so that rounding leaves them semidefinite."""
RETREATS = (1.0, 0.99, 0.9, 0.5)
"""Parts of the way to the boundary at which a machine is looked for, where there is none on it."""
EIGENVECTORS = 3
"""Cuts from one point, at most: one for each negative eigenvalue."""


@dataclass(frozen=True, eq=False)
class _Point:
    """Shares of the kernels in the trace, with the machine there."""

    shares: Array
    machine: DualSolution
    forms: Array
    """c' K_i c of each kernel at unit trace, (m,)."""
    upper: float
    """The machine's primal objective; infinite where there is no machine."""


def learn_signed_weights(
    kernels: GramMatrices, y: Array, margin: Margin, *, tolerance: float = 1e-4, max_machines: int = 200
) -> LearnedKernel:
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
        At most so many machines are trained.

    Returns
    -------
    LearnedKernel
        Positive semidefinite up to rounding. Kernels that are zero or a sum of others have no weight.

    Raises
    ------
    InfeasibleError
        If the margin is hard and the classes are not separable with all kernels together.
    ValueError
        If there is one class only, the sizes disagree, or the margin's ridge is to be learned.

    Notes
    -----
    Source: jebara-slides, "SVM Kernel Selection", Table 1, after Lanckriet et al. (2004), eq. (12); the slides print
    the conic problem, and the table is that of this one.

    The value is convex in the weights, which are few. A machine at one point bounds it from below everywhere by a
    linear function, and an eigenvector v of a negative eigenvalue forbids a half-space, for v'Kv >= 0 must hold. A
    linear programme over all these cuts gives a lower bound and the next point, which is moved towards the centre,
    where all kernels have equal shares, until it is semidefinite; the machine there bounds the optimum from above.

    References
    ----------
    - G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui and M. I. Jordan, "Learning the Kernel Matrix with
      Semidefinite Programming", Journal of Machine Learning Research 5, 2004, pages 27-72.
    """
    if not tolerance > 0.0:
        raise ValueError(f"tolerance must be > 0, not {tolerance!r}")
    if margin.kind == "learned-2-norm":
        raise ValueError("a ridge is learned with weights that are not negative only; use the qcqp, or give C")
    search = _Search(kernels, y, margin, MACHINE_TOLERANCE * tolerance)
    best = search.begin()
    lower = 0.0
    while best.upper - lower > tolerance * best.upper and search.n_machines < max_machines:
        found = search.lowest()
        if found is None:
            break
        target, bound = found
        lower = max(lower, bound)
        if best.upper - lower > tolerance * best.upper:
            best = min(best, search.towards(target), key=lambda point: point.upper)
    gap = max(best.upper - lower, 0.0) / best.upper if best.upper > 0.0 else 0.0
    weights = np.zeros(len(kernels.traces))
    weights[search.chosen] = best.shares * search.units
    return LearnedKernel(
        weights,
        margin.ridge,
        best.machine,
        squared_norm=float(best.shares @ best.forms),
        objective=2.0 * best.upper,
        gap=gap,
        iterations=search.n_machines,
        converged=gap <= tolerance,
    )


class _Search:
    """The cuts so far, and the coordinates in which the sum of all kernels is the identity."""

    def __init__(self, kernels: GramMatrices, y: Array, margin: Margin, tolerance: float) -> None:
        self.kernels, self.y, self.margin, self.tolerance = kernels, y, margin, tolerance
        self.chosen = independent_kernels(kernels)
        self.units = kernels.units[self.chosen]
        self.centre = np.full(len(self.chosen), 1.0 / len(self.chosen))
        self.whitened = self._whitened()
        self.n_machines, self.unit = 0, 1.0
        self.rows: list[Array] = []
        self.sides: list[float] = []

    def _whitened(self) -> Array:
        """Return each kernel, at unit trace, in the coordinates in which that of the centre is the identity."""
        scaled = self.kernels.grams[self.chosen] * self.units[:, None, None]
        values, vectors = eigh(np.tensordot(self.centre, scaled, 1), check_finite=False, driver="evd")
        reached = values > RANK * values[-1]
        basis = vectors[:, reached] / np.sqrt(values[reached])
        return np.array([basis.T @ (gram @ basis) for gram in scaled])

    def begin(self) -> _Point:
        """Train the machine at the centre; where there is none with all kernels together, there is none at all."""
        point = self._at(self.centre)
        if math.isinf(point.upper):
            gram = self.kernels.combined(self._weights(self.centre))
            self.margin.machine(gram, self.y, tolerance=self.tolerance, on_failure="raise")
        self.unit = point.upper if 0.0 < point.upper < math.inf else 1.0
        self._bound_value(point)
        return point

    def lowest(self) -> tuple[Array, float] | None:
        """Return the shares of least value that the cuts allow, with this lower bound; None if rounding forbids."""
        n = len(self.chosen)
        found = linprog(
            np.append(np.zeros(n), 1.0),
            A_ub=np.array(self.rows),
            b_ub=np.array(self.sides),
            A_eq=[np.append(np.ones(n), 0.0)],
            b_eq=[1.0],
            bounds=[*[(-FARTHEST, FARTHEST)] * n, (0.0, None)],
        )
        if found.x is None:
            return None
        shares: Array = found.x[:-1]
        rests_on_cuts = bool((np.abs(shares) < 0.99 * FARTHEST).all())
        return shares, self.unit * float(found.fun) if rests_on_cuts else 0.0

    def towards(self, target: Array) -> _Point:
        """Go from the centre to the shares, as far as the sum of kernels stays semidefinite; add the cuts there."""
        direction = target - self.centre
        n_rows = self.whitened.shape[1]
        values, vectors = eigh(
            np.tensordot(direction, self.whitened, 1),
            subset_by_index=(0, min(EIGENVECTORS, n_rows) - 1),
            overwrite_a=True,
            check_finite=False,
        )
        length = 1.0
        if values[0] < -1.0:
            length = (1.0 - INSIDE) / -float(values[0])
            for vector in vectors[:, values < -1.0].T:
                self._forbid(np.einsum("i,mij,j->m", vector, self.whitened, vector, optimize=True))
        for part in RETREATS:
            point = self._at(self.centre + part * length * direction)
            if math.isfinite(point.upper):
                break
        self._bound_value(point)
        return point

    def _weights(self, shares: Array) -> Array:
        weights = np.zeros(len(self.kernels.traces))
        weights[self.chosen] = shares * self.units
        return weights

    def _at(self, shares: Array) -> _Point:
        self.n_machines += 1
        gram = self.kernels.combined(self._weights(shares))
        machine = self.margin.machine(gram, self.y, tolerance=self.tolerance)
        c = machine.alpha * self.y
        forms = (self.kernels.products(c) @ c)[self.chosen] * self.units
        known = machine.duality_gap < 1.0
        return _Point(shares, machine, forms, machine.objective / (1.0 - machine.duality_gap) if known else math.inf)

    def _forbid(self, forms: Array) -> None:
        """Ask for sum_i shares_i v' K_i v >= 0."""
        self.rows.append(np.append(-forms / np.abs(forms).max(), 0.0))
        self.sides.append(0.0)

    def _bound_value(self, point: _Point) -> None:
        """Ask that the value be no smaller than the dual objective of the machine's alpha."""
        alpha = point.machine.alpha
        constant = float(alpha.sum() - 0.5 * self.margin.ridge * (alpha @ alpha))
        row = np.append(-0.5 * point.forms / self.unit, -1.0)
        size = float(np.abs(row).max())
        self.rows.append(row / size)
        self.sides.append(-constant / self.unit / size)


def independent_kernels(kernels: GramMatrices) -> npt.NDArray[np.intp]:
    """Return the numbers, ascending, of kernels of which none is zero or a weighted sum of the others."""
    present = np.flatnonzero(kernels.traces > 0.0)
    columns = kernels.grams[present].reshape(len(present), -1).T
    columns = columns / np.linalg.norm(columns, axis=0)
    triangle, order = qr(columns, mode="r", pivoting=True, check_finite=False)
    kept = np.abs(triangle.diagonal()) > DEPENDENT
    return np.sort(present[order[: len(kept)][kept]])
