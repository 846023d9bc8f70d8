"""What the kernels exp(-s / theta) of a distance s have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import annotated_types
import numpy as np

from fsvm_cli.svm.kernels.additive import ScaledKernel, Weights

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array


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

    def scaled_to(self, X: Array) -> Self:
        """Return the kernel with a theta in proportion to the distances between samples.

        Parameters
        ----------
        X : (n, d) array
            Training samples.

        Returns
        -------
        Kernel
            With theta the sum of the columns' variances where distances are squared, and of their standard deviations
            where they are not; 1 where all columns are constant. Of columns with one mean it is that of scikit-learn's
            ``gamma="scale"``, which an offset of a single column makes larger.
        """
        varies = np.asarray(X.min(axis=0) < X.max(axis=0))  # of equal values the mean is rounded
        spread = np.var if self.weight_exponent == 2 else np.std
        theta = float(spread(X[:, varies], axis=0).sum())
        return replace(self, theta=theta if np.isfinite(theta) and theta > 0 else 1.0)
