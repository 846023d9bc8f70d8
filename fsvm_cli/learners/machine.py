"""The learners of the support vector machine: exact, or on a Gram matrix of low rank."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fsvm_cli.learners.base import (
    EstimatorCurves,
    Learner,
    MeasuredCurves,
    curves_of_estimator,
    nested_predictions,
    with_gaps,
)
from fsvm_cli.svm import SVM, nested_curves
from fsvm_cli.svm.costs import weighted_bounds
from fsvm_cli.svm.kernels.registry import kernel_for
from fsvm_cli.svm.nystroem import NystroemSVM
from fsvm_cli.svm.routing import needs_a_cache
from fsvm_cli.svm.solvers.solve import StoppedLibsvm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fsvm_cli.learners.base import Curves, NestedSubsets
    from fsvm_cli.svm.kernels.base import Kernel


class Approximation(NamedTuple):
    """How machines on many training rows are approximated; see `NystroemSVM`.

    Attributes
    ----------
    above : int
        On more rows than these.
    n_landmarks : int
    random_state : int
    """

    above: int
    n_landmarks: int
    random_state: int


@dataclass(frozen=True, eq=False)
class Machine(Learner):
    """The support vector machine that a trial trains: the `Learner` of most experiments.

    Attributes
    ----------
    svm : SVM
        Its parameters, classes by their codes; it is never fitted itself.
    approximation : Approximation or None
        When and how the machine is approximated; None for never.
    chosen : dict of str to value
        Selected hyperparameters on the training part, by their names in configs; empty if none were tuned.
    converged : bool
        Whether every machine of the search reached its duality gap.
    weights : ndarray, shape (n_train,), or None
        How many equal rows each training row stands for: C is multiplied by it.
    """

    svm: SVM
    approximation: Approximation | None = None
    chosen: Mapping[str, float | int | str] = dataclasses.field(default_factory=dict)
    converged: bool = True
    weights: NDArray[np.float64] | None = None

    def with_parameters(self, **parameters: Any) -> Machine:
        """Return the machine with other parameters of `SVM`."""
        return dataclasses.replace(self, svm=SVM(**self.svm.get_params(deep=False) | parameters))

    def weighted_by(self, weights: NDArray[np.float64] | None) -> Machine:
        """Return the machine for training rows with weights."""
        return dataclasses.replace(self, weights=weights)

    def tuned_on(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],  # noqa: ARG002 - nothing is chosen
        groups: NDArray[np.intp] | None,  # noqa: ARG002
    ) -> Learner:
        """Return the learner for these rows: with kernels in proportion to them, and approximate above the limit."""
        machine = self.scaled_to(X)
        if self.approximation is None or X.shape[0] <= self.approximation.above:
            return machine
        return NystroemMachine(machine, self.approximation)

    def scaled_to(self, X: NDArray[np.float64]) -> Machine:
        """Return the machine with an object for each kernel that is by its name, in proportion to the distances."""
        named = self.svm.class_kernels or {}
        own = {code: kernel_for(kernel, X) for code, kernel in named.items()}
        return self.with_parameters(kernel=kernel_for(self.svm.kernel, X), class_kernels=own or None)

    def for_labels(self, labels: Mapping[int, Any]) -> Machine:
        """Name the classes of kernels and weights by labels."""
        kernels, weights = self.svm.class_kernels, self.svm.class_weight
        if kernels:
            kernels = {labels[code]: kernel for code, kernel in kernels.items()}
        if isinstance(weights, dict):
            weights = {labels[code]: weight for code, weight in weights.items()}
        return self.with_parameters(class_kernels=kernels, class_weight=weights)

    def ranking_arguments(self) -> dict[str, Any]:
        """Return the parameters of the machine and its estimator, for methods that train either."""
        return {**self.svm.get_params(deep=False), "estimator": self.estimator()}

    def estimator(self) -> SVM:
        """Build the machine; gaps that it misses are recorded, not raised."""
        return SVM(**self.svm.get_params(deep=False) | {"on_failure": "flag"})

    def curves(self, subsets: NestedSubsets) -> Curves:
        """Train a fresh machine on the first features of each order, for each size; stopped ones measure their gap."""
        found = self._curves(subsets)
        return with_gaps(found) if isinstance(self.svm.solver, StoppedLibsvm) else found

    def _curves(self, subsets: NestedSubsets) -> Curves:
        if not self.is_plain or needs_a_cache(len(subsets.y_train), self.svm.solver):
            return curves_of_estimator(self.estimator(), subsets, sample_weight=self.weights)
        return nested_curves(
            self.kernel,
            weighted_bounds(self.svm.C, subsets.y_train, self.svm.class_weight, self.weights),
            subsets.X_train,
            subsets.y_train,
            subsets.X_test,
            subsets.orders,
            subsets.sizes,
            n_classes=subsets.n_classes,
            tolerance=self.svm.tolerance,
            solver=self.svm.solver,
        )

    @property
    def kernel(self) -> Kernel:
        """The machine's kernel, once it is scaled to the training rows."""
        kernel: Kernel | str = self.svm.kernel
        assert not isinstance(kernel, str)
        return kernel

    @property
    def is_plain(self) -> bool:
        """Whether all machines have one kernel and one C on all subsets, and outputs that are compared as they are."""
        return not self.svm.class_kernels and self.svm.output_scaling == "none" and self.svm.C_unit == "none"


NYSTROEM_LANDMARKS = "Nystroem landmarks"

NYSTROEM_DISTANCE = "Nystroem distance"
"""Name of the measure of the distance to the exact optimum, as a share of the objective."""

NYSTROEM_DISTANCE_ERROR = "standard error of the Nystroem distance"


@dataclass(frozen=True, eq=False)
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

    def ranking_arguments(self) -> dict[str, Any]:
        """Return the parameters of the exact machine, and the estimator of this one for methods that train any."""
        return self.exact.ranking_arguments() | {"estimator": self.estimator()}

    def estimator(self) -> NystroemSVM:
        """Build the machine; gaps that it misses are recorded, not raised."""
        return NystroemSVM(
            self.exact.svm.kernel,
            self.exact.svm.C,
            self.approximation.n_landmarks,
            self.exact.svm.tolerance,
            on_failure="flag",
            class_weight=self.exact.svm.class_weight,
            random_state=self.approximation.random_state,
        )

    def curves(self, subsets: NestedSubsets) -> MeasuredCurves:
        """Train a fresh machine on the first features of each order, for each size, and measure its accuracy."""
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
    """Return the number of landmarks, and the distance of the machine that is farthest from its exact optimum."""
    farthest = max(machine.distance_)
    return {
        NYSTROEM_LANDMARKS: float(len(machine.landmarks_)),
        NYSTROEM_DISTANCE: farthest.share,
        NYSTROEM_DISTANCE_ERROR: farthest.error,
    }


@dataclass(frozen=True, eq=False)
class LearnedMachine(Learner):
    """The `Learner` of a method that learns weights of the features in the kernel, others for each number of them.

    Attributes
    ----------
    machine : Machine
        Whose parameters it has but for the kernel.
    kernel_of : callable
        Returns the kernel on all columns, in which as many features have a weight as is asked.
    chosen, converged
        Those of the machine.
    """

    machine: Machine
    kernel_of: Callable[[int], Kernel]
    chosen: Mapping[str, float | int | str] = dataclasses.field(default_factory=dict)
    converged: bool = True

    def ranking_arguments(self) -> dict[str, Any]:
        """Return those of the machine before its weights were learned."""
        return self.machine.ranking_arguments()

    def curves(self, subsets: NestedSubsets) -> Curves:
        """Train a machine with the weights of each size on all columns of the one order that they belong to."""
        all_columns = np.arange(subsets.X_train.shape[1])
        on_all = dataclasses.replace(subsets, orders=[all_columns], sizes=(len(all_columns),))
        found = [
            curves_of_estimator(self.machine.with_parameters(kernel=self.kernel_of(size)).estimator(), on_all)
            for size in subsets.sizes
        ]
        return EstimatorCurves(
            np.concatenate([each.train_predicted for each in found], axis=1),
            np.concatenate([each.test_predicted for each in found], axis=1),
            np.concatenate([each.converged for each in found], axis=1),
            np.concatenate([each.duality_gap for each in found], axis=1),
        )
