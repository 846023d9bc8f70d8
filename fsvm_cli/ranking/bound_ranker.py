"""What the rankings have in common that make a bound on the leave-one-out error small, Weston et al. (2000)."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from fsvm_cli.ranking.base import order_of
from fsvm_cli.ranking.bound_descent import Objective, Penalty, Round, descend, path_table
from fsvm_cli.ranking.machine_ranker import MachineRanker
from fsvm_cli.svm import Gaussian, Kernel, Linear, Polynomial
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.bounds.bound import Bound
    from fsvm_cli.svm.solvers.dual import DualSolution


class BoundRanker(MachineRanker):
    """Scale the features so that a bound is small, drop those with small scales, and go on with the others.

    A subclass says which bound in `_bounds`.
    """

    step: Annotated[int, Ge(1)] | Annotated[float, Gt(0), Lt(1)] = 0.5
    penalty: Annotated[float, Ge(0)] = 0.0
    exponent: Annotated[float, Gt(0), Le(2)] = 0.5
    max_iterations: Annotated[int, Ge(1)] = 50

    @abstractmethod
    def _bounds(
        self, gram: NDArray[np.float64], labels: NDArray[np.float64], machines: Sequence[DualSolution]
    ) -> Sequence[Bound]:
        """Return the bound of each machine on one Gram matrix."""

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        kernel = self._scaled_kernel(X)
        weights = kernel.feature_weights(X.shape[1])
        has_say = np.ptp(X, axis=0) > 0 if weights is None else (np.ptp(X, axis=0) > 0) & (weights > 0)
        candidates = np.flatnonzero(has_say)
        objective = Objective(
            # A linear machine with a bias does not depend on the origin, and far from it loses digits.
            X=X - X.mean(axis=0) if kernel.is_linear else X,
            labels=machine_labels(y, n_classes)[0],
            kernel=kernel,
            ridge=self._ridge(),
            relative_ridge=0.0,
            bounds=self._bounds,
            tolerance=self.tolerance,
            solver=self.solver,
        )
        if not objective.separates(candidates, np.ones(len(candidates))):
            raise ValueError(
                f"{self.method}: the classes are not separable with this kernel, so that no hard margin exists; "
                "choose a finite C"
            )
        rounds = self._eliminate(objective, candidates) if len(candidates) > 1 else []
        self.converged_ = all(each.converged for each in rounds)
        self.diagnostics_["path"] = path_table(rounds, self._feature_names())
        return places(rounds, candidates, X.shape[1])

    def _eliminate(self, objective: Objective, active: NDArray[np.intp]) -> list[Round]:
        """Return the descents on ever fewer features, until one is left or a hard margin is lost."""
        s = np.ones(len(active))
        settings: dict[str, Any] = {
            "unit": objective.at(active, s).value,
            "penalty": Penalty(self.penalty / len(active), self.exponent),
            "max_iterations": self.max_iterations,
        }
        rounds: list[Round] = []
        while len(active) > 1 and objective.separates(active, s):
            found = descend(objective, active, s, **settings)
            if found.has_collapsed and objective.ridge > 0:
                objective = objective.relative(active, s)
                found = descend(objective, active, s, **settings)
            rounds.append(found)
            if self.penalty > 0:
                break
            n_dropped = self.step if isinstance(self.step, int) else max(int(self.step * len(active)), 1)
            kept = np.sort(order_of(found.keys)[: max(len(active) - n_dropped, 1)])
            active, s = active[kept], found.s[kept]
        return rounds

    def _ridge(self) -> float:
        if not self.C > 0:
            raise ValueError(f"{self.method}: C must be > 0 (infinity asks for a hard margin), not {self.C!r}")
        return 0.0 if math.isinf(self.C) else 1.0 / self.C

    def _scaled_kernel(self, X: NDArray[np.float64]) -> Kernel:
        kernel = self.kernel_object(X)
        self.check_kernel(kernel)
        return kernel

    @classmethod
    def check_kernel(cls, kernel: Kernel) -> None:
        """Refuse a kernel whose bound has no derivative by the scale of a feature; as in `MachineRanker`."""
        if isinstance(kernel, Linear | Polynomial | Gaussian):
            return
        raise ValueError(
            f"{cls.method} is defined for the linear, polynomial and gaussian kernels, not for the {kernel.name} one"
        )


def places(rounds: Sequence[Round], candidates: NDArray[np.intp], n_features: int) -> NDArray[np.float64]:
    """Return the place of each feature in the order of elimination.

    Parameters
    ----------
    rounds : sequence of Round
        On ever fewer features.
    candidates : ndarray of int
        The features of the first round; others have no say.
    n_features : int

    Returns
    -------
    ndarray, shape (n_features,)
        From 1, for the one that goes first, to the number of candidates; 0 for the others.
    """
    scores = np.zeros(n_features)
    scores[candidates] = len(candidates)
    for each in rounds:
        # Those that are still in later overwrite their places.
        best_first = each.features[order_of(each.keys)]
        scores[best_first] = len(candidates) - np.arange(len(best_first))
    return scores
