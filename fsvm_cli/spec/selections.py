"""Subsets that are chosen by their share of the relevance, whatever number of features that takes on a split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fsvm_cli.documents import StrictModel
from fsvm_cli.ranking.relevance import least_relevant, most_relevant

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from fsvm_cli.spec.rankings import Ranking

Share = Annotated[float, Field(gt=0, lt=1)]


class RelevanceSubsets(StrictModel):
    """The features that make up some shares of the relevance; a tuned classifier is tuned again on each subset."""

    relevance: Annotated[tuple[Share, ...], Field(min_length=1)] = Field(
        description="The fewest, most relevant features whose scores together reach each of these shares of all."
    )
    complements: tuple[Share, ...] = Field(
        default=(),
        description="As a control, the least relevant features: those left where the others reach the rest, so that "
        "they have no more than each of these shares.",
    )


@dataclass(frozen=True)
class Selection:
    """One subset of one ranking.

    Attributes
    ----------
    ranking : Ranking
    relevance : float
    least : bool
        Whether it is of the least relevant features.
    """

    ranking: Ranking
    relevance: float
    least: bool

    @property
    def label(self) -> str:
        """Its name in tables and figures."""
        return f"{self.ranking.label}, {'least' if self.least else 'most'} relevant {self.relevance:g}"

    def features(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the features of the subset, the best first."""
        return (least_relevant if self.least else most_relevant)(scores, self.relevance)


def selections(subsets: object, rankings: Iterable[Ranking]) -> list[Selection]:
    """List the subsets of all rankings; none where `subsets` are chosen by their numbers of features."""
    if not isinstance(subsets, RelevanceSubsets):
        return []
    ends = [(share, False) for share in subsets.relevance] + [(share, True) for share in subsets.complements]
    return [Selection(ranking, share, least) for ranking in rankings for share, least in ends]
