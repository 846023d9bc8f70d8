"""Several rankings of one data set side by side, and the export of the best features as CSV."""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fsvm_cli.console import without_formulas
from fsvm_cli.data.source import metadata_of
from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.files import write_atomically
from fsvm_cli.own_data.rank import rank_features, reason_against_weights
from fsvm_cli.own_data.request import SEED, ranking_request
from fsvm_cli.ranking.base import tie_priority
from fsvm_cli.ranking.registry import reason_against_sparse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fsvm_cli.data.source import DataSource
    from fsvm_cli.own_data.rank import FeatureRanking

FILTER_METHODS = ("fisher", "mutual-information", "relief-f")
ELIMINATION_METHOD = "rfe"
MAX_FEATURES_FOR_SINGLE_STEPS = 100
"""With more features, each step of RFE eliminates a tenth of the remaining ones."""
MAX_ROWS_FOR_PAIRS = 3_000
"""With more rows, methods that compare all pairs of rows are left out."""
PAIRWISE_METHODS = frozenset({"relief-f", ELIMINATION_METHOD})


@dataclass(frozen=True)
class SideBySide:
    """Rankings of the same features.

    Attributes
    ----------
    rankings : tuple of FeatureRanking
        One for each method.
    ranks : ndarray of int, shape (n_methods, n_features)
        By feature index; 1 is best.
    order : ndarray of int, shape (n_features,)
        Feature indices by mean rank, best first; of equal ones the seed draws the first.
    agreement : dict of (str, str) to float
        Spearman's rank correlation of each pair of methods, in [-1, 1].
    caveats : tuple of str
        Limitations that readers of the rankings must know.
    """

    rankings: tuple[FeatureRanking, ...]
    ranks: NDArray[np.intp]
    order: NDArray[np.intp]
    agreement: dict[tuple[str, str], float]
    caveats: tuple[str, ...]

    @property
    def mean_ranks(self) -> NDArray[np.float64]:
        """Mean rank of each feature over the methods, shape (n_features,)."""
        return np.asarray(self.ranks.mean(axis=0), dtype=np.float64)


def rank_side_by_side(source: DataSource, scaling: str, always_keep: Sequence[str] = ()) -> SideBySide:
    """Rank by every method of `FILTER_METHODS`, and by a linear machine, that the data allow.

    Raises
    ------
    UsageError
        If no method is defined for these data.
    """
    step = 1 if source.n_features <= MAX_FEATURES_FOR_SINGLE_STEPS else 0.1
    requests = [ranking_request(method, scaling) for method in FILTER_METHODS]
    requests.append(
        ranking_request(ELIMINATION_METHOD, scaling, parameters={"step": step, "kernel": "linear", "C": 1.0})
    )
    caveats: list[str] = []
    rankings = []
    for request in requests:
        method = request.method.method
        if source.n_samples > MAX_ROWS_FOR_PAIRS and method in PAIRWISE_METHODS:
            caveats.append(
                f"left out: {method} compares all pairs of {source.n_samples:,} rows; --method {method} does so"
            )
        elif reason_against_sparse(metadata_of(source), request.method):
            caveats.append(f"left out: {method} takes no sparse data")
        elif reason_against_weights(source, request.method):
            caveats.append(f"left out: {method} takes no sample weights")
        else:
            rankings.append(rank_features(source, request, always_keep=always_keep))
    if not rankings:
        raise UsageError(f"{source.name}: none of the usual methods takes these data; name one that does (--method)")
    ranks = np.argsort([each.order for each in rankings], axis=1) + 1
    pairs = itertools.combinations(range(len(rankings)), 2)
    return SideBySide(
        rankings=tuple(rankings),
        ranks=ranks,
        order=np.lexsort((tie_priority(SEED, ranks.shape[1]), ranks.mean(axis=0))),
        agreement={(rankings[i].method, rankings[j].method): _spearman(ranks[i], ranks[j]) for i, j in pairs},
        caveats=(*caveats, *_caveats_of(rankings, source.caveats)),
    )


def _caveats_of(rankings: Sequence[FeatureRanking], known: Collection[str]) -> Iterator[str]:
    """Yield the caveats of rankings, each once, with the names of the methods that it applies to unless all."""
    methods: dict[str, list[str]] = {}
    for ranking in rankings:
        for line in ranking.remarks:
            methods.setdefault(line, []).append(ranking.method)
    for line, concerned in methods.items():
        if line not in known:
            yield line if len(concerned) == len(rankings) > 1 else f"{', '.join(concerned)}: {line}"


def _spearman(first: NDArray[np.intp], second: NDArray[np.intp]) -> float:
    """Return Spearman's correlation of two rankings without ties; 1 where there is a single feature."""
    n = len(first)
    return 1.0 if n == 1 else float(1 - 6 * np.sum((first - second).astype(np.float64) ** 2) / (n * (n**2 - 1)))


def write_chosen(
    path: Path, source: DataSource, order: NDArray[np.intp], keep: int, target: str, *, for_spreadsheet: bool = False
) -> int:
    """Write the best columns of a data set and its classes as CSV, in the order that they have in the data set.

    Parameters
    ----------
    path : Path
    source : DataSource
    order : ndarray of int
        Columns, best first; a column of words counts as one, and all features of its words are written.
    keep : int
        Number of columns.
    target : str
        What the column of the classes is called.
    for_spreadsheet : bool
        Whether texts that begin like a formula are quoted.

    Returns
    -------
    int
        The number of features written.

    Raises
    ------
    UsageError
        If there are fewer columns, or a feature is called like the target.
    """
    dataset = source.draw(random_stream(SEED, "data"))
    if not 1 <= keep <= len(order):
        raise UsageError(
            f"--keep {keep}: the data have {len(order)} columns to keep; name a number from 1 to {len(order)}"
        )
    columns = dataset.source_columns or dataset.feature_names
    kept = {list(dict.fromkeys(columns))[index] for index in order[:keep]}
    chosen = [feature for feature, column in enumerate(columns) if column in kept]
    names = [dataset.feature_names[feature] for feature in chosen]
    if target in names:
        raise UsageError(f"a feature is called '{target}' as the classes would be; rename it")
    values = sp.csr_array(dataset.X)[:, chosen].toarray()
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*names, target])
    for row, code in zip(values.tolist(), dataset.y.tolist(), strict=True):
        writer.writerow([*(int(value) if value.is_integer() else value for value in row), dataset.class_names[code]])
    text = stream.getvalue()
    write_atomically(path, (without_formulas(text) if for_spreadsheet else text).encode())
    return len(names)
