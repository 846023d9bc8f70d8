"""A Gram matrix as V V' with a thin V, from the columns of a few samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.vectors import Array

SMALLEST_EIGENVALUE = 1e-12
"""In units of the largest. Below it an eigenvector is rounding, as where samples are equal or features are constant."""


@dataclass(frozen=True, eq=False)
class LowRankGram:
    """V = K_nm U Λ^(-1/2), where U Λ U' is the Gram matrix K_mm of the m landmarks, cut to its p largest eigenvalues.

    Attributes
    ----------
    cross : (n, m) array
        K_nm.
    eigenvalues, eigenvectors : (m,) and (m, m) arrays
        Of K_mm, the largest first.
    V : (n, p) array
    """

    cross: Array
    eigenvalues: Array
    eigenvectors: Array
    V: Array

    @property
    def rank(self) -> int:
        """The number p of columns of V."""
        return int(self.V.shape[1])

    @property
    def inverse_roots(self) -> Array:
        """The F (m, p) = U Λ^(-1/2) with V = K_nm F."""
        leading: Array = self.eigenvectors[:, : self.rank] / np.sqrt(self.eigenvalues[: self.rank])
        return leading


def low_rank_gram(kernel: Kernel, X: Any, landmarks: npt.NDArray[np.intp], rank: int) -> LowRankGram:
    """Approximate the Gram matrix of samples by the Nyström method.

    Parameters
    ----------
    kernel : Kernel
        Positive semidefinite.
    X : (n, d) array or CSR matrix
    landmarks : (m,) array of int
        Rows of X, each once; all of them for the full Gram matrix. See `choose_landmarks`.
    rank : int
        The number p of eigenvectors to keep, >= 1; fewer are kept where the landmarks have no more, and where the
        rest are rounding.

    Returns
    -------
    LowRankGram
        O(n m (d + p) + m^3). The full Gram matrix less V V' is positive semidefinite.
    """
    cross = kernel.gram(X, X[landmarks])
    values, vectors = scipy.linalg.eigh(cross[landmarks])
    values, vectors = values[::-1].copy(), vectors[:, ::-1].copy()
    # Rounding must not turn them round: draws in their coordinates would be others.
    vectors *= np.where(np.arange(1, len(landmarks) + 1) @ vectors < 0.0, -1.0, 1.0)
    kept = min(rank, int(np.count_nonzero(values > SMALLEST_EIGENVALUE * values[0])))
    V = cross @ (vectors[:, :kept] / np.sqrt(values[:kept]))
    return LowRankGram(cross, values, vectors, V)


def choose_landmarks(n_samples: int, n_landmarks: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return rows drawn without replacement, in ascending order; all where there are no more than asked for."""
    size = min(n_samples, n_landmarks)
    return np.sort(rng.choice(n_samples, size=size, replace=False)).astype(np.intp)
