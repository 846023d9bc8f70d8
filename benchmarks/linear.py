"""Linear machines: many samples, few for each feature, sparse ones, and recursive elimination; beside LinearSVC."""

from __future__ import annotations

import time
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from benchmarks.harness import Comparison, median_seconds, peak_bytes, timed
from fsvm_cli.own_data.certify import certify
from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.report.style import COLUMN_WIDTH, figure, save, series_style, use_logarithms
from fsvm_cli.svm import SVM
from fsvm_cli.svm.large.linear import solve_linear
from fsvm_cli.svm.large.linear_problem import LinearProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from fsvm_cli.svm.large.linear import LinearSolution

N_SAMPLES, N_FEATURES = 100_000, 100
FEW = 10_000
"""Samples from which the time of the peer's elimination is extrapolated, in proportion to their number."""
NEAR_SQUARE = ((1000, 300), (3000, 500))
"""Samples and features of machines that have few samples for each feature."""
N_TEXTS, N_WORDS, WORDS_OF_A_TEXT = 20_000, 47_000, 75
"""As RCV1, of which texts have about 75 different words."""
SAME, NEAR = 1e-6, 1e-3
"""Parts of the least primal objective above it: what counts as the same, and as near for a peer that stops there."""
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
FIGURE = Path("docs/images/linear-growth.svg")
"""Shown in docs/solver.md."""
PASSES = (10, 30, 100, 300, 1000, 3000)
"""Of the peer over the samples, at most: the first after which it is at the same objective, else near it."""
SCALINGS = (1.0, 10.0)
"""Values of the constant feature of which the peer's bias is a weight: the larger, the less does the penalty on it
matter, and the longer it takes."""
LONGEST = 30.0
"""Seconds of the peer after which no more passes are tried."""
STOPPING = (1e-3, 1e-4, 1e-5, 1e-6)
"""Of SVC, whose default is the first: the first at which it is at the same objective."""


def samples(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal features and two classes that a plane separates but for noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) / np.sqrt(d) + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def texts(n: int, d: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Draw texts of unit length whose words follow Zipf's law, and two classes that a plane separates but for noise."""
    rng = np.random.default_rng(0)
    words = np.minimum((np.exp(rng.uniform(0.0, np.log(d), n * WORDS_OF_A_TEXT))).astype(np.intp), d - 1)
    counts = sp.csr_matrix((np.ones(len(words)), (np.repeat(np.arange(n), WORDS_OF_A_TEXT), words)), shape=(n, d))
    in_texts = np.bincount(counts.indices, minlength=d)
    X = normalize(counts.multiply(np.log(n / np.maximum(in_texts, 1))).tocsr())
    scores = X @ rng.normal(size=d)
    return X, np.where(scores + 0.5 * scores.std() * rng.normal(size=n) > np.median(scores), 1.0, -1.0)


def primal(X: np.ndarray, y: np.ndarray, C: float, w: np.ndarray, b: float) -> float:
    """Return |w|^2 / 2 + C sum_i max(0, 1 - y_i (w x_i + b))."""
    return float(0.5 * (w @ w) + C * np.maximum(0.0, 1.0 - y * (X @ w + b)).sum())


def machine(X: np.ndarray, y: np.ndarray, C: float) -> LinearSolution:
    """Fit ours to a gap of 1e-6."""
    return solve_linear(LinearProblem(X, y, C))


def peer_machine(X: np.ndarray, y: np.ndarray, C: float, passes: int, scaling: float) -> LinearSVC:
    """Fit the peer. Its own tolerance ends it at no objective to be compared with, so that passes do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer = LinearSVC(loss="hinge", C=C, tol=1e-12, max_iter=passes, intercept_scaling=scaling, random_state=0)
        return peer.fit(X, y)


class PeerRun(NamedTuple):
    """By what part its primal objective is above the least, what it took, and how it was asked."""

    excess: float
    seconds: float
    name: str
    settings: str

    @property
    def note(self) -> str:
        """What its row says."""
        return (
            f"processor seconds, the peer once: {self.settings}, the fastest that was tried; its gap is that of its "
            f"primal objective from ours"
        )


def fastest_peer(X: np.ndarray, y: np.ndarray, C: float, least: float) -> PeerRun:
    """Return the fastest fit that is at the same objective; where none gets there, the fastest near it."""
    runs = []
    for scaling in SCALINGS:
        for passes in PASSES:
            fitted, seconds = timed(partial(peer_machine, X, y, C, passes, scaling), time.process_time)
            excess = primal(X, y, C, fitted.coef_[0], float(fitted.intercept_[0])) / least - 1.0
            settings = f"{passes} passes, intercept_scaling={scaling:g}"
            runs.append(PeerRun(excess, seconds, "LinearSVC(hinge)", settings))
            if excess <= SAME or seconds > LONGEST:
                break
    return fastest_of(runs)


def fastest_svc(X: np.ndarray, y: np.ndarray, C: float, least: float) -> PeerRun:
    """Return the fit of SVC that is at the same objective, or near it."""
    runs = []
    for tolerance in STOPPING:
        peer = SVC(kernel="linear", C=C, tol=tolerance)
        fitted, seconds = timed(partial(peer.fit, X, y), time.process_time)
        excess = primal(X, y, C, fitted.coef_[0], float(fitted.intercept_[0])) / least - 1.0
        runs.append(PeerRun(excess, seconds, "SVC(linear)", f"tol={tolerance:g}"))
        if excess <= SAME or seconds > LONGEST:
            break
    return fastest_of(runs)


def fastest_of(runs: list[PeerRun]) -> PeerRun:
    """Return the fastest at the same objective; where none gets there, the fastest near it, else the nearest."""
    for enough in (SAME, NEAR):
        if there := [run for run in runs if run.excess <= enough]:
            return min(there, key=lambda run: run.seconds)
    return min(runs, key=lambda run: run.excess)


def machines() -> Iterator[Comparison]:
    """Yield one machine at each C: ours, and the peer's whose primal objective is the same or near."""
    X, y = samples(N_SAMPLES, N_FEATURES)
    machine(X[:300], y[:300], 1.0)
    for C in (1.0, 0.01):
        ours = machine(X, y, C)
        our_seconds = median_seconds(partial(machine, X, y, C), clock=time.process_time)
        peer = fastest_peer(X, y, C, primal(X, y, C, ours.w, ours.bias))
        yield Comparison(
            f"linear machine, {N_SAMPLES:,} x {N_FEATURES}, C={C:g}, tolerance 1e-06",
            "LinearSVC(hinge)",
            peer.seconds,
            our_seconds,
            peer.seconds / our_seconds,
            20.0 if C == 1.0 else 15.0,
            peer.excess,
            ours.duality_gap,
            peer.note,
        )


def other_shapes() -> Iterator[Comparison]:
    """Yield one machine on few samples for each feature, beside SVC and LinearSVC, and one on sparse texts."""
    for n, d in NEAR_SQUARE:
        yield from estimators(f"linear machine, {n:,} x {d}, C=1", *samples(n, d), peers=(fastest_svc, fastest_peer))
    work = f"linear machine, sparse texts, {N_TEXTS:,} x {N_WORDS:,}, C=1"
    yield from estimators(work, *texts(N_TEXTS, N_WORDS), target=5.0)


def estimators(
    work: str,
    X: Any,
    y: np.ndarray,
    target: float = 10.0,
    peers: Sequence[Callable[[Any, np.ndarray, float, float], PeerRun]] = (fastest_peer,),
) -> Iterator[Comparison]:
    """Yield a row for each peer of the machine that `SVM` fits of itself, at C = 1."""
    ours = SVM().fit(X, y)
    our_seconds = median_seconds(lambda: SVM().fit(X, y), clock=time.process_time)
    least = primal(X, y, 1.0, ours.coef_[0], float(ours.intercept_[0]))
    for fastest in peers:
        peer = fastest(X, y, 1.0, least)
        our_gap = float(ours.duality_gap_.max())
        ratio = peer.seconds / our_seconds
        yield Comparison(work, peer.name, peer.seconds, our_seconds, ratio, target, peer.excess, our_gap, peer.note)


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


def certificates() -> Iterator[Comparison]:
    """Yield the certificate of a machine beside its fit."""
    X, y = samples(N_SAMPLES, N_FEATURES)
    certify(SVM().fit(X[:300], y[:300]), X[:300], y[:300])
    fitted, fit_seconds = timed(lambda: SVM().fit(X, y), time.process_time)
    found, our_seconds = timed(lambda: certify(fitted, X, y), time.process_time)
    (own,) = found.machines
    yield Comparison(
        f"certificate of a linear machine, {N_SAMPLES:,} x {N_FEATURES}, C=1",
        "its fit, SVM",
        fit_seconds,
        our_seconds,
        fit_seconds / our_seconds,
        10.0,
        float("nan"),
        own.relative_gap,
        f"processor seconds, once; radius {own.radius:.1g} of length {own.norm:.2g}",
        is_rival=False,
    )


def growth(sizes: Sequence[int] = SIZES) -> Iterator[Comparison]:
    """Yield the seconds at 10^4 to 10^6 samples, beside those in proportion to the samples from the fewest."""
    machine_of(300)  # loads what is compiled
    measured = [machine_of(n) for n in sizes]
    seconds = [taken for taken, *_ in measured]
    _, gap, beside = measured[-1]
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    times = ", ".join(f"{n:,}: {taken:.2g}" for n, taken in zip(sizes, seconds, strict=True))
    proportional = seconds[0] * sizes[-1] / sizes[0]
    yield Comparison(
        f"linear machine, {sizes[-1]:,} x {N_FEATURES}, C=1",
        f"n^1, from {sizes[0]:,} rows",
        proportional,
        seconds[-1],
        proportional / seconds[-1],
        1.0,
        float("nan"),
        gap,
        f"n^{slope:.2f}; processor seconds at {times}; memory beside the data at the last "
        f"{beside / 1e9:.2g} GB at most",
        is_rival=False,
    )
    draw_growth(sizes, seconds, slope)


def machine_of(n: int) -> tuple[float, float, int]:
    """Return the seconds of a machine on so many samples, its gap, and how much the most memory so far has grown."""
    X, y = samples(n, N_FEATURES)
    before = peak_bytes()
    found, taken = timed(partial(machine, X, y, 1.0), time.process_time)
    return taken, found.duality_gap, peak_bytes() - before


def draw_growth(sizes: Sequence[int], seconds: Sequence[float], slope: float) -> None:
    """Draw the seconds by the number of samples, beside a line of time in proportion to it."""
    with figure(COLUMN_WIDTH, 2.6) as drawing:
        axes = drawing.subplots()
        axes.plot(sizes, seconds, label=f"measured: slope {slope:.2f}", **series_style(0))
        proportional = [seconds[0] * n / sizes[0] for n in sizes]
        axes.plot(sizes, proportional, color="0.6", linestyle="--", label="in proportion")
        use_logarithms(axes)
        axes.set(yscale="log", xlabel=f"samples of {N_FEATURES} features", ylabel="processor seconds")
        axes.yaxis.set_major_formatter(axes.xaxis.get_major_formatter())
        axes.legend()
        save(drawing, FIGURE.parent, FIGURE.stem, ["svg"])


def comparisons() -> Iterator[Comparison]:
    """Yield all rows."""
    yield from machines()
    yield from other_shapes()
    yield from elimination()
    yield from certificates()
