"""Several rankings of one data set beside one another: filters that ask different questions, and a machine."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.outline import outline_of
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.rank import rank_features
from fsvm_cli.experiment.ranking_request import ranking_request
from fsvm_cli.experiment.sparse_methods import reason_against_sparse
from fsvm_cli.ranking.ranks import ranks_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.data.source import DataSource
    from fsvm_cli.experiment.rank import FeatureRanking

FILTERS = ("fisher", "mutual-information", "relief-f")
MACHINE = "rfe"
FEATURES_ONE_BY_ONE = 100
"""More than these are eliminated a tenth of the rest at a time."""
MOST_ROWS_IN_PAIRS = 3_000
"""Of methods that compare every row with every other."""
IN_PAIRS = frozenset({"relief-f", MACHINE})


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
        Feature indices by mean rank, best first; of equal ones the lower index comes first.
    agreement : dict of (str, str) to float
        Spearman's rank correlation of each pair of methods, in [-1, 1].
    caveats : tuple of str
        What whoever reads the rankings must know.
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


def rank_side_by_side(source: DataSource, scaling: str) -> SideBySide:
    """Rank by every method of `FILTERS`, and by a linear machine, that the data allow.

    Raises
    ------
    UsageError
        If no method is defined for these data.
    """
    step = 1 if source.n_features <= FEATURES_ONE_BY_ONE else 0.1
    requests = [ranking_request(method, scaling) for method in FILTERS]
    requests.append(ranking_request(MACHINE, scaling, parameters={"step": step, "kernel": "linear", "C": 1.0}))
    caveats: list[str] = []
    rankings = []
    for request in requests:
        method = request.method.method
        if source.n_samples > MOST_ROWS_IN_PAIRS and method in IN_PAIRS:
            caveats.append(
                f"left out: {method} compares all pairs of {source.n_samples:,} rows; --method {method} does so"
            )
        elif reason_against_sparse(outline_of(source), request.method):
            caveats.append(f"left out: {method} takes no sparse data")
        else:
            rankings.append(rank_features(source, request))
    if not rankings:
        raise UsageError(f"{source.name}: none of the usual methods takes these data; name one that does (--method)")
    ranks = ranks_of(np.array([each.scores for each in rankings]))
    pairs = itertools.combinations(range(len(rankings)), 2)
    return SideBySide(
        rankings=tuple(rankings),
        ranks=ranks,
        order=np.argsort(ranks.mean(axis=0), kind="stable"),
        agreement={(rankings[i].method, rankings[j].method): _spearman(ranks[i], ranks[j]) for i, j in pairs},
        caveats=(*caveats, *_said_by(rankings, source.caveats)),
    )


def _said_by(rankings: Sequence[FeatureRanking], known: Collection[str]) -> Iterator[str]:
    """List what is to be said of rankings, each line once, with the methods that it is about where not of all."""
    methods: dict[str, list[str]] = {}
    for ranking in rankings:
        for line in ranking.caveats:
            methods.setdefault(line, []).append(ranking.method)
    for line, concerned in methods.items():
        if line not in known:
            yield line if len(concerned) == len(rankings) > 1 else f"{', '.join(concerned)}: {line}"


def _spearman(first: NDArray[np.intp], second: NDArray[np.intp]) -> float:
    """Return Spearman's correlation of two rankings without ties; 1 where there is a single feature."""
    n = len(first)
    return 1.0 if n == 1 else float(1 - 6 * np.sum((first - second).astype(np.float64) ** 2) / (n * (n**2 - 1)))
