"""Grid search by 10-fold and leave-one-out, on data of the size of splice and sonar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.harness import JOBS, Comparison, compare, svc_gap
from fsvm_cli.svm import SVM, Gaussian, Linear, grid_search, leave_one_out

if TYPE_CHECKING:
    from collections.abc import Iterator

CS = [float(2.0**k) for k in range(-3, 5)]
GAMMAS = [float(2.0**k) / 60 for k in range(-6, 2)]


def splice_like() -> tuple[np.ndarray, np.ndarray]:
    """Return 1,000 sequences of 60 letters coded 1..4, told apart by the letters about the middle."""
    rng = np.random.default_rng(5)
    X = rng.integers(1, 5, (1000, 60)).astype(float)
    signal = (X[:, 28] == 3).astype(float) + (X[:, 29] == 4) + (X[:, 31] < 3) - (X[:, 27] == 2)
    return (X - 2.5) / 1.118, (signal + 0.7 * rng.standard_normal(1000) > 0.9).astype(int)


def sonar_like() -> tuple[np.ndarray, np.ndarray]:
    """Return 208 samples of 60 features, few of them informative."""
    return make_classification(208, 60, n_informative=12, flip_y=0.05, random_state=7)


def ten_fold() -> Comparison:
    X, y = splice_like()
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))

    def theirs() -> GridSearchCV:
        return GridSearchCV(SVC(), {"C": CS, "gamma": GAMMAS}, cv=folds, n_jobs=JOBS).fit(X, y)

    def ours() -> object:
        return grid_search([Gaussian(1 / g) for g in GAMMAS], CS, X, y, folds, n_classes=2, jobs=JOBS)

    same = theirs().best_score_ == ours().accuracy.max()
    kernel = Gaussian(1 / GAMMAS[4])
    gap = svc_gap(kernel.gram(X, X), y, CS[3], SVC(C=CS[3], gamma=GAMMAS[4]).fit(X, y))
    our_gap = float(SVM(kernel, C=CS[3]).fit(X, y).duality_gap_.max())
    return compare(
        "10-fold grid search, gaussian, 8 x 8 grid, 1,000 rows like splice",
        "GridSearchCV(SVC), 2 jobs",
        8.0,
        theirs,
        ours,
        (gap, our_gap),
        f"best accuracy {'the same' if same else 'differs'}",
    )


def one_out() -> Comparison:
    X, y = sonar_like()
    folds, Cs = leave_one_out(len(y)), [float(10.0**k) for k in np.linspace(-3, 1, 10)]

    def theirs() -> GridSearchCV:
        return GridSearchCV(SVC(kernel="linear"), {"C": Cs}, cv=folds, n_jobs=JOBS).fit(X, y)

    def ours() -> object:
        return grid_search([Linear()], Cs, X, y, folds, n_classes=2, jobs=JOBS)

    same = theirs().best_score_ == ours().accuracy.max()
    gap = svc_gap(X @ X.T, y, Cs[5], SVC(kernel="linear", C=Cs[5]).fit(X, y))
    our_gap = float(SVM(C=Cs[5]).fit(X, y).duality_gap_.max())
    return compare(
        "leave-one-out over 10 values of C, linear, 208 rows like sonar",
        "GridSearchCV(SVC), 2 jobs",
        20.0,
        theirs,
        ours,
        (gap, our_gap),
        f"best accuracy {'the same' if same else 'differs'}",
    )


def comparisons() -> Iterator[Comparison]:
    """Yield the rows of tuning."""
    yield ten_fold()
    yield one_out()
