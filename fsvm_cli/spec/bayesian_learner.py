"""The Bayesian support vector machine, as a trial tunes and trains it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from fsvm_cli.spec.learner import EstimatorCurves, Learner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.evidence.estimator import BayesianSVM


@dataclass(frozen=True, eq=False)
class BayesianLearner(Learner):
    """The machine, tuned on all features of a training part; subsets keep the hyperparameters of their features.

    Attributes
    ----------
    machine : BayesianSVM
        Fitted once it is tuned.
    chosen : dict of str to value
        How the hyperparameters were found.
    converged : bool
        Whether the ascents ended by their rule.
    relevances : tuple of float
        The share of each feature, by its length scale.
    """

    machine: BayesianSVM
    chosen: Mapping[str, float | int | str] = field(default_factory=dict)
    converged: bool = True
    relevances: tuple[float, ...] = ()

    def tuned_on(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        groups: NDArray[np.intp] | None,  # noqa: ARG002 - no folds are made
    ) -> BayesianLearner:
        """Tune the machine on a training part."""
        machine = clone(self.machine).fit(X, y)
        return BayesianLearner(
            machine,
            machine.chosen_,
            all(path.stopped for path in machine.path_),
            tuple(map(float, machine.relevance_)),
        )

    def handed(self) -> dict[str, Any]:
        """Hand over the estimator, to be tuned by whoever trains it."""
        return {"estimator": clone(self.machine)}

    def curves(  # noqa: PLR0917
        self,
        X_train: NDArray[np.float64],
        y_train: NDArray[np.intp],
        X_test: NDArray[np.float64],
        orders: Sequence[NDArray[np.intp]],
        sizes: tuple[int, ...],
        n_classes: int,  # noqa: ARG002 - the contract of Learner
    ) -> EstimatorCurves:
        """Train the machine on the first features of each order, for each size."""
        subsets = [[sorted(order[:size].tolist()) for size in sizes] for order in orders]
        machines = [[self.machine.trained_on(X_train, y_train, subset) for subset in row] for row in subsets]

        def predicted(X: NDArray[np.float64]) -> NDArray[np.intp]:
            rows = zip(machines, subsets, strict=True)
            return np.array([[m.predict(X[:, s]) for m, s in zip(*row, strict=True)] for row in rows])

        return EstimatorCurves(
            predicted(X_train),
            predicted(X_test),
            np.array([[machine.converged_ for machine in row] for row in machines]),
            np.array([[machine.duality_gap_ for machine in row] for row in machines]),
        )
