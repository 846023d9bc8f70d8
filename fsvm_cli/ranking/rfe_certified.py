"""Which eliminations of `rfe` any correct solver would make: decided, between copies, or tied.

At each round the weights of the linear machines lie within a known distance of the optimal ones (`svm.certified`).
The root of a cost is the length of a feature's weights over the machines, so that it is no further off. Two features
whose intervals do not overlap are in the order of their costs whatever the solver.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fsvm_cli.ranking.rfe_machines import LinearMachines
from fsvm_cli.svm.certified import (
    VALUE_TERMS,
    Location,
    Points,
    lengths_of,
    leverages,
    locate,
    normal_vector_of,
)
from fsvm_cli.svm.compiled import EPSILON

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fsvm_cli.ranking.rfe_machines import Machines

SHORTER_BELOW_SHARE = 0.5
"""Lengths of samples are computed again when only this part of the features is left."""
RETRAINED_TO = 1e-10
"""Relative duality gap of machines that are trained again because their bounds leave an elimination open."""
REPAIRS = 2
"""Newton steps after a training."""
MAX_SAMPLES_OF_LEVERAGES = 2_000
"""Leverages take a factor of the matrix of all pairs of samples."""


class Verdict(NamedTuple):
    """What is known of one place in the order of elimination.

    Attributes
    ----------
    name : {"decided", "copy", "tied"}
    rivals : ndarray of int
        Features that might have gone in its place.
    """

    name: str
    rivals: NDArray[np.intp]


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
            costs = (w**2).sum(axis=0)
            going = cheapest(costs, number)
            lengths = np.sqrt(costs)
            widths = np.where(self.constant[features], 0.0, radii + EPSILON * (len(w) + 4.0) * lengths)
            verdicts = [self._verdict(position, lengths, widths) for position in going]
            if all(verdict.name != "tied" for verdict in verdicts):
                break
        found = Round(len(self.order), verdicts, self._cuts(going, lengths, widths))
        self.rounds.append(found)
        self.order += features[going].tolist()
        for position, verdict in zip(going, verdicts, strict=True):
            low, high = max(lengths[position] - widths[position], 0.0), lengths[position] + widths[position]
            self.rows.append(
                (
                    features[position],
                    costs[position],
                    low**2 * (1 - 4 * EPSILON),
                    high**2 * (1 + 4 * EPSILON),
                    float(np.max(radii)),
                    bound,
                    verdict.name,
                )
            )
        return going

    def _measure(self) -> None:
        self.lengths = lengths_of(self.columns, self.machines.features)
        self.measured = len(self.machines.features)

    def _points(self, machine: int) -> Points:
        problem = self.machines.problem
        return Points(
            self.columns, self.originals, self.machines.features, self.lengths, problem.labels[machine], problem.C
        )

    def _ever_tighter(self) -> Any:
        """Yield the name of a bound, weights (n_machines, n_left), and how far they are off: one number, or each."""
        n_machines = len(self.machines.problem.labels)
        for trained in ("", "retrained, "):
            if trained:
                self._train_again()
            solutions = [self.machines.solution(machine) for machine in range(n_machines)]
            left = self.machines.features
            w = np.array(
                [normal_vector_of(self.columns, left, each.c) if each.w is None else each.w for each in solutions]
            )
            found = [
                locate(self._points(machine), each.c, w[machine], each.bias, each.known)
                for machine, each in enumerate(solutions)
            ]
            yield trained + _name(found), w, _joint(found)
            for _ in range(REPAIRS):
                before = _joint(found)
                for machine, solution in enumerate(solutions):
                    c, points = found[machine].c, self._points(machine)
                    repaired = normal_vector_of(self.columns, left, c)
                    after = locate(points, c, repaired, found[machine].bias, solution.known)
                    if after.radius < found[machine].radius:
                        found[machine], w[machine] = after, repaired
                if not _joint(found) < before:
                    break
                yield trained + "repair, " + _name(found), w, _joint(found)
        if len(self.machines.problem.X) <= MAX_SAMPLES_OF_LEVERAGES and np.isfinite(_joint(found)):
            share = np.sqrt(leverages(self._points(0), np.arange(len(self.machines.features))))
            rounding = float(np.sqrt(sum(each.rounding**2 for each in found)))
            yield "leverage, " + _name(found), w, share * _joint(found) + rounding * (1.0 + VALUE_TERMS * EPSILON)

    def _train_again(self) -> None:
        machines, problem = self.machines, self.machines.problem
        machines.problem = replace(problem, tolerance=min(problem.tolerance, RETRAINED_TO))
        machines.train()
        machines.problem = problem

    def _verdict(self, position: int, lengths: NDArray[np.float64], widths: NDArray[np.float64]) -> Verdict:
        overlap = (lengths - widths <= lengths[position] + widths[position]) & (
            lengths + widths >= lengths[position] - widths[position]
        )
        overlap[position] = False
        rivals = self.machines.features[overlap]
        if len(rivals) == 0:
            return Verdict("decided", rivals)
        own = self.copies[self.machines.features[position]]
        return Verdict("copy" if (self.copies[rivals] == own).all() else "tied", rivals)

    def _cuts(self, going: NDArray[np.intp], lengths: NDArray[np.float64], widths: NDArray[np.float64]) -> list[bool]:
        features, staying = self.machines.features, np.ones(len(lengths), dtype=bool)
        cuts = []
        for k, position in enumerate(going):
            staying[position] = False
            clear = True
            for other in going[: k + 1]:
                overlap = staying & (lengths - widths <= lengths[other] + widths[other])
                clear &= bool((self.copies[features[overlap]] == self.copies[features[other]]).all())
            cuts.append(clear)
        return cuts


def classes_of_copies(columns: NDArray[np.float64], weights: NDArray[np.float64] | None) -> NDArray[np.intp]:
    """Return a number for each feature, equal for features of equal cost in any machine with a bias.

    Those are columns that are equal, or opposite, up to a constant, and have the same weight.

    Parameters
    ----------
    columns : ndarray, shape (n_features, n_samples)
    weights : ndarray, shape (n_features,), or None
    """
    first = columns[:, :1]
    shifted = columns - first
    # Knuth's exact error of a difference: without one, columns that differ by a constant are recognised.
    virtual = shifted - columns
    error = (columns - (shifted - virtual)) - (first + virtual)
    keys = np.where((error == 0.0).all(axis=1)[:, None], shifted, columns)
    leading = (keys != 0.0).argmax(axis=1)
    keys = keys * np.where(keys[np.arange(len(keys)), leading] < 0.0, -1.0, 1.0)[:, None] + 0.0
    scale = np.ones(len(columns)) if weights is None else weights
    known: dict[bytes, int] = {}
    return np.array(
        [known.setdefault(key.tobytes() + each.tobytes(), len(known)) for key, each in zip(keys, scale, strict=True)]
    )


def _joint(found: list[Location]) -> float:
    return float(np.sqrt(sum(each.radius**2 for each in found)) * (1.0 + VALUE_TERMS * EPSILON))


def _name(found: list[Location]) -> str:
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
    verdicts.append(
        Verdict("decided" if not verdicts or verdicts[-1].name != "tied" else "tied", np.array([], dtype=int))
    )
    intervals = np.empty((d, 2))
    sizes: list[int] = [d]
    classes = certifier.copies[order]
    known_until, members = d, np.bincount(certifier.copies)
    gone = np.zeros(len(members), dtype=int)
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
                intervals[order[place]] = known_until + 1, d
            elif verdict.name == "tied":
                intervals[order[place]] = each.start + 1, end if each.cuts[-1] else d
            else:
                intervals[order[place]] = place + 1, place + 1
            if is_known and each.cuts[k] and not split:
                sizes.append(d - place - 1)
        if is_known and not each.cuts[-1]:
            known_until = each.start
    intervals[order[-1]] = (d, d) if known_until == d else (known_until + 1, d)
    _widen_over_copies(intervals, certifier.copies)
    table = {name: np.array(column) for name, column in zip(COLUMNS, zip(*certifier.rows, strict=True), strict=True)}
    names = np.array([verdict.name for verdict in verdicts])
    decided = np.empty(d, dtype=bool)
    decided[order] = names == "decided"
    tied = {feature: each.rivals for feature, each in zip(order, verdicts, strict=True) if len(each.rivals)}
    return Certificate(table, intervals, decided, np.array(sorted(sizes)), tied)


def _widen_over_copies(intervals: NDArray[np.float64], copies: NDArray[np.intp]) -> None:
    """Give each copy the places of all its copies: which one goes first is a matter of names."""
    for own in np.flatnonzero(np.bincount(copies) > 1):
        features = np.flatnonzero(copies == own)
        intervals[features] = intervals[features, 0].min(), intervals[features, 1].max()
