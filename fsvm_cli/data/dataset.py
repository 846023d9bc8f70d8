"""A data set in memory: features, class codes and names, its hash, and its features as a training part shows them."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from fsvm_cli.console import brief
from fsvm_cli.data.messages import shown
from fsvm_cli.errors import DataError
from fsvm_cli.numerics import all_finite, row_blocks

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fsvm_cli.data.preparation import Preparation

    Matrix: TypeAlias = NDArray[np.float64] | sp.csr_array


@dataclass(frozen=True, eq=False)
class Dataset:
    """A classification data set, checked on construction.

    Attributes
    ----------
    name : str
        What the set is called in tables and errors.
    X : ndarray or scipy.sparse.csr_array of float64, shape (n_samples, n_features)
        Finite feature values, in the units of the source.
    y : ndarray of int64, shape (n_samples,)
        Class codes 0..k-1, the indices of the classes in `class_names`.
    feature_names : tuple of str, length n_features
        Distinct names, in the order of the columns.
    class_names : tuple of str, length k >= 2
        Distinct names, in the order of the codes.
    sha256 : str
        64 hex digits that stand for what the values are (see `hash_values`); for a drawn sample, for the
        distribution that it was drawn from.
    train_indices, test_indices : ndarray of int64 or None
        Rows of the split that the source fixes; both or neither, disjoint.
    relevant_features : ndarray of int64 or None
        Columns that carry signal, where this is known.
    least_occurrences : int or None
        Where X, a csr_array, counts occurrences of words: how often a word must occur in the training part of a split
        to be a feature there (`with_training_vocabulary`).
    source_columns : tuple of str or None
        Where columns of words became several features each: for each feature, the column that it comes from.
    preparation : Preparation or None
        Where missing values are filled and words coded anew for every training part (`fsvm_cli.data.preparation`); X is
        what all rows would suggest.
    groups : ndarray of int64, shape (n_samples,), or None
        Rows with the same number belong together, such as those of one patient: no split or fold divides them.
    order : ndarray of int64, shape (n_samples,), or None
        Place of each row in an order such as that of time; rows with the same number have the same place.
    sample_weight : ndarray of float64, shape (n_samples,), or None
        How many equal rows each one stands for in training, > 0.
    remarks : tuple of str
        Decisions made on reading that users should know.

    Raises
    ------
    DataError
        If there are no rows or columns, a value is missing or infinite, or the parts do not fit together.

    See Also
    --------
    load_dataset : Loads one by its name, or from a file.

    Examples
    --------
    >>> from fsvm_cli import load_dataset
    >>> wine = load_dataset("wine")
    >>> wine.n_samples, wine.feature_names[0], wine.class_names[wine.y[0]]
    (178, 'alcohol', 'cultivar 1')
    """

    name: str
    X: Matrix
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    sha256: str
    train_indices: NDArray[np.int64] | None = None
    test_indices: NDArray[np.int64] | None = None
    relevant_features: NDArray[np.int64] | None = None
    least_occurrences: int | None = None
    source_columns: tuple[str, ...] | None = None
    preparation: Preparation | None = None
    groups: NDArray[np.int64] | None = None
    order: NDArray[np.int64] | None = None
    sample_weight: NDArray[np.float64] | None = None
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check_shapes()
        self._check_names()
        self._check_finite()
        self._check_split()

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes, whether or not each has a row."""
        return len(self.class_names)

    def class_counts(self) -> dict[str, int]:
        """Count the rows of each class, by name, in the order of the codes."""
        counts = np.bincount(self.y, minlength=self.n_classes)
        return dict(zip(self.class_names, counts.tolist(), strict=True))

    def frame(self) -> pd.DataFrame:
        """Return the columns of the source, without the class; words stay words, missing values are NaN.

        Raises
        ------
        DataError
            If X is a sparse matrix, which has no columns of its own.
        """
        import pandas as pd  # noqa: PLC0415 - slow to import, and seldom needed

        if sp.issparse(self.X):
            raise self._fail("is a sparse matrix, and no table; take X")
        if self.preparation is None:
            return pd.DataFrame(self.X, columns=list(self.feature_names))
        return pd.DataFrame(self.preparation.values())

    def labels(self) -> NDArray[Any]:
        """Return the class name of each row; integers if all names are whole numbers."""
        are_numbers = all(re.fullmatch("-?[0-9]{1,15}", name) for name in self.class_names)
        names = np.array([int(name) for name in self.class_names] if are_numbers else list(self.class_names))
        labels: NDArray[Any] = names[self.y]
        return labels

    def _fail(self, what: str) -> DataError:
        return DataError(f"data set '{brief(self.name)}': {what}")

    def _check_shapes(self) -> None:
        if self.X.ndim != 2 or self.X.dtype != np.float64:
            raise self._fail(f"X must be a float64 matrix, not {self.X.dtype} of shape {self.X.shape}")
        if not isinstance(self.X, np.ndarray | sp.csr_array):
            raise self._fail(f"X must be a dense array or a csr_array, not {type(self.X).__name__}")
        if 0 in self.X.shape:
            raise self._fail(f"{self.n_samples} rows and {self.n_features} features; at least one of each is needed")
        if self.y.shape != (self.n_samples,) or self.y.dtype != np.int64:
            raise self._fail(f"y must hold one int64 code for each of the {self.n_samples} rows")
        if self.groups is not None and self.groups.shape != self.y.shape:
            raise self._fail(f"{len(self.groups)} rows have a group; each of the {self.n_samples} rows needs one")
        if self.order is not None and self.order.shape != self.y.shape:
            raise self._fail(f"{len(self.order)} rows have a place; each of the {self.n_samples} rows needs one")
        weights = self.sample_weight
        if weights is not None and (
            weights.shape != self.y.shape or not (np.isfinite(weights).all() and (weights > 0).all())
        ):
            raise self._fail(f"each of the {self.n_samples} rows needs a finite weight above 0")
        if self.n_classes < 2:
            raise self._fail(f"only one class ({shown(self.class_names)}); at least two are needed")
        if self.y.min() < 0 or self.y.max() >= self.n_classes:
            raise self._fail(f"class codes must be 0..{self.n_classes - 1}")

    def _check_names(self) -> None:
        if len(self.feature_names) != self.n_features:
            raise self._fail(f"{len(self.feature_names)} feature names for {self.n_features} features")
        for kind, names in (("feature", self.feature_names), ("class", self.class_names)):
            repeated = [f"'{name}'" for name, count in Counter(names).items() if count > 1]
            if repeated:
                raise self._fail(f"{kind} names occur more than once: {shown(repeated)}; make them distinct")

    def _check_finite(self) -> None:
        if np.isfinite(self.X.data).all() if sp.issparse(self.X) else all_finite(self.X):
            return
        if sp.issparse(self.X):
            entries = sp.coo_array(self.X)
            bad = ~np.isfinite(entries.data)
            rows, columns = entries.row[bad], entries.col[bad]
        else:
            rows, columns = np.nonzero(~np.isfinite(self.X))
        counts = Counter(columns.tolist())
        found = [f"'{self.feature_names[column]}' ({counts[column]})" for column in sorted(counts)]
        raise self._fail(
            f"missing or infinite values in {np.unique(rows).size} of {self.n_samples} rows; by feature: {shown(found)}"
        )

    def _check_split(self) -> None:
        if (self.train_indices is None) != (self.test_indices is None):
            raise self._fail("a fixed split needs both training and test rows")
        if self.train_indices is None or self.test_indices is None:
            return
        rows = np.concatenate([self.train_indices, self.test_indices])
        if np.unique(rows).size < rows.size or rows.min() < 0 or rows.max() >= self.n_samples:
            raise self._fail("the rows of the fixed split must be distinct and within the data")


def hash_values(
    X: Matrix,
    y: NDArray[np.int64],
    split: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    least_occurrences: int | None = None,
    *,
    groups: NDArray[np.int64] | None = None,
    order: NDArray[np.int64] | None = None,
    weights: NDArray[np.float64] | None = None,
    preparation: Preparation | None = None,
) -> str:
    """SHA-256 of what a computation on the data depends on, whichever file or library the values came from.

    The same values reach us as plain text, compressed, archived and bundled with scikit-learn, and one file holds
    several data sets (codings of letters, columns left out): the hash of a file would be too fine and too coarse.

    Parameters
    ----------
    X : ndarray or csr_array, shape (n_samples, n_features)
        Feature values; -0 counts as 0. A sparse matrix and its dense copy have different hashes, because
        methods may treat them differently.
    y : ndarray of int64, shape (n_samples,)
        Class codes.
    split : pair of ndarray or None
        Training and test rows that the source fixes.
    least_occurrences, groups, order, weights, preparation : int, ndarray, Preparation, or None
        As in `Dataset`; `weights` is its `sample_weight`.

    Returns
    -------
    str
        64 hex digits, the same on every platform.
    """
    digest = hashlib.sha256()
    if sp.issparse(X):
        canonical = sp.csr_array(X, copy=True)
        canonical.sum_duplicates()
        canonical.eliminate_zeros()
        arrays = [canonical.indptr, canonical.indices, canonical.data]
    else:
        arrays = [X]
    for array in [*arrays, y, *(split or ())]:
        kind = "<f8" if array.dtype.kind == "f" else "<i8"
        digest.update(f"{kind}{array.shape}".encode())
        for rows in row_blocks(len(array), array[:1].size):
            digest.update(np.ascontiguousarray(array[rows] + 0, dtype=kind).tobytes())  # -0 + 0 is 0
    digest.update(f"{X.shape}".encode())
    if least_occurrences is not None:
        digest.update(f"words from {least_occurrences}".encode())
    if groups is not None:
        digest.update(b"groups" + np.ascontiguousarray(groups, dtype="<i8").tobytes())
    if order is not None:
        digest.update(b"order" + np.ascontiguousarray(order, dtype="<i8").tobytes())
    if weights is not None:
        digest.update(b"weights" + np.ascontiguousarray(weights, dtype="<f8").tobytes())
    if preparation is not None:
        digest.update(f"prepared {preparation.digest()}".encode())
    return digest.hexdigest()


def known_features(dataset: Dataset, training: NDArray[np.integer]) -> Matrix:
    """Return the features of all rows, with imputation, coding and vocabulary fitted on the training rows.

    Parameters
    ----------
    dataset : Dataset
    training : ndarray of int
        Training rows.

    Returns
    -------
    ndarray or csr_array, shape (n_samples, n_features)
        The data set's own matrix where nothing in it depends on other rows.
    """
    if dataset.preparation is not None:
        return dataset.preparation.features(training)
    return with_training_vocabulary(dataset, training)


def with_training_vocabulary(dataset: Dataset, training: NDArray[np.integer]) -> Matrix:
    """Return the features of all rows, with the vocabulary of the training rows.

    Where the columns count occurrences of words (`Dataset.least_occurrences`), a word that occurs often enough in the
    training rows becomes 1 where it occurs and 0 where it does not, and every other word is 0 everywhere: the
    vocabulary does not depend on the test part. Other data are returned as they are.

    Parameters
    ----------
    dataset : Dataset
    training : ndarray of int
        Training rows.

    Returns
    -------
    ndarray or csr_array, shape (n_samples, n_features)
        The data set's own matrix where it holds no counts.
    """
    if dataset.least_occurrences is None:
        return dataset.X
    counts = sp.csr_array(dataset.X)
    is_known = counts[training].sum(axis=0) >= dataset.least_occurrences
    occurs = counts.copy()
    occurs.data = is_known[counts.indices].astype(np.float64)
    occurs.eliminate_zeros()
    return occurs
