"""Retained-feature curves of many small splits: wine and WDBC, the work of Figures 3(a) and 3(b)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, _libsvm

from benchmarks.harness import JOBS, SPLITS, Comparison, compare, svc_gap
from fsvm_cli.svm import Gaussian, Kernel, Linear, Polynomial, nested_curves
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

C = 10.0


@dataclass(frozen=True)
class Split:
    """A standardised split and four orders: best and worst first by correlation, and two random ones."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    orders: np.ndarray
    n_classes: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(range(1, self.X_train.shape[1] + 1))


@cache
def splits(name: str, number: int) -> list[Split]:
    X, y = {"wine": load_wine, "wdbc": load_breast_cancer}[name](return_X_y=True)
    rng = np.random.default_rng(2000)
    made = []
    for _ in range(number):
        rows = rng.permutation(len(y))
        train, test = rows[: 2 * len(y) // 3], rows[2 * len(y) // 3 :]
        scaler = StandardScaler().fit(X[train])
        relevance = np.abs(np.corrcoef(X[train].T, y[train])[-1, :-1])
        best = np.argsort(-relevance)
        orders = np.array([best, best[::-1], rng.permutation(X.shape[1]), rng.permutation(X.shape[1])])
        made.append(Split(scaler.transform(X[train]), y[train], scaler.transform(X[test]), orders, y.max() + 1))
    return made


def svc_of(kernel: Kernel) -> dict[str, object]:
    """Return scikit-learn's words for a kernel."""
    match kernel:
        case Gaussian(theta=theta):
            return {"kernel": "rbf", "gamma": 1.0 / theta}
        case Polynomial(degree=degree, offset=offset):
            return {"kernel": "poly", "degree": degree, "gamma": 1.0, "coef0": offset}
        case _:
            return {"kernel": "linear"}


def loop_over_svc(split: Split, kernel: Kernel) -> None:
    """Do what a plain script does: one SVC for each order, size and class; scores of both parts."""
    words = svc_of(kernel)
    labels, _ = machine_labels(split.y_train, split.n_classes)
    for order in split.orders:
        for size in split.sizes:
            train, test = split.X_train[:, order[:size]], split.X_test[:, order[:size]]
            for y in labels:
                machine = SVC(C=C, **words).fit(train, y)
                machine.decision_function(train)
                machine.decision_function(test)


def direct_libsvm(split: Split) -> None:
    """Libsvm without scikit-learn's Python layer, on linear Gram matrices that grow feature by feature."""
    labels, _ = machine_labels(split.y_train, split.n_classes)
    for order in split.orders:
        gram = np.zeros((len(split.X_train),) * 2)
        cross = np.zeros((len(split.X_train), len(split.X_test)))
        for j in order:
            gram += np.multiply.outer(split.X_train[:, j], split.X_train[:, j])
            cross += np.multiply.outer(split.X_train[:, j], split.X_test[:, j])
            for y in labels:
                support, _, _, coefficients, intercept, *_ = _libsvm.fit(gram, y, kernel="precomputed", C=C)
                coefficients[0] @ gram[support] + intercept
                coefficients[0] @ cross[support] + intercept


def our_curves(split: Split, kernel: Kernel) -> float:
    found = nested_curves(
        kernel, C, split.X_train, split.y_train, split.X_test, split.orders, split.sizes, n_classes=split.n_classes
    )
    return float(found.duality_gap.max())


def largest_svc_gap(split: Split, kernel: Kernel) -> float:
    """Return the largest gap of the peer's fits on the best-first order."""
    labels, _ = machine_labels(split.y_train, split.n_classes)
    gaps = []
    for size in split.sizes:
        X = split.X_train[:, split.orders[0, :size]]
        gaps += [svc_gap(kernel.gram(X, X), y, C, SVC(C=C, **svc_of(kernel)).fit(X, y)) for y in labels]
    return max(gaps)


def in_blocks(work: Callable[..., object], items: list[Split], *arguments: object) -> list[object]:
    """Run over blocks of splits in worker processes."""

    def block(part: list[Split]) -> list[object]:
        return [work(split, *arguments) for split in part]

    size = max(1, len(items) // (4 * JOBS))
    parts = [items[i : i + size] for i in range(0, len(items), size)]
    results = Parallel(n_jobs=JOBS)(delayed(block)(part) for part in parts)
    return [result for part in results for result in part]


FIGURES: dict[str, tuple[int, list[tuple[Kernel, float]]]] = {
    "wine": (SPLITS, [(Linear(), 100.0), (Gaussian(13.0), 60.0), (Polynomial(2), 60.0)]),
    "wdbc": (max(2, SPLITS // 25), [(Linear(), 20.0), (Gaussian(30.0), 12.0), (Polynomial(2), 12.0)]),
}
"""Splits of a data set, kernels and targets: Figures 3(a) and 3(b)."""


def comparisons(name: str) -> Iterator[Comparison]:
    """Yield the rows of a data set."""
    number, rows = FIGURES[name]
    items = splits(name, number)
    for kernel, target in rows:
        gaps = largest_svc_gap(items[0], kernel), max(our_curves(split, kernel) for split in items[:20])
        work = f"{name}, {number} splits x {len(items[0].sizes)} sizes x 4 orders, {kernel.name}, C=10"

        def ours(items: list[Split] = items, kernel: Kernel = kernel) -> object:
            return in_blocks(our_curves, items, kernel)

        def theirs(items: list[Split] = items, kernel: Kernel = kernel) -> object:
            return in_blocks(loop_over_svc, items, kernel)

        yield compare(work, "loop over SVC, joblib, 2 jobs", target, theirs, ours, gaps)
        if name == "wine" and isinstance(kernel, Linear):

            def direct(items: list[Split] = items) -> object:
                return in_blocks(direct_libsvm, items)

            yield compare(work, "direct libsvm calls, incremental Gram matrix, 2 jobs", 15.0, direct, ours, gaps)
