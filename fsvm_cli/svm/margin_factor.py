"""The Cholesky factor of the samples at a machine's margin, and what rounding may do to it.

With A = (z_i . z_k + tau) over independent samples, rho' A^-1 rho = |L^-1 rho|^2 is bounded from above. A computed
factor L has LL' = A + E with |E| <= (m + 1) `EPSILON` |L|_F^2 (Higham 2002, theorem 10.3; `EPSILON` is twice the unit
roundoff), a computed solution t of L t = rho a residual of at most m `EPSILON` |L|_F |t|, and a computed inverse X of L
a residual LX - I likewise (ibid., theorem 8.5). With e1 = m `EPSILON` |L|_F |X|_F < 1 and e2 = |E| |L^-1|^2 < 1 follow
|L^-1| <= |X|_F / (1 - e1) and

    rho' A^-1 rho <= (|t| / (1 - e1) + |L^-1| |error of rho|)^2 / (1 - e2).

References
----------
- N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, SIAM 2002.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from fsvm_cli.svm.compiled import ALLOCATING, COMPILED, EPSILON, Array, add_scaled, inner_product

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


class MarginFactor(NamedTuple):
    """Cholesky factor of z_i . z_k + tau over independent samples, with what rounding may do to it.

    Attributes
    ----------
    L : (m, m) array
        Lower triangle, of which the first rows and columns count, one for each sample.
    samples : (size,) array of int
    tau : float
    by_inverse, inverse, relative : float
        e1, an upper bound on |L^-1|, and e2, as at the top of this module.
    """

    L: Array
    samples: npt.NDArray[np.intp]
    tau: float
    by_inverse: float
    inverse: float
    relative: float


@njit(**ALLOCATING)
def factor_of(  # noqa: PLR0917
    lengths: Array,
    alpha: Array,
    C: Array,
    rows: npt.NDArray[np.intp],
    gram: Array,
    gram_error: float,
    share: float,
    joining: npt.NDArray[np.bool_],
) -> tuple[MarginFactor, npt.NDArray[np.intp]]:
    """Factor the matrix of the free samples and those `joining` them.

    Parameters
    ----------
    lengths, alpha, C : (n,) arrays
        Upper bounds on the lengths of all samples; their coefficients, and the upper bounds of these.
    rows : (n_rows,) array of int
        Samples of the Gram matrix.
    gram : (n_rows, n_rows) array
    gram_error : float
        Upper bound on its error in the spectral norm.
    share : float
        Part of a squared length that must be left of a sample for it to be independent of those before.
    joining : (n,) array of bool

    Returns
    -------
    factor : MarginFactor
    skipped : array of int
        Samples that depend on those before.
    """
    candidates, count = np.empty(rows.size, dtype=np.intp), 0
    for is_free in (True, False):  # the free ones come first: the others are skipped where they depend on them
        for p in range(rows.size):
            i = rows[p]
            if (0.0 < alpha[i] < C[i]) == is_free and (is_free or joining[i]):
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
    samples = rows[taken[:size]]
    return MarginFactor(L, samples, tau, by_inverse, inverse, relative), rows[candidates[skipped]]


@njit(**COMPILED)
def is_accurate(factor: MarginFactor) -> bool:
    """Return whether the factor bounds anything."""
    return bool(factor.by_inverse < MAX_RELATIVE_ERROR) & bool(factor.relative < MAX_RELATIVE_ERROR)


@njit(**ALLOCATING)
def leverage(factor: MarginFactor, column: Array) -> float:
    """Return an upper bound on x' A^-1 x, of a column x with the values of all samples."""
    size = factor.samples.size
    x = np.empty(size)
    for k in range(size):
        x[k] = column[factor.samples[k]]
    length = np.sqrt(squared_norm(forward(factor.L, size, x))) / (1.0 - factor.by_inverse)
    length += factor.inverse * 2.0 * VALUE_ROUNDING * np.sqrt(squared_norm(x))
    return float(length * length / (1.0 - factor.relative) * INFLATION)


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
    L, taken, skipped = np.zeros((count, count)), np.empty(count, dtype=np.intp), np.zeros(count, dtype=np.bool_)
    size = _factor_independent(gram, candidates, tau, share, L, taken, skipped)
    return L, size, taken, skipped


@njit(**COMPILED)
def _factor_independent(  # noqa: PLR0917
    gram: Array,
    candidates: npt.NDArray[np.intp],
    tau: float,
    share: float,
    L: Array,
    taken: npt.NDArray[np.intp],
    skipped: npt.NDArray[np.bool_],
) -> int:
    size = 0
    for k in range(candidates.size):
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
    return size


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
    whole, inverse = _squares_of_inverse(L, np.zeros((size, size)))
    by_inverse = EPSILON * (size + 4.0) * np.sqrt(whole * inverse) * INFLATION
    if not by_inverse < MAX_RELATIVE_ERROR:
        return np.inf, np.inf, np.inf
    norm = np.sqrt(inverse) / (1.0 - by_inverse) * INFLATION
    error = EPSILON * (size + VALUE_TERMS) * whole + gram_error + EPSILON * VALUE_TERMS * squares
    return by_inverse, norm, error * norm * norm * INFLATION


@njit(**COMPILED)
def _squares_of_inverse(L: Array, X: Array) -> tuple[float, float]:
    """Write the inverse of a lower triangle into zeros; return the squares of the Frobenius norms of both."""
    whole, inverse = 0.0, 0.0
    for k in range(len(X)):
        row = X[k]
        for q in range(k):
            add_scaled(row[: q + 1], X[q, : q + 1], -L[k, q])
        pivot = 1.0 / L[k, k]
        for q in range(k):
            row[q] *= pivot
        row[k] = pivot
        whole += squared_norm(L[k, : k + 1])
        inverse += squared_norm(row[: k + 1])
    return whole, inverse


@njit(**ALLOCATING)
def forward(L: Array, size: int, values: Array) -> Array:
    """Solve L t = values."""
    t = np.empty(size)
    _solve_lower(L, values, t)
    return t


@njit(**COMPILED)
def _solve_lower(L: Array, values: Array, t: Array) -> None:
    for k in range(t.size):
        t[k] = (values[k] - inner_product(L[k, :k], t[:k])) / L[k, k]


@njit(**ALLOCATING)
def backward(L: Array, size: int, values: Array) -> Array:
    """Solve L' a = values."""
    a = values.copy()
    for k in range(size - 1, -1, -1):
        a[k] /= L[k, k]
        add_scaled(a[:k], L[k, :k], -a[k])
    return a


@njit(**COMPILED)
def squared_norm(values: Array) -> float:
    """Return the sum of the squares."""
    return float(inner_product(values, values))
