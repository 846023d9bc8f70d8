"""Concave quadratic programmes on the simplex, by the machines' own solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.solvers.active_set import STEPS_PER_SAMPLE, make_scratch, maximise
from fsvm_cli.svm.solvers.optimality import refresh

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array


class Simplex:
    """Programmes of one size, in the same memory.

    Parameters
    ----------
    n : int
        Unknowns.

    Notes
    -----
    A programme has the form of the dual of a support vector machine with the labels `linear` in place of -1 and 1,
    bounds 0 and 1, and a further sample, with zeros for a kernel, whose coefficient is fixed at -1.
    """

    def __init__(self, n: int) -> None:
        self._bordered, self._y = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
        self._box, self._factor = make_scratch(n + 1)
        self._box.upper[:n] = 1.0
        self._box.lower[n] = self._box.upper[n] = -1.0

    def maximise(
        self, K: Array, linear: Array, start: Array, max_violation: float, *, lower: Array | float = 0.0
    ) -> Array:
        """Maximise linear' b - 1/2 b' K b over b >= lower with a sum of 1.

        Parameters
        ----------
        K : (n, n) array
            Positive semidefinite; best in units in which its largest entries are about 1.
        linear : (n,) array
        start : (n,) array
            A point of the simplex, above the lower bounds.
        max_violation : float
            The largest difference of two entries of the gradient, linear - K b, by which b may miss the optimality
            conditions; > 0.
        lower : float or (n,) array
            Each in 0 .. 1.

        Returns
        -------
        (n,) array
            Of the simplex up to rounding; the best point that was found where rounding stands in the way.
        """
        box, y, n = self._box, self._y, len(linear)
        self._bordered[:n, :n], y[:n] = K, linear
        box.lower[:n], box.c[:n], box.c[n] = lower, start, -1.0
        refresh(self._bordered, y, box)
        maximise(self._bordered, y, box, self._factor, max_violation, STEPS_PER_SAMPLE * (n + 1))
        found: Array = box.c[:n] / box.c[:n].sum()
        return found
