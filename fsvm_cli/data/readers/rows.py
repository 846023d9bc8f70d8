"""What every reader yields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    """

    X: Matrix
    labels: list[str]
    feature_names: tuple[str, ...] = ()
    least_occurrences: int | None = None
