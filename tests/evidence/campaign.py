"""Ascents with the defaults beside machines tuned by cross-validation, and on tables of noise: a campaign by hand.

`python -m tests.evidence.campaign problems`, `... noise` or `... power` writes a table as Markdown. The test suite runs
a few of each.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from fsvm_cli import BayesianSVM
from fsvm_cli.evidence.parameters import CAVEATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

N_TEST = 2000
REPEATS = 5
"""Training sets from which the noise of the machine tuned by cross-validation follows."""
PAPER = {"rule": "magnitude", "approximation": "mixed", "n_eigenvectors": 20, "n_permutations": 0}
GRID = {"C": [0.1, 1, 10, 100, 1000], "relative": [2.0**-5, 2.0**-3, 0.5, 2.0, 8.0]}


class Problem(NamedTuple):
    """A kind of table, its training rows, and its columns of noise."""

    kind: str
    n: int
    n_noise: int


PROBLEMS = [
    Problem(kind, n, n_noise)
    for kind in ("banana", "xor", "linear", "sphere")
    for n, n_noise in ((60, 0), (100, 5), (200, 10), (400, 10), (400, 15))
]


def table(kind: str, n: int, n_noise: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Make a table with standardised columns; of "noise" and "binary noise" the columns say nothing of the labels."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    if kind == "banana":
        angle = rng.uniform(0.0, np.pi, n)
        above, below = [np.cos(angle), np.sin(angle)], [1.0 - np.cos(angle), 0.5 - np.sin(angle)]
        X = np.where(y > 0, above, below).T + 0.25 * rng.standard_normal((n, 2))
    elif kind == "xor":
        X = rng.standard_normal((n, 2))
        y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    elif kind == "linear":
        X = rng.standard_normal((n, 4))
        y = np.where(X @ [1.0, 1.0, 0.5, 0.25] + 0.5 * rng.standard_normal(n) > 0, 1, -1)
    elif kind == "sphere":
        X = rng.standard_normal((n, 3))
        y = np.where((X**2).sum(axis=1) > 2.366, 1, -1)
    elif kind == "binary noise":
        X = rng.integers(0, 2, (n, 3)).astype(np.float64)
    else:
        X = np.zeros((n, 0))
    X = np.column_stack([X, rng.standard_normal((n, n_noise))])
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def drawn(number: int, repeat: int = 0) -> tuple[NDArray[Any], ...]:
    """Training rows, labels, test rows and labels of one of `PROBLEMS`."""
    kind, n, n_noise = PROBLEMS[number]
    X, y = table(kind, n + N_TEST, n_noise, 1000 * repeat + number)
    return X[:n], y[:n], X[n:], y[n:]


def error_by_folds(number: int, repeat: int = 0) -> float:
    """Test error of scikit-learn's machine, with one width for all columns, tuned by five folds."""
    X, y, X_test, y_test = drawn(number, repeat)
    grid = {"C": GRID["C"], "gamma": [part / X.shape[1] for part in GRID["relative"]]}
    return float(np.mean(GridSearchCV(SVC(), grid, cv=5).fit(X, y).predict(X_test) != y_test))


def error_and_caveats(number: int, **settings: Any) -> tuple[float, list[str]]:
    """Test error of the machine tuned by the evidence, and what it says of itself."""
    X, y, X_test, y_test = drawn(number)
    machine = BayesianSVM(random_state=0, **settings).fit(X, y)
    told = [name for name in CAVEATS if name in machine.chosen_] + ["not converged"] * (not machine.converged_.all())
    return float(np.mean(machine.predict(X_test) != y_test)), told


def stands_out(X: NDArray[np.float64], y: NDArray[np.intp]) -> bool:
    """Whether the machine says that it has found something."""
    (path,) = BayesianSVM(random_state=0).fit(X, y).path_
    return not path.is_blind and path.stands_out


def above_permuted(X: NDArray[np.float64], y: NDArray[np.intp]) -> tuple[bool, NDArray[np.bool_]]:
    """Whether the machine says that it has found something, and which columns' relevances exceed all permuted ones."""
    machine = BayesianSVM(random_state=0).fit(X, y)
    (path,), control = machine.path_, machine.diagnostics_["control"]
    relevance = np.array([control[f"relevance of x{a}"] for a in range(X.shape[1])])
    said = not path.is_blind and path.stands_out
    return said, said & (relevance[:, 0] > relevance[:, 1:].max(axis=1, initial=-np.inf))


def noise() -> Iterator[tuple[str, int, int, int]]:
    """Tables of pure noise: kind, rows, columns of noise, seed."""
    for seed in range(10):
        yield from (("noise", n, d, seed) for n, d in ((40, 5), (60, 10), (100, 30), (200, 10)))
        yield "binary noise", 100, 5, seed


def signal() -> Iterator[tuple[str, int, int, int]]:
    """Small tables with a signal."""
    for kind in ("banana", "xor", "linear", "sphere"):
        yield from ((kind, n, n_noise, seed) for n, n_noise in ((40, 2), (60, 5), (100, 10)) for seed in range(4))


def _row(*cells: object) -> None:
    sys.stdout.write("| " + " | ".join(map(str, cells)) + " |\n")
    sys.stdout.flush()


def _problems() -> None:
    head = ("problem", "rows", "noise columns", "CV", "its noise", "before", "after", "caveats after", "within noise")
    _row(*head)
    _row(*["---"] * len(head))
    for number, problem in enumerate(PROBLEMS):
        by_folds = [error_by_folds(number, repeat) for repeat in range(REPEATS)]
        mean, spread = float(np.mean(by_folds)), float(np.std(by_folds, ddof=1))
        before, _ = error_and_caveats(number, **PAPER)
        after, told = error_and_caveats(number)
        cells = (*problem, f"{mean:.3f}", f"{spread:.3f}", f"{before:.3f}", f"{after:.3f}", ", ".join(told))
        _row(*cells, after <= mean + 2 * spread)


def _standing_out(tables: Callable[[], Iterator[tuple[str, int, int, int]]]) -> None:
    found: dict[tuple[str, int, int], list[tuple[bool, int, int]]] = {}
    for kind, n, n_noise, seed in tables():
        said, columns = above_permuted(*table(kind, n, n_noise, seed))
        split = len(columns) - n_noise
        found.setdefault((kind, n, n_noise), []).append((said, int(columns[:split].sum()), int(columns[split:].sum())))
    head = ("kind", "rows", "noise columns", "tables", "said to stand out", "told columns above", "noise columns above")
    _row(*head)
    _row(*["---"] * len(head))
    for key, counts in found.items():
        _row(*key, len(counts), *np.sum(counts, axis=0))


if __name__ == "__main__":
    campaigns = {"problems": _problems, "noise": lambda: _standing_out(noise), "power": lambda: _standing_out(signal)}
    campaigns[sys.argv[1]]()
