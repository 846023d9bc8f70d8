"""The radius-margin bound on the leave-one-out error, jebara-slides; Vapnik (1998)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.bounds.bound import Bound

if TYPE_CHECKING:
    from fsvm_cli.bounds.radius import Ball
    from fsvm_cli.svm.solvers.dual import DualSolution
    from fsvm_cli.svm.vectors import Array


def radius_margin_bound(y: Array, ball: Ball, machine: DualSolution) -> Bound:
    """Return R^2 W^2: the squared radius of the samples over the squared margin.

    W^2 = ||w||^2 is twice the dual optimum, and 1 / W the margin. By the theorem of the envelope, R^2 and W^2 change
    with the Gram matrix as if beta and alpha were fixed:

        d(R^2 W^2) = W^2 (sum_i beta_i dk_ii - beta' dK beta) - R^2 sum_ik alpha_i alpha_k y_i y_k dk_ik

    Parameters
    ----------
    y : (n,) array
        Labels, -1 or +1.
    ball : Ball
        Of the Gram matrix; machines of several classes on one Gram matrix share it.
    machine : DualSolution
        From `hard_margin_machine` on the same Gram matrix.

    Returns
    -------
    Bound

    Notes
    -----
    Source: jebara-slides, "SVM Feature Selection", with these corrections. The printed dual lacks the 1/2 before its
    quadratic term, which divides W^2 by 4. The derivative of W^2 holds for a hard margin, with a ridge or without, not
    for a bound on alpha.

    Of a machine without bias, whose ball has its centre in the origin, no more than R^2 W^2 samples are classified
    wrongly when each is left out in turn. With a bias the proof, by way of the spans, which are no longer than the
    diameter, gives 4 R^2 W^2; the factor does not move the minimum.

    References
    ----------
    - V. N. Vapnik, "Statistical Learning Theory", Wiley, 1998, chapter 10.
    - O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing Multiple Parameters for Support Vector Machines",
      Machine Learning 46, 2002, pages 131-159: the derivatives.
    """
    squared_norm = 2.0 * machine.objective
    # Both factors of the product may be far from 1 where their product is not.
    steep = np.sqrt(ball.squared_radius) * machine.alpha * y
    gradient = squared_norm * ball.gram_gradient - np.multiply.outer(steep, steep)
    return Bound(ball.squared_radius * squared_norm, gradient, machine, converged=machine.converged and ball.converged)
