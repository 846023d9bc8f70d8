"""The rows of `curves.csv` that make learning curves, as figures and the terminal show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.spec.rankings import ALL_FEATURES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsvm_cli.spec.schema import Config

MAX_SIZES = 4
"""Of more numbers of retained features, so many are shown."""


def sizes_shown(n_features: Sequence[int]) -> list[int]:
    """Choose the numbers of retained features that have learning curves of their own.

    Parameters
    ----------
    n_features : sequence of int
        Those that were evaluated, ascending; the last is that of all features.

    Returns
    -------
    list of int
        All but the last, or of many a few that lie evenly among them; the last where there is no other.
    """
    *subsets, all_features = n_features
    if not subsets:
        return [all_features]
    indices = np.linspace(0, len(subsets) - 1, min(len(subsets), MAX_SIZES)).round().astype(int)
    return [subsets[index] for index in np.unique(indices)]


def learning_rows(curves: pd.DataFrame, config: Config) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield the numbers of retained features that have learning curves, each with its rows, by training size.

    Where the rankings share a machine, that on all features is among the rows, under its own label.

    Parameters
    ----------
    curves : DataFrame
        Rows of the table `curves.csv` of one metric and part.
    config : Config
    """
    if curves.empty:
        return
    sizes = sorted(curves["n_features"].unique())
    ranked = curves["ranking"].isin([ranking.label for ranking in config.rankings])
    # A method may have failed at some training sizes, and another not.
    on_all = curves[(curves["n_features"] == sizes[-1]) & ranked].drop_duplicates("train_size")
    for size in sizes_shown(sizes):
        rows = [curves[curves["n_features"] == size]]
        if config.shares_classifier and size < sizes[-1]:
            rows.append(on_all.assign(ranking=ALL_FEATURES))
        yield int(size), pd.concat(rows).sort_values("train_size", kind="stable")
