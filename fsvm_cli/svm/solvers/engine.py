"""The compiled solver with its certificate: steps until the duality gap, not the violation alone, is in tolerance."""

from __future__ import annotations

import numpy as np
from numba import njit

from fsvm_cli.svm.solvers.active_set import CONVERGED, INFEASIBLE, OUT_OF_BUDGET, STALLED, maximise
from fsvm_cli.svm.solvers.conclusion import conclude
from fsvm_cli.svm.solvers.factor import Factor, make_factor
from fsvm_cli.svm.solvers.pair_steps import Box, make_box
from fsvm_cli.svm.vectors import COMPILED, Array

VIOLATION = 1e-5
"""The violation to reach, in tolerances. So small that only a Newton step, which is exact but for rounding, ends a fit:
where the Gram matrix is nearly singular, a violation of 1e-3 left decision values off by the width of a tie."""
TIGHTENINGS = 8
"""How often the violation to reach is made a hundredth. Where no violation is left and the gap is still too large,
rounding stands in the way: on kernel values near 1e10 this would go on for ever."""
STEPS_PER_SAMPLE = 100
"""The budget of the fast solver; at about this point the interior-point method would have been done."""


def make_scratch(n: int) -> tuple[Box, Factor]:
    """Return the memory that problems of n samples need, reusable from one to the next.

    Not compiled: numpy asks for large pages, numba's allocator does not, and on small ones the first use of a matrix
    of some megabytes costs as much as a fit.
    """
    return make_box(n), make_factor(n)


@njit(**COMPILED)
def maximise_certified(  # noqa: PLR0917
    K: Array, y: Array, box: Box, factor: Factor, tolerance: float, budget: int
) -> tuple[int, int, float, float]:
    """Run `maximise`, ever tighter, until the relative duality gap is within the tolerance.

    The box has residuals on entry; see `maximise`.

    Returns
    -------
    status : int
        CONVERGED if and only if the gap is reached; else what `maximise` said last.
    steps : int
    bias : float
    gap : float
    """
    violation, steps, bias, gap = VIOLATION * tolerance, 0, 0.0, np.inf
    for _ in range(TIGHTENINGS):
        status, taken = maximise(K, y, box, factor, violation, budget - steps)
        steps += taken
        bias, gap = conclude(K, y, box, tolerance)
        if status == INFEASIBLE:
            return status, steps, bias, gap
        if gap <= tolerance:
            return CONVERGED, steps, bias, gap
        if np.isnan(gap):  # kernel values that are not finite
            return OUT_OF_BUDGET, steps, bias, gap
        if status != CONVERGED:
            return status, steps, bias, gap
        violation *= 1e-2
    return STALLED, steps, bias, gap
