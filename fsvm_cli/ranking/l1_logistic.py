"""Logistic regression whose penalty makes most weights zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.ranking.penalty_path import PenaltyPath

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ORDER_SEED = 0
"""Of the order in which coordinates are descended; the optimum is the same."""
TOLERANCE = 1e-4
MAX_ITERATIONS = 5000


class L1Logistic(PenaltyPath):
    """How early a feature gets a weight as a logistic regression with the 1-norm is allowed more of them.

    The model minimises |w|₁ + C Σ_i ln(1 + exp(-y_i (w x_i + b))). Below a smallest C all weights are 0; as C grows
    geometrically over `decades`, more and more are not. The score is the number of models on this path that use the
    feature, plus its share of |w|₁ in the last, which orders those that entered together; it is the mean over the
    classes, each against the rest. O(n d) for a step of a model.

    Use it with many features of which few matter linearly, and features on one scale; not where copies shall score
    alike, which divide one weight by chance, nor where features act only together.

    Parameters
    ----------
    n_steps : int, default=20
        Models on the path, at least 1.
    decades : float, default=3.0
        By how many powers of ten the largest C is above the smallest, above 0.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Koh, Kim and Boyd (2007); the solver is liblinear's, by scikit-learn. A present-day reference: no document
    of this project uses it. The bias is penalised, too, as liblinear does. A model that misses its tolerance sets
    `converged_` to False.

    See Also
    --------
    L1Svm : The same with the squared hinge loss.
    ElasticNet : Shares the weight among copies.

    References
    ----------
    - K. Koh, S.-J. Kim and S. Boyd, "An Interior-Point Method for Large-Scale l1-Regularized Logistic Regression",
      Journal of Machine Learning Research 8, 2007, pages 1519-1555.

    Examples
    --------
    >>> from fsvm_cli import L1Logistic
    >>> L1Logistic().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "l1-logistic"
    accepts_sparse = True

    def _path(
        self, X: Any, labels: NDArray[np.intp], weights: NDArray[np.float64] | None
    ) -> Iterator[NDArray[np.float64]]:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import, and seldom needed

        # From version 1.8 on the share of the 1-norm says it all, and naming the penalty is deprecated.
        names_penalty = getattr(LogisticRegression(), "penalty", "deprecated") != "deprecated"
        one_norm = {"penalty": "l1"} if names_penalty else {"l1_ratio": 1.0}
        for C in self._smallest_c(X, labels, weights, "log") * self._factors():
            model = LogisticRegression(
                **one_norm, C=C, solver="liblinear", tol=TOLERANCE, max_iter=MAX_ITERATIONS, random_state=ORDER_SEED
            )
            with self._noting_missed_tolerance():
                model.fit(X, labels, sample_weight=weights)
            yield np.abs(model.coef_[0])
