"""Feature weights that make classes compact and distinct, EUBAFES, a baseline of infoprop2001, Figure 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from fsvm_cli.ranking.base import Ranker
from fsvm_cli.svm import Gaussian

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_SAMPLES = 10_000
"""The matrices of their pairs take some gigabytes."""


class Eubafes(Ranker):
    """Weights under which samples of one class are similar and samples of different classes are not.

    The scores are the weights w ≥ 0 that maximise the mean similarity within the classes less that between them,

        J(w) = mean_{y_i = y_k} s_w(x_i, x_k) - mean_{y_i ≠ y_k} s_w(x_i, x_k),

        s_w(u, v) = exp(-Σ_j w_j (u_j - v_j)² / σ_j²),

    with σ_j the standard deviation of a feature. The means are over pairs of two samples. The ascent begins at
    w_j = 1/d for d features. Features that do not help, or only repeat others, end with a weight of exactly 0 and tie.
    Unlike the filters that look at one feature at a time, this one finds features that tell the classes apart only
    together. Takes any number of classes as they are; O(n² d) per step for n samples, and O(n²) of memory, so that it
    refuses more than 10,000 samples.

    Use it to find a small set that serves together; not on thousands of samples, nor for an order of all features:
    those that end at 0 tie.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.

    Notes
    -----
    Source: Scherf and Brauer (1997), to whom infoprop2001 owes the weights in its Figure 2. Their report was not at
    hand: the criterion follows its summary (weighted Euclidean similarity within classes against that between them,
    maximised by gradient), the form of the similarity and the optimiser (L-BFGS-B) are ours. J is not concave: the
    weights are a local maximum. `converged_` says whether the optimiser reached it. A feature that is constant
    scores 0.
    """

    method = "eubafes"
    version = 1

    def __init__(self, n_features_to_select: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:  # noqa: ARG002
        if len(X) > MAX_SAMPLES:
            raise ValueError(
                f"eubafes compares all pairs of samples; {len(X):,} are too many: draw at most {MAX_SAMPLES:,}"
            )
        deviation = (X - X[0]).std(axis=0)
        varies = deviation > 0
        scores = np.zeros(X.shape[1])
        if not varies.any():
            return scores
        standardised = (X[:, varies] - X[0, varies]) / deviation[varies]
        coefficients = pair_coefficients(y)

        def descent(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, gradient = similarity_contrast(standardised, coefficients, weights)
            return -value, -gradient

        n_varying = standardised.shape[1]
        optimum = minimize(
            descent,
            np.full(n_varying, 1 / n_varying),
            method="L-BFGS-B",
            jac=True,
            bounds=[(0.0, None)] * n_varying,
            options={"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-8},
        )
        self.converged_ = bool(optimum.success)
        scores[varies] = optimum.x
        return scores


def pair_coefficients(y: NDArray[np.intp]) -> NDArray[np.float64]:
    """Coefficients with which the similarities of all pairs make up the criterion.

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
        Class codes.

    Returns
    -------
    ndarray, shape (n_samples, n_samples)
        One over the number of pairs within the classes, and minus one over that between them; zero on the diagonal.
    """
    same = y[:, None] == y[None, :]
    within = same & ~np.eye(len(y), dtype=bool)
    # Classes of one sample each have no pairs within.
    n_within, n_between = np.count_nonzero(within), np.count_nonzero(~same)
    coefficients: NDArray[np.float64] = within / max(n_within, 1) - ~same / n_between
    return coefficients


def similarity_contrast(
    X: NDArray[np.float64], coefficients: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Criterion J and its gradient.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
        In units of the standard deviation of each feature.
    coefficients : ndarray, shape (n_samples, n_samples)
        Of each pair, see `pair_coefficients`.
    weights : ndarray, shape (n_features,)
        At least 0.

    Returns
    -------
    value : float
    gradient : ndarray, shape (n_features,)
    """
    similarity = Gaussian(theta=1.0, weights=tuple(weights.tolist()))
    return float(np.vdot(coefficients, similarity.gram(X, X))), similarity.weight_gradient(X, X, coefficients)
