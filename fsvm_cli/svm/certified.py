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
whatever order they are added (Higham 2002, section 3.1); here it is n times `EPSILON` = 2 u. A computed Cholesky
factor L has LL' = A + E with |E| <= (m + 1) `EPSILON` |L|_F^2 (ibid., theorem 10.3), a computed solution t of
L t = rho a residual of at most m `EPSILON` |L|_F |t|, and a computed inverse X of L a residual LX - I likewise (ibid.,
theorem 8.5). With e1 = m `EPSILON` |L|_F |X|_F < 1 and e2 = |E| |L^-1|^2 < 1 follow |L^-1| <= |X|_F / (1 - e1) and

    rho' A^-1 rho <= (|t| / (1 - e1) + |L^-1| |error of rho|)^2 / (1 - e2).

Values of the samples may be off by `VALUE_ROUNDING`, relative to each: they may have been centred, and multiplied by
the root of a weight. That is a few roundings more of each product.

References
----------
- N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from fsvm_cli.svm.compiled import ALLOCATING, COMPILED, EPSILON, Array, add_scaled, inner_product
from fsvm_cli.svm.solvers.optimality import accurate_sum

if TYPE_CHECKING:
    import numpy.typing as npt

VALUE_ROUNDING = 2.0 * EPSILON
"""Of a sample's value: of the difference from its centre, of a root, and of the product with it."""
VALUE_TERMS = 8.0
"""What `VALUE_ROUNDING` of both factors adds to the number of terms of a sum of products, with room to spare."""
MIN_PIVOT_SHARES = (1e-9, 1e-6, 1e-3)
"""Part of a squared length that must be left of a sample for it to be independent of those before; one after the other
is tried where rounding may make the matrix singular."""
MAX_RELATIVE_ERROR = 0.5
"""Of the factor: a larger one bounds nothing."""
INFLATION = 1.0 + 1e-9
"""Covers the rounding of the bounds themselves: sums of non-negative terms, up to a million of them."""
UNDERFLOW = 1e-290
"""Covers what products lose that are too small for a double."""


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
    for shares in (MIN_PIVOT_SHARES[:1], MIN_PIVOT_SHARES):
        if known is None or shares is MIN_PIVOT_SHARES:
            known = _gram_near_margin(points, c, w, bias)
        for share in shares:
            found = _locate(points, c, w, bias, *known, share)
            if np.isfinite(found[0]):
                return Location(*found)
    return Location(*found)


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
    if n > len(points.features) + 1:  # then they do
        return np.ones(len(which))
    rows = np.arange(n)
    gram, error = gram_of(points, rows)
    tau = float(np.mean(np.diag(gram)))
    L, size = _independent(gram, rows, tau, MIN_PIVOT_SHARES[0])[:2]
    found = np.ones(len(which))
    if size < n or not tau > 0.0:
        return found
    by_inverse, inverse, relative = _conditions(L, size, error, float((points.lengths**2).sum()))
    if by_inverse >= MAX_RELATIVE_ERROR or relative >= MAX_RELATIVE_ERROR:
        return found
    for k, position in enumerate(which):
        column = points.columns[points.features[position]]
        length = np.linalg.norm(_forward(L, size, column)) / (1.0 - by_inverse)
        length += inverse * 2.0 * VALUE_ROUNDING * np.linalg.norm(column)
        found[k] = min(1.0, length**2 / (1.0 - relative) * INFLATION)
    return found


def gram_of(points: Points, rows: npt.NDArray[np.intp]) -> tuple[Array, float]:
    """Return the Gram matrix of some samples, and an upper bound on its error in the spectral norm."""
    left = points.columns[np.ix_(points.features, rows)]
    terms = len(points.features) + VALUE_TERMS
    return left.T @ left, float(EPSILON * terms * np.sum(points.lengths[rows] ** 2) * INFLATION) + UNDERFLOW


def _gram_near_margin(points: Points, c: Array, w: Array, bias: float) -> tuple[npt.NDArray[np.intp], Array, float]:
    """Return the samples that are free, or may be on the margin, with their Gram matrix and a bound on its error."""
    free = _free(points.y, points.C, c)
    margins = points.y * (_outputs(points.columns, points.features, w) + bias)
    slack = np.abs(margins - 1.0)[free].max(initial=1e-9)
    near = np.flatnonzero(free | (np.abs(margins - 1.0) <= 2.0 * slack))
    limit = 2 * (len(points.features) + 1) + int(free.sum())
    if len(near) > limit:
        near = np.flatnonzero(free)
    return near, *gram_of(points, near)


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


@njit(**ALLOCATING)
def _outputs(columns: Array, features: npt.NDArray[np.intp], w: Array) -> Array:
    values = np.zeros(columns.shape[1])
    for j in range(features.size):
        add_scaled(values, columns[features[j]], w[j])
    return values


@njit(**ALLOCATING)
def _independent(
    gram: Array, candidates: npt.NDArray[np.intp], tau: float, share: float
) -> tuple[Array, int, npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Return the Cholesky factor of gram + tau over the candidates that do not depend on those before.

    Returns
    -------
    L : (n_candidates, n_candidates) array
        Lower triangle, of which the first `size` rows and columns count.
    size : int
    taken : (n_candidates,) array of int
        The first `size` are the rows of `gram` that were taken.
    skipped : (n_candidates,) array of bool
    """
    count = candidates.size
    L, taken = np.zeros((count, count)), np.empty(count, dtype=np.intp)
    skipped, size = np.zeros(count, dtype=np.bool_), 0
    for k in range(count):
        p, row = candidates[k], L[size]
        for q in range(size):
            row[q] = (gram[p, taken[q]] + tau - inner_product(L[q, :q], row[:q])) / L[q, q]
        whole = gram[p, p] + tau
        pivot = whole - inner_product(row[:size], row[:size])
        if pivot > share * whole:
            L[size, size] = np.sqrt(pivot)
            taken[size] = p
            size += 1
        else:
            skipped[k] = True
    return L, size, taken, skipped


@njit(**COMPILED)
def _squared_norm(values: Array) -> float:
    return float(inner_product(values, values))


@njit(**ALLOCATING)
def _forward(L: Array, size: int, values: Array) -> Array:
    """Solve L t = values."""
    t = np.empty(size)
    for k in range(size):
        t[k] = (values[k] - inner_product(L[k, :k], t[:k])) / L[k, k]
    return t


@njit(**ALLOCATING)
def _backward(L: Array, size: int, values: Array) -> Array:
    """Solve L' a = values."""
    a = values.copy()
    for k in range(size - 1, -1, -1):
        a[k] /= L[k, k]
        add_scaled(a[:k], L[k, :k], -a[k])
    return a


@njit(**ALLOCATING)
def _conditions(L: Array, size: int, gram_error: float, squares: float) -> tuple[float, float, float]:
    """Return e1, an upper bound on |L^-1|, and e2, as at the top of this module.

    Parameters
    ----------
    L, size
        As from `_independent`.
    gram_error : float
        Upper bound on the error of the Gram matrix.
    squares : float
        Sum of the squared lengths of the samples.
    """
    X = np.zeros((size, size))
    whole, inverse = 0.0, 0.0
    for k in range(size):
        row = X[k]
        for q in range(k):
            add_scaled(row[: q + 1], X[q, : q + 1], -L[k, q])
        pivot = 1.0 / L[k, k]
        for q in range(k):
            row[q] *= pivot
        row[k] = pivot
        whole += _squared_norm(L[k, : k + 1])
        inverse += _squared_norm(row[: k + 1])
    by_inverse = EPSILON * (size + 4.0) * np.sqrt(whole * inverse) * INFLATION
    if not by_inverse < MAX_RELATIVE_ERROR:
        return np.inf, np.inf, np.inf
    norm = np.sqrt(inverse) / (1.0 - by_inverse) * INFLATION
    error = EPSILON * (size + VALUE_TERMS) * whole + gram_error + EPSILON * VALUE_TERMS * squares
    return by_inverse, norm, error * norm * norm * INFLATION


class _Machine(NamedTuple):
    """What `_locate` knows of a machine: errors of its outputs, and of its normal vector."""

    alpha: Array
    values: Array
    error: Array
    delta: float


@njit(**ALLOCATING)
def _machine(points: Points, c: Array, w: Array) -> _Machine:
    values = _outputs(points.columns, points.features, w)
    length = np.sqrt(_squared_norm(w)) * INFLATION
    error, sizes, used = np.empty(c.size), 0.0, 0
    for i in range(c.size):
        error[i] = EPSILON * (w.size + VALUE_TERMS) * length * points.lengths[i] + UNDERFLOW
        sizes += abs(c[i]) * points.lengths[i]
        used += 1 if c[i] != 0.0 else 0
    delta = EPSILON * (used + VALUE_TERMS) * sizes * INFLATION + UNDERFLOW
    return _Machine(c * points.y, values, error, delta)


@njit(**ALLOCATING)
def _locate(  # noqa: PLR0917
    points: Points,
    c: Array,
    w: Array,
    bias: float,
    rows: npt.NDArray[np.intp],
    gram: Array,
    gram_error: float,
    share: float,
) -> tuple[float, float, float, Array, float]:
    machine = _machine(points, c, w)
    radius, excess, repaired, belonging = np.inf, np.inf, c.copy(), bias
    at_margin = np.zeros(rows.size, dtype=np.bool_)
    for _ in range(2):
        found, cost, step, at = _with_margin(points, machine, c, belonging, rows, gram, gram_error, share, at_margin)
        if found < radius:
            radius, excess, repaired, belonging = found, cost, step, at
        if not cost > 0.0:
            break
    return radius, machine.delta, excess, repaired, belonging


@njit(**ALLOCATING)
def _with_margin(  # noqa: C901, PLR0912, PLR0915, PLR0917
    points: Points,
    machine: _Machine,
    c: Array,
    bias: float,
    rows: npt.NDArray[np.intp],
    gram: Array,
    gram_error: float,
    share: float,
    at_margin: npt.NDArray[np.bool_],
) -> tuple[float, float, Array, float]:
    """Bound |w(c) - w*| by the point that puts the free samples and those `at_margin` exactly on their margin.

    The samples that may be on theirs, but are not free, are added to `at_margin`, a mask of `rows`.

    Returns
    -------
    radius : float
    excess : float
    c : (n,) array
        Coefficients after the step.
    bias : float
    """
    y, C, lengths = points.y, points.C, points.lengths
    alpha, values, error, delta = machine.alpha, machine.values, machine.error, machine.delta
    n, candidates, count = c.size, np.empty(rows.size, dtype=np.intp), 0
    for is_free in (True, False):  # the free ones come first: the others are skipped where they depend on them
        for p in range(rows.size):
            i = rows[p]
            if (0.0 < alpha[i] < C[i]) == is_free and (is_free or at_margin[p]):
                candidates[count] = p
                count += 1
    candidates = candidates[:count]
    tau = 0.0
    for k in range(count):
        tau += gram[candidates[k], candidates[k]] / count
    tau = tau if tau > 0.0 else 1.0
    L, size, taken, skipped = _independent(gram, candidates, tau, share)
    squares = 0.0
    for k in range(size):
        squares += lengths[rows[taken[k]]] ** 2
    by_inverse, inverse, relative = _conditions(L, size, gram_error, squares)
    if not (by_inverse < MAX_RELATIVE_ERROR and relative < MAX_RELATIVE_ERROR):
        return np.inf, np.inf, c, bias

    rho, blur, shift = np.empty(size), 0.0, 0.0
    s, t = _forward(L, size, np.ones(size)), rho
    for turn in range(2 if size > 0 else 0):
        for k in range(size):
            rho[k] = y[rows[taken[k]]] - (values[rows[taken[k]]] + bias)
        t = _forward(L, size, rho)
        if turn == 0:  # the bias at which the step is shortest
            bias += inner_product(s, t) / _squared_norm(s)
    for k in range(size):
        i = rows[taken[k]]
        blur += (error[i] + 2.0 * EPSILON * (1.0 + abs(values[i]) + abs(bias))) ** 2
    if size > 0:
        shift = np.sqrt(_squared_norm(t)) / (1.0 - by_inverse) + inverse * np.sqrt(blur)
        shift *= INFLATION / np.sqrt(1.0 - relative)

    on_margin = np.zeros(n, dtype=np.bool_)
    for k in range(size):
        on_margin[rows[taken[k]]] = True
    for k in range(count):
        i = rows[candidates[k]]
        on_margin[i] |= skipped[k] and _is_copy(points, i, rows, taken[:size])
    excess, position = 0.0, 0
    up, down = np.inf, np.inf  # the least cost of a coefficient that makes up for the imbalance
    unbalanced = abs(accurate_sum(c))
    for i in range(n):
        unbalanced += (EPSILON * n) ** 2 * abs(c[i])
    for i in range(n):
        while position < rows.size and rows[position] < i:
            position += 1
        margin = y[i] * (values[i] + bias)
        reach = error[i] + 2.0 * EPSILON * (1.0 + abs(values[i]) + abs(bias))
        reach = (reach + np.sqrt(lengths[i] * lengths[i] + tau) * shift) * INFLATION
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
        if cost > 0.0:
            excess += cost
            if position < rows.size and rows[position] == i:
                at_margin[position] = True
    moved = 0.0
    if unbalanced > 0.0:
        # In exact arithmetic one coefficient makes up for what they sum to: w(c) moves by its length, e by its price.
        worst = max(up, down)
        excess += unbalanced * worst
        moved = np.sqrt(unbalanced * worst)
    half = 0.5 * (shift + delta + moved)
    radius = (np.sqrt(half * half + excess * INFLATION) + half + moved) * INFLATION

    a = _backward(L, size, t)
    if size > 0:
        add_scaled(a, _backward(L, size, s), -inner_product(s, t) / _squared_norm(s))
    step = c.copy()
    for k in range(size):
        i = rows[taken[k]]
        step[i] = y[i] * min(max(alpha[i] + y[i] * a[k], 0.0), C[i])
    _balance(step, y, C)
    return radius, excess, step, bias


@njit(**COMPILED)
def _is_copy(points: Points, i: int, rows: npt.NDArray[np.intp], taken: npt.NDArray[np.intp]) -> bool:
    """Return whether a sample equals one of those taken, in its label, too."""
    for k in range(taken.size):
        other = rows[taken[k]]
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
