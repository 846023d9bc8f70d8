"""Which ranking methods take a sparse matrix as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import scipy.sparse as sp

from fsvm_cli.ranking.registry import ranking_methods

if TYPE_CHECKING:
    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.ranking.base import Ranker


def reason_against_sparse(dataset: Dataset, method: type[Ranker]) -> str | None:
    """Say why a ranking method cannot rank the features of a data set as it is, None where it can."""
    if not sp.issparse(dataset.X) or method.accepts_sparse:
        return None
    able = ", ".join(name for name, each in ranking_methods().items() if each.accepts_sparse)
    return f"{advice_on_sparse(dataset, f'{method.method} takes')}; methods that take a sparse one: {able}"


def advice_on_sparse(dataset: Dataset, who: str) -> str:
    """Say that `who` takes full matrices only, how large one would be for a sparse data set, and how to ask for it."""
    rows, columns = dataset.X.shape
    return (
        f"{who} no sparse matrix, and {dataset.name}, {rows:,} x {columns:,}, would take "
        f"{8e-9 * rows * columns:.1f} GB as a full one (which a LIBSVM file of your own becomes by dense: true, or "
        "--dense)"
    )
