"""What linear models whose penalty makes most weights zero have in common: features enter as the penalty weakens."""

from __future__ import annotations

import contextlib
import warnings
from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt
from sklearn.exceptions import ConvergenceWarning

from fsvm_cli.ranking.base import SampleWeightRanker, order_by_content

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


class PenaltyPath(SampleWeightRanker):
    """A ranking method whose scores say how early a feature gets a weight as a linear model is allowed more of them.

    The score is the number of models on a path of weakening penalties that use the feature, plus its share of the
    weights of the last, which orders those that entered together; it is the mean over the classes, each against the
    rest.

    Parameters
    ----------
    n_steps : int, default=20
        Models on the path, at least 1.
    decades : float, default=3.0
        By how many powers of ten the penalty weakens, from where all weights are 0; above 0.
    """

    n_steps: Annotated[int, Ge(1)] = 20
    decades: Annotated[float, Gt(0)] = 3.0

    @abstractmethod
    def _path(
        self, X: Any, labels: NDArray[np.intp], weights: NDArray[np.float64] | None
    ) -> Iterator[NDArray[np.float64]]:
        """Yield the sizes of the weights of the models, the strongest penalty first, each of shape (n_features,).

        Parameters
        ----------
        X : ndarray or CSR matrix, shape (n_samples, n_features)
            No value is above 1 in size.
        labels : ndarray, shape (n_samples,)
            -1 or 1.
        weights : ndarray, shape (n_samples,), or None
            Of the samples.
        """

    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        order = order_by_content(X)
        features = X[:, order]
        features = features / (largest_size(features) or 1.0)
        if sp.issparse(features):
            features = with_short_indices(sp.csr_array(features))
        found = np.zeros(X.shape[1])
        codes = [1] if n_classes == 2 else range(n_classes)
        for code in codes:
            used = np.zeros(X.shape[1])
            for used in self._path(features, np.where(y == code, 1, -1), weights):
                found += used > 0
            found += used / max(used.sum(), np.finfo(np.float64).tiny)
        scores = np.empty(X.shape[1])
        scores[order] = found / len(codes)
        return scores

    def _factors(self) -> NDArray[np.float64]:
        """By what the penalty is weaker than where all weights are 0, shape (n_steps,)."""
        factors: NDArray[np.float64] = 10 ** (self.decades * np.arange(1, self.n_steps + 1) / self.n_steps)
        return factors

    @staticmethod
    def _smallest_c(
        X: Any, labels: NDArray[np.intp], weights: NDArray[np.float64] | None, loss: Literal["squared_hinge", "log"]
    ) -> float:
        """Return the C up to which all weights of a machine with the 1-norm are 0, as scikit-learn's ``l1_min_c``."""
        if weights is None:
            from sklearn.svm import l1_min_c  # noqa: PLC0415 - slow to import, and seldom needed

            return float(l1_min_c(X, labels, loss=loss))
        pull = labels * weights
        largest = max(float(np.abs(pull @ X).max()), abs(float(pull.sum())))
        return (0.5 if loss == "squared_hinge" else 2.0) / largest

    @contextlib.contextmanager
    def _noting_missed_tolerance(self) -> Iterator[None]:
        """Set `converged_` to False where scikit-learn warns that a model has not converged."""
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield
        self.converged_ &= not any(issubclass(each.category, ConvergenceWarning) for each in warned)


def with_short_indices(X: Any) -> Any:
    """Give a sparse matrix indices of 32 bits: liblinear and coordinate descent take no others."""
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def largest_size(X: Any) -> float:
    """Return the largest absolute value of a full or a sparse matrix, 0 where it has none."""
    return float(np.abs(X.data if sp.issparse(X) else X).max(initial=0.0))
