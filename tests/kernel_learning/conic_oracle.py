"""The problems of kernel learning as the papers print them, solved by general conic solvers."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.linalg import eigh

with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
    warnings.simplefilter("ignore")  # cvxpy tells of solvers that are not installed
    # Two thirds of its time cvxpy would load JAX, to see that a solver that needs JAX is not there.
    patch.setitem(sys.modules, "jax", None)
    import cvxpy as cp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.kernel_learning.margin import Margin


@dataclass(frozen=True)
class Optimum:
    """The optimal value, and the weights."""

    value: float
    weights: np.ndarray


def root(gram: np.ndarray) -> np.ndarray:
    """Return R with R R' = gram, which is positive semidefinite up to rounding."""
    values, vectors = eigh(gram)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def unit_diagonal(gram: np.ndarray) -> np.ndarray:
    lengths = np.sqrt(gram.diagonal())
    return gram / np.outer(lengths, lengths)


def solved(problem: cp.Problem, solver: str, **options: float) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=solver, **options)
    assert problem.status in {"optimal", "optimal_inaccurate"}, problem.status
    return float(problem.value)


def qcqp(grams: Sequence[np.ndarray], y: np.ndarray, margin: Margin, solver: str = "CLARABEL") -> Optimum:
    """Lanckriet et al. (2004), theorems 16, 20 and 24; a learned ridge is one more kernel, without test rows."""
    n, n_all = len(y), len(grams[0])
    learned = margin.kind == "learned-2-norm"
    kernels = [*grams, np.eye(n_all)] if learned else list(grams)
    traces = np.array([np.trace(gram) for gram in kernels])
    alpha, t = cp.Variable(n), cp.Variable()
    constraints = [
        trace * t >= cp.sum_squares((root(gram[:n, :n]) * y[:, None]).T @ alpha)
        for gram, trace in zip(kernels, traces, strict=True)
    ]
    box = [alpha >= 0, y @ alpha == 0] + ([alpha <= margin.C] if margin.kind == "1-norm" else [])
    ridge = margin.ridge * cp.sum_squares(alpha)
    problem = cp.Problem(cp.Maximize(2 * cp.sum(alpha) - ridge - traces.sum() * t), [*constraints, *box])
    return Optimum(solved(problem, solver), np.array([np.squeeze(each.dual_value) for each in constraints]))


def sdp(grams: Sequence[np.ndarray], y: np.ndarray, margin: Margin, solver: str = "CLARABEL") -> Optimum:
    """Lanckriet et al. (2004), eq. (12) for a hard margin, with the terms of the soft ones."""
    n = len(y)
    traces = np.array([np.trace(gram) for gram in grams])
    mu, t, bias = cp.Variable(len(grams)), cp.Variable(), cp.Variable()
    nu, delta = cp.Variable(n, nonneg=True), cp.Variable(n, nonneg=True)
    K = sum(weight * gram for weight, gram in zip(mu, grams, strict=True))
    G = cp.multiply(K[:n, :n], np.outer(y, y)) + margin.ridge * np.eye(n)
    slack = delta if margin.kind == "1-norm" else np.zeros(n)
    side = cp.reshape(1 + nu - slack + bias * y, (n, 1), order="C")
    corner = t - 2 * (margin.C if margin.kind == "1-norm" else 0.0) * cp.sum(slack)
    block = cp.bmat([[G, side], [side.T, cp.reshape(corner, (1, 1), order="C")]])
    problem = cp.Problem(cp.Minimize(t), [traces @ mu == traces.sum(), K >> 0, block >> 0])
    return Optimum(solved(problem, solver), np.asarray(mu.value))


def alignment(grams: Sequence[np.ndarray], y: np.ndarray) -> float:
    """Return the best alignment of a conic sum with the labels."""
    mu = cp.Variable(len(grams), nonneg=True)
    flat = np.array([gram.ravel() for gram in grams])
    target = np.outer(y, y).ravel() / len(y)
    constraints = [cp.norm(flat.T @ mu) <= 1]
    return solved(cp.Problem(cp.Maximize((flat @ target) @ mu), constraints), "CLARABEL")
