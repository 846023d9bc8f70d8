"""Classifiers whose binary machines are each tuned on their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fsvm_cli.magnitudes import check_magnitudes
from fsvm_cli.svm.binary_machines import BinaryMachines
from fsvm_cli.svm.labels import machine_labels
from fsvm_cli.svm.one_vs_rest import TIE_TOLERANCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.svm.labels import Codes
    from fsvm_cli.svm.vectors import Array

TOLERANCE = 1e-6
"""The relative duality gap of the machines."""


class BinaryMachine(Protocol):
    """What separates one class from the rest."""

    def decision_function(self, X: Array) -> Array:
        """Return (n,) values, positive for the class."""


class TunedMachines(BinaryMachines):
    """A classifier with a binary machine for each class, or one for two classes; `fit` is for its subclasses.

    Attributes
    ----------
    classes_, class_counts_
        As of `BinaryMachines`.
    machines_ : sequence of BinaryMachine
    """

    machines_: Sequence[BinaryMachine]

    def _training_set(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Check what is to be learned, keep its classes, and return the samples with the labels of each machine."""
        X, codes = self._to_learn(X, y)
        check_magnitudes(X, getattr(self, "feature_names_in_", None))
        return X, self._labels(codes)

    def _labels(self, codes: Codes) -> Array:
        """Count the classes, and return the labels of each machine, shape (n_machines, n)."""
        labels, self.class_counts_ = machine_labels(codes, len(self.classes_))
        return labels

    def _decision_values(self, X: Array) -> Array:
        return np.array([machine.decision_function(X) for machine in self.machines_])

    def _tie_widths(self) -> float:
        return TIE_TOLERANCES * TOLERANCE
