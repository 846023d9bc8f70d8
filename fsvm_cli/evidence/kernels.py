"""The ARD kernel and its Nyström approximation V V', with their derivatives by the kernel's parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.kernels.gaussian import Gaussian
from fsvm_cli.svm.kernels.weighted_sum import WeightedSum
from fsvm_cli.svm.nystroem import SMALLEST_EIGENVALUE, LowRankGram, low_rank_gram

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array

ROWS_PER_BLOCK = 256
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
        alone one for each feature. O(n_repeats n_a n_b (rank + d)); half of it where A is B and has several blocks,
        since each pair comes once.

        Parameters
        ----------
        A, B : (n_a, d) and (n_b, d) arrays
            Samples; the same array for the pairs of one sample.
        left : (n_repeats, n_a, rank) array
            For each of several sets of coefficients.
        right : (n_b, rank) array

        Returns
        -------
        (n_repeats, 2 + d) array
        """
        shape = self.shape
        is_symmetric = A is B and len(A) > ROWS_PER_BLOCK  # of a single block nothing can be left out
        gradient = np.zeros((len(left), 2 + len(self.length_scales)))
        gradient[:, 1] = left.sum(axis=1) @ right.sum(axis=0)
        of_repeats = [(factor, right) for factor in left]
        if is_symmetric:  # the coefficients of (i, k) and (k, i) together
            of_repeats = [(np.hstack([factor, right]), np.hstack([right, factor])) for factor in left]
        buffer = np.empty(min(len(A), ROWS_PER_BLOCK) * len(B))  # one for all: allocating large arrays is slow
        for start in range(0, len(A), ROWS_PER_BLOCK):
            rows = slice(start, start + ROWS_PER_BLOCK)
            others = slice(start, None) if is_symmetric else slice(None)
            values = shape.gram(A[rows], B[others])
            if is_symmetric:
                values[:, : len(values)] *= 0.5  # pairs within the block come twice
            for r, (of_rows, of_others) in enumerate(of_repeats):
                coefficients = buffer[: values.size].reshape(values.shape)
                np.matmul(of_rows[rows], of_others[others].T, out=coefficients)
                coefficients *= values
                gradient[r, 0] += coefficients.sum()
                gradient[r, 2:] += shape.statistic.weight_contraction(A[rows], B[others], coefficients)
        gradient *= [self.k0, self.k_off, *(self.k0 * length**-2 for length in self.length_scales)]
        return gradient


@dataclass(frozen=True, eq=False)
class NystroemFactor(LowRankGram):
    """V (n, p) with V V' = K_nm (sum_i u_i u_i' / λ_i) K_mn, of the p largest eigenvalues λ_i of the m landmarks' K_mm.

    Gold et al. (2005), equations (15) to (18), corrected: (17) lacks a division by λ_i, and the columns of V are the
    approximate eigenvectors times the root of their eigenvalues, not divided by it. Both together are
    V = K_nm U Λ^(-1/2). With all samples as landmarks and p = n, V V' is the full Gram matrix.

    Attributes
    ----------
    kernel : ArdKernel
    X : (n, d) array
        Samples.
    landmarks : (m,) array of int
        Rows of X.
    cross, eigenvalues, eigenvectors, V
        As in `LowRankGram`.
    """

    kernel: ArdKernel
    X: Array
    landmarks: npt.NDArray[np.intp]

    @property
    def lost_variance(self) -> Array:
        """K_ii - (V V')_ii, shape (n,): the variance of θ_i where b is known; above 0 despite rounding."""
        kept = np.einsum("ip,ip->i", self.V, self.V)
        variance = self.kernel.k0 + self.kernel.k_off
        lost: Array = np.maximum(variance - kept, SMALLEST_EIGENVALUE * variance)
        return lost

    def landmark_coefficients(self, moments: Array) -> Array:
        """Return what the derivative of tr(V' M) by a parameter makes of that of K_mm.

        With K'_nm and K'_mm the derivatives of the kernel, V' = K'_nm F + K_nm F', and the derivatives of eigenvalues
        and eigenvectors make of the second term sum_jk (L U_p')_jk (K'_mm)_jk, where L is what is returned.

        Parameters
        ----------
        moments : (n_repeats, n, p) array
            Several M, for each of which V'M is symmetric up to sampling. Rotations of V's columns among themselves
            leave V V' as it was; symmetric V'M is what makes them leave tr(V'M) alone, too, and keeps differences of
            the p eigenvalues, which may be equal, out of the denominators.

        Returns
        -------
        (n_repeats, m, p) array

        Notes
        -----
        Where the eigenvalues p and p + 1 are equal there is no derivative; their difference counts as one that
        rounding could not make.
        """
        p, values = self.rank, self.eigenvalues
        roots = np.sqrt(values[:p])
        among = self.V.T @ moments
        among = -0.25 * (among + among.transpose(0, 2, 1)) / np.outer(roots, roots)
        beyond = self.eigenvectors[:, p:].T @ (self.cross.T @ moments)
        beyond /= roots * np.maximum(values[:p] - values[p:, None], SMALLEST_EIGENVALUE * values[0])
        coefficients: Array = self.eigenvectors @ np.concatenate([among, beyond], axis=1)
        return coefficients


def nystroem_factor(kernel: ArdKernel, X: Array, landmarks: npt.NDArray[np.intp], rank: int) -> NystroemFactor:
    """Approximate the Gram matrix of samples.

    Parameters
    ----------
    kernel : ArdKernel
    X : (n, d) array
    landmarks : (m,) array of int
        Rows of X, each once; all of them for the full Gram matrix. See `fsvm_cli.svm.nystroem.choose_landmarks`.
    rank : int
        The number p of eigenvectors to keep, >= 1; fewer are kept where the landmarks have no more, and where the
        rest are rounding.

    Returns
    -------
    NystroemFactor
        O(n m (d + p) + m^3).
    """
    gram = low_rank_gram(kernel.kernel, X, landmarks, rank)
    return NystroemFactor(**vars(gram), kernel=kernel, X=X, landmarks=landmarks)
