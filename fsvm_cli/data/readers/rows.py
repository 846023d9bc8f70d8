"""Rows, the result of every reader, and the data set assembled from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fsvm_cli.data.dataset import Dataset, hash_values
from fsvm_cli.data.messages import numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Matrix


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with their labels as they stand in the source.

    Attributes
    ----------
    X : ndarray or csr_array of float64, shape (n_samples, n_features)
        Feature values; NaN where one is missing.
    labels : list of str, length n_samples
        The class of each row, as written.
    feature_names : tuple of str
        Names of the columns; empty where the source has none.
    least_occurrences : int or None
        As in `fsvm_cli.data.dataset.Dataset`.
    groups : ndarray of int64, shape (n_samples,), or None
        What rows with the same number share, such as a patient, where the source tells.
    """

    X: Matrix
    labels: list[str]
    feature_names: tuple[str, ...] = ()
    least_occurrences: int | None = None
    groups: NDArray[np.int64] | None = None


def assemble(
    name: str, parts: list[Rows], class_names: tuple[str, ...] = (), feature_names: tuple[str, ...] = ()
) -> Dataset:
    """Build a data set from its rows.

    Parameters
    ----------
    name : str
        For the data set.
    parts : list of Rows
        All rows, or the training and the test part of a fixed split.
    class_names : tuple of str
        The labels in the order of the codes; by default in the order of their numbers, or else of the alphabet.
    feature_names : tuple of str
        By default those that the rows bring, or x1, x2, ...
    """
    rows = stacked(parts)
    class_names = class_names or _in_order(set(rows.labels))
    code = {label: code for code, label in enumerate(class_names)}
    y = np.array([code[label] for label in rows.labels], dtype=np.int64)
    train, test = np.split(np.arange(len(y)), [len(parts[0].labels)])
    split = (train, test) if len(parts) == 2 else None
    return Dataset(
        name=name,
        X=rows.X,
        y=y,
        feature_names=feature_names or rows.feature_names or numbered(rows.X.shape[1]),
        class_names=class_names,
        sha256=hash_values(rows.X, y, split, rows.least_occurrences, groups=rows.groups),
        train_indices=split[0] if split else None,
        test_indices=split[1] if split else None,
        least_occurrences=rows.least_occurrences,
        groups=rows.groups,
    )


def stacked(parts: list[Rows]) -> Rows:
    """Concatenate parts."""
    if len(parts) == 1:
        return parts[0]
    X = (sp.vstack if sp.issparse(parts[0].X) else np.vstack)([part.X for part in parts])
    return replace(parts[0], X=X, labels=[label for part in parts for label in part.labels])


def _in_order(labels: set[str]) -> tuple[str, ...]:
    try:
        return tuple(sorted(labels, key=float))
    except ValueError:
        return tuple(sorted(labels))
