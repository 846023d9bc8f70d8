"""How a machine and its value change with the shares of the kernels: a Newton step, and what it promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.kernel_learning.margin import Margin
    from fsvm_cli.kernel_learning.trained import Trained
    from fsvm_cli.svm.vectors import Array


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
        alpha, free, solved = point.machine.alpha, point.free, point.solved
        inside = (alpha[free] > 0.0) & (alpha[free] < margin.bound)
        if len(free) < 2 or not inside.all() or not np.isfinite(solved).all():
            m = len(point.shares)
            return cls(np.zeros((m, m)), alpha, margin.bound, free[:0], np.zeros((m, 0)))
        sums = solved.sum(axis=1)
        # The bias takes away what would change the sum of c, which is 0.
        responses = solved[:-1] - (sums[:-1] / sums[-1])[:, None] * solved[-1]
        curvature = responses @ point.products.take(free, axis=1).T
        return cls(0.5 * (curvature + curvature.T), alpha, margin.bound, free, responses * -y[free])

    def alpha_after(self, direction: Array) -> Array:
        """Return the alpha that a change of the shares leads to, at first order and as far as the box allows."""
        change = direction @ self.responses
        own = self.alpha[self.free]
        room = np.where(change < 0.0, own, self.bound - own)
        shortening = (np.abs(change) / room).max(initial=1.0)
        alpha = self.alpha.copy()
        alpha[self.free] = np.clip(own + change / shortening, 0.0, self.bound)
        return alpha
