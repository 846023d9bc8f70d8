"""Learners: classifiers that an experiment trains on nested subsets of the features, and their predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from fsvm_cli.numerics import row_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


class SubsetPredictions(NamedTuple):
    """A classifier on one subset: as it was fitted, and the codes that it predicts of training and of test rows."""

    fitted: Any
    train: NDArray[np.intp]
    test: NDArray[np.intp]


def nested_predictions(  # noqa: PLR0917 - the arguments of nested_curves, in its order
    estimator: Any,
    X_train: NDArray[np.float64],
    y_train: NDArray[np.intp],
    X_test: NDArray[np.float64],
    order: NDArray[np.intp],
    sizes: Sequence[int],
    groups: NDArray[np.intp] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
) -> list[SubsetPredictions]:
    """Train a fresh classifier on the first features of an order, for each size.

    Parameters
    ----------
    estimator : object
        A classifier in scikit-learn's manner; it is cloned.
    X_train, X_test : ndarray, shapes (n_train, n_features) and (n_test, n_features)
    y_train : ndarray of int, shape (n_train,)
        Class codes.
    order : ndarray of int, shape (n_features,)
        Feature indices, best first.
    sizes : sequence of int
        Each in 1 .. n_features. The features of a subset are passed in the order of the data, so that all features are
        the same problem for every order.
    groups : ndarray of int, shape (n_train,), optional
        For an estimator whose ``fit`` takes them: samples of one group stay together where it cross-validates.
    sample_weight : ndarray, shape (n_train,), optional

    Returns
    -------
    list of SubsetPredictions
        By size.
    """
    beside = fit_arguments(estimator, groups, sample_weight)
    predictions = []
    for size in sizes:
        subset = sorted(order[:size])
        fitted = clone(estimator).fit(X_train[:, subset], y_train, **beside)
        predictions.append(
            SubsetPredictions(fitted, _predicted(fitted, X_train, subset), _predicted(fitted, X_test, subset))
        )
    return predictions


def fit_arguments(
    estimator: Any, groups: NDArray[np.intp] | None, sample_weight: NDArray[np.float64] | None
) -> dict[str, NDArray[Any]]:
    """Return what ``fit`` takes beside samples and classes: groups if it does take them, and weights if there are."""
    arguments: dict[str, NDArray[Any]] = {}
    if groups is not None and has_fit_parameter(estimator, "groups"):
        arguments["groups"] = groups
    if sample_weight is not None:
        arguments["sample_weight"] = sample_weight
    return arguments


def _predicted(fitted: Any, X: NDArray[np.float64], subset: Sequence[np.intp]) -> NDArray[np.intp]:
    """Predict block by block, since intermediate arrays of a classifier may be larger than the samples."""
    return np.concatenate([fitted.predict(X[rows][:, subset]) for rows in row_blocks(*X.shape)])


MACHINE_FOUND = "machine found"
"""Name of the measure that is 1 if a machine exists, and 0 if there is none with a hard margin."""

DUALITY_GAP = "duality gap"
"""Name of the measure of machines that were stopped before their optimum."""


@dataclass(frozen=True, eq=False)
class NestedSubsets:
    """Both parts of a split, and the subsets of the features that classifiers are trained on.

    Attributes
    ----------
    X_train, X_test : (n_train, n_features) and (n_test, n_features) arrays
    y_train : (n_train,) array of int
        Class codes.
    orders : sequence of (n_features,) array of int
        Columns, the best first.
    sizes : tuple of int
        Of the subsets; each holds the first columns of an order.
    n_classes : int
        Classes may be absent from the training part.
    """

    X_train: NDArray[np.float64]
    y_train: NDArray[np.intp]
    X_test: NDArray[np.float64]
    orders: Sequence[NDArray[np.intp]]
    sizes: tuple[int, ...]
    n_classes: int


class Curves(Protocol):
    """What a fresh classifier on each prefix of each order predicts, with its certificates."""

    @property
    def train_predicted(self) -> NDArray[np.intp]:
        """Class codes of the training part, shape (n_orders, n_sizes, n_train)."""

    @property
    def test_predicted(self) -> NDArray[np.intp]:
        """Class codes of the test part, shape (n_orders, n_sizes, n_test)."""

    @property
    def converged(self) -> NDArray[np.bool_]:
        """Whether each binary machine reached its gap, shape (n_orders, n_sizes, n_machines)."""

    @property
    def duality_gap(self) -> NDArray[np.float64]:
        """Relative gap of each binary machine, shape (n_orders, n_sizes, n_machines)."""


class Learner(ABC):
    """A classifier before it is trained, with what was chosen for it on the training part.

    Attributes
    ----------
    chosen : dict of str to value
        Selected hyperparameters on the training part, by their names in configs; empty if none were tuned.
    converged : bool
        Whether every machine of the search that chose reached its duality gap.
    relevances : tuple of float
        Relevance of each feature, if tuning estimates it; empty otherwise.
    weights : ndarray, shape (n_train,), or None
        How many equal rows each training row stands for.
    """

    chosen: Mapping[str, float | int | str] = MappingProxyType({})
    converged: bool = True
    relevances: tuple[float, ...] = ()
    weights: NDArray[np.float64] | None = None

    def tuned_on(
        self,
        X: NDArray[np.float64],  # noqa: ARG002 - for those that choose
        y: NDArray[np.intp],  # noqa: ARG002
        groups: NDArray[np.intp] | None,  # noqa: ARG002
    ) -> Learner:
        """Return the learner tuned on data with the group of each row; itself if nothing is tuned."""
        return self

    def weighted_by(self, weights: NDArray[np.float64] | None) -> Learner:  # noqa: ARG002 - for those that take some
        """Return the learner for training rows with weights.

        Raises
        ------
        TypeError
            If it takes none, which a config is checked for.
        """
        raise TypeError(f"{type(self).__name__} takes no sample weights")

    def for_labels(self, labels: Mapping[int, Any]) -> Learner:  # noqa: ARG002 - for those that name classes
        """Return the learner for these labels instead of class codes."""
        return self

    @abstractmethod
    def ranking_arguments(self) -> dict[str, Any]:
        """Return the arguments for ranking methods: the parameters of a machine, and the estimator."""

    @abstractmethod
    def curves(self, subsets: NestedSubsets) -> Curves:
        """Train a fresh classifier on the first features of each order, for each size."""


@dataclass(frozen=True, eq=False)
class EstimatorCurves:
    """`Curves` of any classifier; one without a duality gap has no gap to miss."""

    train_predicted: NDArray[np.intp]
    test_predicted: NDArray[np.intp]
    converged: NDArray[np.bool_]
    duality_gap: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MeasuredCurves(EstimatorCurves):
    """`Curves` of a classifier with measures beside its predictions, or that may not exist.

    Attributes
    ----------
    measures : tuple of tuple of dict of str to float
        What the classifier of each order and size measured on the training part, by name.
    exists : (n_orders, n_sizes) array of bool
        Whether there is a classifier at all. What one that does not exist predicts has no meaning.
    """

    measures: tuple[tuple[dict[str, float], ...], ...]
    exists: NDArray[np.bool_]


def with_gaps(curves: Curves) -> MeasuredCurves:
    """Add the largest relative duality gap of the machines to curves, as a measure."""
    gaps = curves.duality_gap.max(axis=2)
    return MeasuredCurves(
        curves.train_predicted,
        curves.test_predicted,
        curves.converged,
        curves.duality_gap,
        tuple(tuple({DUALITY_GAP: gap} for gap in of_order) for of_order in gaps.tolist()),
        np.ones(gaps.shape, dtype=bool),
    )


def curves_of_estimator(
    estimator: Any,
    subsets: NestedSubsets,
    groups: NDArray[np.intp] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
) -> EstimatorCurves:
    """Train clones of an estimator in scikit-learn's manner on the first features of each order, for each size."""
    X_train, y_train, X_test, sizes = subsets.X_train, subsets.y_train, subsets.X_test, subsets.sizes
    found = [
        nested_predictions(estimator, X_train, y_train, X_test, order, sizes, groups, sample_weight)
        for order in subsets.orders
    ]
    return EstimatorCurves(
        np.array([[on.train for on in curve] for curve in found]),
        np.array([[on.test for on in curve] for curve in found]),
        np.array([[np.atleast_1d(getattr(on.fitted, "converged_", True)) for on in curve] for curve in found]),
        np.array([[np.atleast_1d(getattr(on.fitted, "duality_gap_", 0.0)) for on in curve] for curve in found]),
    )


@dataclass(frozen=True, eq=False)
class EstimatorLearner(Learner):
    """A classifier of scikit-learn; nothing is chosen for it, and it has no duality gap.

    Attributes
    ----------
    estimator : object
        Trained, as clones, on the subsets.
    estimator_for_rankings : object
        What ranking methods that take any classifier train.
    groups : ndarray of int, shape (n_train,), optional
        Rows of the training part that belong together, for an estimator that cross-validates.
    """

    estimator: Any
    estimator_for_rankings: Any
    groups: NDArray[np.intp] | None = None

    def tuned_on(
        self,
        X: NDArray[np.float64],  # noqa: ARG002 - the estimator chooses when it is trained
        y: NDArray[np.intp],  # noqa: ARG002
        groups: NDArray[np.intp] | None,
    ) -> EstimatorLearner:
        """Keep the groups."""
        return replace(self, groups=groups)

    def ranking_arguments(self) -> dict[str, Any]:
        """Return the estimator only: a config cannot list methods that train machines."""
        return {"estimator": self.estimator_for_rankings}

    def curves(self, subsets: NestedSubsets) -> EstimatorCurves:
        """Train a fresh classifier on the first features of each order, for each size."""
        return curves_of_estimator(self.estimator, subsets, self.groups)
