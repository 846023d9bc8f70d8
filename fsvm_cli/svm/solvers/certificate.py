"""The certificate of a dual point: its bias, its duality gap, and what keeps the gap from being smaller."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.solvers.optimality import BOUND_TOLERANCE, accurate_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.solvers.dual import BinaryProblem, DualSolution, Residuals

MAX_GAP_ROUNDING = 1e-9
"""A gap that rounding may change by more than this is computed again in twice the precision."""
MIN_LARGE_KERNEL_VALUE = 1e5
"""Below this value of the largest kernel value and C, a missed gap is attributed to a tolerance that is too small."""
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


def on_bounds(problem: BinaryProblem, alpha: Array) -> Array:
    """Return alpha with entries that only rounding separates from a bound set to it; see `conclusion.put_on_bounds`.

    Parameters
    ----------
    problem : BinaryProblem
    alpha : (n,) array

    Returns
    -------
    (n,) array
        In the box.
    """
    influence = np.abs(problem.diagonal() + problem.ridge)
    largest, farthest = np.max(np.abs(alpha)), np.max(np.abs(alpha * influence))
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = np.where(largest * influence <= farthest, largest, farthest / influence)
    above = problem.C - alpha
    near = np.minimum(alpha, above) <= BOUND_TOLERANCE * unit
    return np.where(near, np.where(alpha <= above, 0.0, problem.C), alpha)


def bias_of(problem: BinaryProblem, alpha: Array) -> float:
    """Return the bias that belongs to `alpha`.

    The mean over the margin vectors (0 < alpha_i < C_i) of the bias at which each lies on its margin. Where there is
    none, every bias between the two bounds that the Karush-Kuhn-Tucker conditions leave is optimal, and the midpoint
    is returned, so that two correct solvers agree. What only rounding separates from a bound is on it.

    Parameters
    ----------
    problem : BinaryProblem
    alpha : (n,) array

    Returns
    -------
    float
        In units of the decision value; 0 for a problem without equality constraint.
    """
    rounded = on_bounds(problem, alpha)
    return _bias_of(problem, rounded, problem.bounded_residuals(rounded))


def _bias_of(problem: BinaryProblem, alpha: Array, residuals: Residuals) -> float:
    if not problem.equality:
        return 0.0
    on_margin = (alpha > 0) & (alpha < problem.C)
    if on_margin.any():
        return float(residuals.values[on_margin].mean())
    at_zero = alpha <= 0
    positive = problem.y > 0
    lower = residuals.values[at_zero == positive].max(initial=-np.inf)
    upper = residuals.values[at_zero != positive].min(initial=np.inf)
    return float(0.5 * (lower + upper))


def duality_gap(problem: BinaryProblem, alpha: Array, bias: float) -> float:
    """Return an upper bound of the relative duality gap of a dual point and a bias.

    The primal point is w = sum_i alpha_i y_i phi(x_i) with `bias`. Where samples without upper bound (hard margin) are
    within their margin, w and the bias are scaled up until they are not, which makes the point feasible. Where the
    problem has bounds on the rounding of its kernel values, the bound is for exact kernel values, and losses are those
    of outputs as a machine computes them.

    Parameters
    ----------
    problem : BinaryProblem
    alpha : (n,) array
        Within the box. By what it violates the equality constraint, times the bias, the bound is larger.
    bias : float

    Returns
    -------
    float
        primal - dual over the larger of the two, plus the most that rounding can have taken from it, so that the gap in
        exact arithmetic is no larger; infinity where no scaling makes the point feasible. It is a sum of terms that
        vanish where the Karush-Kuhn-Tucker conditions hold, so for an indefinite Gram matrix a gap of 0 means that the
        point is stationary, not that it is the optimum.
    """
    gap, bound = _gaps(problem, alpha, bias, problem.bounded_residuals(alpha))
    if not bound - gap <= MAX_GAP_ROUNDING:
        gap, bound = _gaps(problem, alpha, bias, problem.bounded_residuals(alpha, sharp=True))
    return bound


def with_rounding(gap: float, rounding: float) -> float:
    """Return the most that a relative gap can be where rounding changes gap and objectives by a part of the larger one.

    The difference of two numbers is no more than twice the larger one.
    """
    return min((gap + rounding) / (1.0 - rounding), 2.0) if rounding < 1.0 else 2.0


def stated(problem: BinaryProblem, found: DualSolution, tolerance: float) -> DualSolution:
    """Return a solution unchanged if the machine that predicts is within the tolerance; else scaled up, or flagged.

    See `scaled_up`. A solution that still misses the tolerance has the gap of the machine that predicts.

    Parameters
    ----------
    problem : BinaryProblem
        With bounds on the rounding of its kernel values.
    found : DualSolution
    tolerance : float
        The relative duality gap that was asked for.
    """
    if not found.converged or found.duality_gap > tolerance:  # converged above the tolerance: it was stopped on request
        return found
    gap = duality_gap(problem, found.alpha, found.bias)
    if gap <= tolerance:
        return found
    return scaled_up(problem, found, tolerance) or replace(found, duality_gap=min(gap, 2.0), converged=False)


def scaled_up(problem: BinaryProblem, found: DualSolution, tolerance: float) -> DualSolution | None:
    """Scale a machine up until no sample with alpha_i < C_i is within its margin, whatever the rounding.

    Where C is large and the coefficients are tiny, C times the rounding of a residual is more than the tolerance, and
    what the scale adds is not.

    Parameters
    ----------
    problem : BinaryProblem
    found : DualSolution
    tolerance : float
        Of the relative duality gap, > 0.

    Returns
    -------
    DualSolution or None
        The machine scaled up, where that is within the tolerance.
    """
    residuals = problem.bounded_residuals(found.alpha, sharp=True)
    slack = problem.y * (residuals.values - found.bias) + problem.ridge * found.alpha
    factor = _scales(problem, slack, residuals.error + EPSILON * np.abs(slack), found.alpha < problem.C)[1]
    if not np.isfinite(factor):
        return None
    factor += factor - 1.0  # the scaled machine is rounded, too
    alpha, bias = np.minimum(factor * found.alpha, problem.C), factor * found.bias
    gap = duality_gap(problem, alpha, bias)
    if gap > tolerance:
        return None
    objective = problem.objective(alpha)
    return replace(found, alpha=alpha, bias=bias, objective=objective, duality_gap=gap, converged=True)


def _gaps(problem: BinaryProblem, alpha: Array, bias: float, residuals: Residuals) -> tuple[float, float]:
    """Return the relative duality gap as computed, and an upper bound whatever the rounding.

    The numpy form of `conclusion.compiled_gaps`, with the smaller loss that a ridge allows.
    """
    y, n = problem.y, len(problem.y)
    coefficients, ridge = alpha * y, problem.ridge * alpha
    slack = y * (residuals.values - bias) + ridge
    error = residuals.error + EPSILON * (np.abs(slack) + 2.0 * ridge)
    scale, steepest = _scales(problem, slack, error, np.isinf(problem.C))
    if np.isinf(scale):
        return float("inf"), float("inf")
    gains, lengths = 0.5 * coefficients * (y + residuals.values), coefficients * (y - residuals.values - ridge * y)
    dual, norm = float(gains.sum()), float(lengths.sum())
    blur = 2.0 * EPSILON * n * float(np.abs(gains).sum()) + float(alpha @ error)
    norm_error = EPSILON * (n + 4) * float(np.abs(lengths).sum()) + float(alpha @ error)
    if residuals.distance:
        # The normal vector w of the residuals is not that of alpha, v: the objectives at w and at alpha differ by the
        # terms below and |w - v|^2 / 2, and their estimates of w'v by no more than |w - v| |w|.
        apart = residuals.distance * (math.sqrt(max(norm, 0.0)) + residuals.distance)
        blur, norm_error = blur + apart, norm_error + apart

    def terms(at: Array, by: float) -> Array:
        # >= 0 each (Fenchel and Young): the difference of two large objectives would lose the digits.
        return _loss(problem, by * at - (by - 1.0)) - alpha * at + 0.5 * ridge * alpha

    gap = 0.5 * (scale**2 - 1.0) * norm + float(terms(slack, scale).sum())
    with np.errstate(invalid="ignore"):
        worst = float(np.maximum(terms(slack + error, steepest), terms(slack - error, steepest)).sum())
        worst += 0.5 * (steepest**2 - 1.0) * (norm + norm_error)
    sizes = _loss(problem, slack + error) + alpha * (np.abs(slack) + ridge)
    worst += 4.0 * EPSILON * float(sizes.sum()) + blur
    unbalanced = abs(accurate_sum(coefficients)) + (EPSILON * n) ** 2 * float(alpha.sum())
    worst += abs(bias) * unbalanced + 0.5 * residuals.distance**2
    size = max(abs(dual), abs(dual + gap))
    if size == 0.0:
        return 0.0, 0.0 if worst == 0.0 else float("inf")
    sure = size - blur - abs(worst - gap)
    return float(gap / size), float(worst / sure) if sure > 0.0 else float("inf")


def _scales(problem: BinaryProblem, slack: Array, error: Array, outside: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the factors of w and the bias that bring the samples `outside` to their margin or beyond it.

    One for the residuals as they are, one for the worst end of their errors; infinity where no factor does it.
    """
    if problem.ridge > 0.0 or not outside.any():
        return 1.0, 1.0
    margins, shifts = 1.0 - slack[outside], error[outside] + 4.0 * EPSILON * (1.0 + np.abs(slack[outside]))
    smallest, least = margins.min(), (margins - shifts).min()
    return _factor(float(smallest)), _factor(float(least))


def _factor(margin: float) -> float:
    """Return what a margin is multiplied by until it is 1 or more; infinity where nothing does it."""
    return max(1.0, 1.0 / margin) if margin > 0.0 else float("inf")


def certificate(
    problem: BinaryProblem, alpha: Array, tolerance: float, known: Residuals | None = None
) -> tuple[float, float, float]:
    """Return the bias, the relative duality gap and the dual objective at `alpha`.

    Parameters
    ----------
    problem : BinaryProblem
    alpha : (n,) array
        As from `on_bounds`.
    tolerance : float
        The gap to reach. Where the gap is within it and its upper bound is not, both are computed again in twice the
        precision.
    known : Residuals, optional
        Those at `alpha`, where they are at hand; then nothing is computed again.

    Returns
    -------
    bias : float
        See `bias_of`.
    gap : float
        See `duality_gap`.
    objective : float
    """
    residuals = problem.bounded_residuals(alpha) if known is None else known
    bias = _bias_of(problem, alpha, residuals)
    gap, bound = _gaps(problem, alpha, bias, residuals)
    if known is None and gap <= tolerance and not bound <= tolerance:
        residuals = problem.bounded_residuals(alpha, sharp=True)
        bias = _bias_of(problem, alpha, residuals)
        gap, bound = _gaps(problem, alpha, bias, residuals)
    return bias, bound, 0.5 * float((alpha * problem.y) @ (problem.y + residuals.values))


def cause_of_failure(problem: BinaryProblem, alpha: Array, bias: float, tolerance: float) -> str:
    """Return which number is too large for the tolerance in double precision; empty where none is.

    A residual is a sum of kernel values times coefficients, and a gap a sum of residuals times C. What rounding does to
    both is computed where the solver ended, and estimated for coefficients near C, which the solver may not have
    reached. Of the largest kernel value and C the larger is named.

    Parameters
    ----------
    problem : BinaryProblem
    alpha : (n,) array
    bias : float
    tolerance : float
    """
    residuals = problem.bounded_residuals(alpha)
    near = np.abs(residuals.values - bias) <= residuals.error
    size = max(abs(problem.objective(alpha)), SMALLEST_NORMAL)
    C = np.where(np.isinf(problem.C), alpha, problem.C)
    here = float(alpha @ residuals.error + (C * residuals.error)[near].sum()) / size
    largest, largest_C = problem.largest_kernel_value(), float(C.max())
    if here <= tolerance and largest * largest_C * EPSILON <= tolerance:
        return ""
    if max(largest, largest_C) < MIN_LARGE_KERNEL_VALUE:
        return "so small a gap is beyond double precision"
    if largest >= largest_C:
        return f"kernel values up to {largest:.1e} are too large for double precision; scale the features"
    return f"C = {largest_C:g} is too large for double precision with kernel values up to {largest:.1e}"


def _loss(problem: BinaryProblem, slack: Array) -> Array:
    """Return max over 0 <= a <= C of a slack - ridge/2 a^2: hinge, squared hinge, or the two joined."""
    active = np.maximum(slack, 0.0)
    if problem.ridge == 0.0:
        return np.where(np.isinf(problem.C), 0.0, problem.C) * active
    a = np.minimum(active / problem.ridge, problem.C)
    return np.asarray(a * active - 0.5 * problem.ridge * a**2, dtype=np.float64)
