"""Ranking methods: RELIEF-F and recursive feature elimination."""

from __future__ import annotations

import importlib
import importlib.util
import time
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.feature_selection import RFE
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from benchmarks.harness import JOBS, Comparison, compare, svc_gap
from benchmarks.real_data import standardised
from fsvm_cli.ranking.relief_f import ReliefF
from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.svm import SVM

if TYPE_CHECKING:
    from collections.abc import Iterator


def relief_f() -> Iterator[Comparison]:
    """Yield the comparison with skrebate, where it is installed."""
    if not importlib.util.find_spec("skrebate"):
        return
    peer = importlib.import_module("skrebate").ReliefF
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 40))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)

    def theirs() -> np.ndarray:
        # It writes into the array that it is given.
        return np.asarray(peer(n_neighbors=10, n_jobs=JOBS).fit(X.copy(), y).feature_importances_)

    def ours() -> np.ndarray:
        return ReliefF(n_neighbors=10).fit(X, y).scores_

    difference = np.abs(theirs() - ours()).max()
    yield compare(
        "RELIEF-F, 10 neighbours, 5,000 x 40, two classes",
        f"skrebate, {JOBS} jobs",
        60.0,
        theirs,
        ours,
        (0.0, 0.0),
        f"largest difference of the scores {difference:.0e}",
        peer_repeats=1,
    )


def elimination(  # noqa: PLR0917
    work: str, X: np.ndarray, y: np.ndarray, C: float, peer_tolerance: float, our_tolerance: float, target: float
) -> Comparison:
    """Compare the elimination of one feature at a time, one process each."""

    def theirs() -> RFE:
        return RFE(SVC(kernel="linear", C=C, tol=peer_tolerance), n_features_to_select=1).fit(X, y)

    def ours() -> RecursiveFeatureElimination:
        return RecursiveFeatureElimination(C=C, tolerance=our_tolerance).fit(X, y)

    top = max(X.shape[1] // 10, 5)
    same = np.count_nonzero((theirs().ranking_ <= top) & (ours().ranking_ <= top))
    gap = svc_gap(X @ X.T, y, C, SVC(kernel="linear", C=C, tol=peer_tolerance).fit(X, y))
    our_gap = float(SVM(C=C, tolerance=our_tolerance).fit(X, y).duality_gap_.max())
    return compare(
        f"{work}, C={C:g}, tolerance {our_tolerance:.0e}",
        f"RFE(SVC), tolerance {peer_tolerance:.0e}",
        target,
        theirs,
        ours,
        (gap, our_gap),
        f"{same} of the best {top} the same",
        peer_repeats=1,
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
        f"{work}, with certificates", "rfe without", 0.5, plain, ours, (0.0, 0.0), note, clock=time.process_time
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
        yield elimination("RFE one by one, wdbc 569 x 30", scale(X), y, C, 1e-6, 1e-6, 15.0)
    at_hand = standardised("colon", "raw")
    X, y = at_hand or make_classification(62, 2000, n_informative=20, n_redundant=20, random_state=0)
    name = "RFE one by one, colon 62 x 2,000" if at_hand else "RFE one by one, 62 x 2,000 like colon"
    yield elimination(name, scale(X), y, 1.0, 1e-3, 1e-7, 7.0)
    yield elimination(name, scale(X), y, 1.0, 1e-6, 1e-6, 7.0)
    yield from certified(name, scale(X), y)
    X, y = make_classification(500, 2000, n_informative=20, n_redundant=20, random_state=0)
    yield elimination("RFE one by one, 500 x 2,000", scale(X), y, 1.0, 1e-3, 1e-3, 40.0)
    yield elimination("RFE one by one, 500 x 2,000", scale(X), y, 1.0, 1e-3, 1e-7, 7.0)
