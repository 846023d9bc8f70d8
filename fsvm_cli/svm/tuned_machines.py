"""Classifiers whose binary machines are each tuned on their own: the classes they learn, and how they predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fsvm_cli.magnitudes import check_magnitudes
from fsvm_cli.svm.labels import machine_labels
from fsvm_cli.svm.one_vs_rest import TIE_TOLERANCES, predict_codes
from fsvm_cli.validation import validated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.svm.vectors import Array

TOLERANCE = 1e-6
"""The relative duality gap of the machines."""


class BinaryMachine(Protocol):
    """What separates one class from the rest."""

    def decision_function(self, X: Array) -> Array:
        """Return (n,) values, positive for the class."""


class TunedMachines(ClassifierMixin, BaseEstimator):
    """A classifier with a binary machine for each class, or one for two classes; `fit` is for its subclasses.

    Attributes
    ----------
    classes_ : (n_classes,) array
    class_counts_ : (n_classes,) array
        Training samples of each class, which decide ties.
    machines_ : sequence of BinaryMachine
    """

    machines_: Sequence[BinaryMachine]

    def decision_function(self, X: Any) -> Array:
        """Return (n,) values for two classes, positive for `classes_[1]`; else (n, n_classes)."""
        values = self._decision_values(X)
        return values[0] if len(self.classes_) == 2 else values.T

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class labels, shape (n,); ties by the rule of `fsvm_cli.svm.predict_codes`."""
        codes = predict_codes(self._decision_values(X), self.class_counts_, TIE_TOLERANCES * TOLERANCE)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def _training_set(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Check what is to be learned, keep its classes, and return the samples with the labels of each machine."""
        X, y = validated(self, X, y)
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(f"y holds {len(classes)} class only; a machine needs at least two classes")
        check_magnitudes(X, getattr(self, "feature_names_in_", None))
        return X, self._labels(classes, y)

    def _labels(self, classes: NDArray[Any], y: NDArray[Any]) -> Array:
        """Keep the classes, and return the labels of each machine, shape (n_machines, n)."""
        self.classes_ = classes
        labels, self.class_counts_ = machine_labels(np.searchsorted(classes, y), len(classes))
        return labels

    def _decision_values(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.array([machine.decision_function(X) for machine in self.machines_])
