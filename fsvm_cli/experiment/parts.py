"""The training part and the test part of a split."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LabelledRows(NamedTuple):
    """Samples, their classes, and which of them belong together."""

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    groups: NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class Parts:
    """The two parts of a split, scaled by what the training part shows.

    Attributes
    ----------
    X_train, X_test : ndarray, shape (n_rows, n_features)
    y_train, y_test : ndarray of int, shape (n_rows,)
    groups_train, groups_test : ndarray of int, shape (n_rows,), or None
        Rows with the same number belong together.
    """

    X_train: NDArray[np.float64]
    y_train: NDArray[np.intp]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.intp]
    groups_train: NDArray[np.int64] | None = None
    groups_test: NDArray[np.int64] | None = None

    def training_rows(self) -> LabelledRows:
        """Give the training part."""
        return LabelledRows(self.X_train, self.y_train, self.groups_train)

    def all_rows(self) -> LabelledRows:
        """Give both parts."""
        stack = functools.partial(sparse.vstack, format="csr") if sparse.issparse(self.X_train) else np.vstack
        are_grouped = self.groups_train is not None and self.groups_test is not None
        return LabelledRows(
            stack([self.X_train, self.X_test]),
            np.concatenate([self.y_train, self.y_test]),
            np.concatenate([self.groups_train, self.groups_test]) if are_grouped else None,
        )
