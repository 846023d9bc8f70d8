"""The evidence of two or three samples, and averages over their posterior, by quadrature."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import logsumexp

if TYPE_CHECKING:
    from fsvm_cli.evidence.losses import Loss

NODES_PER_PANEL = {2: 30, 3: 18}


class Nodes(NamedTuple):
    """Points of θ (n, k), and the logarithms of their weights in the evidence (k,)."""

    theta: np.ndarray
    log_weights: np.ndarray


def evidence_nodes(gram: np.ndarray, y: np.ndarray, C: float, loss: Loss) -> Nodes:
    """Gauss and Legendre's rule in each of the boxes that the kinks at ±1 make of seven standard deviations."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES_PER_PANEL[len(y)])
    axes, widths = [], []
    for variance in np.diag(gram):
        far = 7.0 * np.sqrt(variance)
        edges = np.array([-far, -1.0, 1.0, far])
        axes.append(np.concatenate([a + (b - a) * (nodes + 1) / 2 for a, b in pairwise(edges)]))
        widths.append(np.concatenate([(b - a) * weights / 2 for a, b in pairwise(edges)]))
    theta = np.array([grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")])
    log_width = np.sum([np.log(grid.ravel()) for grid in np.meshgrid(*widths, indexing="ij")], axis=0)
    root = np.linalg.cholesky(2 * np.pi * gram)
    white = np.linalg.solve(root, theta)
    log_prior = -np.pi * (white**2).sum(axis=0) - np.log(np.diag(root)).sum()
    log_likelihood = (loss.log_normaliser(C) - C * loss.value(y[:, None] * theta)).sum(axis=0)
    return Nodes(theta, log_width + log_prior + log_likelihood)


def log_evidence(gram: np.ndarray, y: np.ndarray, C: float, loss: Loss) -> float:
    """E = 1/n ln Q(Y | X)."""
    return float(logsumexp(evidence_nodes(gram, y, C, loss).log_weights)) / len(y)
