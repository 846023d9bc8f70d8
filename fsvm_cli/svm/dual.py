"""The dual problem of one binary support vector machine as a value, its solution, and the solution's certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from fsvm_cli.errors import FsvmError

Array = npt.NDArray[np.float64]
Solver = Literal["auto", "smo", "interior-point", "libsvm"]
ROWS_IN_CACHE = 128
"""How many rows of a matrix are looked at together."""


@dataclass(frozen=True, eq=False)
class DualProblem:
    """Maximise sum_i alpha_i - 1/2 alpha' Y (K + ridge I) Y alpha subject to 0 <= alpha <= C and y' alpha = 0.

    Attributes
    ----------
    gram : (n, n) array
        The symmetric Gram matrix K.
    y : (n,) array
        Labels, -1 or +1.
    C : (n,) array
        Upper bounds, > 0, infinity allowed. Given as a number it holds for every sample.
    equality : bool
        Whether the machine has a bias; without one the constraint y' alpha = 0 is absent (Gold et al. 2005, eq. (2)).
    ridge : float
        >= 0. The squared loss C/2 sum_i max(0, 1 - y_i f_i)^2 is C = infinity with a ridge of 1/C.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is out of range or not finite, or only one class is present while `equality`
        holds (alpha = 0 would be the only feasible point).
    """

    gram: Array
    y: Array
    C: Array
    equality: bool = True
    ridge: float = 0.0

    def __init__(
        self, gram: npt.ArrayLike, y: npt.ArrayLike, C: npt.ArrayLike, equality: bool = True, ridge: float = 0.0
    ) -> None:
        labels = np.ascontiguousarray(y, dtype=np.float64)
        matrix = np.ascontiguousarray(gram, dtype=np.float64)
        n = len(labels)
        bounds = np.asarray(C, dtype=np.float64)
        if matrix.shape != (n, n) or n == 0:
            raise ValueError(f"the Gram matrix has shape {matrix.shape}, the labels ask for {(n, n)}")
        if bounds.shape not in {(), (n,)}:
            raise ValueError(f"C has shape {bounds.shape}; it must be one number or one for each of {n} samples")
        if not _is_finite(matrix):
            raise ValueError("the Gram matrix holds values that are not finite")
        if not (np.abs(labels) == 1.0).all():
            raise ValueError("y must hold -1 and +1 only")
        if not (bounds > 0).all():
            raise ValueError("C must be > 0 (infinity is allowed)")
        if not (np.isfinite(ridge) and ridge >= 0):
            raise ValueError(f"ridge must be a finite number >= 0, not {ridge!r}")
        if equality and abs(labels.sum()) == n:
            raise ValueError("y holds one class only; a machine with a bias needs two")
        object.__setattr__(self, "gram", matrix)
        object.__setattr__(self, "y", labels)
        object.__setattr__(self, "C", np.full(n, bounds) if bounds.ndim == 0 else bounds)
        object.__setattr__(self, "equality", equality)
        object.__setattr__(self, "ridge", float(ridge))

    def objective(self, alpha: Array) -> float:
        """Return the dual objective at `alpha`, the value that is maximised."""
        return _objective(self, alpha, self.gram @ (alpha * self.y))

    def residuals(self, alpha: Array) -> Array:
        """Return y_i - f_i - ridge alpha_i y_i, the bias at which sample i lies on its margin, shape (n,)."""
        coefficients = alpha * self.y
        return self.y - self.gram @ coefficients - self.ridge * coefficients


@dataclass(frozen=True, eq=False)
class DualSolution:
    """What a solver found, with the certificate of how good it is.

    Attributes
    ----------
    alpha : (n,) array
        Feasible for the box and, up to rounding, the equality constraint.
    bias : float
        See `bias_of`; 0 for a machine without bias.
    objective : float
        The dual objective.
    duality_gap : float
        Relative, see `duality_gap`; infinity where no primal feasible point is at hand.
    iterations : int
        Of all solvers that took part.
    solver : str
        The solver that finished.
    converged : bool
        Whether the gap is within the tolerance that was asked for.
    """

    alpha: Array
    bias: float
    objective: float
    duality_gap: float
    iterations: int
    solver: str
    converged: bool


class ConvergenceError(FsvmError):
    """A fit missed its duality gap.

    Attributes
    ----------
    solution : DualSolution
        The best point that was found.
    """

    def __init__(self, message: str, solution: DualSolution) -> None:
        super().__init__(message)
        self.solution = solution


class InfeasibleError(ConvergenceError):
    """No machine satisfies hard-margin constraints: the classes are not separable and the dual is unbounded."""


def _is_finite(matrix: Array) -> bool:
    """Return whether no value is infinite or not a number, without a mask as large as the matrix."""
    starts = range(0, len(matrix), ROWS_IN_CACHE)
    return all(np.isfinite(matrix[start : start + ROWS_IN_CACHE]).all() for start in starts)


def bias_of(problem: DualProblem, alpha: Array) -> float:
    """Return the bias that belongs to `alpha`.

    The mean over the margin vectors (0 < alpha_i < C_i) of the bias at which each lies on its margin. Where there is
    none, every bias between the two bounds that the Karush-Kuhn-Tucker conditions leave is optimal, and the midpoint
    is returned, so that two correct solvers agree.

    Parameters
    ----------
    problem : DualProblem
    alpha : (n,) array

    Returns
    -------
    float
        In units of the decision value; 0 for a problem without equality constraint.
    """
    return _bias_of(problem, alpha, problem.gram @ (alpha * problem.y))


def _bias_of(problem: DualProblem, alpha: Array, values: Array) -> float:
    if not problem.equality:
        return 0.0
    residuals = problem.y - values - problem.ridge * alpha * problem.y
    on_margin = (alpha > 0) & (alpha < problem.C)
    if on_margin.any():
        return float(residuals[on_margin].mean())
    at_zero = alpha <= 0
    positive = problem.y > 0
    lower = residuals[at_zero == positive]
    upper = residuals[at_zero != positive]
    return float(0.5 * (lower.max() + upper.min()))


def duality_gap(problem: DualProblem, alpha: Array, bias: float) -> float:
    """Return the relative duality gap of a dual point and a bias, from the Gram matrix in double precision.

    The primal point is w = sum_i alpha_i y_i phi(x_i) with `bias`. Where samples without upper bound (hard margin) are
    within their margin, w and the bias are scaled up until they are not, which makes the point feasible.

    Parameters
    ----------
    problem : DualProblem
    alpha : (n,) array
        Within the box. The equality constraint is not checked: its violation times the bias is missed.
    bias : float

    Returns
    -------
    float
        primal - dual over the larger of the two, >= 0 up to rounding; infinity where no scaling makes the point
        feasible, 0 where both are 0. It is a sum of terms that vanish where the Karush-Kuhn-Tucker conditions hold, so
        for an indefinite Gram matrix a gap of 0 says that the point is stationary, not that it is the optimum.
    """
    return _duality_gap(problem, alpha, bias, problem.gram @ (alpha * problem.y))


def _duality_gap(problem: DualProblem, alpha: Array, bias: float, values: Array) -> float:
    norm = float((alpha * problem.y) @ values)
    margins = problem.y * (values + bias)
    scale = 1.0
    if problem.ridge == 0.0 and np.isinf(problem.C).any():
        smallest = float(margins[np.isinf(problem.C)].min())
        if smallest <= 0.0:
            return float("inf")
        scale = max(1.0, 1.0 / smallest)
    # A sum of terms >= 0 (Fenchel and Young): the difference of two large objectives would lose the digits.
    terms = _loss(problem, 1.0 - scale * margins) - alpha * (1.0 - margins) + 0.5 * problem.ridge * alpha**2
    gap = 0.5 * (scale**2 - 1.0) * norm + float(terms.sum())
    dual = _objective(problem, alpha, values)
    size = max(abs(dual), abs(dual + gap))
    return 0.0 if size == 0.0 else gap / size


def certificate(problem: DualProblem, alpha: Array) -> tuple[float, float, float]:
    """Return the bias, the relative duality gap and the dual objective at `alpha`, from one product with K.

    Parameters
    ----------
    problem : DualProblem
    alpha : (n,) array
        Within the box.

    Returns
    -------
    bias : float
        See `bias_of`.
    gap : float
        See `duality_gap`.
    objective : float
    """
    values = problem.gram @ (alpha * problem.y)
    bias = _bias_of(problem, alpha, values)
    return bias, _duality_gap(problem, alpha, bias, values), _objective(problem, alpha, values)


def _objective(problem: DualProblem, alpha: Array, values: Array) -> float:
    quadratic = (alpha * problem.y) @ values + problem.ridge * (alpha @ alpha)
    return float(alpha.sum() - 0.5 * quadratic)


def _loss(problem: DualProblem, slack: Array) -> Array:
    """Return max over 0 <= a <= C of a slack - ridge/2 a^2: hinge, squared hinge, or the two joined."""
    active = np.maximum(slack, 0.0)
    if problem.ridge == 0.0:
        return np.where(np.isinf(problem.C), 0.0, problem.C) * active
    a = np.minimum(active / problem.ridge, problem.C)
    return np.asarray(a * active - 0.5 * problem.ridge * a**2, dtype=np.float64)
