"""The size of a data set, and the names in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.source import FixedSource

if TYPE_CHECKING:
    from fsvm_cli.data.source import DataSource


@dataclass(frozen=True)
class Outline:
    """The size of a data set, and the names in it.

    Attributes
    ----------
    name : str
        What it is called in tables.
    n_samples, n_features : int
    class_names : tuple of str
        In any order.
    n_splits : int
        Splits that the source fixes.
    is_sparse : bool
        Whether its samples are the rows of a sparse matrix.
    feature_names : tuple of str or None
        In the order of the columns; None where only its files name them.
    knows_relevant_features : bool
        Whether it is drawn from a distribution, of which is known what the class depends on.
    is_own : bool
        Whether it is a file of the user's own, whose config may say what splits it.
    n_groups : int or None
        Groups of rows that stay together; None where each row stands for itself.
    """

    name: str
    n_samples: int
    n_features: int
    class_names: tuple[str, ...]
    n_splits: int
    is_sparse: bool
    feature_names: tuple[str, ...] | None
    knows_relevant_features: bool
    is_own: bool = False
    n_groups: int | None = None


def outline_of(source: DataSource) -> Outline:
    """Outline a data set that has been opened."""
    size = source.n_samples, source.n_features
    is_known = source.relevant_features is not None
    n_splits = len(source.given_splits)
    groups = source.dataset.groups if isinstance(source, FixedSource) else None
    return Outline(
        source.name,
        *size,
        source.class_names,
        n_splits,
        source.is_sparse,
        source.feature_names,
        is_known,
        n_groups=None if groups is None else len(np.unique(groups)),
    )
