"""Descent along the feature weights of a kernel, kpd2018: its steps, its path, and which features survive it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.grid import on_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.ranking.descent_objective import Objective, Point


def descend(objective: Objective, v: NDArray[np.float64], settings: DescentSettings) -> DescentPath:
    """Follow the gradient from some weights until a stopping rule holds or no feature is left.

    The step is that of kpd2018, section 3.4: the median of the active weights moves by ε, but none by more than θ times
    its derivative. A step that would raise the saddle objective is halved until it does not.

    Parameters
    ----------
    objective : Objective
    v : ndarray, shape (n_features,)
        The start.
    settings : DescentSettings

    Returns
    -------
    DescentPath
    """
    here = objective.at(v, np.zeros(len(objective.y)))
    weights, objectives, certified = [here.v], [here.objective], here.converged
    stopped, step, longest = False, np.inf, np.inf
    while not stopped and len(weights) <= settings.max_iterations:
        gradient = objective.gradient(here)
        if not (np.isfinite(here.objective) and np.isfinite(gradient).all()):
            raise FloatingPointError("the objective of the descent or its derivative is not a number")
        automatic = settings.threshold / max(np.median(np.abs(gradient[here.v > 0])), np.finfo(float).tiny)
        if len(weights) == 1:
            longest = settings.max_step * automatic
        # Twice the last step, so that a step that had to be halved is not halved again each time.
        step = min(longest, 2 * step, automatic)
        while True:
            there = objective.at(_stepped(objective, here, gradient, step, settings), here.alpha)
            change = float(np.abs(there.v - here.v).sum())
            # A step that has been halved until it moves nothing ends the descent, whatever the bounds.
            stopped = change == 0 or change < max(settings.relative_change * here.v.sum(), settings.absolute_change)
            descends = objective.variant == "as-printed" or there.objective <= here.objective
            if descends or stopped:
                break
            step /= 2
        if descends:
            here = there
            weights.append(here.v)
            objectives.append(here.objective)
            certified &= here.converged
            stopped |= not here.v.any()
    return DescentPath(
        weights=np.array(weights),
        objective=np.array(objectives),
        n_active=np.count_nonzero(weights, axis=1),
        converged=stopped and certified,
    )


def _stepped(
    objective: Objective, here: Point, gradient: NDArray[np.float64], step: float, settings: DescentSettings
) -> NDArray[np.float64]:
    """Return the weights after the inner iterations at fixed alpha, the first of them along `gradient`."""
    v = here.v
    for iteration in range(settings.inner_iterations):
        slope = gradient if iteration == 0 else objective.gradient(objective.moved(here, v))
        moved = on_grid(np.where(v > 0, v - step * slope, 0.0), settings.spacing)
        moved[moved < settings.threshold] = 0.0
        if not moved.any():
            return moved
        v = moved * (v.sum() / moved.sum()) if objective.keeps_total else moved
    return v


def path_table(paths: Sequence[DescentPath], feature_names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Write descents as a table.

    Parameters
    ----------
    paths : sequence of DescentPath
        Of each machine.
    feature_names : sequence of str

    Returns
    -------
    dict of str to ndarray
        Columns `machine` (from 0), `iteration` (from 0), `objective`, `n_active` (features), and "weight of NAME" for
        each feature, below each other for all machines.
    """
    lengths = [len(path.objective) for path in paths]
    weights = np.concatenate([path.weights for path in paths])
    return {
        "machine": np.repeat(np.arange(len(paths)), lengths),
        "iteration": np.concatenate([np.arange(length) for length in lengths]),
        "objective": np.concatenate([path.objective for path in paths]),
        "n_active": np.concatenate([path.n_active for path in paths]),
    } | {f"weight of {name}": column for name, column in zip(feature_names, weights.T, strict=True)}


def survival(path: DescentPath) -> NDArray[np.float64]:
    """Score the features by how long the descent kept them.

    With t_j the last iteration in which feature j is active, and v(t) the weights at it,

        (t_j + v_j(t_j) / max_k v_k(t_j)) / (1 + max_k t_k)

    Parameters
    ----------
    path : DescentPath

    Returns
    -------
    ndarray, shape (n_features,)
        Between 0 and 1.
    """
    last = np.maximum(np.count_nonzero(path.weights, axis=0) - 1, 0)
    weights = path.weights[last, np.arange(len(last))]
    scores: NDArray[np.float64] = (last + weights / path.weights.max(axis=1)[last]) / (1 + last.max())
    return scores


@dataclass(frozen=True)
class DescentSettings:
    """How the descent steps and when it ends.

    Attributes
    ----------
    threshold : float
        ε: weights below it become 0. In units of the weights.
    max_step : float
        θ, the largest step, in units of the first automatic one; infinity for the automatic one alone.
    inner_iterations : int
        Steps before the machine is trained again.
    relative_change, absolute_change : float
        ζ: the descent ends when the weights change by less, in the 1-norm.
    max_iterations : int
    """

    threshold: float
    max_step: float
    inner_iterations: int
    relative_change: float
    absolute_change: float
    max_iterations: int

    @property
    def spacing(self) -> float:
        """Of the weights along the descent, a power of 2: the threshold over 8,192 to 16,384."""
        return 2.0 ** (math.frexp(self.threshold)[1] - 14)


@dataclass(frozen=True, eq=False)
class DescentPath:
    """Where the descent of one machine went.

    Attributes
    ----------
    weights : ndarray, shape (n_iterations + 1, n_features)
        v, beginning with the start; 0 once a feature is eliminated.
    objective : ndarray, shape (n_iterations + 1,)
    n_active : ndarray of int, shape (n_iterations + 1,)
        Features that are not eliminated.
    converged : bool
        Whether all machines on the way reached their duality gap, and the descent a stopping rule.
    """

    weights: NDArray[np.float64]
    objective: NDArray[np.float64]
    n_active: NDArray[np.intp]
    converged: bool
