"""The cost of margin violations, and the machine on a learned sum of kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from fsvm_cli.kernel_learning import MarginKind
from fsvm_cli.svm.solvers.dual import DualProblem

if TYPE_CHECKING:
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.solvers.dual import DualSolution


@dataclass(frozen=True)
class Margin:
    """What violations xi_i of the margin cost, Lanckriet et al. (2004), section 4.

    Attributes
    ----------
    kind : {"hard", "1-norm", "2-norm", "learned-2-norm"}
        None are allowed; C sum_i xi_i; C/2 sum_i xi_i^2, which is a hard margin with a ridge of 1/C on the Gram matrix;
        the same with a ridge that is learned, as the weight of one more kernel.
    C : float
        > 0 and finite; infinity where there is none, with a hard margin and a learned ridge.

    Raises
    ------
    ValueError
        If C is out of range.
    """

    kind: MarginKind = "1-norm"
    C: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in get_args(MarginKind):
            raise ValueError(f"margin must be one of {', '.join(get_args(MarginKind))}, not {self.kind!r}")
        if self.kind in {"hard", "learned-2-norm"}:
            object.__setattr__(self, "C", math.inf)
        elif not (self.C > 0 and math.isfinite(self.C)):
            raise ValueError(f"C must be a finite number > 0 with the {self.kind} margin, not {self.C!r}")

    @property
    def bound(self) -> float:
        """Upper bound of alpha."""
        return self.C if self.kind == "1-norm" else math.inf

    @property
    def is_hard(self) -> bool:
        """Whether there may be no machine."""
        return math.isinf(self.bound) and self.ridge == 0.0 and self.kind != "learned-2-norm"

    @property
    def ridge(self) -> float:
        """What is added to the diagonal of the Gram matrix, tau."""
        return 1.0 / self.C if self.kind == "2-norm" else 0.0

    def problem(self, gram: Array, y: Array) -> DualProblem:
        """Return the machine's problem on a Gram matrix.

        Parameters
        ----------
        gram : (n, n) array
        y : (n,) array
            Labels, -1 or +1.
        """
        return DualProblem(gram, y, self.bound, ridge=self.ridge)


@dataclass(frozen=True, eq=False)
class LearnedSum:
    """A sum of kernels whose weights make the margin of a machine large, and the machine.

    Attributes
    ----------
    weights : (m,) array
        mu_i, with sum_i mu_i r_i = sum_i r_i.
    ridge : float
        On the diagonal of the sum in training: that of the margin, or the learned one.
    machine : DualSolution
        On the training rows.
    squared_norm : float
        ||w||^2 in the feature space of the sum of kernels, without the ridge.
    objective : float
        Upper bound of the least value: twice the machine's primal objective.
    gap : float
        The relative duality gap of the weights: of all weights that are allowed none leads to an objective smaller by
        more than this part.
    iterations : int
        Machines that were trained.
    converged : bool
        Whether the gap is within the tolerance.
    """

    weights: Array
    ridge: float
    machine: DualSolution
    squared_norm: float
    objective: float
    gap: float
    iterations: int
    converged: bool

    def gap_above(self, machine_gap: float) -> float:
        """Return the gap of the weights where the machine has another gap than the solver said, by rounding."""
        lower = 0.5 * self.objective * (1.0 - self.gap)
        return relative_gap(self.machine.objective / (1.0 - machine_gap), lower) if machine_gap < 1.0 else math.inf

    @property
    def margin(self) -> float:
        """The width between the classes, 2 / ||w||, in units of the feature space; infinity where w = 0."""
        return 2.0 / math.sqrt(self.squared_norm) if self.squared_norm > 0.0 else math.inf


def relative_gap(upper: float, lower: float) -> float:
    """Return by what part of the upper bound the optimum may be smaller; infinity where there is no bound."""
    if math.isinf(upper):
        return math.inf
    return max(upper - lower, 0.0) / upper if upper > 0.0 else 0.0


def scaled_bound(total: float, ridge_term: float, quadratic: float, longest: float) -> float:
    """Return the largest value of the dual objective along alpha, up to `longest` times it.

    Parameters
    ----------
    total : float
        sum_i alpha_i.
    ridge_term : float
        ridge alpha' alpha.
    quadratic : float
        alpha' G alpha.
    longest : float
        >= 1, infinity allowed: how far the box lets alpha be scaled.
    """
    curvature = ridge_term + quadratic
    scale = min(total / curvature, longest) if curvature > 0.0 else min(1.0, longest)
    return scale * total - 0.5 * scale**2 * curvature


def longest_scaling(alpha: Array, bound: float) -> float:
    """Return by how much alpha can be multiplied until an entry meets its upper bound."""
    largest = float(alpha.max())
    return bound / largest if largest > 0.0 else math.inf
