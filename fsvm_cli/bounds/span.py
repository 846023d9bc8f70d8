"""The span bound on the leave-one-out error, jebara-slides; Vapnik and Chapelle (2000)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack, pinvh
from scipy.special import expit

from fsvm_cli.bounds.bound import Bound
from fsvm_cli.svm.kernels.gram import centred

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.solvers.dual import DualSolution

RELATIVE_SHIFT = 1e-12
"""On the diagonal, as a part of its largest entry: it gives samples that depend on each other a span of almost 0."""
MIN_RECIPROCAL_CONDITION = 100.0 * RELATIVE_SHIFT
"""Of a matrix whose eigenvalues are all above `RELATIVE_SHIFT` for certain, so that its pseudo-inverse is its inverse:
LAPACK's estimate is too high by a small factor at times."""


def predicted_slacks(gram: Array, alpha: Array, *, regularisation: float = 0.0) -> Array:
    """Predict 1 - y_p f(x_p) of the machines that leave out one sample p each, from the machine on all samples.

    It is alpha_p S_p^2, with the span S_p the distance of a support vector from the affine hull of the others, and 0
    for other samples. More than 1 is an error. The prediction is exact where the others stay support vectors, and no
    other sample becomes one.

    Parameters
    ----------
    gram : (n, n) array
        As in `hard_margin_machine`.
    alpha : (n,) array
        Of the machine on all samples.
    regularisation : float
        eta, >= 0: the least of ||phi_p - sum_i lambda_i phi_i||^2 + eta sum_i lambda_i^2 / alpha_i takes the place of
        S_p^2. Larger than 0, it keeps the prediction from jumping where a sample becomes a support vector.

    Returns
    -------
    (n,) array
        >= 0.

    Notes
    -----
    Source: jebara-slides, "Better Span Bound", with this correction. The printed 1 / (K^-1)_pp of the support vectors'
    Gram matrix is the distance from their linear hull, that of a machine without bias. With a bias the matrix has a
    further row and column of ones, with a 0 in the corner. The regularised span is that of Chapelle et al. (2002).

    References
    ----------
    - V. Vapnik and O. Chapelle, "Bounds on Error Expectation for Support Vector Machines", Neural Computation 12, 2000,
      pages 2013-2036.
    - O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing Multiple Parameters for Support Vector Machines",
      Machine Learning 46, 2002, pages 131-159.
    """
    support = np.flatnonzero(alpha)
    matrix, unit = _in_units(gram, support)
    scaled = alpha[support] * unit
    weights = regularisation / scaled
    slacks = np.zeros(len(alpha))
    slacks[support] = scaled * _squared_spans(_bordered_inverse(matrix, weights), weights)
    return slacks


def span_bound(
    gram: Array, y: Array, machine: DualSolution, *, sharpness: float = 5.0, regularisation: float = 0.1
) -> Bound:
    """Return the number of leave-one-out errors that the spans predict, smoothed so that it has a derivative.

    With t_p from `predicted_slacks`, the value is sum_p 1 / (1 + exp(-sharpness (t_p - 1))). Over all samples: one that
    becomes a support vector does so with t_p = 0, and changes nothing. Its derivative follows alpha, too: at fixed
    support vectors, which are on their margins, (alpha y, bias) solves a linear system.

    Parameters
    ----------
    gram : (n, n) array
        As in `hard_margin_machine`.
    y : (n,) array
        Labels, -1 or +1.
    machine : DualSolution
        From `hard_margin_machine`.
    sharpness : float
        > 0; the larger, the closer to a step.
    regularisation : float
        As in `predicted_slacks`. At 0 the value jumps where the support vectors change.

    Returns
    -------
    Bound

    Notes
    -----
    Let B be the bordered inverse of the support vectors' Gram matrix with eta / alpha_i on its diagonal, P that without
    it, c = alpha y, and g_p the derivative of the value by t_p. As S_p^2 = 1 / B_pp - eta / alpha_p,

        d(value) = sum_p q_p b_p' dK b_p - (P Y v)' dK c,    q_p = g_p alpha_p / B_pp^2,
        v_i = g_i S_i^2 - eta / alpha_i^2 (sum_p q_p B_pi^2 - g_i alpha_i)

    Chapelle et al. (2002): logistic function, sharpness 5 and eta 0.1 are theirs.
    """
    support = np.flatnonzero(machine.alpha)
    matrix, unit = _in_units(gram, support)
    alpha, labels = machine.alpha[support] * unit, y[support]
    weights = regularisation / alpha
    inverse = _bordered_inverse(matrix, weights)
    squared_spans = _squared_spans(inverse, weights)
    smooth = expit(sharpness * (alpha * squared_spans - 1.0))
    idle = (len(y) - len(support)) * expit(-sharpness)
    slope = sharpness * smooth * (1.0 - smooth)
    by_entry = slope * alpha / inverse.diagonal() ** 2
    by_weight = by_entry @ inverse**2 - slope * alpha
    by_alpha = slope * squared_spans - weights / alpha * by_weight
    # P; of support vectors that depend on each other, whose c is not unique, the least movement.
    moved = _pseudo_solve(matrix, labels * by_alpha)
    along = np.multiply.outer(moved, alpha * labels)
    gradient = np.zeros_like(gram)
    rooted = inverse * np.sqrt(by_entry)
    gradient[np.ix_(support, support)] = (rooted @ rooted.T - 0.5 * (along + along.T)) / unit
    return Bound(float(smooth.sum() + idle), gradient, machine, converged=machine.converged)


def _in_units(gram: Array, support: npt.NDArray[np.intp]) -> tuple[Array, float]:
    """Return the support vectors' Gram matrix around their mean, in units in which no entry is too large; the unit."""
    matrix = centred(gram[np.ix_(support, support)])
    unit = float(matrix.diagonal().max())
    return matrix / unit, unit


def _bordered_inverse(matrix: Array, weights: Array) -> Array:
    """Return the inverse of the Gram matrix bordered with ones, without the border.

    It is the same for a matrix to which a constant is added, and which is positive definite then.
    """
    shifted = matrix + 1.0
    shifted.flat[:: len(weights) + 1] += weights + RELATIVE_SHIFT
    factor, failed = lapack.dpotrf(shifted.T, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the support vectors' Gram matrix is not positive definite")
    triangle, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    inverse = triangle + np.tril(triangle, -1).T
    sums = inverse.sum(axis=0)
    inverse -= np.multiply.outer(sums, sums) / sums.sum()
    return np.asarray(inverse, dtype=np.float64)


def _pseudo_solve(matrix: Array, right: Array) -> Array:
    """Return the pseudo-inverse of a centred Gram matrix times a vector.

    Where no eigenvalue but that of the ones is small, by a Cholesky factor: with the ones' projector added the matrix
    is positive definite, and its inverse differs from the pseudo-inverse by that projector.
    """
    n = len(right)
    shifted = matrix + 1.0 / n
    norm = float(np.abs(shifted).sum(axis=0).max())
    factor, failed = lapack.dpotrf(shifted.T, lower=1, overwrite_a=1)
    if not failed and lapack.dpocon(factor, norm, uplo="L")[0] > MIN_RECIPROCAL_CONDITION:
        solution, _ = lapack.dpotrs(factor, right, lower=1)
        return np.asarray(solution - right.mean(), dtype=np.float64)
    return np.asarray(pinvh(matrix, rtol=RELATIVE_SHIFT) @ right, dtype=np.float64)


def _squared_spans(inverse: Array, weights: Array) -> Array:
    return np.asarray(np.maximum(1.0 / inverse.diagonal() - weights, 0.0), dtype=np.float64)
