"""What the kernels exp(-s / theta) of a distance s have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import annotated_types

from fsvm_cli.svm.kernels.additive import ScaledKernel, Weights


@dataclass(frozen=True)
class ExponentialKernel(ScaledKernel):
    """A kernel K(u, v) = exp(-s(u, v) / theta), where s is a distance.

    Attributes
    ----------
    theta : float
        > 0, in units of the distance.
    weights : tuple of float or None
        One per feature, >= 0.
    """

    is_bounded: ClassVar[bool] = True
    theta: Annotated[float, annotated_types.Gt(0.0)] = 1.0
    weights: Weights = None

    @property
    def roughness(self) -> tuple[float, ...]:
        """One over theta."""
        return (1.0 / self.theta, 0.0)
