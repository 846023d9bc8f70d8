"""The mode of the posterior: the support vector machine without a bias."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.evidence.gaussian import gaussian_approximation
from fsvm_cli.evidence.hinge import Hinge
from fsvm_cli.evidence.squared_hinge import SquaredHinge
from fsvm_cli.svm.solvers.dual import DualProblem
from fsvm_cli.svm.solvers.solve import solve

if TYPE_CHECKING:
    from fsvm_cli.evidence.posterior import Posterior
    from fsvm_cli.svm.vectors import Array


def posterior_mode(posterior: Posterior, tolerance: float = 1e-6) -> Array:
    """Return the most probable b, shape (p,).

    With the hinge loss it is V'(y∘α), where α solves the dual problem (2) of Gold et al. (2005) with the Gram matrix
    V V', to which y'α = 0 does not belong: the bias is in k_off. With the squared one, K + I/C stands for K and α is
    not bounded. The trigonometric loss is smooth, and takes Newton steps. The paper's chain begins at
    (V'V)^(-1) V'θ*, with the θ* of the whole Gram matrix; here it begins where its own posterior is largest.

    Parameters
    ----------
    posterior : Posterior
    tolerance : float
        The relative duality gap to reach, > 0.

    Raises
    ------
    fsvm_cli.svm.ConvergenceError
        If the gap was not reached.
    """
    loss, V, y, C = posterior.loss, posterior.V, posterior.y, posterior.C
    if not isinstance(loss, Hinge | SquaredHinge):
        return gaussian_approximation(posterior).mean
    gram = V @ V.T
    if isinstance(loss, Hinge):
        problem = DualProblem(gram, y, C, equality=False)
    else:
        problem = DualProblem(gram, y, np.inf, equality=False, ridge=1.0 / C)
    mode: Array = V.T @ (y * solve(problem, tolerance=tolerance).alpha)
    return mode
