"""How a machine and its value change with the shares of the kernels: a Newton step, and what it promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.kernel_learning.margin import Margin
    from fsvm_cli.kernel_learning.trained import Trained
    from fsvm_cli.svm.vectors import Array

SHIFT = 1e-10
"""On the diagonal of the free samples' Gram matrix, as a part of its largest entry: they may depend on each other."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """Derivatives by the shares, while the samples on the bounds stay there.

    With c = alpha y, the machine's own equations on the free samples give dc/ds_i = -P K_i c, P being the inverse of
    their Gram matrix bordered with the bias, and so the second derivative of the value, (K_i c)' P (K_j c)
    (Chapelle and Rakotomamonjy 2008).

    Attributes
    ----------
    curvature : (m, m) array
        Second derivative of the value.
    alpha : (n,) array
        The machine's.
    bound : float
        Upper bound of alpha.
    free : (n_free,) array of int
        The samples whose alpha lies between its bounds.
    responses : (m, n_free) array
        Derivatives of their alpha.
    """

    curvature: Array
    alpha: Array
    bound: float
    free: npt.NDArray[np.intp]
    responses: Array

    @classmethod
    def of(cls, point: Trained, y: Array, margin: Margin) -> Expansion:
        """Expand around the shares of a machine; where rounding forbids it, nothing changes."""
        alpha = point.machine.alpha
        free = np.flatnonzero((alpha > 0.0) & (alpha < margin.bound))
        n_kernels = len(point.shares)
        solved = _solve(point, free, margin.ridge) if len(free) > 1 else None
        if solved is None:
            return cls(np.zeros((n_kernels, n_kernels)), alpha, margin.bound, free, np.zeros((n_kernels, len(free))))
        sums = solved.sum(axis=1)
        # The bias takes away what would change the sum of c, which is 0.
        responses = solved[:-1] - (sums[:-1] / sums[-1])[:, None] * solved[-1]
        curvature = responses @ point.products[:, free].T
        return cls(0.5 * (curvature + curvature.T), alpha, margin.bound, free, responses * -y[free])

    def alpha_after(self, direction: Array) -> Array:
        """Return the alpha that a change of the shares leads to, at first order and as far as the box allows."""
        change = direction @ self.responses
        own = self.alpha[self.free]
        with np.errstate(divide="ignore"):
            room = np.where(change < 0.0, own, self.bound - own) / np.abs(change)
        alpha = self.alpha.copy()
        alpha[self.free] = np.clip(own + room.min(initial=1.0) * change, 0.0, self.bound)
        return alpha


def _solve(point: Trained, free: npt.NDArray[np.intp], ridge: float) -> Array | None:
    """Solve for the kernels' products with c, and for ones, on the free samples, (m + 1, n_free); None by rounding."""
    block = point.gram.take(free, axis=0).take(free, axis=1)  # a third of the time of both at once
    block.flat[:: len(free) + 1] += ridge
    # A machine with a bias does not depend on a constant, which makes the block positive definite.
    scale = float(block.diagonal().max())
    block += scale
    block.flat[:: len(free) + 1] += SHIFT * scale
    right = np.ones((len(point.shares) + 1, len(free)))
    right[:-1] = point.products[:, free]
    solved, failed = lapack.dposv(block.T, right.T, lower=1, overwrite_a=1, overwrite_b=1)[1:]
    return None if failed else solved.T
