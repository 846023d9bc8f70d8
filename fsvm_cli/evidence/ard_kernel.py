"""The kernel with a length scale for each feature, and its derivatives by the logarithms of its parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.kernels.gaussian import Gaussian
from fsvm_cli.svm.kernels.weighted_sum import WeightedSum

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array

ROWS_IN_BLOCK = 256
"""How many rows of a Gram matrix's derivative are held at once."""


@dataclass(frozen=True)
class ArdKernel:
    """K(x, x') = k0 exp(-1/2 sum_a (x_a - x'_a)^2 / l_a^2) + k_off, Gold et al. (2005), equation (3).

    Attributes
    ----------
    k0 : float
        Prior variance of the function about its offset, > 0.
    k_off : float
        Prior variance of the offset, >= 0. It stands for the bias, which the machine has no other of.
    length_scales : tuple of float
        One per feature, > 0, in its unit; a large one makes the feature irrelevant.

    Raises
    ------
    ValueError
        On construction, if a parameter is out of its range.
    """

    k0: float
    k_off: float
    length_scales: tuple[float, ...]

    def __post_init__(self) -> None:
        if not (math.isfinite(self.k0) and self.k0 > 0.0):
            raise ValueError(f"k0 must be a finite number > 0, not {self.k0!r}")
        if not (math.isfinite(self.k_off) and self.k_off >= 0.0):
            raise ValueError(f"k_off must be a finite number >= 0, not {self.k_off!r}")
        for a, length in enumerate(self.length_scales):
            if not (math.isfinite(length) and length > 0.0):
                raise ValueError(f"length_scales[{a}] must be a finite number > 0, not {length!r}")

    @property
    def shape(self) -> Gaussian:
        """The exponential of (3), without k0 and k_off."""
        return Gaussian(2.0, weights=tuple(length**-2 for length in self.length_scales))

    @property
    def kernel(self) -> WeightedSum:
        """The same as a kernel that machines take."""
        return WeightedSum((self.shape,), (self.k0,), constant=self.k_off)

    def log_gradient(self, A: Array, B: Array, left: Array, right: Array) -> Array:
        """Return the derivatives of sum_ik (left_r right')_ik K(a_i, b_k) by ln k0, ln k_off and each ln l_a.

        The coefficients come as products of thin matrices, so that there is never an array of n_a n_b numbers, let
        alone one for each feature. O(n_repeats n_a n_b (rank + d)).

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d) arrays
            Samples.
        left : (n_repeats, n_a, rank) array
            For each of several sets of coefficients.
        right : (n_b, rank) array

        Returns
        -------
        (n_repeats, 2 + d) array
        """
        shape = self.shape
        gradient = np.zeros((len(left), 2 + len(self.length_scales)))
        for start in range(0, len(A), ROWS_IN_BLOCK):
            rows = slice(start, start + ROWS_IN_BLOCK)
            values = shape.gram(A[rows], B)
            for r, factor in enumerate(left):
                coefficients = factor[rows] @ right.T
                gradient[r, 1] += coefficients.sum()
                coefficients *= values
                gradient[r, 0] += coefficients.sum()
                gradient[r, 2:] += shape.statistic.weight_contraction(A[rows], B, coefficients)
        gradient *= [self.k0, self.k_off, *(self.k0 * length**-2 for length in self.length_scales)]
        return gradient
