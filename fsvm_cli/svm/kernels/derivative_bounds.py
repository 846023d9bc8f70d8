"""Derivatives of a machine's output by its inputs, with bounds on rounding, and on what a distance of w does to them.

The derivative of f = w . phi by x_j at a point x is the inner product of w with d phi(x) / d x_j, whose length is the
root of the second derivative of the kernel by both of its arguments. So that

    |d_j f(x) - d_j f*(x)| <= |w - w*| sqrt(d_j d'_j K(x, x)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.kernels.additive import AdditiveKernel
from fsvm_cli.svm.kernels.compiled import EXPONENTIAL, IDENTITY, INNER_PRODUCT, POWER, SQUARED_DISTANCE

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Kernel

SPARE_TERMS = 16.0
"""Roundings of single factors, beside those of sums, with some to spare."""
UNDERFLOW = 1e-290


class Derivatives(NamedTuple):
    """Of a machine's output by each feature, at some points; each an array (n_points, d).

    Attributes
    ----------
    values : (n_points, d) array
    rounding : (n_points, d) array
        Upper bounds of their errors.
    lengths : (n_points, d) array
        Upper bounds of sqrt(d_j d'_j K(x, x)).
    """

    values: Array
    rounding: Array
    lengths: Array


def has_derivative_bounds(kernel: Kernel) -> bool:
    """Return whether `derivatives` knows the kernel: linear, polynomial and Gaussian ones."""
    if not isinstance(kernel, AdditiveKernel):
        return False
    known = {(INNER_PRODUCT, IDENTITY), (INNER_PRODUCT, POWER), (SQUARED_DISTANCE, EXPONENTIAL)}
    return (kernel.form.statistic, kernel.form.function) in known


def derivatives(kernel: AdditiveKernel, X: Array, c: Array, points: npt.NDArray[np.intp]) -> Derivatives:
    """Return the derivatives of x -> sum_i c_i K(x_i, x), with their bounds.

    Parameters
    ----------
    kernel : AdditiveKernel
        For which `has_derivative_bounds`.
    X : (n, d) array
    c : (n,) array
    points : (n_points,) array of int
        Rows of `X`.
    """
    weights = kernel.feature_weights(X.shape[1])
    w = np.ones(X.shape[1]) if weights is None else weights
    return (_of_gaussian if kernel.form.statistic == SQUARED_DISTANCE else _of_power)(kernel, X, w, c, points)


def _of_power(kernel: AdditiveKernel, X: Array, w: Array, c: Array, points: npt.NDArray[np.intp]) -> Derivatives:
    """Of (offset + scale sum_j w_j u_j v_j)^p, of which the linear kernel is one."""
    form, support = kernel.form, np.flatnonzero(c)
    A, B, own = X[support], X[points], c[support]
    p, scale, offset = form.degree, form.scale, form.offset
    if form.function == IDENTITY:
        p, scale, offset = 1, 1.0, 0.0
    argument = offset + scale * ((A * w) @ B.T)
    largest = offset + scale * ((np.abs(A) * w) @ np.abs(B).T)
    values = ((own[:, None] * (p * scale) * argument ** (p - 1)).T @ A) * w
    sizes = ((np.abs(own)[:, None] * (p * scale) * largest ** (p - 1)).T @ np.abs(A)) * w
    rounding = EPSILON * ((p - 1) * (X.shape[1] + 6) + len(support) + SPARE_TERMS) * sizes + UNDERFLOW
    square = B**2
    at_itself = (offset + scale * (square @ w))[:, None]
    lengths = p * scale * w * at_itself ** (p - 1)
    if p > 1:
        lengths = lengths + p * (p - 1) * (scale * w) ** 2 * square * at_itself ** (p - 2)
    return Derivatives(values, rounding, _roots(lengths, p, X.shape[1]))


def _of_gaussian(kernel: AdditiveKernel, X: Array, w: Array, c: Array, points: npt.NDArray[np.intp]) -> Derivatives:
    """Of exp(scale sum_j w_j (u_j - v_j)^2), scale < 0."""
    scale, support = kernel.form.scale, np.flatnonzero(c)
    centred = X - X.mean(axis=0)  # a difference of doubles is off by its last digit only
    A, B, own = centred[support], centred[points], c[support]
    G = own[:, None] * kernel.gram(X[support], X[points])
    sizes = np.abs(G)
    factor = 2.0 * scale * w
    values = factor * (B * G.sum(axis=0)[:, None] - G.T @ A)
    terms = np.abs(factor) * (np.abs(B) * sizes.sum(axis=0)[:, None] + sizes.T @ np.abs(A))
    of_values, total = kernel.rounding(X), np.abs(own).sum()
    relative, reach = float(of_values.relative.max()), float(of_values.reach.max())
    rounding = (relative + EPSILON * (len(support) + SPARE_TERMS)) * terms + UNDERFLOW * (1.0 + total)
    rounding = rounding + 2.0 * reach * np.abs(factor) * (np.abs(B) * total + np.abs(own) @ np.abs(A))
    return Derivatives(values, rounding, np.broadcast_to(_roots(np.abs(factor), 1, X.shape[1]), values.shape))


def _roots(squares: Array, degree: int, d: int) -> Array:
    return np.sqrt(squares * (1.0 + EPSILON * (degree * (d + 6) + SPARE_TERMS)))
