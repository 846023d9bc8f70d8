"""A Gram matrix as V V' with a thin V, and the derivative of that product by what the kernel depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.low_rank import SMALLEST_EIGENVALUE, LowRankGram, low_rank_gram

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.evidence.ard_kernel import ArdKernel
    from fsvm_cli.svm.vectors import Array


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
        Rows of X, each once; all of them for the full Gram matrix. See `fsvm_cli.svm.low_rank.choose_landmarks`.
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
