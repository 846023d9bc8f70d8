"""Which eliminations of `rfe` any correct solver would make: decided, between copies, or tied.

At each round the weights of the linear machines lie within a known distance of the optimal ones (`svm.certified`).
The root of a cost is the length of a feature's weights over the machines, so that it is no further off. Two features
whose intervals do not overlap are in the order of their costs whatever the solver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from fsvm_cli.ranking.base import RELATIVE_ROUNDING, ROUNDING_OF_ZERO
from fsvm_cli.ranking.certified_places import Verdict, classes_of_copies
from fsvm_cli.ranking.rfe_machines import LinearMachines
from fsvm_cli.svm.certified import (
    KeptFactor,
    Points,
    lengths_of,
    leverages,
    locate,
    normal_vector_of,
)
from fsvm_cli.svm.compiled import ALLOCATING, COMPILED, EPSILON
from fsvm_cli.svm.margin_factor import VALUE_TERMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.ranking.rfe_machines import Machines, MachineSolution
    from fsvm_cli.svm.certified import Distance, Location

SHORTER_BELOW_SHARE = 0.5
"""Lengths of samples are computed again when only this part of the features is left."""
RETRAINED_TO = 1e-10
"""Relative duality gap of machines that are trained again because their bounds leave an elimination open."""
REPAIRS = 2
"""Newton steps after a training."""
MAX_SAMPLES_OF_LEVERAGES = 2_000
"""Leverages take a factor of the matrix of all pairs of samples."""
NO_FEATURES = np.empty(0, dtype=np.intp)


@dataclass
class Round:
    """Places that were given by the costs of the same machines.

    Attributes
    ----------
    start : int
        Features that were gone before.
    verdicts : list of Verdict
        One for each feature that goes.
    cuts : list of bool
        For each of them, whether all that went in this round up to it go before those that stay, up to copies.
    """

    start: int
    verdicts: list[Verdict] = field(default_factory=list)
    cuts: list[bool] = field(default_factory=list)


class Certifier:
    """The bounds of one elimination, round by round.

    Parameters
    ----------
    machines : Machines
        Linear ones.
    X : ndarray, shape (n_samples, n_features)
        Before anything was subtracted from it.
    """

    def __init__(self, machines: Machines, X: NDArray[np.float64]) -> None:
        self.machines = machines
        problem = machines.problem
        weights = problem.kernel.feature_weights(X.shape[1])
        if isinstance(machines, LinearMachines):
            self.columns = machines.columns
        else:
            self.columns = np.ascontiguousarray((problem.X if weights is None else problem.X * np.sqrt(weights)).T)
        is_rounded = problem.X is not X or weights is not None
        self.originals = np.ascontiguousarray(X.T) if is_rounded else self.columns
        self.copies = classes_of_copies(self.originals, weights)
        self.constant = ~np.any(self.columns, axis=1)
        self._measure()
        self.rounds: list[Round] = []
        self.kept: list[KeptFactor | None] = [None] * len(problem.labels)
        self.order: list[int] = []
        self.rows: list[tuple[Any, ...]] = []

    def eliminate(
        self, number: int, cheapest: Callable[[NDArray[np.float64], int], NDArray[np.intp]]
    ) -> NDArray[np.intp]:
        """Return the positions of the features to drop, by the machines with the tightest bounds that were needed.

        Parameters
        ----------
        number : int
            How many go.
        cheapest : callable
            Finds that number of smallest costs.
        """
        features = self.machines.features
        if len(features) < SHORTER_BELOW_SHARE * self.measured:
            self._measure()
        for bound, w, radii in self._ever_tighter():  # noqa: B007 - the last one counts
            costs, low, high = _cost_intervals(w, radii, self.constant, features)
            below = _below_all(costs, low, high) if number == 1 else -1
            if below >= 0:
                going, reached, verdicts = np.array([below]), [], [Verdict("decided", NO_FEATURES)]
                break
            going = cheapest(costs, number)
            reached = [_reached(low, high, position) for position in going.tolist()]
            verdicts = [self._verdict(*each, low, high) for each in zip(going.tolist(), reached, strict=True)]
            if all(verdict.name != "tied" for verdict in verdicts):
                break
        self.rounds.append(Round(len(self.order), verdicts, self._cuts(going, reached)))
        gone, radius = features[going].tolist(), float(radii[0] if len(radii) == 1 else radii.max())
        self.order += gone
        for position, feature, verdict in zip(going.tolist(), gone, verdicts, strict=True):
            least, most = max(float(low[position]), 0.0), float(high[position])
            self.rows.append(
                (
                    feature,
                    float(costs[position]),
                    least**2 * (1 - 4 * EPSILON),
                    most**2 * (1 + 4 * EPSILON),
                    radius,
                    bound,
                    verdict.name,
                )
            )
        for kept in filter(None, self.kept):
            for feature in gone:
                kept.drop(feature)
        return going

    def _measure(self) -> None:
        self.lengths = lengths_of(self.columns, self.machines.features)
        self.measured = len(self.machines.features)

    def _points(self, machine: int) -> Points:
        problem = self.machines.problem
        return Points(
            self.columns, self.originals, self.machines.features, self.lengths, problem.labels[machine], problem.C
        )

    def _ever_tighter(self) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
        """Yield the name of a bound, weights (n_machines, n_left), and how far they are off: one number, or each."""
        machines = range(len(self.machines.problem.labels))
        solutions, w = self._trained()
        by_kept = [self._locate_by_kept(machine, solutions[machine], w[machine]) for machine in machines]
        if math.isfinite(joint := _joint(by_kept)):
            yield _name(by_kept), w, np.array([joint])
        for trained in ("", "retrained, "):
            if trained:
                self._train_again()
                solutions, w = self._trained()
            w = w.copy()
            found = [
                locate(self._points(machine), each.c, w[machine], each.bias, each.known)
                for machine, each in enumerate(solutions)
            ]
            yield trained + _name(found), w, np.array([_joint(found)])
            for _ in range(REPAIRS):
                before = _joint(found)
                for machine, solution in enumerate(solutions):
                    c, points = found[machine].c, self._points(machine)
                    repaired = normal_vector_of(self.columns, self.machines.features, c)
                    after = locate(points, c, repaired, found[machine].bias, solution.known)
                    if after.radius < found[machine].radius:
                        found[machine], w[machine] = after, repaired
                if not _joint(found) < before:
                    break
                yield trained + "repair, " + _name(found), w, np.array([_joint(found)])
        if len(self.machines.problem.X) <= MAX_SAMPLES_OF_LEVERAGES and np.isfinite(_joint(found)):
            share = np.sqrt(leverages(self._points(0), np.arange(len(self.machines.features))))
            rounding = float(np.sqrt(sum(each.rounding**2 for each in found)))
            yield "leverage, " + _name(found), w, share * _joint(found) + rounding * (1.0 + VALUE_TERMS * EPSILON)

    def _trained(self) -> tuple[list[MachineSolution], NDArray[np.float64]]:
        machines, left = self.machines, self.machines.features
        solutions = [machines.solution(machine) for machine in range(len(machines.problem.labels))]
        w = [normal_vector_of(self.columns, left, each.c) if each.w is None else each.w for each in solutions]
        return solutions, w[0][None] if len(w) == 1 else np.array(w)

    def _locate_by_kept(self, machine: int, solution: MachineSolution, w: NDArray[np.float64]) -> Distance:
        points, c, bias, residuals = self._points(machine), solution.c, solution.bias, solution.residuals
        kept = self.kept[machine]
        found = kept.locate(points, c, w, bias, residuals) if kept else None
        if found is None or not math.isfinite(found.radius):
            kept = self.kept[machine] = KeptFactor(points, c, w, bias, solution.known, residuals)
            found = kept.locate(points, c, w, bias, residuals)
        return found

    def _train_again(self) -> None:
        machines, problem = self.machines, self.machines.problem
        machines.problem = replace(problem, tolerance=min(problem.tolerance, RETRAINED_TO))
        machines.train()
        machines.problem = problem

    def _verdict(
        self, position: int, reached: NDArray[np.intp], low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> Verdict:
        if len(reached) == 0:
            return Verdict("decided", reached)
        rivals = self.machines.features[reached[high[reached] >= low[position]]]
        if len(rivals) == 0:
            return Verdict("decided", rivals)
        own = self.copies[self.machines.features[position]]
        return Verdict("copy" if (self.copies[rivals] == own).all() else "tied", rivals)

    def _cuts(self, going: NDArray[np.intp], reached: list[NDArray[np.intp]]) -> list[bool]:
        if not any(map(len, reached)):
            return [True] * len(going)
        copies, cuts = self.copies[self.machines.features], []
        for k in range(len(going)):
            staying = [each[~np.isin(each, going[: k + 1])] for each in reached[: k + 1]]
            cuts.append(all((copies[each] == copies[going[j]]).all() for j, each in enumerate(staying)))
        return cuts


@njit(**ALLOCATING)
def _cost_intervals(
    w: NDArray[np.float64], radii: NDArray[np.float64], constant: NDArray[np.bool_], features: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the costs of the features that are left, and bounds on the roots of the optimal ones.

    Parameters
    ----------
    w : ndarray, shape (n_machines, n_left)
    radii : ndarray, shape (1,) or (n_left,)
        How far the root of a cost is off but for rounding.
    constant : ndarray of bool, shape (n_features,)
        Columns of zeros, whose weights are 0.
    features : ndarray of int, shape (n_left,)
    """
    costs = np.zeros(w.shape[1])
    for machine in range(w.shape[0]):
        for j in range(costs.size):
            costs[j] += w[machine, j] * w[machine, j]
    low, high = np.empty(costs.size), np.empty(costs.size)
    for j in range(costs.size):
        length = np.sqrt(costs[j])
        width = radii[j if radii.size > 1 else 0] + EPSILON * (w.shape[0] + 4.0) * length
        low[j], high[j] = length - width, length + width
    for j in range(costs.size):
        if constant[features[j]]:
            low[j] = high[j] = np.sqrt(costs[j])
    return costs, low, high


@njit(**COMPILED)
def _below_all(costs: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> int:
    """Return the only feature that can be the cheapest, its position; -1 where others reach it.

    Nor does another cost agree with it to within rounding, so that the rule for ties (`first_largest`) finds it, too.
    """
    best, largest = 0, 0.0
    for j in range(costs.size):
        best = j if costs[j] < costs[best] else best
        largest = max(largest, costs[j])
    tie = costs[best] + max(RELATIVE_ROUNDING * costs[best], ROUNDING_OF_ZERO * min(largest, 1.0))
    for j in range(costs.size):
        if j != best and not (low[j] > high[best] and costs[j] > tie):
            return -1
    return best


@njit(**ALLOCATING)
def _reached(low: NDArray[np.float64], high: NDArray[np.float64], position: int) -> NDArray[np.intp]:
    """Return which other intervals do not begin above the end of one, positions in ascending order."""
    found, count = np.empty(low.size, dtype=np.intp), 0
    for other in range(low.size):
        if low[other] <= high[position] and other != position:
            found[count] = other
            count += 1
    return found[:count].copy()


def _joint(found: Sequence[Location | Distance]) -> float:
    return math.sqrt(sum(each.radius**2 for each in found)) * (1.0 + VALUE_TERMS * EPSILON)


def _name(found: Sequence[Location | Distance]) -> str:
    return "two-sided" if any(4.0 * each.excess > each.radius**2 for each in found) else "first order"


@dataclass(frozen=True)
class Certificate:
    """What is certified of an order of elimination.

    Attributes
    ----------
    table : dict of str to ndarray, shape (n_features - 1,)
        One row per elimination: ``feature``; ``cost`` with its interval, ``lower`` and ``upper``; ``radius``, how far
        the weights of the machines are from the optimal ones; ``bound``, by which it is known; and ``verdict``.
    intervals : ndarray, shape (n_features, 2)
        Of the places in the order.
    decided : ndarray of bool, shape (n_features,)
    sizes : ndarray of int
    tied_with : dict of int to ndarray of int
    """

    table: dict[str, NDArray[Any]]
    intervals: NDArray[np.float64]
    decided: NDArray[np.bool_]
    sizes: NDArray[np.intp]
    tied_with: dict[int, NDArray[np.intp]]


COLUMNS = ("feature", "cost", "lower", "upper", "radius", "bound", "verdict")


def certificate_of(certifier: Certifier, order: list[int]) -> Certificate:
    """Put the verdicts on single eliminations together.

    Parameters
    ----------
    certifier : Certifier
    order : list of int
        All features, in the order of elimination.
    """
    d = len(order)
    verdicts = [verdict for each in certifier.rounds for verdict in each.verdicts]
    verdicts.append(_verdict_on_last(order, verdicts))
    by_feature: dict[int, tuple[int, int]] = {}
    sizes: list[int] = [d]
    classes = certifier.copies[order].tolist()
    known_until, members = d, np.bincount(certifier.copies).tolist()
    gone = [0] * len(members)
    split: set[int] = set()
    for each in certifier.rounds:
        is_known = known_until == d
        end = each.start + len(each.verdicts)
        for k, verdict in enumerate(each.verdicts):
            place, own = each.start + k, classes[each.start + k]
            gone[own] += 1
            if gone[own] < members[own]:
                split.add(own)
            else:
                split.discard(own)
            if not is_known:
                by_feature[order[place]] = known_until + 1, d
            elif verdict.name == "tied":
                by_feature[order[place]] = each.start + 1, end if each.cuts[-1] else d
            else:
                by_feature[order[place]] = place + 1, place + 1
            if is_known and each.cuts[k] and not split:
                sizes.append(d - place - 1)
        if is_known and not each.cuts[-1]:
            known_until = each.start
    by_feature[order[-1]] = (d, d) if known_until == d else (known_until + 1, d)
    intervals = np.array([by_feature[feature] for feature in range(d)], dtype=np.float64)
    _widen_over_copies(intervals, certifier.copies)
    table = {name: np.array([row[k] for row in certifier.rows]) for k, name in enumerate(COLUMNS)}
    names = np.array([verdict.name for verdict in verdicts])
    decided = np.empty(d, dtype=bool)
    decided[order] = names == "decided"
    tied = {feature: each.rivals for feature, each in zip(order, verdicts, strict=True) if len(each.rivals)}
    return Certificate(table, intervals, decided, np.array(sorted(sizes)), tied)


def _verdict_on_last(order: list[int], verdicts: list[Verdict]) -> Verdict:
    """Return the verdict on the feature that stays."""
    if not verdicts or verdicts[-1].name == "decided":
        return Verdict("decided", NO_FEATURES)
    if verdicts[-1].name == "copy":  # of the one that stays, unless several went together
        is_copy = order[-1] in verdicts[-1].rivals
        return Verdict("copy", np.array([order[-2]])) if is_copy else Verdict("decided", NO_FEATURES)
    return Verdict("tied", NO_FEATURES)


def _widen_over_copies(intervals: NDArray[np.float64], copies: NDArray[np.intp]) -> None:
    """Give each copy the places of all its copies: which one goes first is a matter of names."""
    for own in np.flatnonzero(np.bincount(copies) > 1).tolist():
        features = np.flatnonzero(copies == own)
        intervals[features] = intervals[features, 0].min(), intervals[features, 1].max()
