"""Bounds on the leave-one-out error: the radius-margin descent, and spans beside machines that leave samples out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import clarabel
import numpy as np
from scipy import sparse
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from benchmarks.harness import Comparison, compare
from fsvm_cli.bounds.bound import hard_margin_machine
from fsvm_cli.bounds.radius_margin import Ball, radius_margin_bound
from fsvm_cli.bounds.span import predicted_slacks
from fsvm_cli.data.opening import load_dataset
from fsvm_cli.ranking.radius_margin import RadiusMargin
from fsvm_cli.svm import Gaussian

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsvm_cli.bounds.bound import Bound
    from fsvm_cli.svm.kernels.base import Rounding
    from fsvm_cli.svm.solvers.dual import DualSolution

LIMIT = 0.5
"""Seconds in which Weston's linear problem should come down to two features."""
HARD = 1e6
"""libsvm's C where a hard margin is meant: far above every alpha."""


class WithClarabel(RadiusMargin):
    """The same descent, its balls by Clarabel."""

    def _bounds(
        self,
        gram: np.ndarray,
        labels: np.ndarray,
        machines: Sequence[DualSolution],
        rounding: Rounding,  # noqa: ARG002 - Clarabel has its own tolerance, and no start
        beta0: np.ndarray | None = None,  # noqa: ARG002
    ) -> Sequence[Bound]:
        n = len(gram)
        A = sparse.csc_matrix(np.vstack([np.ones(n), -np.eye(n)]))
        cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n)]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        P, q, b = sparse.triu(2.0 * gram, format="csc"), -gram.diagonal(), np.append(1.0, np.zeros(n))
        found = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
        ball = Ball(np.array(found.x), -found.obj_val, 0.0, converged=True)
        return [radius_margin_bound(y, ball, machine) for y, machine in zip(labels, machines, strict=True)]


def weston(scaling: str) -> Comparison:
    """Compare the descent on 75 samples of Weston's linear problem, to the last feature."""
    dataset = load_dataset({"name": "weston-linear", "samples": 75})
    X = scale(dataset.X) if scaling == "standardised" else dataset.X

    def ours() -> RadiusMargin:
        return RadiusMargin(n_features_to_select=2).fit(X, dataset.y)

    def theirs() -> RadiusMargin:
        return WithClarabel(n_features_to_select=2).fit(X, dataset.y)

    same = np.count_nonzero(ours().support_ & theirs().support_)
    return compare(
        f"radius-margin ranking, Weston's linear problem, 75 x 202, {scaling}, to two features",
        "the same with Clarabel's balls",
        2.0,
        theirs,
        ours,
        (float("nan"), 1e-6),
        f"{same} of 2 features the same; limit {LIMIT:g} s; processor seconds",
        peer_repeats=1,
        clock=time.process_time,
    )


def spans(n: int) -> Comparison:
    """Compare the leave-one-out errors that spans predict with those of machines that leave out a sample each."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    gram = Gaussian(4.0).gram(X, X) + 0.1 * np.eye(n)

    def ours() -> np.ndarray:
        return predicted_slacks(gram, hard_margin_machine(gram, y).alpha) > 1

    def theirs() -> np.ndarray:
        errors = np.zeros(n, dtype=bool)
        for left_out in range(n):
            others = np.delete(np.arange(n), left_out)
            machine = SVC(kernel="precomputed", C=HARD, tol=1e-3).fit(gram[np.ix_(others, others)], y[others])
            errors[left_out] = y[left_out] * machine.decision_function(gram[[left_out]][:, others])[0] < 0
        return errors

    predicted, counted = ours(), theirs()
    return compare(
        f"leave-one-out errors by spans, n = {n}, gaussian kernel and a ridge",
        f"{n} machines of libsvm",
        100.0,
        theirs,
        ours,
        (float("nan"), 1e-6),
        f"{np.count_nonzero(predicted)} errors predicted, {np.count_nonzero(counted)} counted, "
        f"{np.count_nonzero(predicted != counted)} samples judged otherwise; processor seconds",
        peer_repeats=1,
        clock=time.process_time,
    )


def comparisons() -> Iterator[Comparison]:
    """Yield the rows of bounds."""
    yield weston("standardised")
    yield weston("raw")
    yield spans(500)
