"""Columns that are several features, such as the words of one, or that a user ranks as one: one score for each."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import threadpoolctl

from fsvm_cli.console import brief
from fsvm_cli.data.dataset import known_features
from fsvm_cli.data.scaling import fit_scaling
from fsvm_cli.data.source import FixedSource, features_called
from fsvm_cli.errors import DataError, UsageError, quiet_in_place
from fsvm_cli.evaluation.false_discovery import N_REPEATS_OF_SHARES, shares_of_controls_beaten
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.numerics import value_ranges
from fsvm_cli.own_data.request import SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Dataset, Matrix
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.own_data.request import RankingRequest


def read_column_groups(path: Path) -> dict[str, str]:
    """Read which columns are ranked as one, from a CSV file with the header column,group.

    Raises
    ------
    DataError
        If it cannot be read, has another header, or names a column twice.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            header, *rows = [[field.strip() for field in row] for row in csv.reader(stream) if row] or [[]]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{brief(str(path))}: cannot be read ({error}); name a CSV file with the columns column,group"
        ) from error
    if header != ["column", "group"] or not all(len(row) == 2 and all(row) for row in rows):
        raise DataError(f"{brief(str(path))}: the header is to be column,group, and each row a column and its group")
    twice = [name for name, n in Counter(column for column, _ in rows).items() if n > 1]
    if twice:
        raise DataError(f"{brief(str(path))}: column '{brief(twice[0])}' stands there twice; a column has one group")
    return {row[0]: row[1] for row in rows}


def with_column_groups(source: DataSource, groups: Mapping[str, str]) -> DataSource:
    """Let columns be ranked as one, as the words of a column are.

    Raises
    ------
    UsageError
        If there is no such column, a group is called like a column outside it, or the data are drawn anew.
    """
    features_called(groups, source)
    if not isinstance(source, FixedSource):
        raise UsageError(f"{source.name}: is drawn from a generator, whose columns have no groups; give a table")
    dataset = source.dataset
    columns = dataset.source_columns or dataset.feature_names
    grouped = tuple(
        groups.get(column, groups.get(name, column))
        for column, name in zip(columns, dataset.feature_names, strict=True)
    )
    if taken := sorted(set(groups.values()) & set(columns) - groups.keys()):
        raise UsageError(
            f"{source.name}: '{brief(taken[0])}' is a group and a column outside it; call the group otherwise"
        )
    return replace(source, dataset=replace(dataset, source_columns=grouped))


N_REPEATS_OF_COSTLY = 20
"""Of the rankings with controls, where a feature's score depends on other features."""


def is_grouped(dataset: Dataset) -> bool:
    """Whether a column, or a group of columns, has several features."""
    return len(set(dataset.source_columns or ())) < len(dataset.source_columns or ())


def columns_as_numbers(dataset: Dataset) -> tuple[list[str], NDArray[np.intp]]:
    """Name the columns, and return the number of each feature's."""
    names = list(dict.fromkeys(dataset.source_columns or dataset.feature_names))
    place = {name: number for number, name in enumerate(names)}
    return names, np.array([place[name] for name in dataset.source_columns or dataset.feature_names], dtype=np.intp)


def scoring(dataset: Dataset, request: RankingRequest) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return what scores features, and controls beside them, by a method."""
    weights = (dataset.sample_weight,) if request.method.takes_sample_weight else ()

    def score(both: NDArray[np.float64]) -> NDArray[np.float64]:
        ranker: Any = request.estimator(dataset.class_names, both)[0]
        found: NDArray[np.float64] = ranker.fit(both, dataset.y, dataset.groups, *weights).scores_
        return found

    return score


def shares_of_columns(dataset: Dataset, request: RankingRequest) -> tuple[NDArray[np.float64], str]:
    """Score each column by the share of permuted controls that it beats, and say how."""
    method = request.method.method
    X = known_features(dataset, np.arange(dataset.n_samples))
    if not isinstance(X, np.ndarray) or request.parameters.keys() & request.method.index_parameters:
        why = (
            "a sparse matrix (--dense reads a full one)" if sp.issparse(X) else f"what {method} is told of by its place"
        )
        raise UsageError(
            f"{dataset.name}: a column of several features cannot be scored in {why}; drop it, or ungroup it"
        )
    names, columns = columns_as_numbers(dataset)
    n_repeats = N_REPEATS_OF_SHARES if request.method.scores_columns_apart else N_REPEATS_OF_COSTLY
    shares = np.zeros(len(names))
    try:
        with threadpoolctl.threadpool_limits(limits=1), quiet_in_place():
            scaled = fit_scaling(request.scaling, X).transform(X)
            ranked = ranked_features(scaled, request)
            tested, numbers = np.unique(columns[ranked], return_inverse=True)
            rng = random_stream(SEED, "controls of columns")
            shares[tested] = shares_of_controls_beaten(
                columns_of(scaled, ranked), scoring(dataset, request), numbers, rng, n_repeats
            )
    except (ValueError, TypeError) as error:
        raise UsageError(f"{dataset.name}: {error}") from error
    return shares, (
        f"a column may have several features: score is how often the best of them beats the best of its copy with "
        f"permuted rows, in {n_repeats} rankings of both; method_score is the best by {method} itself"
    )


def ranked_features(X: Matrix, request: RankingRequest) -> NDArray[np.intp]:
    """Find the features that a method is to see, those that vary: others tell nothing, and there may be many.

    All where none varies, or where a parameter of the method is the index of a feature.
    """
    varying = np.flatnonzero(value_ranges(X))
    sees_all = not len(varying) or request.parameters.keys() & request.method.index_parameters
    return np.arange(X.shape[1]) if sees_all else varying


def columns_of(X: Matrix, features: NDArray[np.intp]) -> Matrix:
    """Return some columns of a matrix, each sample in one piece."""
    if len(features) == X.shape[1]:
        return X
    # Indexing leaves the samples of a full matrix far apart, and sums over them are then rounded in another order.
    return np.take(X, features, axis=1) if isinstance(X, np.ndarray) else X[:, features]


def scores_of_words(dataset: Dataset, scores: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    """Find the scores of the words of each column of words."""
    words: dict[str, dict[str, float]] = {}
    sources = dataset.source_columns or dataset.feature_names
    for column, feature, score in zip(sources, dataset.feature_names, scores.tolist(), strict=True):
        if column != feature:
            words.setdefault(column, {})[feature] = score
    return words
