"""The machine on a Gram matrix of low rank, as a trial trains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.evaluation.nested_predictions import nested_predictions
from fsvm_cli.spec.learner import Learner, MeasuredCurves
from fsvm_cli.svm.nystroem import NystroemSVM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsvm_cli.spec.learner import NestedSubsets
    from fsvm_cli.spec.machine import Approximation, Machine

LANDMARKS = "Nystroem landmarks"
DISTANCE = "Nystroem distance"
"""The measure that says within which share of its objective the exact optimum lies."""
ERROR = "standard error of the Nystroem distance"


@dataclass(frozen=True)
class NystroemMachine(Learner):
    """The `Learner` that takes the place of an exact machine where there are many training rows.

    Attributes
    ----------
    exact : Machine
    approximation : Approximation
    """

    exact: Machine
    approximation: Approximation

    def for_labels(self, labels: Mapping[int, Any]) -> NystroemMachine:
        """Name the classes of weights by labels."""
        return NystroemMachine(self.exact.for_labels(labels), self.approximation)

    def handed(self) -> dict[str, Any]:
        """Hand the exact machine to methods that train machines, and this one to those that take any."""
        return self.exact.handed() | {"estimator": self.estimator()}

    def estimator(self) -> NystroemSVM:
        """Build the machine; gaps that it misses are recorded, not raised."""
        return NystroemSVM(
            self.exact.kernel,
            self.exact.C,
            self.approximation.n_landmarks,
            self.exact.tolerance,
            on_failure="flag",
            class_weight=self.exact.class_weight,
            random_state=self.approximation.random_state,
        )

    def curves(self, subsets: NestedSubsets) -> MeasuredCurves:
        """Train a fresh machine on the first features of each order, for each size, and say how exact it is."""
        X, y, X_test, sizes = subsets.X_train, subsets.y_train, subsets.X_test, subsets.sizes
        machine = self.estimator()
        found = [nested_predictions(machine, X, y, X_test, order, sizes) for order in subsets.orders]
        return MeasuredCurves(
            np.array([[on.train for on in curve] for curve in found]),
            np.array([[on.test for on in curve] for curve in found]),
            np.array([[on.fitted.converged_ for on in curve] for curve in found]),
            np.array([[on.fitted.duality_gap_ for on in curve] for curve in found]),
            tuple(tuple(_measures(on.fitted) for on in curve) for curve in found),
            np.ones((len(found), len(sizes)), dtype=bool),
        )


def _measures(machine: NystroemSVM) -> dict[str, float]:
    """Tell the landmarks, and of the machine that is farthest from the exact one, how far it is."""
    farthest = max(machine.distance_)
    return {LANDMARKS: float(len(machine.landmarks_)), DISTANCE: farthest.share, ERROR: farthest.error}
