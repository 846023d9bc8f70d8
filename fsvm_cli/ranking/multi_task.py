"""Ranking by the radius-margin bounds of several tasks that share the scales of the features, jebara-slides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal, cast

import numpy as np
from annotated_types import Ge

from fsvm_cli.ranking.bound_ranker import BoundObjective, BoundPoint, path_table, places
from fsvm_cli.ranking.radius_margin import RadiusMargin
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.ranking.bound_ranker import WarmStart
    from fsvm_cli.svm.kernels.base import Kernel


@dataclass(frozen=True, eq=False)
class SharedScales:
    """The sum of the bounds of several tasks as a function of the scales of their features, as `BoundObjective`.

    Attributes
    ----------
    tasks : sequence of BoundObjective
        Of one kernel and one ridge, each on samples of its own.
    """

    tasks: Sequence[BoundObjective]

    @property
    def ridge(self) -> float:
        """That of all tasks."""
        return self.tasks[0].ridge

    def at(self, features: NDArray[np.intp], s: NDArray[np.float64], starts: Sequence[WarmStart] = ()) -> BoundPoint:
        """Add up the bounds of the tasks, and their derivatives, as `BoundObjective.at`."""
        points = [task.at(features, s, starts[t : t + 1]) for t, task in enumerate(self.tasks)]
        return BoundPoint(
            value=sum(point.value for point in points),
            slope=np.sum([point.slope for point in points], axis=0),
            converged=all(point.converged for point in points),
            starts=tuple(start for point in points for start in point.starts),
        )

    def separates(self, features: NDArray[np.intp], s: NDArray[np.float64]) -> bool:
        """Return whether each task is separable."""
        return all(task.separates(features, s) for task in self.tasks)

    def relative(self, features: NDArray[np.intp], s: NDArray[np.float64]) -> SharedScales:
        """Return the tasks with relative ridges, as `BoundObjective.relative`."""
        return replace(self, tasks=[task.relative(features, s) for task in self.tasks])


class MultiTask(RadiusMargin):
    """Scale the features so that the radius-margin bounds of several tasks are small together, and drop small scales.

    Tasks are data sets of the same features, such as two hospitals or two versions of a question: each has samples and
    machines of its own, and only which features matter is the same. With a bound R²W² for each task t, as of
    `radius-margin`, and one vector s of scales,

        min_s Σ_t R_t²(s) W_t²(s),

    by the descent and the elimination of `radius-margin`. One feature tells the task of each sample: samples with the
    same value are one task. It is not scaled, and scores 0.

    The score is the place in the order of elimination, as in `radius-margin`. Each of some ten rounds computes the
    bounds some tens of times, each time in O(Σ_t n_t² d) beside the machines, where one task of all samples takes
    O((Σ_t n_t)² d).

    Use it where single tasks have too few samples to tell which features matter, and one machine for all would be wrong
    because the features matter in another way in each; not where the tasks have few relevant features in common.

    Parameters
    ----------
    kernel : str or Kernel, default="linear"
        Linear, polynomial or Gaussian.
    C : float, default=1.0
        Of the squared loss C/2 Σ_i ξ_i²: a ridge of 1/C on K. Infinity asks for a hard margin.
    search : {"backward"}, default="backward"
        There is no other one here.
    finish : int, default=1
        From so many features on, drop one at a time, that without which the descended bound is least.
    ridge : float or None, default=None
        Larger than 0: in place of 1/C, the ridge is so many times the mean squared distance of the samples of a task
        from their mean in feature space, at the scales of the moment.
    step : int or float, default=0.5
        Features to drop in each round: a number, or a fraction between 0 and 1 of those that are left, rounded down,
        but at least one.
    penalty : float, default=0.0
        As in `RadiusMargin`.
    exponent : float, default=0.5
        As in `RadiusMargin`.
    max_iterations : int, default=50
        Of the quasi-Newton method in each round.
    task : int or None, default=None
        Index of the feature that tells the task of a sample; where None all samples are one task, as of
        `RadiusMargin`.
    scales : {"shared", "own"}, default="shared"
        "own": each task has scales of its own, and the places of a feature are added up. What sharing gains is the
        difference.
    tolerance : float, default=1e-6
        Relative duality gap of the machines, and of R².
    solver : str, default="auto"
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Attributes
    ----------
    diagnostics_ : dict
        Table `path`: the sum of the bounds, and the scales of all features, at the end of each round; with scales of
        their own, the rounds of one task after those of another.
    converged_ : bool
        Whether all machines reached their duality gap, and all balls theirs.

    Notes
    -----
    Source: jebara-slides names multi-task learning among the extensions of a machine, beside the selection of features
    by R²W², and gives no formula. The sum of the bounds is ours: it bounds the leave-one-out errors of all tasks
    together, and is the sum that `radius-margin` has over one-against-the-rest machines, each on samples of its own.

    A task needs samples of two classes at least. A feature that is constant in every task scores 0.

    See Also
    --------
    RadiusMargin : One task.

    References
    ----------
    - jebara-slides: T. Jebara, "SVM Feature & Kernel Selection"; in full in `Ranker`.
    - J. Weston, S. Mukherjee, O. Chapelle, M. Pontil, T. Poggio and V. Vapnik, "Feature Selection for SVMs",
      Advances in Neural Information Processing Systems 13, 2000, pages 668-674.

    Examples
    --------
    >>> from fsvm_cli import MultiTask
    >>> X = [[0, 0, 3], [0, 1, 1], [0, 5, 2], [0, 6, 3], [1, 0, 1], [1, 1, 2], [1, 5, 3], [1, 6, 1]]
    >>> MultiTask(task=0).fit(X, list("aabbbbaa")).ranking_.tolist()
    [3, 1, 2]
    """

    method = "multi-task"
    index_parameters = frozenset({"task"})

    search: Literal["backward"] = "backward"
    task: Annotated[int, Ge(0)] | None = None
    scales: Literal["shared", "own"] = "shared"

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        n_features = self.n_features_in_
        if self.task is not None and self.task >= n_features:
            raise ValueError(f"{self.method}: task must be below {n_features}, the number of features, not {self.task}")
        if self.task is None or self.task not in self._columns:  # one task, if its number is constant
            return super()._scores(X, y, n_classes)
        task = int(np.searchsorted(self._columns, self.task))
        of_row = X[:, task]
        others = np.delete(np.arange(X.shape[1]), task)
        parts = [np.flatnonzero(of_row == value) for value in np.unique(of_row)]
        kernel = self._scaled_kernel(X)
        weights = kernel.feature_weights(X.shape[1])
        varies = np.any([np.ptp(X[rows], axis=0) > 0 for rows in parts], axis=0)
        candidates = others[varies[others] & (True if weights is None else weights[others] > 0)]
        tasks = [self._task(X[rows], y[rows], kernel, float(of_row[rows[0]])) for rows in parts]
        if not all(task.separates(candidates, np.ones(len(candidates))) for task in tasks):
            raise ValueError(
                f"{self.method}: the classes of a task are not separable with this kernel, so that no hard margin "
                "exists; choose a finite C"
            )
        joint = [SharedScales(tasks)] if self.scales == "shared" else [SharedScales([task]) for task in tasks]
        found = [
            self._eliminate(cast("BoundObjective", each), candidates) if len(candidates) > 1 else [] for each in joint
        ]
        self.converged_ = all(each.converged for rounds in found for each in rounds)
        self.diagnostics_["path"] = path_table([each for rounds in found for each in rounds], self._feature_names())
        for rounds in found:
            self._note_ties(rounds)
        scores: NDArray[np.float64] = np.sum([places(rounds, candidates, self._priority) for rounds in found], axis=0)
        return scores

    def _task(self, X: NDArray[np.float64], y: NDArray[np.intp], kernel: Kernel, value: float) -> BoundObjective:
        """Return the bound of one task on its samples, whose classes are told from one another."""
        present, codes = np.unique(y, return_inverse=True)
        if len(present) < 2:
            raise ValueError(
                f"{self.method}: the {len(y)} samples with {value:g} in feature {self.task} are of one class, and a "
                "task needs two; choose another feature for the task"
            )
        return BoundObjective(
            X=X - X.mean(axis=0) if kernel.is_linear else X,
            labels=machine_labels(codes, len(present))[0],
            kernel=kernel,
            ridge=self._ridge() if self.ridge is None else 0.0,
            relative_ridge=self.ridge or 0.0,
            bounds=self._bounds,
            tolerance=self.tolerance,
            solver=self.solver,
        )
