"""Ranking methods: RELIEF-F and recursive feature elimination."""

from __future__ import annotations

import importlib
import importlib.util
import time
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.feature_selection import RFE
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from benchmarks.harness import Comparison, against_a_limit, compare, peak_bytes, result_and_seconds, svc_gap, timed
from benchmarks.real_data import standardised
from fsvm_cli.ranking.relief_f import ReliefF
from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.svm import SVM, Gaussian

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


RELIEF_SHAPES = ((5000, 40), (500, 2000))
RELIEF_TARGETS = {"skrebate": (60.0, 30.0), "fast-select": (5.0, 3.0)}
"""Samples and features, and the targets at each."""
LARGE_SHAPE = (2350, 23_000)
"""As the largest tables of genes that RELIEF-F is asked for."""


def relief_samples(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal features, of which one counts alone and two together."""
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)


def relief_peers() -> Iterator[tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]]:
    """Yield the peers that are installed."""
    if importlib.util.find_spec("skrebate"):
        skrebate = importlib.import_module("skrebate").ReliefF(n_neighbors=10, n_jobs=1)
        # It writes into the array that it is given.
        yield "skrebate", lambda X, y: skrebate.fit(X.copy(), y).feature_importances_
    if importlib.util.find_spec("fast_select"):
        fast_select = importlib.import_module("fast_select").ReliefF(n_neighbors=10, backend="cpu", n_jobs=1)
        yield "fast-select", lambda X, y: fast_select.fit(X, y).feature_importances_


def relief_f() -> Iterator[Comparison]:
    """Yield the comparisons with the peers, and a large table, which they are not given."""
    for (name, peer), (shape, (n, d)) in product(relief_peers(), enumerate(RELIEF_SHAPES)):
        X, y = relief_samples(n, d)
        difference = np.abs(peer(X, y) - ReliefF(n_neighbors=10).fit(X, y).scores_).max()
        yield compare(
            f"RELIEF-F, 10 neighbours, {n:,} x {d:,}, two classes",
            name,
            RELIEF_TARGETS[name][shape],
            partial(peer, X, y),
            partial(ReliefF(n_neighbors=10).fit, X, y),
            (0.0, 0.0),
            f"processor seconds; largest difference of the scores {difference:.0e}",
            peer_repeats=1,
            clock=time.process_time,
        )
    n, d = LARGE_SHAPE
    X, y = relief_samples(n, d)
    before = peak_bytes()
    _, seconds = timed(partial(ReliefF(n_neighbors=10).fit, X, y), time.process_time)
    beside = (peak_bytes() - before) / X.nbytes
    note = f"processor seconds, once; memory beside the data: {beside:.1f} times theirs"
    yield against_a_limit(f"RELIEF-F, 10 neighbours, {n:,} x {d:,}, two classes", 60.0, seconds, note)


def elimination(  # noqa: PLR0917
    work: str, X: np.ndarray, y: np.ndarray, C: float, peer_tolerance: float, targets: Mapping[float, float]
) -> Iterator[Comparison]:
    """Compare the elimination of one feature at a time, one process each; a row for each tolerance of ours."""

    def theirs() -> RFE:
        return RFE(SVC(kernel="linear", C=C, tol=peer_tolerance), n_features_to_select=1).fit(X, y)

    peer, peer_seconds = result_and_seconds(theirs, 1)
    gap = svc_gap(X @ X.T, y, C, SVC(kernel="linear", C=C, tol=peer_tolerance).fit(X, y))
    top = max(X.shape[1] // 10, 5)
    for tolerance, target in targets.items():
        ours, our_seconds = result_and_seconds(partial(RecursiveFeatureElimination(C=C, tolerance=tolerance).fit, X, y))
        same = np.count_nonzero((peer.ranking_ <= top) & (ours.ranking_ <= top))
        yield Comparison(
            f"{work}, C={C:g}, tolerance {tolerance:.0e}",
            f"RFE(SVC), tolerance {peer_tolerance:.0e}",
            peer_seconds,
            our_seconds,
            peer_seconds / our_seconds,
            target,
            gap,
            float(SVM(C=C, tolerance=tolerance).fit(X, y).duality_gap_.max()),
            f"{same} of the best {top} the same",
        )


def gaussian_elimination(n: int = 1000, d: int = 100) -> Comparison:
    """Compare the elimination with a Gaussian kernel with a loop over SVC and the costs in numpy."""
    X, y = make_classification(n, d, n_informative=10, n_redundant=10, random_state=0)
    X, theta = scale(X), float(d)

    def theirs() -> np.ndarray:
        left, gone = list(range(d)), []
        while len(left) > 1:
            machine = SVC(gamma=1.0 / theta, tol=1e-6).fit(X[:, left], y)
            support, c = X[np.ix_(machine.support_, left)], machine.dual_coef_[0]
            apart = [np.subtract.outer(column, column) ** 2 for column in support.T]
            gram = np.exp(-sum(apart) / theta)
            kept = [c @ (gram * np.exp(part / theta)) @ c for part in apart]
            gone.append(left.pop(int(np.argmin(c @ gram @ c - np.array(kept)))))
        return np.array([*gone, *left])

    def ours() -> RecursiveFeatureElimination:
        return RecursiveFeatureElimination(Gaussian(theta)).fit(X, y)

    same = np.count_nonzero(theirs() == np.argsort(ours().scores_))
    machine = SVC(gamma=1.0 / theta, tol=1e-6).fit(X, y)
    gap = svc_gap(Gaussian(theta).gram(X, X), y, 1.0, machine)
    our_gap = float(SVM(Gaussian(theta)).fit(X, y).duality_gap_.max())
    return compare(
        f"RFE one by one, {n:,} x {d}, gaussian, C=1, tolerance 1e-06",
        "loop over SVC, costs in numpy, tolerance 1e-06",
        20.0,
        theirs,
        ours,
        (gap, our_gap),
        f"processor seconds; {same} of {d} places the same",
        peer_repeats=1,
        clock=time.process_time,
    )


def certified(work: str, X: np.ndarray, y: np.ndarray) -> Iterator[Comparison]:
    """Compare the elimination with certificates with the plain one, and with the peer's exact path."""

    def theirs() -> RFE:
        return RFE(SVC(kernel="linear", tol=1e-6), n_features_to_select=1).fit(X, y)

    def plain() -> RecursiveFeatureElimination:
        return RecursiveFeatureElimination().fit(X, y)

    def ours() -> RecursiveFeatureElimination:
        return RecursiveFeatureElimination(certify=True).fit(X, y)

    verdicts = ours().certificate_["verdict"]
    note = f"{np.count_nonzero(verdicts == 'decided'):,} of {len(verdicts):,} decided"
    yield compare(
        f"{work}, with certificates",
        "rfe without",
        0.5,
        plain,
        ours,
        (0.0, 0.0),
        note,
        clock=time.process_time,
        is_rival=False,
    )
    same = np.count_nonzero(theirs().ranking_ == ours().ranking_)
    yield compare(
        f"{work}, with certificates, C=1",
        "RFE(SVC), tolerance 1e-06",
        3.5,
        theirs,
        ours,
        (0.0, 0.0),
        f"{note}; {same:,} places the same",
        peer_repeats=1,
    )


def comparisons() -> Iterator[Comparison]:
    """Yield the rows of ranking methods."""
    yield from relief_f()
    X, y = load_breast_cancer(return_X_y=True)
    for C in (1.0, 10.0):
        yield from elimination("RFE one by one, wdbc 569 x 30", scale(X), y, C, 1e-6, {1e-6: 15.0})
    at_hand = standardised("colon", "raw")
    X, y = at_hand or make_classification(62, 2000, n_informative=20, n_redundant=20, random_state=0)
    name = "RFE one by one, colon 62 x 2,000" if at_hand else "RFE one by one, 62 x 2,000 like colon"
    yield from elimination(name, scale(X), y, 1.0, 1e-3, {1e-7: 7.0})
    yield from elimination(name, scale(X), y, 1.0, 1e-6, {1e-6: 7.0})
    yield from certified(name, scale(X), y)
    X, y = make_classification(500, 2000, n_informative=20, n_redundant=20, random_state=0)
    yield from elimination("RFE one by one, 500 x 2,000", scale(X), y, 1.0, 1e-3, {1e-3: 40.0, 1e-7: 7.0})
    yield gaussian_elimination()
