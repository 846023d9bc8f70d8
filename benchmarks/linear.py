"""Linear machines on many samples: one machine, and recursive elimination, beside LinearSVC with the hinge loss."""

from __future__ import annotations

import resource
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from benchmarks.harness import Comparison, timed
from fsvm_cli.figures import COLUMN_WIDTH, figure, save, series_style, use_logarithms
from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.svm.linear.problem import LinearProblem
from fsvm_cli.svm.linear.solve import solve_linear

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

N_SAMPLES, N_FEATURES = 100_000, 100
FEW = 10_000
"""Samples from which the time of the peer's elimination is extrapolated, in proportion to their number."""
SAME, NEAR = 1e-6, 1e-3
"""Parts of the least primal objective above it: what counts as the same, and as near for a peer that stops there."""
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
FIGURE = Path("docs/images/linear-growth.svg")
"""Shown in docs/solver.md."""
PASSES = (10, 100, 1000)
"""Of the peer over the samples, at most: the first after which it is at the same objective, else near it."""


def samples(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal features and two classes that a plane separates but for noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) / np.sqrt(d) + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def primal(X: np.ndarray, y: np.ndarray, C: float, w: np.ndarray, b: float) -> float:
    """Return |w|^2 / 2 + C sum_i max(0, 1 - y_i (w x_i + b))."""
    return float(0.5 * (w @ w) + C * np.maximum(0.0, 1.0 - y * (X @ w + b)).sum())


def peer_machine(X: np.ndarray, y: np.ndarray, C: float, passes: int) -> LinearSVC:
    """Fit the peer; its bias is a weight of a constant feature, large enough for the penalty on it not to matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVC(loss="hinge", C=C, max_iter=passes, intercept_scaling=10.0, random_state=0).fit(X, y)


def machines() -> Iterator[Comparison]:
    """Yield one machine at each C: ours to a gap of 1e-6, the peer's until its primal objective is near."""
    X, y = samples(N_SAMPLES, N_FEATURES)
    solve_linear(LinearProblem(X[:300], y[:300], 1.0))
    for C in (1.0, 0.01):
        ours, our_seconds = timed(partial(solve_linear, LinearProblem(X, y, C)), time.process_time)
        problem = LinearProblem(X, y, C)
        least = primal(X, y, C, problem.normal_vector(ours.alpha * y), ours.bias)
        tried = []
        for passes in PASSES:
            theirs, seconds = timed(partial(peer_machine, X, y, C, passes), time.process_time)
            excess = primal(X, y, C, theirs.coef_[0], float(theirs.intercept_[0])) / least - 1.0
            tried.append((excess, passes, seconds))
            if excess <= SAME:
                break
        near = [each for each in tried if each[0] <= NEAR]
        excess, passes, peer_seconds = tried[-1] if excess <= SAME or not near else near[0]
        yield Comparison(
            f"linear machine, {N_SAMPLES:,} x {N_FEATURES}, C={C:g}, tolerance 1e-06",
            f"LinearSVC(hinge), {passes} passes",
            peer_seconds,
            our_seconds,
            peer_seconds / our_seconds,
            20.0,
            excess,
            ours.duality_gap,
            "processor seconds, once; the peer's gap is that of its primal objective from ours",
        )


def elimination() -> Iterator[Comparison]:
    """Yield the elimination of one feature at a time, the peer's extrapolated from fewer samples."""
    X, y = samples(N_SAMPLES, N_FEATURES)
    RecursiveFeatureElimination(solver="feature-space").fit(X[:300, :3], y[:300])
    ours, our_seconds = timed(lambda: RecursiveFeatureElimination().fit(X, y), time.process_time)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer = RFE(LinearSVC(loss="hinge", random_state=0), n_features_to_select=1)
        _, few_seconds = timed(lambda: peer.fit(X[:FEW], y[:FEW]), time.process_time)
    peer_seconds = few_seconds * N_SAMPLES / FEW
    yield Comparison(
        f"RFE one by one, {N_SAMPLES:,} x {N_FEATURES}, C=1, tolerance 1e-06",
        f"RFE(LinearSVC(hinge)), extrapolated from {FEW:,} samples",
        peer_seconds,
        our_seconds,
        peer_seconds / our_seconds,
        50.0,
        float("nan"),
        float("nan"),
        f"processor seconds, once; all gaps reached: {ours.converged_}",
    )


def growth(sizes: Sequence[int] = SIZES) -> Iterator[Comparison]:
    """Yield the seconds at 10^4 to 10^6 samples; the ratio is the slope of log time on log n, the target its limit."""
    machine_of(300)  # loads what is compiled
    measured = [machine_of(n) for n in sizes]
    seconds = [taken for taken, *_ in measured]
    _, gap, beside = measured[-1]
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    yield Comparison(
        f"linear machine, 10^4 to 10^6 x {N_FEATURES}, C=1: slope of log time on log n",
        "itself at 10^4",
        seconds[0],
        seconds[-1],
        slope,
        1.1,
        float("nan"),
        gap,
        f"processor seconds at {', '.join(f'{n:,}: {s:.2g}' for n, s in zip(sizes, seconds, strict=True))}; memory "
        f"beside the data at the last {beside / 1e9:.2g} GB at most",
    )
    draw_growth(sizes, seconds, slope)


def machine_of(n: int) -> tuple[float, float, int]:
    """Return the seconds of a machine on so many samples, its gap, and how much the most memory so far has grown."""
    X, y = samples(n, N_FEATURES)
    before = peak_bytes()
    found, taken = timed(partial(solve_linear, LinearProblem(X, y, 1.0)), time.process_time)
    return taken, found.duality_gap, peak_bytes() - before


def peak_bytes() -> int:
    """Return the most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def draw_growth(sizes: Sequence[int], seconds: Sequence[float], slope: float) -> None:
    """Draw the seconds by the number of samples, beside a line of time in proportion to it."""
    with figure(COLUMN_WIDTH, 2.6) as drawing:
        axes = drawing.subplots()
        axes.plot(sizes, seconds, label=f"measured: slope {slope:.2f}", **series_style(0))
        proportional = [seconds[0] * n / sizes[0] for n in sizes]
        axes.plot(sizes, proportional, color="0.6", linestyle="--", label="in proportion")
        use_logarithms(axes)
        axes.set(yscale="log", xlabel=f"samples of {N_FEATURES} features", ylabel="processor seconds")
        axes.legend()
        save(drawing, FIGURE.parent, FIGURE.stem, ["svg"])


def comparisons() -> Iterator[Comparison]:
    """Yield all rows."""
    yield from machines()
    yield from elimination()
