"""The support vector machine with C chosen on the training part, a width in proportion to it, and machines of pairs."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fsvm_cli.evaluation.folds import stratified_folds
from fsvm_cli.learners.base import Curves, EstimatorCurves, Learner, curves_of_estimator
from fsvm_cli.svm import SVM, grid_search, nested_curves
from fsvm_cli.svm.costs import weighted_bounds
from fsvm_cli.svm.kernels.registry import kernel_for
from fsvm_cli.svm.routing import needs_a_cache

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.folds import Fold
    from fsvm_cli.learners.base import NestedSubsets

Multiclass = Literal["one-vs-rest", "one-vs-one"]
MIN_FOLDS = 2


@dataclass(frozen=True, eq=False)
class TunedMachine(Learner):
    """A machine whose C is chosen by cross-validation on all features of the training part.

    The width of a Gaussian kernel is in proportion to the distances between training rows on the features that a
    machine is trained on (`ExponentialKernel.scaled_to`), so that it means the same on subsets of all sizes.

    Attributes
    ----------
    kernel : {"linear", "gaussian"}
    Cs : tuple of float
        Candidates, ascending.
    folds : int
        Of the cross-validation; fewer where a class has fewer rows or groups. Where one has a single one, nothing is
        chosen, and the middle candidate is taken.
    multiclass : {"one-vs-rest", "one-vs-one"}
        Of more than two classes: a machine for each class against the rest, or for each pair.
    class_weight : "balanced" or None
        As of `SVM`; the accuracy that chooses then is the balanced one.
    random_state : int
        Draws the folds.
    C : float
        The chosen one.
    chosen : dict of str to value
    converged : bool
        Whether every machine of the search reached its duality gap.
    weights : ndarray, shape (n_train,), or None
        How many equal rows each training row stands for: C is multiplied by it.
    """

    kernel: Literal["linear", "gaussian"]
    Cs: tuple[float, ...]
    folds: int
    multiclass: Multiclass
    class_weight: Literal["balanced"] | None
    random_state: int
    C: float = np.nan
    chosen: Mapping[str, float | int | str] = dataclasses.field(default_factory=dict)
    converged: bool = True
    weights: NDArray[np.float64] | None = None

    def weighted_by(self, weights: NDArray[np.float64] | None) -> TunedMachine:
        """Return the machine for training rows with weights."""
        return dataclasses.replace(self, weights=weights)

    def tuned_on(self, X: NDArray[np.float64], y: NDArray[np.intp], groups: NDArray[np.intp] | None) -> TunedMachine:
        """Choose C; of equally accurate candidates as `grid_search` does, of machines of pairs the smallest."""
        present, codes = np.unique(y, return_inverse=True)
        n_per_class = (
            np.bincount(codes) if groups is None else [len(np.unique(groups[codes == c])) for c in range(len(present))]
        )
        n_folds = min(self.folds, *map(int, n_per_class))
        if len(self.Cs) == 1 or n_folds < MIN_FOLDS:
            return dataclasses.replace(self, C=self.Cs[len(self.Cs) // 2])
        folds = stratified_folds(codes, n_folds, self.random_state, groups=groups, caller="tuned-machine")
        if self._has_pairs(len(present)):
            C, converged = self._best_of_pairs(X, codes, folds)
        else:
            found = grid_search(
                [kernel_for(self.kernel, X)],
                self.Cs,
                X,
                codes,
                folds,
                n_classes=len(present),
                class_weight=self.class_weight,
                sample_weight=self.weights,
            )
            C, converged = found.C, found.choice_converged
        return dataclasses.replace(self, C=C, chosen={"C": C}, converged=converged)

    def ranking_arguments(self) -> dict[str, Any]:
        """Return the estimator, for methods that train any."""
        return {"estimator": self.estimator()}

    def estimator(self) -> SVM:
        """Build the machine; gaps that it misses are recorded, not raised."""
        return self._machine(self.C)

    def curves(self, subsets: NestedSubsets) -> Curves:
        """Train a fresh machine on the first features of each order, for each size."""
        if self._has_pairs(subsets.n_classes) or needs_a_cache(len(subsets.y_train), "auto"):
            return curves_of_estimator(self.estimator(), subsets, sample_weight=self.weights)
        if self.kernel == "linear":
            return self._nested(subsets, subsets.orders, subsets.sizes, subsets.X_train)
        found = [
            [self._nested(subsets, [order], (size,), subsets.X_train[:, order[:size]]) for size in subsets.sizes]
            for order in subsets.orders
        ]
        parts = ("train_predicted", "test_predicted", "converged", "duality_gap")
        return EstimatorCurves(
            *(np.array([[getattr(each, part)[0, 0] for each in curve] for curve in found]) for part in parts)
        )

    def _nested(
        self,
        subsets: NestedSubsets,
        orders: Sequence[NDArray[np.intp]],
        sizes: tuple[int, ...],
        kept: NDArray[np.float64],
    ) -> Curves:
        """Train machines with the kernel that suits the kept features."""
        return nested_curves(
            kernel_for(self.kernel, kept),
            weighted_bounds(self.C, subsets.y_train, self.class_weight, self.weights),
            subsets.X_train,
            subsets.y_train,
            subsets.X_test,
            orders,
            sizes,
            n_classes=subsets.n_classes,
        )

    def _has_pairs(self, n_classes: int) -> bool:
        return self.multiclass == "one-vs-one" and n_classes > 2

    def _machine(self, C: float) -> SVM:
        return SVM(
            self.kernel,
            C,
            on_failure="flag",
            class_weight=self.class_weight,
            decision_function_shape="ovo" if self.multiclass == "one-vs-one" else "ovr",
        )

    def _best_of_pairs(
        self, X: NDArray[np.float64], codes: NDArray[np.intp], folds: Sequence[Fold]
    ) -> tuple[float, bool]:
        weights = weighted_bounds(1.0, codes, self.class_weight, self.weights)
        right, converged = np.zeros(len(self.Cs)), True
        for (c, C), (train, left_out) in itertools.product(enumerate(self.Cs), folds):
            of_rows = None if self.weights is None else self.weights[train]
            machine = self._machine(C).fit(X[train], codes[train], of_rows)
            right[c] += weights[left_out] @ (machine.predict(X[left_out]) == codes[left_out])
            converged &= bool(np.all(machine.converged_))
        is_best = right >= right.max() * (1 - 1e-9)  # sums in one order, but of weights that are not whole
        return self.Cs[int(np.argmax(is_best))], converged
