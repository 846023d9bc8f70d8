"""Cholesky factor of the free block of the Gram matrix, kept up to date as samples enter and leave.

The factored matrix is M = K_FF + tau 11' + diag(shift). On directions that keep the sum of the coefficients, tau 11'
changes nothing; it removes the null direction that every centred Gram matrix has. The shifts keep the factor accurate
where samples depend on each other. They are tiny except where a block is indefinite, where they are what makes M
positive definite; M majorises K_FF in any case, so that Newton steps ascend.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, types

from fsvm_cli.svm.compiled import COMPILED, REASSOCIATE, Array, inner_product

RELATIVE_SHIFT = 1e-12
"""The shift of a sample, as a part of its diagonal entry, where no larger one is needed."""
MIN_LAPACK_BLOCK = 48
"""Samples from which on a call of LAPACK is faster than a compiled loop."""
DOUBLE, LOWER = ord("d"), ord("L")

_matrix: Any = types.CPointer(types.float64)  # type: ignore[no-untyped-call]
lapack_potrf: Any = types.ExternalFunction(
    "numba_xxpotrf", types.intc(types.char, types.char, types.intp, _matrix, types.intp)
)
"""LAPACK's Cholesky factorisation in place, as numba hands it to its own `np.linalg.cholesky`, which takes three copies
of the matrix."""


class Factor(NamedTuple):
    """Upper triangular U with U'U = M on the leading `size[0]` rows; rows are contiguous.

    Attributes
    ----------
    U : (n, n) array
    indices : (n,) array of int
        Sample of each row.
    inside : (n,) array of bool
        Whether a sample is a member.
    shift : (n,) array
        Per row.
    size : (1,) array of int
    tau : (1,) array
    residuals, direction, ones, work : (n,) arrays
        Scratch, per row.
    started : (n,) array of int
        Scratch: indices at the beginning of a run of Newton steps.
    before : (n,) array
        Their coefficients then.
    """

    U: Array
    indices: npt.NDArray[np.int64]
    inside: npt.NDArray[np.bool_]
    shift: Array
    size: npt.NDArray[np.int64]
    tau: Array
    residuals: Array
    direction: Array
    ones: Array
    work: Array
    started: npt.NDArray[np.int64]
    before: Array


def make_factor(n: int) -> Factor:
    """Return a factor without indices, for up to n samples."""
    shift, residuals, direction, ones, work, before = np.zeros((6, n))
    indices, started = np.zeros((2, n), np.int64)
    return Factor(
        U=np.empty((n, n)),
        indices=indices,
        inside=np.zeros(n, np.bool_),
        shift=shift,
        size=np.zeros(1, np.int64),
        tau=np.zeros(1),
        residuals=residuals,
        direction=direction,
        ones=ones,
        work=work,
        started=started,
        before=before,
    )


@njit(**COMPILED, fastmath=REASSOCIATE)
def subtract_scaled_tail(target: Array, row: Array, factor: float, start: int, stop: int) -> None:
    """Subtract factor * row from target between two columns."""
    for t in range(start, stop):
        target[t] -= factor * row[t]


@njit(**COMPILED, fastmath=REASSOCIATE)
def subtract_from_both(x: Array, z: Array, row: Array, a: int, stop: int) -> None:
    """Subtract x[a] * row from x and z[a] * row from z between column a and another."""
    factor_x, factor_z = x[a], z[a]
    for t in range(a + 1, stop):
        x[t] -= factor_x * row[t]
        z[t] -= factor_z * row[t]


@njit(**COMPILED, fastmath=REASSOCIATE)
def dot_both(x: Array, z: Array, row: Array, start: int, stop: int) -> tuple[float, float]:
    """Return the inner products of x and z with a row between two columns."""
    total_x, total_z = 0.0, 0.0
    for t in range(start, stop):
        total_x += x[t] * row[t]
        total_z += z[t] * row[t]
    return total_x, total_z


@njit(**COMPILED, fastmath=REASSOCIATE)
def rotate_tail(old: Array, tail: Array, new: Array, cosine: float, sine: float) -> None:
    """Rotate a row against the tail of a removed one."""
    for t in range(tail.size):
        a, b = old[t], tail[t]
        new[t] = cosine * a + sine * b
        tail[t] = cosine * b - sine * a


@njit(**COMPILED)
def safe_pivot(square: float, entry: float) -> tuple[float, float]:
    """Return the pivot and the shift, for the pivot's square and the diagonal entry before the shift."""
    # The size of a square below zero, not the least shift: rows divided by a tiny pivot would grow out of bounds.
    raised = abs(square) + RELATIVE_SHIFT * abs(entry) + 1e-300
    return np.sqrt(raised), raised - square


@njit(**COMPILED)
def append(factor: Factor, K: Array, i: int) -> None:
    """Let sample i enter; costs m^2 operations."""
    m = factor.size[0]
    U, tau = factor.U, factor.tau[0]
    column = factor.work
    for a in range(m):
        column[a] = K[i, factor.indices[a]] + tau
    for a in range(m):
        column[a] *= 1.0 / U[a, a]
        subtract_scaled_tail(column, U[a], column[a], a + 1, m)
        U[a, m] = column[a]
    entry = K[i, i] + tau
    U[m, m], factor.shift[m] = safe_pivot(entry - inner_product(column[:m], column[:m]), entry)
    factor.indices[m] = i
    factor.inside[i] = True
    factor.size[0] = m + 1


@njit(**COMPILED)
def remove(factor: Factor, p: int) -> None:
    """Let the sample of row p leave, and its residual with it; costs up to 3 m^2 operations."""
    m = factor.size[0]
    U = factor.U
    tail = factor.work[:m]
    for b in range(p + 1, m):
        tail[b] = U[p, b]
    for a in range(p):
        for b in range(p, m - 1):
            U[a, b] = U[a, b + 1]
    for k in range(p + 1, m):
        length = np.sqrt(U[k, k] * U[k, k] + tail[k] * tail[k])
        inverse = 1.0 / length
        cosine, sine = inverse * U[k, k], inverse * tail[k]
        U[k - 1, k - 1] = length
        rotate_tail(U[k, k + 1 : m], tail[k + 1 :], U[k - 1, k : m - 1], cosine, sine)
    factor.inside[factor.indices[p]] = False
    for a in range(p, m - 1):
        factor.indices[a] = factor.indices[a + 1]
        factor.shift[a] = factor.shift[a + 1]
        factor.residuals[a] = factor.residuals[a + 1]
    factor.size[0] = m - 1


@njit(**COMPILED)
def rebuild_by_lapack(factor: Factor, K: Array) -> bool:
    """Factor the indices' block by LAPACK; return False where it is not positive definite."""
    m, tau, U = factor.size[0], factor.tau[0], factor.U
    for a in range(m):
        row = K[factor.indices[a]]
        for b in range(a, m):
            U[a, b] = row[factor.indices[b]] + tau
        factor.shift[a] = RELATIVE_SHIFT * abs(U[a, a]) + 1e-300
        U[a, a] += factor.shift[a]
    # Rows of an upper triangle are the columns of LAPACK's lower one.
    failed: int = lapack_potrf(DOUBLE, LOWER, m, U.ctypes, U.shape[1])
    return failed == 0


@njit(**COMPILED)
def rebuild_by_rows(factor: Factor, K: Array) -> None:
    """Factor the indices' block, shifting what is not positive definite."""
    m, tau, U = factor.size[0], factor.tau[0], factor.U
    for a in range(m):
        row = K[factor.indices[a]]
        for b in range(a, m):
            U[a, b] = row[factor.indices[b]] + tau
        entry = U[a, a]
        for b in range(a):
            subtract_scaled_tail(U[a], U[b], U[b, a], a, m)
        U[a, a], factor.shift[a] = safe_pivot(U[a, a], entry)
        inverse = 1.0 / U[a, a]
        for b in range(a + 1, m):
            U[a, b] *= inverse


@njit(**COMPILED)
def rebuild(factor: Factor, K: Array) -> None:
    """Factor the indices' block anew."""
    if factor.size[0] < MIN_LAPACK_BLOCK or not rebuild_by_lapack(factor, K):
        rebuild_by_rows(factor, K)


@njit(**COMPILED)
def solve_two(factor: Factor, x: Array, z: Array) -> None:
    """Replace x and z by the solutions of M x' = x and M z' = z."""
    m = factor.size[0]
    U = factor.U
    for a in range(m):
        inverse = 1.0 / U[a, a]  # apart from the chain of steps that wait for one another, as a division would not be
        x[a] *= inverse
        z[a] *= inverse
        subtract_from_both(x, z, U[a], a, m)
    for a in range(m - 1, -1, -1):
        inner_x, inner_z = dot_both(x, z, U[a], a + 1, m)
        inverse = 1.0 / U[a, a]
        x[a] = (x[a] - inner_x) * inverse
        z[a] = (z[a] - inner_z) * inverse
