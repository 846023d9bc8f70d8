"""Weights that align a sum of kernels with the labels, by non-negative least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.optimize
from scipy.linalg import eigh

from fsvm_cli.svm.kernels.gram import centred

if TYPE_CHECKING:
    from fsvm_cli.kernel_learning.base_kernels import GramMatrices
    from fsvm_cli.svm.compiled import Array

RANK_TOLERANCE = 1e-12
"""Eigenvalues of the kernels' own Gram matrix below this part of the largest are rounding."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """Weights of kernels, and how well their sum is aligned with the labels.

    Attributes
    ----------
    weights : (m,) array
        mu_i >= 0, with sum_i mu_i r_i = sum_i r_i.
    value : float
        <K, yy'> / sqrt(<K, K> <yy', yy'>) of the sum on the training rows, at most 1.
    gap : float
        By what part of the upper bound an optimum may be larger.
    """

    weights: Array
    value: float
    gap: float


def align(kernels: GramMatrices, y: Array, *, centre: bool = False) -> Alignment:
    """Find the conic combination of kernels that is best aligned with the labels.

    With q_i = y' K_i y and S_ij = <K_i, K_j> on the training rows: max over mu >= 0 of mu' q with mu' S mu <= 1, which
    is the non-negative least squares problem min over mu >= 0 of mu' S mu - 2 mu' q up to the scale.

    Parameters
    ----------
    kernels : GramMatrices
    y : (n,) array
        Labels of the training rows, -1 or +1.
    centre : bool
        Whether the kernels are first centred in their feature space, as Cortes et al. (2012) advise: otherwise a
        constant, of which a machine with a bias makes no use, counts like any other similarity.

    Returns
    -------
    Alignment

    Raises
    ------
    ValueError
        If no kernel is aligned with the labels at all.

    Notes
    -----
    Source: jebara-slides, "SVM Kernel Selection". The slide leaves out that the weights are not negative, and prints
    the problem as a semidefinite programme; with a free K its solution is yy'.

    Any x with S x >= q bounds mu' q <= mu' S x from above by sqrt(x' S x); a solution of the least squares problem,
    scaled until it is such an x, gives the gap.

    References
    ----------
    - N. Cristianini, J. Shawe-Taylor, A. Elisseeff and J. Kandola, "On Kernel-Target Alignment", Advances in Neural
      Information Processing Systems 14, 2002, pages 367-373.
    - C. Cortes, M. Mohri and A. Rostamizadeh, "Algorithms for Learning Kernels Based on Centered Alignment", Journal of
      Machine Learning Research 13, 2012, pages 795-828.
    """
    grams = np.array([centred(gram) for gram in kernels.training]) if centre else kernels.training
    norms = np.sqrt(np.einsum("mij,mij->m", grams, grams))
    rounding = 1e-12 * np.sqrt(np.einsum("mij,mij->m", kernels.training, kernels.training))
    scales = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > rounding)
    flat = grams.reshape(len(grams), -1) * scales[:, None]
    S, q = flat @ flat.T, flat @ np.multiply.outer(y, y).ravel() / len(y)
    solution = _non_negative_least_squares(S, q)
    size = float(solution @ q)
    if not size > 0.0:
        raise ValueError("no base kernel is aligned with the labels; choose others")
    value = size / float(np.sqrt(solution @ S @ solution))
    weights = solution * scales
    return Alignment(weights * kernels.traces.sum() / (weights @ kernels.traces), value, _gap(S, q, solution, value))


def _non_negative_least_squares(S: Array, q: Array) -> Array:
    """Minimise x' S x - 2 x' q over x >= 0; q lies in the range of S, which may be singular."""
    values, vectors = eigh(S, check_finite=False)
    kept = values > RANK_TOLERANCE * values[-1]
    roots = np.sqrt(values[kept])
    solution: Array = scipy.optimize.nnls(vectors[:, kept].T * roots[:, None], vectors[:, kept].T @ q / roots)[0]
    return solution


def _gap(S: Array, q: Array, solution: Array, value: float) -> float:
    reached = S @ solution
    needed = q > 0.0
    if not (reached[needed] > 0.0).all():
        return 1.0
    scale = float((q[needed] / reached[needed]).max())
    bound = scale * float(np.sqrt(solution @ S @ solution))
    return max(bound - value, 0.0) / bound
