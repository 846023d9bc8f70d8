"""Grid search by 10-fold on splice and leave-one-out on sonar, or on data of their size where they are not at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.harness import JOBS, Comparison, compare, svc_gap
from benchmarks.real_data import standardised
from fsvm_cli.evaluation.folds import leave_one_out
from fsvm_cli.svm import SVM, Gaussian, Linear, grid_search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fsvm_cli.svm import GridSearch, Kernel

CS = [float(2.0**k) for k in range(-3, 5)]
GAMMAS = [float(2.0**k) / 60 for k in range(-6, 2)]


def splice_like(n: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Return n sequences of 60 letters coded 1..4, told apart by the letters about the middle."""
    rng = np.random.default_rng(5)
    X = rng.integers(1, 5, (n, 60)).astype(float)
    signal = (X[:, 28] == 3).astype(float) + (X[:, 29] == 4) + (X[:, 31] < 3) - (X[:, 27] == 2)
    return (X - 2.5) / 1.118, (signal + 0.7 * rng.standard_normal(n) > 0.9).astype(int)


def sonar_like() -> tuple[np.ndarray, np.ndarray]:
    """Return 208 samples of 60 features, few of them informative."""
    X, y = make_classification(208, 60, n_informative=12, flip_y=0.05, random_state=7)
    return X, y


def agreement(found: GridSearch, cells: np.ndarray, their_choice: tuple[Kernel, float]) -> str:
    """Say whether both choose alike, and in how many cells of the grid their accuracies differ."""
    differing = np.count_nonzero(np.abs(found.accuracy - cells) > 1e-12)
    choice = "the same" if (found.kernel, found.C) == their_choice else "another"
    return f"{choice} choice; {differing} of {cells.size} accuracies differ"


def largest_gaps(
    kernels: Sequence[Kernel], Cs: Sequence[float], X: np.ndarray, y: np.ndarray, peer: Callable[..., SVC]
) -> tuple[float, float]:
    """Return the peer's largest gap over the grid on all samples, and ours."""
    cells = [(kernel, C) for kernel in kernels for C in Cs]
    theirs = max(svc_gap(kernel.gram(X, X), y, C, peer(kernel, C).fit(X, y)) for kernel, C in cells)
    return theirs, max(float(SVM(kernel, C=C).fit(X, y).duality_gap_.max()) for kernel, C in cells)


def ten_fold() -> Comparison:
    at_hand = standardised("splice", "libsvm")
    X, y = at_hand or splice_like()
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    kernels = [Gaussian(1 / gamma) for gamma in GAMMAS]

    def theirs() -> GridSearchCV:
        return GridSearchCV(SVC(), {"C": CS, "gamma": GAMMAS}, cv=folds, n_jobs=JOBS).fit(X, y)

    def ours() -> GridSearch:
        return grid_search(kernels, CS, X, y, folds, n_classes=2, jobs=JOBS)

    search = theirs()
    cells = search.cv_results_["mean_test_score"].reshape(len(CS), len(GAMMAS)).T
    their_choice = (kernels[GAMMAS.index(search.best_params_["gamma"])], search.best_params_["C"])
    return compare(
        f"10-fold grid search, gaussian, 8 x 8 grid, {'' if at_hand else 'like '}splice, 1,000 rows",
        "GridSearchCV(SVC), 2 jobs",
        8.0,
        theirs,
        ours,
        largest_gaps(kernels, CS, X, y, lambda kernel, C: SVC(C=C, gamma=1 / kernel.theta)),
        agreement(ours(), cells, their_choice),
    )


def one_out() -> Comparison:
    at_hand = standardised("sonar", "uci")
    X, y = at_hand or sonar_like()
    folds, Cs = leave_one_out(y), [float(10.0**k) for k in np.linspace(-3, 1, 10)]

    def theirs() -> GridSearchCV:
        return GridSearchCV(SVC(kernel="linear"), {"C": Cs}, cv=folds, n_jobs=JOBS).fit(X, y)

    def ours() -> GridSearch:
        return grid_search([Linear()], Cs, X, y, folds, n_classes=2, jobs=JOBS)

    search = theirs()
    return compare(
        f"leave-one-out over 10 values of C, linear, {'' if at_hand else 'like '}sonar, 208 rows",
        "GridSearchCV(SVC), 2 jobs",
        20.0,
        theirs,
        ours,
        largest_gaps([Linear()], Cs, X, y, lambda _, C: SVC(kernel="linear", C=C)),
        agreement(ours(), search.cv_results_["mean_test_score"][None], (Linear(), search.best_params_["C"])),
    )


def comparisons() -> Iterator[Comparison]:
    """Yield the rows of tuning."""
    yield ten_fold()
    yield one_out()
