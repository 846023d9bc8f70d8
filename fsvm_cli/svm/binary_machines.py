"""What all classifiers made of binary machines have in common: the classes that they learn, and how they decide."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fsvm_cli.svm.one_vs_rest import predict_codes
from fsvm_cli.validation import validated

if TYPE_CHECKING:
    import numpy.typing as npt
    from sklearn.utils import Tags

    from fsvm_cli.svm.labels import Codes
    from fsvm_cli.svm.vectors import Array


class BinaryMachines(ClassifierMixin, BaseEstimator):
    """A classifier with one machine for two classes, else several; `fit` is for its subclasses.

    Attributes
    ----------
    classes_ : (n_classes,) array
    class_counts_ : (n_classes,) array
        Training samples of each class, which decide ties.
    """

    def decision_function(self, X: Any) -> Array:
        """Return the machines' scores: (n,) for two classes, positive for `classes_[1]`; else (n, n_machines)."""
        values = self._decision_values(self._evaluation_samples(X))
        return values[0] if len(self.classes_) == 2 else values.T

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class labels, shape (n,); ties by the rule of `fsvm_cli.svm.predict_codes`."""
        values = self._decision_values(self._evaluation_samples(X))
        labels: npt.NDArray[Any] = self.classes_[self._decided(values)]
        return labels

    @abstractmethod
    def _decision_values(self, X: Any) -> Array:
        """Return the scores of samples that have been checked, shape (n_machines, n)."""

    @abstractmethod
    def _tie_widths(self) -> float | Array:
        """Return the width within which scores are a tie, that of all machines or of each."""

    def _decided(self, values: Array) -> Codes:
        """Choose the class of each sample by the scores of machines of one class against the rest."""
        return predict_codes(values, self.class_counts_, self._tie_widths())

    def _to_learn(self, X: Any, y: Any) -> tuple[Any, Codes]:
        """Check what is to be learned, keep its classes, and return the samples with the codes of their classes.

        Raises
        ------
        ValueError
            If the input is not fit for classification, or holds one class only.
        """
        X, y = validated(self, X, y, accept_sparse=self._sparse_formats())
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds {len(self.classes_)} class only; a machine needs at least two classes")
        return X, codes

    def _evaluation_samples(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._validated_rows(X)

    def _validated_rows(self, X: Any) -> Any:
        return validate_data(self, X, dtype=np.float64, accept_sparse=self._sparse_formats(), reset=False)

    def _sparse_formats(self) -> str | bool:
        """Name the sparse matrices that are taken as they are."""
        return False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse_formats() == "csr"
        return tags
