"""The machine (2) with tuned hyperparameters, trained on the whole Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.evidence.hinge import Hinge
from fsvm_cli.evidence.mode import posterior_mode
from fsvm_cli.evidence.nystroem import nystroem_factor
from fsvm_cli.evidence.posterior import Posterior
from fsvm_cli.evidence.squared_hinge import SquaredHinge
from fsvm_cli.svm.solvers.dual import DualProblem
from fsvm_cli.svm.solvers.solve import solve

if TYPE_CHECKING:
    from fsvm_cli.evidence.loss import Loss
    from fsvm_cli.evidence.sampled_evidence import Hyperparameters
    from fsvm_cli.svm.kernels.weighted_sum import WeightedSum
    from fsvm_cli.svm.vectors import Array


@dataclass(frozen=True, eq=False)
class MapMachine:
    """The most probable θ(x) = Σ_i coefficients_i K(x_i, x); there is no bias beside k_off.

    Attributes
    ----------
    kernel : WeightedSum
    X : (n, d) array
        Training samples.
    coefficients : (n,) array
        y_i α_i.
    duality_gap : float
        Relative; 0 for the trigonometric loss, which Newton steps train.
    converged : bool
        Whether the gap was reached.
    """

    kernel: WeightedSum
    X: Array
    coefficients: Array
    duality_gap: float
    converged: bool

    def decision_function(self, A: Array) -> Array:
        """Return θ of samples (n_a, d), shape (n_a,)."""
        values: Array = self.kernel.expansion(self.X, A, self.coefficients[None])[0]
        return values


def train_map_machine(
    X: Array, y: Array, loss: Loss, hyperparameters: Hyperparameters, tolerance: float = 1e-6
) -> MapMachine:
    """Train the machine of some hyperparameters; a gap that it misses is noted, not raised.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
        Labels, -1 or +1.
    loss : Loss
    hyperparameters : Hyperparameters
    tolerance : float
        The relative duality gap to reach, > 0.

    Returns
    -------
    MapMachine
        O(n^2) numbers at once.
    """
    kernel, C = hyperparameters.kernel.kernel, hyperparameters.C
    if not isinstance(loss, Hinge | SquaredHinge):
        everything = nystroem_factor(hyperparameters.kernel, X, np.arange(len(X)), len(X))
        posterior = Posterior(everything.V, y, C, loss)
        margins = posterior.margins(posterior_mode(posterior)[:, None])[:, 0]
        # Where the posterior is largest, K^(-1) θ = -C Y l'(Yθ).
        return MapMachine(kernel, X, -C * y * loss.slope(margins), 0.0, converged=True)
    gram = kernel.gram(X, X)
    if isinstance(loss, Hinge):
        problem = DualProblem(gram, y, C, equality=False)
    else:
        problem = DualProblem(gram, y, np.inf, equality=False, ridge=1.0 / C)
    found = solve(problem, tolerance=tolerance, on_failure="flag")
    support = np.flatnonzero(found.alpha)
    return MapMachine(kernel, X[support], (y * found.alpha)[support], float(found.duality_gap), bool(found.converged))
