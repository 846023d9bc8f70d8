"""Cholesky factor of the free block of the Gram matrix, kept up to date as samples enter and leave.

The factored matrix is M = K_FF + tau 11' + diag(shift). On directions that keep the sum of the coefficients, tau 11'
changes nothing; it removes the null direction that every centred Gram matrix has. The shifts keep the factor accurate
where samples depend on each other. They are tiny except where a block is indefinite, where they are what makes M
positive definite; M majorises K_FF in any case, so that Newton steps ascend.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from fsvm_cli.svm.pair_steps import ALLOCATING, COMPILED, REASSOCIATE, Array

SHIFT = 1e-12
"""The shift of a sample, as a part of its diagonal entry, where no larger one is needed."""
BLOCK = 48


class Factor(NamedTuple):
    """Upper triangular U with U'U = M on the leading `size[0]` rows; rows are contiguous.

    Attributes
    ----------
    U : (n, n) array
    members : (n,) array of int
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
        Scratch: members at the beginning of a run of Newton steps.
    before : (n,) array
        Their coefficients then.
    """

    U: Array
    members: npt.NDArray[np.int64]
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


@njit(**COMPILED, fastmath=REASSOCIATE)
def subtract_scaled_tail(target: Array, row: Array, factor: float, start: int, stop: int) -> None:
    """Subtract factor * row from target between two columns."""
    for t in range(start, stop):
        target[t] -= factor * row[t]


@njit(**COMPILED, fastmath=REASSOCIATE)
def dot_tail(a: Array, b: Array, start: int, stop: int) -> float:
    """Return the inner product of two rows between two columns."""
    total = 0.0
    for t in range(start, stop):
        total += a[t] * b[t]
    return total


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
    # Added to a square far below zero, the least shift would be rounded away, and the pivot with it.
    raised = max(square, 0.0) + SHIFT * abs(entry) + 1e-300
    return np.sqrt(raised), raised - square


@njit(**COMPILED)
def append(factor: Factor, K: Array, i: int) -> None:
    """Let sample i enter; costs m^2 operations."""
    m = factor.size[0]
    U, tau = factor.U, factor.tau[0]
    column = factor.work
    for a in range(m):
        column[a] = K[i, factor.members[a]] + tau
    for a in range(m):
        column[a] /= U[a, a]
        subtract_scaled_tail(column, U[a], column[a], a + 1, m)
        U[a, m] = column[a]
    entry = K[i, i] + tau
    U[m, m], factor.shift[m] = safe_pivot(entry - dot_tail(column, column, 0, m), entry)
    factor.members[m] = i
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
        cosine, sine = U[k, k] / length, tail[k] / length
        U[k - 1, k - 1] = length
        rotate_tail(U[k, k + 1 : m], tail[k + 1 :], U[k - 1, k : m - 1], cosine, sine)
    factor.inside[factor.members[p]] = False
    for a in range(p, m - 1):
        factor.members[a] = factor.members[a + 1]
        factor.shift[a] = factor.shift[a + 1]
        factor.residuals[a] = factor.residuals[a + 1]
    factor.size[0] = m - 1


@njit(**ALLOCATING)
def rebuild(factor: Factor, K: Array) -> None:
    """Factor the members' block anew, in blocks of rows so that large ones run at the speed of matrix products."""
    m, tau, U = factor.size[0], factor.tau[0], factor.U
    for a in range(m):
        row = K[factor.members[a]]
        for b in range(a, m):
            U[a, b] = row[factor.members[b]] + tau
    for start in range(0, m, BLOCK):
        stop = min(start + BLOCK, m)
        if start > 0:
            above = np.ascontiguousarray(U[:start, start:m])
            U[start:stop, start:m] -= np.dot(np.ascontiguousarray(above[:, : stop - start].T), above)
        for a in range(start, stop):
            for b in range(start, a):
                subtract_scaled_tail(U[a], U[b], U[b, a], a, m)
            entry = K[factor.members[a], factor.members[a]] + tau
            U[a, a], factor.shift[a] = safe_pivot(U[a, a], entry)
            for b in range(a + 1, m):
                U[a, b] /= U[a, a]


@njit(**COMPILED)
def solve_two(factor: Factor, x: Array, z: Array) -> None:
    """Replace x and z by the solutions of M x' = x and M z' = z."""
    m = factor.size[0]
    U = factor.U
    for a in range(m):
        x[a] /= U[a, a]
        z[a] /= U[a, a]
        subtract_scaled_tail(x, U[a], x[a], a + 1, m)
        subtract_scaled_tail(z, U[a], z[a], a + 1, m)
    for a in range(m - 1, -1, -1):
        x[a] = (x[a] - dot_tail(U[a], x, a + 1, m)) / U[a, a]
        z[a] = (z[a] - dot_tail(U[a], z, a + 1, m)) / U[a, a]
