"""The Bayesian support vector machine, as a trial tunes and trains it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from fsvm_cli.evidence.sampled_evidence import Hyperparameters
from fsvm_cli.learners.base import EstimatorCurves, Learner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsvm_cli.evidence.estimator import BayesianSVM
    from fsvm_cli.learners.base import NestedSubsets


@dataclass(frozen=True, eq=False)
class BayesianLearner(Learner):
    """The machine, tuned on all features of a training part; subsets keep the hyperparameters of their features.

    Attributes
    ----------
    machine : BayesianSVM
        Fitted once it is tuned.
    chosen : dict of str to value
        Properties of the ascents that found the hyperparameters.
    converged : bool
        Whether every ascent converged.
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
            all(path.converged for path in machine.path_),
            tuple(map(float, machine.relevance_)),
        )

    def ranking_arguments(self) -> dict[str, Any]:
        """Return the estimator, which tunes itself when a ranking method fits it."""
        return {"estimator": clone(self.machine)}

    def curves(self, subsets: NestedSubsets) -> EstimatorCurves:
        """Train the machine on the first features of each order, for each size."""
        X, y = subsets.X_train, subsets.y_train
        features = [[sorted(order[:size].tolist()) for size in subsets.sizes] for order in subsets.orders]
        machines = [[self.machine.trained_on(X, y, of_subset) for of_subset in row] for row in features]

        def predicted(X: NDArray[np.float64]) -> NDArray[np.intp]:
            rows = zip(machines, features, strict=True)
            return np.array([[m.predict(X[:, own]) for m, own in zip(*row, strict=True)] for row in rows])

        return EstimatorCurves(
            predicted(X),
            predicted(subsets.X_test),
            np.array([[machine.converged_ for machine in row] for row in machines]),
            np.array([[machine.duality_gap_ for machine in row] for row in machines]),
        )


@dataclass(frozen=True, eq=False)
class MedianBayesianLearner(BayesianLearner):
    """The machine whose hyperparameters are the medians of those that are found on some random subsets of the rows.

    gold2005, section 5, of its 13 data sets: "to tune hyperparameters on five random subsets of the data, set each
    hyperparameter to the median value of the five trials". The subsets here are of the training part.

    Attributes
    ----------
    n_subsets : int
    subset_share : float
        Of the rows of the training part, with equal shares of the classes.
    random_state : int
        Of the subsets.
    """

    n_subsets: int = field(default=5, kw_only=True)
    subset_share: float = field(kw_only=True)
    random_state: int = field(kw_only=True)

    def tuned_on(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        groups: NDArray[np.intp] | None,  # noqa: ARG002 - no folds are made
    ) -> BayesianLearner:
        """Tune a machine on each subset of a training part, and train one with the medians on all of it."""
        tuned = []
        for seed in np.random.SeedSequence(self.random_state).generate_state(self.n_subsets):
            drawn, _ = train_test_split(
                np.arange(len(y)), train_size=self.subset_share, stratify=y, random_state=int(seed)
            )
            rows = np.sort(drawn)
            tuned.append(clone(self.machine).fit(X[rows], y[rows]))
        logarithms = np.array([[each.logarithms for each in machine.hyperparameters_] for machine in tuned])
        machine = tuned[0]
        machine.hyperparameters_ = tuple(map(Hyperparameters.from_logarithms, np.median(logarithms, axis=0)))
        return BayesianLearner(
            machine.trained_on(X, y, range(X.shape[1])),
            {},
            all(path.converged for each in tuned for path in each.path_),
            tuple(map(float, np.mean([each.relevance_ for each in tuned], axis=0))),
        )
