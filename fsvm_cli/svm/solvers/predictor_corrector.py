"""Mehrotra's predictor and corrector for problems whose variables lie between bounds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    import numpy.typing as npt

    from fsvm_cli.svm.vectors import Array

TO_BOUNDARY = 0.995
"""Part of the way to the boundary that a step may go."""


@dataclass
class InnerPoint:
    """A point strictly between the bounds of alpha.

    Attributes
    ----------
    alpha : (n,) array
    slack : (n,) array
        C - alpha, 1 where there is no upper bound. It is kept apart, for the subtraction would lose its digits.
    z, xi : (n,) arrays
        The multipliers of the lower and of the upper bound; xi, which is 0 where there is none, is what the sample
        loses.
    """

    alpha: Array
    slack: Array
    z: Array
    xi: Array

    def moved(self, step: Self, for_alpha: float, for_others: float) -> Self:
        """Return the point after a step, of which alpha with its slack and all other fields may go different parts."""
        parts = {"alpha": for_alpha, "slack": for_alpha}
        names = [field.name for field in fields(self)]
        moved = {name: getattr(self, name) + parts.get(name, for_others) * getattr(step, name) for name in names}
        return type(self)(**moved)

    def complementarity(self) -> float:
        """Return alpha'z + slack'xi, which is 0 at the optimum."""
        return float(self.alpha @ self.z + self.slack @ self.xi)

    def is_finite(self) -> bool:
        """Return whether rounding has left the point one to go on from."""
        return all(bool(np.isfinite(part).all()) for part in (self.alpha, self.z, self.xi))


Point = TypeVar("Point", bound=InnerPoint)


def predict_and_correct(at: Point, bounded: npt.NDArray[np.bool_], direction: Callable[[Array, Array], Point]) -> Point:
    """Take one step of Mehrotra (1992).

    Parameters
    ----------
    at : InnerPoint
    bounded : (n,) array
        Where there is an upper bound.
    direction : callable
        Solves the Newton equations for the targets alpha z + lower = 0 and slack xi + upper = 0, given lower and upper.
    """
    n_barriers = len(bounded) + int(bounded.sum())
    mu = at.complementarity() / n_barriers
    predictor = direction(at.alpha * at.z, at.slack * at.xi)
    predicted = at.moved(predictor, *_lengths(at, predictor)).complementarity() / n_barriers
    target = mu * (max(predicted, 0.0) / mu) ** 3
    corrector = direction(
        at.alpha * at.z + predictor.alpha * predictor.z - target,
        (at.slack * at.xi + predictor.slack * predictor.xi - target) * bounded,
    )
    for_alpha, for_others = _lengths(at, corrector)
    return at.moved(corrector, TO_BOUNDARY * for_alpha, TO_BOUNDARY * for_others)


def _lengths(at: InnerPoint, step: InnerPoint) -> tuple[float, float]:
    """Return how far alpha and the multipliers may go along a step, at most 1."""
    return min(_longest(at.alpha, step.alpha), _longest(at.slack, step.slack)), min(
        _longest(at.z, step.z), _longest(at.xi, step.xi)
    )


def _longest(values: Array, step: Array) -> float:
    """Return the longest step, at most 1, that keeps all values >= 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.min(np.where(step < 0.0, -values / step, 1.0), initial=1.0))
