"""The machine on a learned sum of kernels, as a trial trains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.kernel_learning.estimator import MACHINE_TOLERANCE, LearnedKernelSVM
from fsvm_cli.learners.base import MACHINE_FOUND, Learner, MeasuredCurves
from fsvm_cli.svm import ConvergenceError, UnitDiagonal, kernel_for
from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.kernels.registry import as_kernel
from fsvm_cli.svm.large.linear import solve_linear
from fsvm_cli.svm.large.linear_machine import centre_of, centred
from fsvm_cli.svm.large.linear_problem import LinearProblem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.kernel_learning import Combine, MarginKind
    from fsvm_cli.learners.base import NestedSubsets
    from fsvm_cli.svm import Kernel


@dataclass(frozen=True)
class LearnedKernelMachine(Learner):
    """The `Learner` that `LearnedKernelSVM` is.

    Attributes
    ----------
    kernels, combine, margin, C, unit_diagonal, tolerance
        As in `LearnedKernelSVM`.
    transductive : bool
        Whether the features of the test part, without its classes, take part in learning the weights.
    """

    kernels: tuple[Kernel | str, ...]
    combine: Combine
    margin: MarginKind
    C: float
    unit_diagonal: bool
    tolerance: float
    transductive: bool

    def ranking_arguments(self) -> dict[str, Any]:
        """Return the estimator only: a config cannot list methods that train machines."""
        return {"estimator": self.estimator()}

    def estimator(self) -> LearnedKernelSVM:
        """Build the machine; gaps that it misses are recorded, not raised."""
        return LearnedKernelSVM(
            self.kernels,
            self.combine,
            self.margin,
            self.C,
            unit_diagonal=self.unit_diagonal,
            tolerance=self.tolerance,
            on_failure="flag",
        )

    def curves(self, subsets: NestedSubsets) -> MeasuredCurves:
        """Train a fresh machine on the first features of each order, for each size."""
        found = [[self._on(subsets, order[:size]) for size in subsets.sizes] for order in subsets.orders]
        return MeasuredCurves(
            np.array([[each.train for each in of_order] for of_order in found]),
            np.array([[each.test for each in of_order] for of_order in found]),
            np.array([[each.converged for each in of_order] for of_order in found]),
            np.array([[each.gap for each in of_order] for of_order in found]),
            tuple(tuple(each.measures for each in of_order) for of_order in found),
            np.array([[each.exists for each in of_order] for of_order in found]),
        )

    def _on(self, subsets: NestedSubsets, features: NDArray[np.intp]) -> _Found:
        A, B, y_train = subsets.X_train[:, features], subsets.X_test[:, features], subsets.y_train
        try:
            machine = self.estimator().fit(A, y_train, X_unlabelled=B if self.transductive else None)
        except ConvergenceError:
            if self.margin != "hard":
                raise
            if (found := self._in_explicit_features(A, y_train, B)) is not None:
                return found
            n_machines = 1 if len(np.unique(y_train)) == 2 else len(np.unique(y_train))
            nothing = np.zeros(n_machines)
            return _Found(
                np.zeros_like(y_train), np.zeros(len(B), np.intp), nothing == 0.0, nothing, {MACHINE_FOUND: 0.0}
            )
        if not machine.converged_.all() and (found := self._in_explicit_features(A, y_train, B)) is not None:
            return found
        return _Found(
            machine.predict(A), machine.predict(B), machine.converged_, machine.duality_gap_, self._measures(machine)
        )

    def _in_explicit_features(
        self, A: NDArray[np.float64], y_train: NDArray[np.intp], B: NDArray[np.float64]
    ) -> _Found | None:
        """Train a hard margin on the explicit features of the only kernel, where its Gram matrix has lost the margin.

        That there is a machine is certified by one with all training rows on their side, whatever the rounding of its
        outputs; how near it is to that of the largest margin, by its duality gap. None where no machine was found.
        """
        classes = np.unique(y_train)
        if self.margin != "hard" or len(self.kernels) != 1 or len(classes) != 2:
            return None
        alone = kernel_for(self.kernels[0], A)
        kernel = UnitDiagonal(alone) if self.unit_diagonal else alone
        train, test = kernel.explicit_features(A), kernel.explicit_features(B)
        if train is None or test is None:
            return None
        centre = centre_of(train)  # of long samples, for which the bias makes up
        train, test = centred(train, centre), centred(test, centre)
        y = np.where(y_train == classes[1], 1.0, -1.0)
        accuracy = MACHINE_TOLERANCE * self.tolerance
        machine = solve_linear(LinearProblem(train, y, np.inf), tolerance=accuracy, on_failure="flag")
        outputs = train @ machine.w + machine.bias
        rounding = (train.shape[1] + 2) * EPSILON * (np.abs(train) @ np.abs(machine.w) + abs(machine.bias))
        if not (y * outputs > rounding).all():
            return None
        margin = 2.0 * float((y * outputs).min()) / float(np.linalg.norm(machine.w))
        measures = {MACHINE_FOUND: 1.0, "margin": margin, f"weight 1 ({alone.name})": 1.0}
        train_predicted, test_predicted = (
            classes[(values > 0.0).astype(np.intp)] for values in (outputs, test @ machine.w + machine.bias)
        )
        gap = np.array([min(machine.duality_gap, 2.0)])
        return _Found(train_predicted, test_predicted, gap <= self.tolerance, gap, measures)

    def _measures(self, machine: LearnedKernelSVM) -> dict[str, float]:
        """Name margins and weights of each machine; of the class where there are several."""
        measures = {MACHINE_FOUND: 1.0} if self.margin == "hard" else {}
        for number, weights in enumerate(machine.weights_):
            of_class = "" if len(machine.weights_) == 1 else f", class {machine.classes_[number]}"
            measures[f"margin{of_class}"] = float(machine.margin_[number])
            for nth, (kernel, weight) in enumerate(zip(self.kernels, weights, strict=True), start=1):
                measures[f"weight {nth} ({as_kernel(kernel).name}){of_class}"] = float(weight)
            if self.margin == "learned-2-norm":
                measures[f"ridge{of_class}"] = float(machine.ridge_[number])
        return measures


@dataclass(frozen=True, eq=False)
class _Found:
    """What one machine predicts, or that there is none."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    converged: NDArray[np.bool_]
    gap: NDArray[np.float64]
    measures: dict[str, float]

    @property
    def exists(self) -> bool:
        return self.measures.get(MACHINE_FOUND, 1.0) == 1.0
