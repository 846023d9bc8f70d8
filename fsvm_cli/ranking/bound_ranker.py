"""Descent of a bound on the leave-one-out error along the scales of the features, and elimination by them.

Source: Weston et al. (2000). `RadiusMargin` and `Span` differ in the bound alone.
"""

from __future__ import annotations

import functools
import itertools
import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from fsvm_cli.bounds.bound import add_gradient_of_ridge, hard_margin_machine, spread
from fsvm_cli.numerics import quantised
from fsvm_cli.quasi_newton import minimise_quantised
from fsvm_cli.ranking.base import first_largest, n_dropped, order_of, tied_with
from fsvm_cli.ranking.machine_ranker import MachineRanker
from fsvm_cli.svm import Gaussian, Kernel, Linear, Polynomial
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.bounds.bound import Bound
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Rounding
    from fsvm_cli.svm.solvers.dual import DualSolution, Solver

    Bounds = Callable[[Array, Array, Sequence[DualSolution], Rounding, Array | None], Sequence[Bound]]

MIN_SCALE, MAX_SCALE = 2.0**-10, 1.0
"""Limits of the scales. At 0 every derivative vanishes, and a relevant feature could not return. Above 1 there are
valleys in which the scale of an irrelevant feature grows without bound, while the machine reduces its weight."""
MIN_RELATIVE_DECREASE = 1e-6
"""A descent ends where a step lowers the bound by less, as a part of its value at the start."""
SCALE_SPACING, VALUE_SPACING, SLOPE_SPACING = 2.0**-20, 2.0**-32, 2.0**-16
"""Of the scales at which the bound is computed; of its values and slopes, in the unit of the bound. Of a machine on 500
unscaled samples, slopes on two processors differ by 3e-12, and an experiment has some hundred thousand of them: with a
spacing of 2^-20 one of them would be rounded differently, and the descent would differ."""

MAX_SUBSETS = 10_000
"""That an exhaustive search tries."""
SCALE_PREFIX = "scale of "
"""Prefix of the columns for the features' scales in the table of a descent."""


@dataclass(frozen=True, eq=False)
class WarmStart:
    """Coefficients at some scales, where machines and ball at similar scales begin.

    Attributes
    ----------
    alphas : tuple of ndarray or None, one of each machine, shape (n_samples,)
        None of a machine that missed its gap.
    beta : ndarray, shape (n_samples,), or None
        Of the enclosing ball, where the bound has one.
    """

    alphas: tuple[NDArray[np.float64] | None, ...]
    beta: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class BoundPoint:
    """Scales of features, and the bounds there.

    Attributes
    ----------
    value : float
        The sum of the bounds of all machines.
    slope : ndarray, shape (n_scales,)
        Its derivative by each scale.
    converged : bool
        Whether the bounds are what they should be to within the tolerance.
    starts : tuple of WarmStart
        One of each task; of a single data set one.
    """

    value: float
    slope: NDArray[np.float64]
    converged: bool
    starts: tuple[WarmStart, ...]


@dataclass(frozen=True, eq=False)
class BoundObjective:
    """The bound as a function of the scales s of some features, with the kernel K(x s, x' s).

    Attributes
    ----------
    X : ndarray, shape (n_samples, n_features)
    labels : ndarray, shape (n_machines, n_samples)
        -1 or +1.
    kernel : Kernel
        A function of inner products or squared distances.
    ridge : float
        On the diagonal of the Gram matrix.
    relative_ridge : float
        A further ridge, in units of the mean squared distance of the samples from their mean in feature space.
    bounds : callable
        Takes Gram matrix, labels, machines, what rounding does to kernel values and where the ball begins, and returns
        a `Bound` of each.
    tolerance, solver
        As in `fsvm_cli.svm.solve`.
    """

    X: NDArray[np.float64]
    labels: NDArray[np.float64]
    kernel: Kernel
    ridge: float
    relative_ridge: float
    bounds: Bounds
    tolerance: float
    solver: Solver

    def at(self, features: NDArray[np.intp], s: NDArray[np.float64], starts: Sequence[WarmStart] = ()) -> BoundPoint:
        """Train the machines on some features, scaled by s, and compute their bounds.

        Parameters
        ----------
        features : ndarray of int, shape (n_scales,)
        s : ndarray, shape (n_scales,)
        starts : sequence of WarmStart
            Those of a point nearby; none for a start from nothing. Where they begin moves results by no more than
            rounding.

        Raises
        ------
        FloatingPointError
            If all samples are in one place, so that the bound is 0.
        """
        X, kernel, own = self._scaled(features, s)
        gram = self._gram(X, kernel)
        rounding = kernel.rounding(X).of_machine()
        alphas, beta = (starts[0].alphas, starts[0].beta) if starts else ((), None)
        found = self.bounds(gram, self.labels, self._machines(gram, rounding, alphas), rounding, beta)
        value = sum(bound.value for bound in found)
        if not value > 0:
            raise FloatingPointError("the kernel is the same for all samples")
        by_entry = functools.reduce(np.add, [bound.gram_gradient for bound in found])
        add_gradient_of_ridge(by_entry, self.relative_ridge)
        return BoundPoint(
            value=value,
            # Of two features that are multiplied, a weight w is a scale of sqrt(w) of each.
            slope=2.0 * own * kernel.weight_gradient(X, X, by_entry) / s,
            converged=all(bound.converged for bound in found),
            starts=(_start_of(found),),
        )

    def separates(self, features: NDArray[np.intp], s: NDArray[np.float64]) -> bool:
        """Return whether every machine has a hyperplane that separates its classes; with a ridge it always has."""
        if self.ridge > 0 or self.relative_ridge > 0:
            return True
        X, kernel, _ = self._scaled(features, s)
        return all(np.isfinite(machine.duality_gap) for machine in self._machines(self._gram(X, kernel)))

    def relative(self, features: NDArray[np.intp], s: NDArray[np.float64]) -> BoundObjective:
        """Return the objective with a relative ridge, which is what the ridge is at these scales.

        Where all samples are in one place, the objective unchanged.
        """
        X, kernel, _ = self._scaled(features, s)
        unit = spread(kernel.gram(X, X))
        return replace(self, ridge=0.0, relative_ridge=self.ridge / unit) if unit > 0 else self

    def _scaled(
        self, features: NDArray[np.intp], s: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], Kernel, NDArray[np.float64]]:
        """Return the scaled samples, the kernel on these features, and its own weights."""
        weights = self.kernel.feature_weights(self.X.shape[1])
        if weights is None:
            return self.X[:, features] * s, self.kernel, np.ones(len(features))
        return self.X[:, features] * s, self.kernel.with_weights(weights[features]), weights[features]

    def _gram(self, X: NDArray[np.float64], kernel: Kernel) -> NDArray[np.float64]:
        gram = kernel.gram(X, X)
        gram.flat[:: len(X) + 1] += self.ridge + (
            self.relative_ridge * spread(gram) if self.relative_ridge > 0 else 0.0
        )
        return gram

    def _machines(
        self,
        gram: NDArray[np.float64],
        rounding: Rounding | None = None,
        alphas: Sequence[NDArray[np.float64] | None] = (),
    ) -> list[DualSolution]:
        options: dict[str, Any] = {"tolerance": self.tolerance, "solver": self.solver, "rounding": rounding}
        return [
            hard_margin_machine(gram, y, alpha0=alpha0, on_failure="flag", **options)
            for y, alpha0 in itertools.zip_longest(self.labels, alphas)
        ]


def _start_of(bounds: Sequence[Bound]) -> WarmStart:
    alphas = tuple(bound.machine.alpha if bound.machine.converged else None for bound in bounds)
    return WarmStart(alphas, bounds[0].beta)


@dataclass(frozen=True)
class ScalePenalty:
    """What scales cost: strength times the sum of s ** exponent."""

    strength: float
    exponent: float


@dataclass(frozen=True, eq=False)
class Round:
    """Where a descent ended.

    Attributes
    ----------
    features : ndarray of int, shape (n_scales,)
    s : ndarray, shape (n_scales,)
    keys : ndarray, shape (n_scales,)
        What orders the features: s, and of those at one of its limits the derivative, which holds them there; or the
        bounds without each feature, where these were compared.
    bound : float
        Without the penalty.
    n_evaluations : int
        With those of the bounds that were compared.
    converged : bool
        Whether all bounds on the way converged.
    starts : sequence of WarmStart
        Of the last bound that was computed.
    """

    features: NDArray[np.intp]
    s: NDArray[np.float64]
    keys: NDArray[np.float64]
    bound: float
    n_evaluations: int
    converged: bool
    starts: Sequence[WarmStart]

    @property
    def has_collapsed(self) -> bool:
        """Whether all scales are at their lower limit: the bound is least for a machine that separates no classes."""
        return bool((self.s <= MIN_SCALE).all())


def descend(
    objective: BoundObjective,
    features: NDArray[np.intp],
    s: NDArray[np.float64],
    *,
    unit: float,
    penalty: ScalePenalty,
    max_iterations: int,
    starts: Sequence[WarmStart] = (),
) -> Round:
    """Make bound plus penalty small by a quasi-Newton method with limits on the scales.

    Parameters
    ----------
    objective : BoundObjective
    features : ndarray of int, shape (n_scales,)
    s : ndarray, shape (n_scales,)
        The start.
    unit : float
        Of the bound, in which it is added to the penalty.
    penalty : ScalePenalty
    max_iterations : int
    starts : sequence of WarmStart
        As of `BoundObjective.at`.

    Returns
    -------
    Round
    """
    converged = True

    def total(s: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        nonlocal converged, starts
        here = objective.at(features, s, starts)
        converged &= here.converged
        starts = here.starts
        powers = penalty.strength * s**penalty.exponent
        value, slope = here.value / unit + powers.sum(), here.slope / unit + penalty.exponent * powers / s
        return float(quantised(value, VALUE_SPACING)), quantised(slope, SLOPE_SPACING)

    optimum = minimise_quantised(
        total,
        s,
        lower=MIN_SCALE,
        upper=MAX_SCALE,
        spacing=SCALE_SPACING,
        max_iterations=max_iterations,
        smallest_fall=MIN_RELATIVE_DECREASE,
        smallest_slope=MIN_RELATIVE_DECREASE,
    )
    end = optimum.x
    bound = unit * float(optimum.value - penalty.strength * (end**penalty.exponent).sum())
    # The derivatives by scales between the limits are 0 at the end, to within the stopping rule.
    pressed = np.where((end <= MIN_SCALE) | (end >= MAX_SCALE), optimum.slope, 0.0)
    keys = end - MIN_SCALE * pressed / max(np.abs(pressed).max(), np.finfo(float).tiny)
    return Round(features, end, keys, bound, optimum.n_evaluations, converged, starts)


def path_table(rounds: Sequence[Round], feature_names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Write the ends of descents as a table.

    Parameters
    ----------
    rounds : sequence of Round
    feature_names : sequence of str

    Returns
    -------
    dict of str to ndarray
        Columns `round` (from 0), `n_active` (features), `bound` (errors, all machines together), `n_evaluations`, and
        "scale of NAME" for each feature, 0 once it is out.
    """
    scales = np.zeros((len(rounds), len(feature_names)))
    for row, each in zip(scales, rounds, strict=True):
        row[each.features] = each.s
    return {
        "round": np.arange(len(rounds)),
        "n_active": np.array([len(each.features) for each in rounds], dtype=np.intp),
        "bound": np.array([each.bound for each in rounds], dtype=np.float64),
        "n_evaluations": np.array([each.n_evaluations for each in rounds], dtype=np.intp),
    } | {f"{SCALE_PREFIX}{name}": column for name, column in zip(feature_names, scales.T, strict=True)}


class BoundRanker(MachineRanker):
    """Scale the features so that a bound is small, drop those with small scales, and go on with the others.

    A subclass computes its bound in `_bounds`.
    """

    search: Literal["backward", "forward", "exhaustive"] = "backward"
    finish: Annotated[int, Ge(1)] = 1
    ridge: Annotated[float, Gt(0)] | None = None
    step: Annotated[int, Ge(1)] | Annotated[float, Gt(0), Lt(1)] = 0.5
    penalty: Annotated[float, Ge(0)] = 0.0
    exponent: Annotated[float, Gt(0), Le(2)] = 0.5
    max_iterations: Annotated[int, Ge(1)] = 50

    @abstractmethod
    def _bounds(
        self,
        gram: Array,
        labels: Array,
        machines: Sequence[DualSolution],
        rounding: Rounding,
        beta0: Array | None = None,
    ) -> Sequence[Bound]:
        """Return the bound of each machine on one Gram matrix (n, n), for labels (n_machines, n)."""

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        kernel = self._scaled_kernel(X)
        weights = kernel.feature_weights(X.shape[1])
        varies_and_weighs = np.ptp(X, axis=0) > 0 if weights is None else (np.ptp(X, axis=0) > 0) & (weights > 0)
        candidates = np.flatnonzero(varies_and_weighs)
        objective = BoundObjective(
            # A linear machine with a bias does not depend on the origin, and far from it loses digits.
            X=X - X.mean(axis=0) if kernel.is_linear else X,
            labels=machine_labels(y, n_classes)[0],
            kernel=kernel,
            ridge=self._ridge() if self.ridge is None else 0.0,
            relative_ridge=self.ridge or 0.0,
            bounds=self._bounds,
            tolerance=self.tolerance,
            solver=self.solver,
        )
        if not objective.separates(candidates, np.ones(len(candidates))):
            raise ValueError(
                f"{self.method}: the classes are not separable with this kernel, so that no hard margin exists; "
                "choose a finite C"
            )
        if self.search != "backward":
            self._check_search_without_descent(objective)
            return (self._add if self.search == "forward" else self._try_all)(objective, candidates)
        rounds = self._eliminate(objective, candidates) if len(candidates) > 1 else []
        self.converged_ = all(each.converged for each in rounds)
        self.diagnostics_["path"] = path_table(rounds, self._feature_names())
        self._note_ties(rounds)
        return places(rounds, candidates, self._priority)

    def _note_ties(self, rounds: Sequence[Round]) -> None:
        for each, later in itertools.zip_longest(rounds, rounds[1:]):
            stays = [] if later is None else later.features
            self._tied[each.features[tied_with(each.keys, np.flatnonzero(~np.isin(each.features, stays)))]] = True

    def _check_search_without_descent(self, objective: BoundObjective) -> None:
        if self.penalty > 0:
            raise ValueError(f"{self.method}: search '{self.search}' has no descent for a penalty; leave out one")
        if objective.ridge == objective.relative_ridge == 0:
            raise ValueError(f"{self.method}: search '{self.search}' needs a ridge; choose a finite C, or set ridge")

    def _add(self, objective: BoundObjective, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
        """Score the features by adding, one at a time, that with which the bound is least, at scales of 1."""
        added, left, keys = candidates[:0], candidates, np.zeros(len(candidates))
        rounds: list[Round] = []
        starts: Sequence[WarmStart] = ()
        for _ in range(min(self.finish, len(candidates))):
            s = np.ones(len(added) + 1)
            tried = [objective.at(np.append(added, feature), s, starts) for feature in left]
            keys = -np.array([point.value for point in tried])
            best = first_largest(keys, self._priority[left])
            added, left, keys = np.append(added, left[best]), np.delete(left, best), np.delete(keys, best)
            converged, starts = all(point.converged for point in tried), tried[best].starts
            rounds.append(Round(added, s, s, tried[best].value, len(tried), converged, starts))
        scores = np.zeros(objective.X.shape[1])
        last = left[order_of(keys, self._priority[left])]
        scores[np.append(added, last)] = len(candidates) - np.arange(len(candidates))
        self.converged_ = all(each.converged for each in rounds)
        self.diagnostics_["path"] = path_table(rounds, self._feature_names())
        return scores

    def _try_all(self, objective: BoundObjective, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
        """Score the features by the subset with the least bound, at scales of 1, among all of `finish` features.

        Its features come first, by the bound without each of them; then the others, by the least bound beside others.
        """
        size = min(self.finish, len(candidates))
        if math.comb(len(candidates), size) > MAX_SUBSETS:
            raise ValueError(
                f"{self.method}: search 'exhaustive' would try {math.comb(len(candidates), size):,} subsets of {size} "
                f"features, more than {MAX_SUBSETS:,}; choose another finish, or search 'forward'"
            )
        if not size:
            self.diagnostics_["path"] = path_table([], self._feature_names())
            return np.zeros(objective.X.shape[1])
        subsets = np.array([*itertools.combinations(range(len(candidates)), size)], dtype=np.intp)
        s = np.ones(size)
        tried = [objective.at(candidates[subset], s) for subset in subsets]
        keys = -np.array([point.value for point in tried])
        priority = self._priority[candidates]
        of_subsets = np.lexsort(np.sort(priority[subsets], axis=1).T[::-1]).argsort()
        first = first_largest(keys, of_subsets)
        best, bound = subsets[first], tried[first].value
        parts = [np.delete(best, i) for i in range(size)] if size > 1 else []
        smaller = [objective.at(candidates[part], s[1:]) for part in parts]
        inside = best[order_of(np.array([point.value for point in smaller]), priority[best])] if parts else best
        left = np.setdiff1d(np.arange(len(candidates)), best)
        beside = np.array([keys[(subsets == feature).any(axis=1)].max() for feature in left])
        scores = np.zeros(objective.X.shape[1])
        order = candidates[np.append(inside, left[order_of(beside, priority[left])])]
        scores[order] = len(candidates) - np.arange(len(candidates))
        self.converged_ = all(point.converged for point in (*tried, *smaller))
        n_tried = len(tried) + len(smaller)
        whole = Round(candidates[best], s, s, bound, n_tried, self.converged_, tried[first].starts)
        self.diagnostics_["path"] = path_table([whole], self._feature_names())
        return scores

    def _eliminate(self, objective: BoundObjective, active: NDArray[np.intp]) -> list[Round]:
        """Return the descents on ever fewer features, until one is left or a hard margin is lost."""
        s = np.ones(len(active))
        first = objective.at(active, s)
        starts: Sequence[WarmStart] = first.starts
        settings: dict[str, Any] = {
            "unit": first.value,
            "penalty": ScalePenalty(self.penalty / len(active), self.exponent),
            "max_iterations": self.max_iterations,
        }
        rounds: list[Round] = []
        while len(active) > 1 and objective.separates(active, s):
            end = descend(objective, active, s, starts=starts, **settings)
            if end.has_collapsed and objective.ridge > 0:
                objective = objective.relative(active, s)
                end = descend(objective, active, s, starts=starts, **settings)
            if self.penalty > 0:
                return [end]
            if len(active) <= self.finish:
                return rounds + _drop_by_bound(objective, end, settings, self._priority)
            rounds.append(end)
            n_kept = max(len(active) - n_dropped(self.step, len(active)), self.finish)
            kept = np.sort(order_of(end.keys, self._priority[active])[:n_kept])
            active, s, starts = active[kept], end.s[kept], end.starts
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


def _drop_by_bound(
    objective: BoundObjective, start: Round, settings: Mapping[str, Any], priority: NDArray[np.intp]
) -> list[Round]:
    """Drop one feature at a time, that without which the descended bound is least.

    Until one is left, or a hard margin is lost without any of them.
    """
    here, rounds = start, [start]
    while len(here.features) > 1:
        parts = [(np.delete(here.features, i), np.delete(here.s, i)) for i in range(len(here.features))]
        tried = [
            descend(objective, *part, starts=here.starts, **settings) if objective.separates(*part) else None
            for part in parts
        ]
        without = np.array([np.inf if each is None else each.bound for each in tried])
        worst = order_of(without, priority[here.features])[-1]
        end = tried[worst]
        if end is None:
            break
        if end.has_collapsed and objective.ridge > 0:
            objective = objective.relative(here.features, here.s)
            here = rounds[-1] = descend(objective, here.features, here.s, starts=here.starts, **settings)
            continue
        found = [each for each in tried if each is not None]
        rounds[-1] = replace(
            here,
            keys=without,
            n_evaluations=here.n_evaluations + sum(each.n_evaluations for each in found),
            converged=all(each.converged for each in (here, *found)),
        )
        here = end
        rounds.append(here)
    return rounds


def places(rounds: Sequence[Round], candidates: NDArray[np.intp], priority: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the place of each feature in the order of elimination.

    Parameters
    ----------
    rounds : sequence of Round
        On ever fewer features.
    candidates : ndarray of int
        The features of the first round; others score 0.
    priority : ndarray of int, shape (n_features,)
        Of features that tie the one with the least number has the better place.

    Returns
    -------
    ndarray, shape (n_features,)
        From 1, for the one that goes first, to the number of candidates; 0 for the others.
    """
    scores = np.zeros(len(priority))
    scores[candidates] = len(candidates)
    for each in rounds:
        # Those that are still in later overwrite their places.
        best_first = each.features[order_of(each.keys, priority[each.features])]
        scores[best_first] = len(candidates) - np.arange(len(best_first))
    return scores
