"""A scikit-learn transformer that keeps some of the features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Selector(TransformerMixin, ABC):
    """What scikit-learn's ``SelectorMixin`` does, which cannot be imported without a second of other modules."""

    @abstractmethod
    def _get_support_mask(self) -> NDArray[np.bool_]:
        """Tell which features are kept."""

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Tell which features are kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to list their indices, in place of a mask.

        Returns
        -------
        ndarray, shape (n_features_in_,) of bool or (n_features_to_select,) of int
        """
        mask = self._get_support_mask()
        return np.flatnonzero(mask) if indices else mask

    def transform(self, X: Any) -> Any:
        """Keep the selected features.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features_in_)

        Returns
        -------
        ndarray or CSR matrix, shape (n_samples, n_features_to_select)
        """
        check_is_fitted(self)
        return validate_data(self, X, dtype=None, accept_sparse="csr", reset=False)[:, self.get_support()]

    def inverse_transform(self, X: Any) -> Any:
        """Put zeros where features have been left out.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features_to_select)

        Returns
        -------
        ndarray or CSC matrix, shape (n_samples, n_features_in_)

        Raises
        ------
        ValueError
            If the number of columns is not that of the selected features.
        """
        support = self.get_support()
        X = check_array(X, dtype=None, accept_sparse="csc")
        if X.shape[1] != support.sum():
            raise ValueError(f"X has {X.shape[1]} features; {support.sum()} were selected")
        if sp.issparse(X):
            starts = np.concatenate([[0], np.cumsum(np.where(support, 1, 0))])
            return type(X)((X.data, X.indices, X.indptr[starts]), shape=(X.shape[0], len(support)))
        whole = np.zeros((len(X), len(support)), dtype=X.dtype)
        whole[:, support] = X
        return whole

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Name the selected features.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of all features; those that `fit` saw where None.
        """
        names = np.asarray(OneToOneFeatureMixin.get_feature_names_out(self, input_features), dtype=object)
        selected: NDArray[np.object_] = names[self.get_support()]
        return selected
