"""Polson and Scott's Gibbs sampler: exact for the hinge loss, and nothing like Hybrid Monte Carlo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fsvm_cli.evidence.posterior import Posterior


def gibbs_draws(posterior: Posterior, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draw (n_draws, 1, p) points; the first tenth more of them is left out.

    N. G. Polson and S. L. Scott, "Data Augmentation for Support Vector Machines", Bayesian Analysis 6, 2011: with
    u = C (1 - z) / 2,

        exp(-C max(0, 1 - z)) = exp(-2 max(0, u)) = ∫ dλ (2πλ)^(-1/2) exp(-(u + λ)^2 / (2λ)).

    Given θ, 1/λ_i has the inverse Gaussian distribution of mean 1/|u_i| and shape 1; given λ, b is normal with the
    precision I + V' diag(C^2 / 4λ) V.
    """
    V, y, C = posterior.V, posterior.y, posterior.C
    p = V.shape[1]
    b = np.zeros(p)
    draws = np.empty((n_draws, 1, p))
    for t in range(-n_draws // 10, n_draws):
        u = 0.5 * C * (1.0 - y * (V @ b))
        inverse = rng.wald(1.0 / np.maximum(np.abs(u), 1e-10), 1.0)
        weights = 0.25 * C**2 * inverse
        root = np.linalg.cholesky(np.eye(p) + V.T @ (weights[:, None] * V))
        pull = V.T @ (weights * y * (1.0 + 2.0 / (C * inverse)))
        b = np.linalg.solve(root.T, np.linalg.solve(root, pull) + rng.standard_normal(p))
        if t >= 0:
            draws[t, 0] = b
    return draws
