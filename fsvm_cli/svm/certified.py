"""How far a linear machine is from the optimum: bounds that no rounding can break.

With any primal point (v, b), v in feature space, feasible coefficients alpha and w = sum_i alpha_i y_i z_i, the duality
gap is

    g = P(v, b) - D(alpha) = |v - w|^2 / 2 + e,    e = sum_i [C_i xi_i - alpha_i (1 - y_i f_i)],

where f_i = v . z_i + b, xi_i = max(0, 1 - y_i f_i), and every term of e is >= 0. The bounds on |w - w*|:

Two-sided
    P grows from its optimum by |v - w*|^2 / 2 at least, for its first term is strongly convex and the rest convex; and
    the identity above at the optimal (w*, b*) gives D(alpha) <= D* - |w - w*|^2 / 2. Together |v - w*|^2 +
    |w - w*|^2 <= 2 g, which is

        |w* - (v + w) / 2|^2 <= g - |v - w|^2 / 4 = |v - w|^2 / 4 + e.

First order
    v = w + u, where u is a short vector that puts the samples of a set B, the free ones, exactly on their margin. It
    exists where (z_i, 1), i in B, are linearly independent. The terms of B in e vanish, and so do the others where each
    sample keeps its side: of alpha_i = 0 beyond the margin, of alpha_i = C_i within it. Then e = 0, and |w - w*| <= |u|
    is linear in the residuals y_i - f_i, where the gap's bound is the root of their sum. u is never computed: with
    A = (z_i . z_k + tau) of B the shortest (u, b - b0) in the norm |u|^2 + (b - b0)^2 / tau has the squared length
    rho' A^-1 rho, of the residuals rho at (w, b0).
Repair
    The step c_B += A^-1 rho at the b0 for which it sums to zero puts B on the margin up to rounding; the first-order
    bound of the machine after it is what rounding leaves.
Leverage
    w* - w is a combination of differences of samples, so that |w_j - w*_j| <= |w - w*| sqrt(h_j) with the leverage
    h_j = x_j' A^-1 x_j of all samples, x_j the column.

Samples that depend on those of B (z, 1), and those of which rounding leaves the side open, enter by e: a violation s
costs (C_i - alpha_i) s within the margin and alpha_i s beyond it. Copies of samples of B are exactly on their margin.

Rounding. A sum of n products has an error of at most n u / (1 - n u) times the sum of their absolute values, in
whatever order they are added (Higham 2002, section 3.1); here it is n times `EPSILON` = 2 u. What rounding does to
rho' A^-1 rho is bounded in `margin_factor`.

Values of the samples may be off by `VALUE_ROUNDING`, relative to each: they may have been centred, and multiplied by
the root of a weight. That is a few roundings more of each product.

References
----------
- N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numba import njit

from fsvm_cli.svm.compiled import ALLOCATING, COMPILED, EPSILON, REASSOCIATE, SPLITTER, Array, add_scaled, inner_product
from fsvm_cli.svm.margin_factor import (
    INFLATION,
    MIN_PIVOT_SHARES,
    UNDERFLOW,
    VALUE_TERMS,
    MarginFactor,
    backward,
    factor_of,
    forward,
    is_accurate,
    leverage,
    squared_norm,
)
from fsvm_cli.svm.solvers.optimality import accurate_sum

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.kernels.base import Rounding

NEAR_MARGIN = 0.1
"""Of a decision value: samples up to so far from their margin join a factor that is kept, for they may be free soon."""
QUANTILE_ROUNDING = 1e-12
"""Of sums of C over samples, relative to the whole sum."""
MIN_SHARE_LEFT = 0.25
"""Part of a matrix that must be left of it when features have gone for its factor to serve: bounds grow by its root."""

POINTS_OF_QUANTILE = 1_000
"""Of the samples that a quantile is sought among first, about."""
SHARE_AROUND_QUANTILE = 0.05
"""Of the sum of C, on either side of where that quantile is; a twentieth of this must be left over at both ends."""

BoundedResiduals: TypeAlias = tuple[Array, Array, Array]
"""y_i - w(c) . z_i, with bounds on what rounding did to the sums and on what that of kernel values does to them."""
NO_RESIDUALS: BoundedResiduals = (np.empty(0), np.empty(0), np.empty(0))


class Points(NamedTuple):
    """The samples of a linear machine, one column after the other.

    Attributes
    ----------
    columns : (n_columns, n) array
        Values of all features, within `VALUE_ROUNDING`.
    originals : (n_columns, n) array
        Where samples are equal if and only if they are in exact arithmetic; the same array where nothing was rounded.
    features : (d,) array of int
        Those that the machine sees.
    lengths : (n,) array
        Upper bounds on |z_i| over these features.
    y : (n,) array
        Labels, -1 or +1.
    C : (n,) array
        Upper bounds of alpha.
    """

    columns: Array
    originals: Array
    features: npt.NDArray[np.intp]
    lengths: Array
    y: Array
    C: Array


class Distance(NamedTuple):
    """How far the optimum is at most; as in `Location`."""

    radius: float
    rounding: float
    excess: float


class Location(NamedTuple):
    """Where the optimum is.

    Attributes
    ----------
    radius : float
        Upper bound on the distances of the computed w, and of w(c) = sum_i c_i z_i in exact arithmetic, from w*;
        infinity where none is known.
    rounding : float
        Upper bound on the distance of the computed w from w(c).
    excess : float
        e: 0 where the bound is of first order.
    c : (n,) array
        Coefficients after a Newton step on the samples at the margin, within the box.
    bias : float
        That belongs to them.
    """

    radius: float
    rounding: float
    excess: float
    c: Array
    bias: float


def locate_by_gram(  # noqa: PLR0917
    K: Array, rounding: Rounding, X: Array, y: Array, C: Array, c: Array, bias: float
) -> Location:
    """Bound the distance of a machine with a kernel from the optimum, as `locate` does.

    There is no computed normal vector: w is that of the coefficients.

    Parameters
    ----------
    K : (n, n) array
        Gram matrix of a positive semidefinite kernel.
    rounding : Rounding
        Of its values.
    X : (n, d) array
        Samples; only where they are equal counts.
    y, C : (n,) arrays
    c : (n,) array
        Coefficients alpha_i y_i in the box.
    bias : float
    """
    n = len(y)
    sizes = np.abs(K) @ np.abs(c)
    error = sizes * (rounding.relative + EPSILON * (n + VALUE_TERMS))
    error += rounding.reach * float(np.abs(c) @ rounding.lengths)
    machine = _Machine(c * y, K @ c, error * INFLATION + UNDERFLOW * (1.0 + float(np.abs(c).sum())), 0.0)
    diagonal = np.diag(K) * (1.0 + rounding.relative) + rounding.reach * rounding.lengths + UNDERFLOW
    columns = np.ascontiguousarray(X.T)
    points = Points(columns, columns, np.arange(len(columns)), np.sqrt(diagonal) * INFLATION, y, C)
    rows = _near_margin(y, _free(y, C, c), machine.values, bias)
    gram = np.ascontiguousarray(K[np.ix_(rows, rows)])
    own = rounding.restrict(rows)
    of_values = own.relative[:, None] * np.abs(gram) + np.multiply.outer(own.reach, own.lengths)
    of_gram = float(np.linalg.norm(of_values)) * INFLATION + UNDERFLOW
    for share in MIN_PIVOT_SHARES:
        found = _locate(points, machine, c, bias, rows, gram, of_gram, share)
        if np.isfinite(found[0]):
            break
    return Location(*found)


def bias_interval(y: Array, C: Array, low: Array, high: Array) -> tuple[float, float]:
    """Return where every optimal bias is.

    sum_i C_i max(0, 1 - y_i (s_i + b)) has in b a slope of -sum of C over y = 1 on the left, and C_i more beyond each
    y_i - s_i: its minimum is at a quantile of these, which grows with each of them. Samples of C_i = infinity are not
    within their margin: of y = 1 they bound the bias from below, of y = -1 from above.

    Parameters
    ----------
    y, C : (n,) arrays
    low, high : (n,) arrays
        Bounds of the outputs s_i.
    """
    if np.isinf(C).any():
        above, below = np.isinf(C) & (y > 0.0), np.isinf(C) & (y < 0.0)
        least = float((1.0 - high[above]).max(initial=-np.inf))
        most = float((-1.0 - low[below]).min(initial=np.inf))
        return least - EPSILON * (1.0 + abs(least)), most + EPSILON * (1.0 + abs(most))
    total, level = float(C.sum()), float(C[y > 0.0].sum())
    blur = QUANTILE_ROUNDING * total
    ends = []
    for points, is_left in ((y - high, True), (y - low, False)):
        near, before = _near_quantile(points, C, level, total)
        order = near[np.argsort(points[near], kind="stable")]
        sums = before + np.cumsum(C[order])
        at = np.flatnonzero(sums >= level - blur if is_left else sums > level + blur)
        ends.append(float(points[order[at[0]]]) if len(at) else np.inf)
    return ends[0] - EPSILON * (1.0 + abs(ends[0])), ends[1] + EPSILON * (1.0 + abs(ends[1]))


def _near_quantile(points: Array, C: Array, level: float, total: float) -> tuple[npt.NDArray[np.intp], float]:
    """Return the points among which the sum of C reaches a level, and the sum before them.

    Sorting all takes longer than a pass over the samples. A quantile of some of the points tells about where it is.
    """
    some = slice(None, None, max(len(points) // POINTS_OF_QUANTILE, 1))
    order = np.argsort(points[some], kind="stable")
    sums = np.cumsum(C[some][order])
    ends = np.searchsorted(sums, sums[-1] * (level / total + np.array([-1.0, 1.0]) * SHARE_AROUND_QUANTILE))
    low, high = points[some][order[np.minimum(ends, len(order) - 1)]]
    is_near = (points >= low) & (points <= high)
    before = float(C[points < low].sum())
    spare = SHARE_AROUND_QUANTILE * SHARE_AROUND_QUANTILE * total
    if before < level - spare and before + float(C[is_near].sum()) > level + spare:
        return np.flatnonzero(is_near), before
    return np.arange(len(points)), 0.0


def lengths_of(columns: Array, features: npt.NDArray[np.intp]) -> Array:
    """Return upper bounds on the lengths of samples over some features, shape (n,)."""
    return np.asarray(_lengths(columns, features))


def locate(
    points: Points,
    c: Array,
    w: Array,
    bias: float,
    known: tuple[npt.NDArray[np.intp], Array, float] | None = None,
) -> Location:
    """Bound the distance of a machine from the optimum.

    Parameters
    ----------
    points : Points
    c : (n,) array
        Coefficients alpha_i y_i in the box; by what they miss the equality constraint the bound is larger.
    w : (d,) array
        Sum of c_i z_i, as computed in doubles in any order.
    bias : float
        Near the optimum; the bound holds for any.
    known : tuple of (m,) array of int, (m, m) array, float, optional
        Samples in ascending order, with all whose coefficients are neither 0 nor C among them; their Gram matrix; and
        an upper bound on its error in the spectral norm. It is computed where it is not given, or no good.

    Returns
    -------
    Location
    """
    return _location(points, _machine(points, c, w), c, bias, known)


def locate_computed(points: Points, c: Array, computed: ComputedMachine, bias: float) -> Location:
    """Bound the distance of a machine from the optimum, as `locate` does, by a normal vector in twice the precision."""
    error = _error_of_outputs(computed.w, points.lengths)
    return _location(points, _Machine(c * points.y, computed.outputs, error, computed.rounding), c, bias, None)


def _location(
    points: Points,
    machine: _Machine,
    c: Array,
    bias: float,
    known: tuple[npt.NDArray[np.intp], Array, float] | None,
) -> Location:
    for shares in (MIN_PIVOT_SHARES[:1], MIN_PIVOT_SHARES):
        if known is None or shares is MIN_PIVOT_SHARES:
            known = _gram_near_margin(points, c, machine.values, bias)
        for share in shares:
            found = _locate(points, machine, c, bias, *known, share)
            if np.isfinite(found[0]):
                return Location(*found)
    return Location(*found)


class KeptFactor:
    """A factor of the samples at a machine's margin that bounds its distance from the optimum while features go.

    Without the columns x_1, ..., x_k the matrix of the samples is

        A - sum_j x_j x_j'  >=  (1 - sum_j x_j' A^-1 x_j) A,

    for the largest eigenvalue of a positive semidefinite matrix, here of (x_i' A^-1 x_j), is at most its trace. And of
    a part B of the samples rho_B' (A_BB)^-1 rho_B <= rho' A^-1 rho, with rho = 0 outside B. So that a factor bounds the
    shift of any machine whose free samples are among its own, on fewer features, for two triangular systems.

    Parameters
    ----------
    points : Points
    c, w, bias, known
        As of `locate`.
    residuals
        As of `KeptFactor.locate`.
    """

    def __init__(  # noqa: PLR0917
        self,
        points: Points,
        c: Array,
        w: Array,
        bias: float,
        known: tuple[npt.NDArray[np.intp], Array, float] | None = None,
        residuals: BoundedResiduals | None = None,
    ) -> None:
        values = points.y - residuals[0] if residuals else _outputs(points.columns, points.features, w)
        rows, gram, error = _gram_near_margin(points, c, values, bias) if known is None else known
        near = np.abs(points.y * (values + bias) - 1.0) <= NEAR_MARGIN
        self.factor, _ = factor_of(points.lengths, c * points.y, points.C, rows, gram, error, MIN_PIVOT_SHARES[0], near)
        self.left = 1.0 if is_accurate(self.factor) else 0.0
        self.dropped: list[int] = []

    def locate(
        self, points: Points, c: Array, w: Array, bias: float, residuals: BoundedResiduals | None = None
    ) -> Distance:
        """Bound the distance of a machine from the optimum; by infinity where the factor does not serve.

        Parameters
        ----------
        points : Points
            Of the features that are left.
        c, w, bias
            As of `locate`.
        residuals : tuple of (n,) arrays, optional
            y_i - w(c) . z_i with bounds on their rounding: what of the sums, and what of the kernel values. Outputs
            take a pass over the columns without them.
        """
        if not self.left >= MIN_SHARE_LEFT:
            return Distance(np.inf, np.inf, np.inf)
        dropped = np.array(self.dropped, dtype=np.intp)
        *found, self.left = _relocate(points, c, w, bias, residuals or NO_RESIDUALS, self.factor, self.left, dropped)
        self.dropped.clear()
        return Distance(*found)

    def drop(self, feature: int) -> None:
        """Take a feature out, by its number."""
        self.dropped.append(feature)


def leverages(points: Points, which: npt.NDArray[np.intp]) -> Array:
    """Return upper bounds on the leverages of some features, shape (n_which,), at most 1.

    All are 1 where samples depend on each other, or nearly do.

    Parameters
    ----------
    points : Points
    which : (n_which,) array of int
        Positions in `points.features`.
    """
    n = len(points.y)
    if n > len(points.features) + 1 or not points.lengths.any():  # then they do
        return np.ones(len(which))
    rows = np.arange(n)
    every = np.ones(n, dtype=bool)
    factor, _ = factor_of(
        points.lengths, np.zeros(n), points.C, rows, *gram_of(points, rows), MIN_PIVOT_SHARES[0], every
    )
    if len(factor.samples) < n or not is_accurate(factor):
        return np.ones(len(which))
    return np.array([min(1.0, leverage(factor, points.columns[j])) for j in points.features[which]])


def gram_of(points: Points, rows: npt.NDArray[np.intp]) -> tuple[Array, float]:
    """Return the Gram matrix of some samples, and an upper bound on its error in the spectral norm."""
    left = points.columns[np.ix_(points.features, rows)]
    terms = len(points.features) + VALUE_TERMS
    return left.T @ left, float(EPSILON * terms * np.sum(points.lengths[rows] ** 2) * INFLATION) + UNDERFLOW


def _gram_near_margin(
    points: Points, c: Array, values: Array, bias: float
) -> tuple[npt.NDArray[np.intp], Array, float]:
    """Return the samples that are free, or may be on the margin, with their Gram matrix and a bound on its error."""
    free = _free(points.y, points.C, c)
    near = _near_margin(points.y, free, values, bias)
    limit = 2 * (len(points.features) + 1) + int(free.sum())
    if len(near) > limit:
        near = np.flatnonzero(free)
    return near, *gram_of(points, near)


def _near_margin(y: Array, free: npt.NDArray[np.bool_], values: Array, bias: float) -> npt.NDArray[np.intp]:
    distances = np.abs(y * (values + bias) - 1.0)
    return np.flatnonzero(free | (distances <= 2.0 * distances[free].max(initial=1e-9)))


@njit(**ALLOCATING)
def _free(y: Array, C: Array, c: Array) -> npt.NDArray[np.bool_]:
    alpha = c * y
    return (alpha > 0.0) & (alpha < C)


@njit(**ALLOCATING)
def _lengths(columns: Array, features: npt.NDArray[np.intp]) -> Array:
    squares = np.zeros(columns.shape[1])
    for j in range(features.size):
        column = columns[features[j]]
        for i in range(column.size):
            squares[i] += column[i] * column[i]
    return np.sqrt(squares * (1.0 + EPSILON * (features.size + VALUE_TERMS)) + UNDERFLOW) * INFLATION


@njit(**ALLOCATING)
def normal_vector_of(columns: Array, features: npt.NDArray[np.intp], c: Array) -> Array:
    """Return the sum of c_i z_i over the features, shape (d,)."""
    w = np.empty(features.size)
    for j in range(features.size):
        w[j] = inner_product(columns[features[j]], c)
    return w


class ComputedMachine(NamedTuple):
    """A linear machine's normal vector in twice the precision, and what follows for the rows of a matrix.

    Attributes
    ----------
    w : (d,) array
    rounding : float
        Upper bound on its distance from the exact sum of c_i z_i.
    outputs : (n,) array
        Of w at the rows, as computed in doubles in any order.
    lengths : (n,) array
        Upper bounds on the lengths of the rows.
    """

    w: Array
    rounding: float
    outputs: Array
    lengths: Array

    def at(self, rows: npt.NDArray[np.intp]) -> ComputedMachine:
        """Return the same for some of the rows."""
        if len(rows) == len(self.lengths):
            return self
        return self._replace(outputs=self.outputs[rows], lengths=self.lengths[rows])


def computed_machine(X: Array, rows: npt.NDArray[np.intp], c: Array) -> ComputedMachine:
    """Compute the machine of some coefficients: one pass over the support vectors, and one over all rows.

    The sum of c_i z_i is the compensated product of Ogita, Rump and Oishi (2005), Dot2, whose error is
    u |w_j| + gamma_n^2 |c| . |x_j|.

    Parameters
    ----------
    X : (n, d) array
    rows : (m,) array of int
        The samples, in ascending order.
    c : (m,) array
        Their coefficients.
    """
    used = np.flatnonzero(c)
    w = _accurate_sum(X, rows[used], c[used])
    outputs, lengths = np.empty(len(X)), np.empty(len(X))
    _add_products(X, w, outputs, lengths)
    lengths = np.sqrt(lengths * (1.0 + EPSILON * (X.shape[1] + VALUE_TERMS)) + UNDERFLOW) * INFLATION
    sizes = float(np.abs(c[used]) @ lengths[rows[used]])
    relative = EPSILON * VALUE_TERMS + (EPSILON * (len(c) + VALUE_TERMS)) ** 2
    rounding = (relative * sizes + EPSILON * float(np.linalg.norm(w))) * INFLATION
    return ComputedMachine(w, rounding + UNDERFLOW * (1.0 + float(np.abs(c[used]).sum())), outputs, lengths)


@njit(**ALLOCATING)
def _accurate_sum(X: Array, rows: npt.NDArray[np.intp], c: Array) -> Array:
    """Return the sum of c_i z_i; that of each feature has its own compensation, so that the rows are read in order."""
    high, low = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for k in range(rows.size):
        _add_accurately(X[rows[k]], c[k], high, low)
    return high + low


@njit(**COMPILED)
def _add_accurately(row: Array, factor: float, high: Array, low: Array) -> None:
    scaled_b = SPLITTER * factor
    high_b = scaled_b - (scaled_b - factor)
    low_b = factor - high_b
    for j in range(row.size):
        a = row[j]
        term = a * factor
        scaled_a = SPLITTER * a
        high_a = scaled_a - (scaled_a - a)
        low_a = a - high_a
        rest = low_a * low_b - (((term - high_a * high_b) - low_a * high_b) - high_a * low_b)
        before = high[j]
        total = before + term
        added = total - before
        low[j] += ((before - (total - added)) + (term - added)) + rest
        high[j] = total


@njit(**COMPILED, fastmath=REASSOCIATE)
def _add_products(X: Array, w: Array, outputs: Array, squares: Array) -> None:
    """Write the products of each row with w, and with itself."""
    for i in range(outputs.size):
        value, square = 0.0, 0.0
        for j in range(w.size):
            value += X[i, j] * w[j]
            square += X[i, j] * X[i, j]
        outputs[i], squares[i] = value, square


@njit(**ALLOCATING)
def _outputs(columns: Array, features: npt.NDArray[np.intp], w: Array) -> Array:
    values = np.zeros(columns.shape[1])
    _add_outputs(columns, features, w, values)
    return values


@njit(**COMPILED, fastmath=REASSOCIATE)
def _add_outputs(columns: Array, features: npt.NDArray[np.intp], w: Array, values: Array) -> None:
    """Add the scaled columns, four at a time: the sums are read and written less often."""
    in_fours = features.size - features.size % 4
    for j in range(0, in_fours, 4):
        p, q, r, s = features[j], features[j + 1], features[j + 2], features[j + 3]
        a, b, c, d = w[j], w[j + 1], w[j + 2], w[j + 3]
        for i in range(values.size):
            values[i] += (a * columns[p, i] + b * columns[q, i]) + (c * columns[r, i] + d * columns[s, i])
    for j in range(in_fours, features.size):
        for i in range(values.size):
            values[i] += w[j] * columns[features[j], i]


class _Machine(NamedTuple):
    """What is known of a machine: errors of its outputs, and of its normal vector."""

    alpha: Array
    values: Array
    error: Array
    delta: float


@njit(**ALLOCATING)
def _machine(points: Points, c: Array, w: Array) -> _Machine:
    values = _outputs(points.columns, points.features, w)
    return _Machine(c * points.y, values, _error_of_outputs(w, points.lengths), _rounding_of_sum(points, c))


@njit(**ALLOCATING)
def _error_of_outputs(w: Array, lengths: Array) -> Array:
    length = np.sqrt(squared_norm(w)) * INFLATION
    error: Array = EPSILON * (w.size + VALUE_TERMS) * length * lengths + UNDERFLOW
    return error


@njit(**ALLOCATING)
def _machine_by_residuals(points: Points, c: Array, residuals: BoundedResiduals) -> _Machine:
    """Return what the residuals of a machine tell of it."""
    r, of_sum, of_kernel = residuals
    values, error = np.empty(c.size), np.empty(c.size)
    for i in range(c.size):
        values[i] = points.y[i] - r[i]
        error[i] = (of_sum[i] + of_kernel[i] + EPSILON * abs(values[i])) * INFLATION + UNDERFLOW
    return _Machine(c * points.y, values, error, _rounding_of_sum(points, c))


@njit(**COMPILED)
def _rounding_of_sum(points: Points, c: Array) -> float:
    """Return how far the computed w is from w(c) at most."""
    sizes, used = 0.0, 0
    for i in range(c.size):
        sizes += abs(c[i]) * points.lengths[i]
        used += 1 if c[i] != 0.0 else 0
    return float(EPSILON * (used + VALUE_TERMS) * sizes * INFLATION + UNDERFLOW)


@njit(**ALLOCATING)
def _locate(  # noqa: PLR0917
    points: Points,
    machine: _Machine,
    c: Array,
    bias: float,
    rows: npt.NDArray[np.intp],
    gram: Array,
    gram_error: float,
    share: float,
) -> tuple[float, float, float, Array, float]:
    """Bound |w(c) - w*| by the point that puts the free samples exactly on their margin.

    Those that may be on theirs, but are not free, join them in a second turn.
    """
    radius, excess, repaired, belonging = np.inf, np.inf, c.copy(), bias
    joining = np.zeros(c.size, dtype=np.bool_)
    for _ in range(2):
        factor, skipped = factor_of(points.lengths, machine.alpha, points.C, rows, gram, gram_error, share, joining)
        if not is_accurate(factor):
            break
        at_margin = np.zeros(c.size, dtype=np.bool_)
        for i in factor.samples:
            at_margin[i] = True
        on_margin = at_margin.copy()
        for i in skipped:
            on_margin[i] |= _is_copy(points, i, factor.samples)
        found, cost, at, t, costly = _bound(points, machine, c, belonging, factor, 1.0, at_margin, on_margin)
        if found < radius:
            radius, excess, repaired, belonging = found, cost, _newton_step(points, c, factor, t), at
        if not cost > 0.0:
            break
        joining |= costly
    return radius, machine.delta, excess, repaired, belonging


@njit(**ALLOCATING)
def _relocate(  # noqa: PLR0917
    points: Points,
    c: Array,
    w: Array,
    bias: float,
    residuals: BoundedResiduals,
    factor: MarginFactor,
    left: float,
    dropped: npt.NDArray[np.intp],
) -> tuple[float, float, float, float]:
    """Bound |w(c) - w*| as `_locate` does, by a factor whose samples hold all that are free; else by infinity.

    The last value is the part of the matrix that is left when the dropped features have gone, too.
    """
    for j in dropped:
        left -= leverage(factor, points.columns[j])
    free, at_margin, missing = _free(points.y, points.C, c), np.zeros(c.size, dtype=np.bool_), 0
    for i in factor.samples:
        at_margin[i] = free[i]
    for i in range(c.size):
        missing += free[i] != at_margin[i]
    radius, excess = np.inf, np.inf
    if missing > 0 or not left >= MIN_SHARE_LEFT:
        return radius, np.inf, excess, left
    machine = _machine_by_residuals(points, c, residuals) if residuals[0].size > 0 else _machine(points, c, w)
    for _ in range(2):
        found, cost, bias, _, costly = _bound(points, machine, c, bias, factor, left, at_margin, at_margin)
        if found < radius:
            radius, excess = found, cost
        if not cost > 0.0:
            break
        for i in factor.samples:
            at_margin[i] |= costly[i]
    return radius, machine.delta, excess, left


@njit(**ALLOCATING)
def _shortest_step(
    points: Points, values: Array, factor: MarginFactor, at_margin: npt.NDArray[np.bool_], bias: float
) -> tuple[Array, float]:
    """Return L^-1 rho of the residuals rho at the bias where it is shortest, and that bias."""
    size = factor.samples.size
    rho, chosen = np.zeros(size), np.zeros(size)
    for k in range(size):
        chosen[k] = 1.0 if at_margin[factor.samples[k]] else 0.0
    s, t = forward(factor.L, size, chosen), rho
    square = squared_norm(s)
    for turn in range(2 if square > 0.0 else 0):
        for k in range(size):
            i = factor.samples[k]
            rho[k] = points.y[i] - (values[i] + bias) if at_margin[i] else 0.0
        t = forward(factor.L, size, rho)
        if turn == 0:
            bias += inner_product(s, t) / square
    return t, bias


@njit(**ALLOCATING)
def _bound(  # noqa: C901, PLR0917
    points: Points,
    machine: _Machine,
    c: Array,
    bias: float,
    factor: MarginFactor,
    left: float,
    at_margin: npt.NDArray[np.bool_],
    on_margin: npt.NDArray[np.bool_],
) -> tuple[float, float, float, Array, npt.NDArray[np.bool_]]:
    """Bound |w(c) - w*| by the point that puts some samples of a factor exactly on their margin.

    Parameters
    ----------
    left : float
        The matrix of the factor's samples is at least this part of the one that was factored.
    at_margin : (n,) array of bool
        Samples of the factor.
    on_margin : (n,) array of bool
        These, and their copies.

    Returns
    -------
    radius : float
    excess : float
    bias : float
    t : (size,) array
        L^-1 rho.
    costly : (n,) array of bool
        Samples that enter by the excess.
    """
    y, C, lengths = points.y, points.C, points.lengths
    alpha, values, error, delta = machine.alpha, machine.values, machine.error, machine.delta
    n, blur, shift = c.size, 0.0, 0.0
    t, bias = _shortest_step(points, values, factor, at_margin, bias)
    for i in factor.samples:
        if at_margin[i]:
            blur += (error[i] + 2.0 * EPSILON * (1.0 + abs(values[i]) + abs(bias))) ** 2
    if blur > 0.0:
        shift = np.sqrt(squared_norm(t)) / (1.0 - factor.by_inverse) + factor.inverse * np.sqrt(blur)
        shift *= INFLATION / np.sqrt((1.0 - factor.relative) * left)

    excess, costly = 0.0, np.zeros(n, dtype=np.bool_)
    up, down = np.inf, np.inf  # the least cost of a coefficient that makes up for the imbalance
    unbalanced = abs(accurate_sum(c))
    for i in range(n):
        unbalanced += (EPSILON * n) ** 2 * abs(c[i])
    for i in range(n):
        margin = y[i] * (values[i] + bias)
        reach = error[i] + 2.0 * EPSILON * (1.0 + abs(values[i]) + abs(bias))
        reach = (reach + np.sqrt(lengths[i] * lengths[i] + factor.tau) * shift) * INFLATION
        price = 0.0 if on_margin[i] else abs(1.0 - margin) + reach
        more = alpha[i] + 2.0 * unbalanced < C[i]
        less = alpha[i] > 2.0 * unbalanced
        if more if y[i] > 0.0 else less:
            up = min(up, price + lengths[i] * lengths[i] * unbalanced)
        if less if y[i] > 0.0 else more:
            down = min(down, price + lengths[i] * lengths[i] * unbalanced)
        if on_margin[i]:
            continue
        cost = 0.0
        if 1.0 - margin + reach > 0.0 and alpha[i] < C[i]:
            cost = (C[i] - alpha[i]) * (1.0 - margin + reach)
        if margin + reach - 1.0 > 0.0 and alpha[i] > 0.0:
            cost = max(cost, alpha[i] * (margin + reach - 1.0))
        excess += cost
        costly[i] = cost > 0.0
    moved = 0.0
    if unbalanced > 0.0:
        # In exact arithmetic one coefficient makes up for what they sum to: w(c) moves by its length, e by its price.
        worst = max(up, down)
        excess += unbalanced * worst
        moved = np.sqrt(unbalanced * worst)
    half = 0.5 * (shift + delta + moved)
    radius = (np.sqrt(half * half + excess * INFLATION) + half + moved) * INFLATION
    return radius, excess, bias, t, costly


@njit(**ALLOCATING)
def _newton_step(points: Points, c: Array, factor: MarginFactor, t: Array) -> Array:
    """Return the coefficients, within the box, after the step that puts the factor's samples on their margin."""
    size, y = factor.samples.size, points.y
    a = backward(factor.L, size, t)
    if size > 0:
        s = forward(factor.L, size, np.ones(size))
        add_scaled(a, backward(factor.L, size, s), -inner_product(s, t) / squared_norm(s))
    step = c.copy()
    for k in range(size):
        i = factor.samples[k]
        step[i] = y[i] * min(max(c[i] * y[i] + y[i] * a[k], 0.0), points.C[i])
    _balance(step, y, points.C)
    return step


@njit(**COMPILED)
def _is_copy(points: Points, i: int, others: npt.NDArray[np.intp]) -> bool:
    """Return whether a sample equals one of the others, in its label, too."""
    for other in others:
        equal = points.y[other] == points.y[i]
        for j in points.features:
            if not equal:
                break
            equal = points.originals[j, i] == points.originals[j, other]
        if equal:
            return True
    return False


@njit(**COMPILED)
def _balance(c: Array, y: Array, C: Array) -> None:
    """Let the coefficient with the most room make up for what they sum to."""
    best, most = -1, 0.0
    for i in range(c.size):
        room = min(y[i] * c[i], C[i] - y[i] * c[i])
        if room > most:
            best, most = i, room
    if best < 0:
        return
    missing = accurate_sum(c)
    if abs(missing) < most:
        c[best] -= missing
