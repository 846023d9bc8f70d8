"""What must change no ranking: the order of rows and columns, directions, offsets, units, names, ways of writing."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from fsvm_cli.ranking.registry import ranking_methods
from tests.ranking.test_contract import build_modest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fsvm_cli.ranking.base import Ranker

    Table = tuple[NDArray[np.float64], NDArray[np.intp]]

METHODS = {name: method for name, method in ranking_methods().items() if not method.is_control}


def blobs() -> Table:
    rng = np.random.default_rng(5)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 5))
    X[:, 0] += 2.0 * y
    X[:, 1] -= y
    return X, y


def lattice() -> Table:
    rng = np.random.default_rng(6)
    X = rng.integers(0, 3, (50, 5)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, 50) > 2).astype(np.intp)
    return np.column_stack([X, X[:, 0]]), y


def wide() -> Table:
    rng = np.random.default_rng(7)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 60))
    X[:, 3] += 2.0 * y
    return X, y


def rare() -> Table:
    rng = np.random.default_rng(8)
    y = (np.arange(80) < 8).astype(np.intp)
    kinds = np.eye(3)[rng.integers(0, 3, 80)]
    return np.column_stack([rng.normal(size=80) + 2 * y, kinds, 1e6 + np.round(rng.normal(size=80), 2) - y]), y


TABLES = {"blobs": blobs, "lattice": lattice, "wide": wide, "rare": rare}


@functools.cache
def table(name: str) -> Table:
    """Return a table in numbers of few binary digits, so that offsets add without rounding, in units of deviations."""
    X, y = TABLES[name]()
    return np.round((X - X.mean(axis=0)) / X.std(axis=0) * 2**16) / 2**16, y


def scores(method: type[Ranker], X: Any, y: NDArray[Any], **given: Any) -> NDArray[np.float64]:
    """Return the scores, copies of a column the mean of theirs: which of them comes first is a tie."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = build_modest(method).fit(X, y, **given).scores_.copy()
    if X.shape[1] == 6:
        copies = copies_in_the_lattice(X)
        found[copies] = found[copies].mean()
    return found


def copies_in_the_lattice(X: Any) -> list[int]:
    full = X.toarray() if sp.issparse(X) else X
    alike = np.abs(np.corrcoef(full.T)) > 1 - 1e-9
    return np.flatnonzero(alike.sum(axis=0) > 1).tolist()


@functools.cache
def plain_scores(name: str, of: str) -> NDArray[np.float64]:
    return scores(METHODS[name], *table(of))


def columns_permuted(method: type[Ranker], X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    order = np.random.default_rng(1).permutation(X.shape[1])
    found = np.empty(X.shape[1])
    found[order] = scores(method, X[:, order], y)
    return found


def rows_permuted(method: type[Ranker], X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    order = np.random.default_rng(2).permutation(len(y))
    return scores(method, X[order], y[order])


def mirrored(method: type[Ranker], X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    return scores(method, X * np.where(np.arange(X.shape[1]) % 3 == 1, 1.0, -1.0), y)


def shifted(method: type[Ranker], X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    return scores(method, X + np.where(np.arange(X.shape[1]) % 2 == 0, 2.0**20, -1.0), y)


def in_other_units(method: type[Ranker], X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    return scores(method, X * 2.0**20, y)


def classes_renamed(method: type[Ranker], X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    return scores(method, X, np.array(["c", "b", "a"])[y])


def weights_of_rows(method: type[Ranker], X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    if not method.takes_sample_weight:
        return scores(method, X, y)
    weights = np.random.default_rng(3).integers(1, 4, len(y))
    weighted = scores(method, X, y, sample_weight=weights)
    repeated = scores(method, np.repeat(X, weights, axis=0), np.repeat(y, weights))
    return np.asarray(weighted - repeated + scores(method, X, y))


def sparse(method: type[Ranker], X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    return scores(method, sp.csr_array(X) if method.accepts_sparse else X, y)


CHANGES: dict[str, Callable[[type[Ranker], NDArray[np.float64], NDArray[np.intp]], NDArray[np.float64]]] = {
    "columns permuted": columns_permuted,
    "rows permuted": rows_permuted,
    "mirrored": mirrored,
    "shifted": shifted,
    "other units": in_other_units,
    "classes renamed": classes_renamed,
    "weights": weights_of_rows,
    "sparse": sparse,
}

IN_UNITS = "its parameters or its score are by definition in the units of the features: {}"
TIES = "places of features that tie exactly go by the column"
WIDTH = "the default width of the Gaussian kernel is that of all entries together"
EXCEPTIONS: dict[tuple[str, str], str] = {
    **{
        (name, "other units"): IN_UNITS.format(what)
        for what, names in {
            "the score": ("average-separation", "fisher"),
            "length scales at the start": ("ard",),
            "C, or the kernel's": (
                *("gradient-angle", "infoprop", "kernel-selection"),
                *("multi-task", "radius-margin", "rfe", "span"),
            ),
        }.items()
        for name in names
    },
    **{
        (name, "columns permuted"): TIES
        for name in ("koller-sahami", "mifs", "mrmr", "multi-task", "radius-margin", "rfe", "span", "wrapper")
    },
    ("ard", "classes renamed"): "random numbers are drawn for one class after another",
    ("kolmogorov-smirnov", "classes renamed"): "of two classes its definition counts the share of the first",
    ("kpd", "shifted"): WIDTH,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("of", TABLES)
@pytest.mark.parametrize("name", METHODS)
def test_no_score_changes(name: str, of: str, change: str) -> None:
    X, y = table(of)
    if (name, change) in EXCEPTIONS:
        # What changes is the score by definition: the method still takes the table.
        assert plain_scores(name, of).shape == (X.shape[1],)
        return
    before = plain_scores(name, of)
    after = CHANGES[change](METHODS[name], X, y)
    assert np.abs(after - before).max() <= 1e-5 * np.abs(before).max()
