"""Linear machines whose penalty makes most weights zero: the support vector machine with the 1-norm."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge, Gt
from sklearn.exceptions import ConvergenceWarning

from fsvm_cli.ranking.base import Ranker, order_by_content

if TYPE_CHECKING:
    from numpy.typing import NDArray

ORDER_SEED = 0
"""Of the order in which coordinates are descended; the optimum is the same."""
TOLERANCE = 1e-4
MAX_ITERATIONS = 5000


class L1Svm(Ranker):
    """How early a feature gets a weight as a linear machine with the 1-norm is allowed more of them.

    The machine minimises |w|₁ + C Σ_i max(0, 1 - y_i (w x_i + b))². Below a smallest C all weights are 0; as C grows
    geometrically over `decades`, more and more are not. The score is the number of machines on this path that use the
    feature, plus its share of |w|₁ in the last, which orders those that entered together; it is the mean over the
    classes, each against the rest. O(n d) for a step of a machine.

    Use it with many features of which few matter linearly, and features on one scale; not where copies shall score
    alike, since one takes the weight of all, nor where features act only together.

    Parameters
    ----------
    n_steps : int, default=20
        Machines on the path, at least 1.
    decades : float, default=3.0
        By how many powers of ten the largest C is above the smallest, above 0.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.

    Notes
    -----
    Source: Zhu et al. (2004), for the hinge loss; here its square, whose machine is liblinear's, by scikit-learn. A
    present-day reference: no document of this project uses it. The bias is penalised, too, as liblinear does. A machine
    that misses its tolerance sets `converged_` to False.

    See Also
    --------
    RecursiveFeatureElimination : Drops the features of smallest weight.

    References
    ----------
    - J. Zhu, S. Rosset, T. Hastie and R. Tibshirani, "1-norm Support Vector Machines", Advances in Neural Information
      Processing Systems 16, 2004.

    Examples
    --------
    >>> from fsvm_cli import L1Svm
    >>> L1Svm().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "l1-svm"

    n_steps: Annotated[int, Ge(1)] = 20
    decades: Annotated[float, Gt(0)] = 3.0

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        from sklearn.svm import l1_min_c  # noqa: PLC0415 - slow to import, and seldom needed

        order = order_by_content(X)
        features = X[:, order]
        largest = float(np.abs(features).max(initial=0.0)) or 1.0
        features = features / largest
        found = np.zeros(X.shape[1])
        codes = [1] if n_classes == 2 else range(n_classes)
        for code in codes:
            labels = np.where(y == code, 1, -1)
            smallest = l1_min_c(features, labels, loss="squared_hinge")
            for C in smallest * 10 ** (self.decades * np.arange(1, self.n_steps + 1) / self.n_steps):
                weights, converged = _weights(features, labels, float(C))
                self.converged_ &= converged
                found += weights > 0
            found += weights / max(weights.sum(), np.finfo(np.float64).tiny)
        scores = np.empty(X.shape[1])
        scores[order] = found / len(codes)
        return scores


def _weights(X: NDArray[np.float64], labels: NDArray[np.intp], C: float) -> tuple[NDArray[np.float64], bool]:
    """Return the sizes of the weights of one machine, shape (n_features,), and whether it reached its tolerance."""
    from sklearn.svm import LinearSVC  # noqa: PLC0415 - as above

    machine = LinearSVC(penalty="l1", dual=False, C=C, tol=TOLERANCE, max_iter=MAX_ITERATIONS, random_state=ORDER_SEED)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ConvergenceWarning)
        machine.fit(X, labels)
    missed = any(issubclass(each.category, ConvergenceWarning) for each in warned)
    return np.abs(machine.coef_[0]), not missed
