"""Which ranking methods take a sparse matrix as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.ranking.registry import ranking_methods

if TYPE_CHECKING:
    from fsvm_cli.data.outline import Outline
    from fsvm_cli.ranking.base import Ranker


def reason_against_sparse(data: Outline, method: type[Ranker]) -> str | None:
    """Say why a ranking method cannot rank the features of a data set as it is, None where it can."""
    if not data.is_sparse or method.accepts_sparse:
        return None
    able = ", ".join(name for name, each in ranking_methods().items() if each.accepts_sparse)
    return f"{advice_on_sparse(data, f'{method.method} takes')}; methods that take a sparse one: {able}"


def advice_on_sparse(data: Outline, who: str) -> str:
    """Say what a sparse data set would become for somebody who takes full matrices only, and how to have one."""
    return (
        f"{who} no sparse matrix, and {data.name}, {data.n_samples:,} x {data.n_features:,}, would take "
        f"{8e-9 * data.n_samples * data.n_features:.1f} GB as a full one (which a LIBSVM file of your own becomes by "
        "dense: true, or --dense)"
    )
