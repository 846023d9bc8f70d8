"""Kernel learning: the QCQP and the semidefinite programme against conic solvers through cvxpy."""

from __future__ import annotations

import importlib.util
import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh
from sklearn.datasets import make_classification

from benchmarks.harness import Comparison, against_a_limit, compare, median_seconds, timed
from fsvm_cli.kernel_learning.base_kernels import GramMatrices, SingleFeatures
from fsvm_cli.kernel_learning.margin import LearnedSum, Margin
from fsvm_cli.kernel_learning.qcqp import learn_weights
from fsvm_cli.kernel_learning.sdp import learn_signed_weights
from fsvm_cli.svm import Gaussian, Linear, Polynomial, UnitDiagonal

if TYPE_CHECKING:
    from collections.abc import Iterator

MARGIN = Margin("1-norm", 1.0)
QCQP_GAP, SDP_GAP = 1e-4, 1e-3
PEER_ACCURACY = 1e-4
"""The default of SCS."""
LONGEST_PEER = 300.0
"""Seconds after which SCS stops at what it has on the semidefinite programme."""


def problem(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the Gram matrices of three kernels on n rows, (3, n, n), and labels."""
    X, y = make_classification(n, 10, n_informative=5, flip_y=0.05, random_state=0)
    kernels = (Polynomial(2), Gaussian(5.0), Linear())
    return np.array([UnitDiagonal(kernel).gram(X, X) for kernel in kernels]), np.where(y > 0, 1.0, -1.0)


def qcqp_by_cvxpy(grams: np.ndarray, y: np.ndarray, solver: str, **options: float) -> float:
    """Return the optimal value of the problem that `learn_weights` solves."""
    cp: Any = importlib.import_module("cvxpy")  # a developer's tool; it names nothing openly

    traces = np.trace(grams, axis1=1, axis2=2)
    alpha, t = cp.Variable(len(y)), cp.Variable()
    constraints = [alpha >= 0, alpha <= MARGIN.C, y @ alpha == 0]
    for gram, trace in zip(grams, traces, strict=True):
        values, vectors = eigh(gram)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))).T * y
        constraints.append(trace * t >= cp.sum_squares(root @ alpha))
    program = cp.Problem(cp.Maximize(2 * cp.sum(alpha) - traces.sum() * t), constraints)
    return float(program.solve(solver=solver, **options))


def sdp_by_cvxpy(grams: np.ndarray, y: np.ndarray, solver: str, **options: float) -> tuple[float, np.ndarray]:
    """Return the value of the problem that `learn_signed_weights` solves with a hard margin, and the weights."""
    cp: Any = importlib.import_module("cvxpy")

    n = len(y)
    traces = np.trace(grams, axis1=1, axis2=2)
    mu, t, bias, nu = cp.Variable(len(grams)), cp.Variable(), cp.Variable(), cp.Variable(n, nonneg=True)
    K = sum(weight * gram for weight, gram in zip(mu, grams, strict=True))
    side = cp.reshape(1 + nu + bias * y, (n, 1), order="C")
    block = cp.bmat([[cp.multiply(K[:n, :n], np.outer(y, y)), side], [side.T, cp.reshape(t, (1, 1), order="C")]])
    program = cp.Problem(cp.Minimize(t), [traces @ mu == traces.sum(), K >> 0, block >> 0])
    value = program.solve(solver=solver, **options)
    return float(value), np.asarray(mu.value)


def qcqp(n: int, target: float) -> Comparison:
    """Compare three kernels on n rows with the faster of Clarabel and SCS."""
    grams, y = problem(n)

    def ours() -> LearnedSum:
        kernels = GramMatrices.of(grams, known_semidefinite=[True] * 3)  # the peers get their square roots
        return learn_weights(kernels, y, MARGIN, tolerance=QCQP_GAP)

    def by(solver: str) -> float:
        accuracy = {"eps": PEER_ACCURACY} if solver == "SCS" else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cvxpy tells of what is not installed
            return qcqp_by_cvxpy(grams, y, solver, **accuracy)

    seconds = {}
    for solver in ("CLARABEL", "SCS"):
        seconds[solver] = timed(partial(by, solver), time.process_time)[1]
    fastest = min(seconds, key=lambda solver: seconds[solver])
    found, their_value = ours(), by(fastest)
    return compare(
        f"QCQP, 3 kernels, 1-norm margin, {n} rows",
        f"{fastest} by cvxpy",
        target,
        lambda: by(fastest),
        ours,
        (abs(their_value - found.objective) / found.objective, found.gap),
        "the faster of Clarabel and SCS; the peer's gap is the difference from ours",
        peer_repeats=1,
        clock=time.process_time,
    )


def many_features() -> Comparison:
    """Time 60 kernels of one feature each on 2,000 rows, against five seconds."""
    X, y = make_classification(2000, 60, n_informative=12, flip_y=0.05, random_state=3)
    labels = np.where(y > 0, 1.0, -1.0)
    centred = X - X.mean(axis=0)

    def ours() -> LearnedSum:
        return learn_weights(SingleFeatures.of(centred), labels, MARGIN, tolerance=QCQP_GAP)

    found = ours()
    seconds = median_seconds(ours, clock=time.process_time)
    note = f"{found.iterations} machines"
    return against_a_limit("QCQP, 60 kernels of one feature, 2,000 rows", 5.0, seconds, note, found.gap)


def sdp() -> Comparison:
    """Compare weights of either sign on 200 rows and 85 others with SCS."""
    grams, y = problem(285)

    def ours() -> LearnedSum:
        kernels = GramMatrices.of(grams, 200, known_semidefinite=[True] * 3)
        return learn_signed_weights(kernels, y[:200], Margin("hard"), tolerance=SDP_GAP)

    found = ours()
    lowest = float(np.linalg.eigvalsh(np.tensordot(found.weights, grams, 1))[0])

    def theirs() -> tuple[float, np.ndarray]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sdp_by_cvxpy(grams, y[:200], "SCS", eps=PEER_ACCURACY, time_limit_secs=LONGEST_PEER)

    value, weights = theirs()
    theirs_lowest = float(np.linalg.eigvalsh(np.tensordot(weights, grams, 1))[0])
    return compare(
        "SDP, 3 kernels of either sign, hard margin, 200 + 85 rows",
        "SCS by cvxpy",
        500.0,
        theirs,
        ours,
        (abs(value - found.objective) / found.objective, found.gap),
        f"least eigenvalue {lowest:.0e}, SCS {theirs_lowest:.0e}",
        peer_repeats=1,
        clock=time.process_time,
    )


def comparisons() -> Iterator[Comparison]:
    """Yield the rows of kernel learning; those with a peer where cvxpy is installed."""
    yield many_features()
    if importlib.util.find_spec("cvxpy"):
        yield qcqp(200, 100.0)
        yield qcqp(400, 300.0)
        yield sdp()
