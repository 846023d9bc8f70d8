"""The contract of every extractor."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fsvm_cli.errors import contained
from fsvm_cli.numerics import (
    check_input_range,
    one_blas_thread,
    read_only,
    real_numbers,
    refusing_overflow,
    value_ranges,
)
from fsvm_cli.ranking.parameters import NamedMethod
from fsvm_cli.validation import ONE_CLASS, validated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Codes = NDArray[np.intp]


class Extractor(NamedMethod, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A scikit-learn transformer that projects the samples on directions, the best first.

    It selects nothing: every component needs all features. A curve over the number of components stands beside one over
    the number of features. A subclass names itself in `method`, lists its parameters with their ranges as a dataclass
    does (see `NamedMethod`), and finds the directions in `_directions`.

    Parameters
    ----------
    n_components : int or None, default=None
        Components to keep; as many as there are where None.

    Attributes
    ----------
    mean_ : ndarray, shape (n_features,)
        Of the samples that it was fitted on.
    directions_ : ndarray, shape (n_features, n_components_)
        Columns, best first.
    n_components_ : int
        At most `n_components`; fewer where there are no more directions.
    classes_ : ndarray
        The class labels.
    n_features_in_ : int

    See Also
    --------
    Ranker : Gives every feature a score, so that some of them can be kept.

    References
    ----------
    The sources of the extractors here:

    - K. D. Bollacker and J. Ghosh, "Linear Feature Extractors Based on Mutual Information", International Conference
      on Pattern Recognition (ICPR), 1996, volume IV, pages 720-724.
    - infoprop2001, which compares them: in full in `Ranker`.

    Examples
    --------
    >>> import numpy as np
    >>> from fsvm_cli import Extractor
    >>> class Mean(Extractor):
    ...     method = "mean"
    ...     def _directions(self, X, y, n_classes, n_components):
    ...         return np.full((X.shape[1], 1), 1 / X.shape[1])
    >>> Mean().fit([[0, 3], [1, 9], [2, 6]], ["no", "yes", "no"]).transform([[2, 8]]).tolist()
    [[1.5]]
    """

    outside_configs = frozenset({"n_components"})

    n_components: int | None = field(default=None, kw_only=True)

    @abstractmethod
    def _directions(self, X: Array, y: Codes, n_classes: int, n_components: int) -> Array:
        """Find directions for centred samples, best first, shape (n_features, at most n_components)."""

    @one_blas_thread()
    def fit(self, X: Any, y: Any) -> Self:
        """Find the directions.

        It takes what `Ranker.fit` takes, and raises a ValueError for the same reasons.
        """
        self.check_parameters()
        X, y = validated(self, X, y, min_samples=2)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{self.method} needs samples of at least two classes; {ONE_CLASS}")
        n_features = X.shape[1]
        n_components = n_features if self.n_components is None else self.n_components
        if not 1 <= n_components <= n_features:
            raise ValueError(f"n_components is {n_components}; X has {n_features} features")
        check_input_range(X, getattr(self, "feature_names_in_", None))
        # The mean of a constant column may differ from its value by rounding.
        self.mean_ = np.where(value_ranges(X) > 0, X.mean(axis=0), X[0])
        with refusing_overflow(self.method), contained(self.method):
            found = self._directions(read_only(X - self.mean_), read_only(codes), len(self.classes_), n_components)
        self.directions_ = real_numbers(found, n_features, self.method, "directions", n_dimensions=2)
        if not np.isfinite(self.directions_).all():
            raise ValueError(f"{self.method}: directions are not finite: scale the features, or change the parameters")
        self.n_components_ = self._n_features_out = self.directions_.shape[1]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the components of samples, shape (n_samples, n_components_).

        Raises
        ------
        ValueError
            If a component is beyond what doubles hold.
        """
        check_is_fitted(self)
        # scikit-learn's check for infinities adds up all values, of both signs.
        with np.errstate(invalid="ignore"):
            X = validate_data(self, X, dtype=np.float64, reset=False)
        with refusing_overflow(self.method):
            components: NDArray[np.float64] = (X - self.mean_) @ self.directions_
        return components

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.array_api_support = False
        return tags
