"""What it means that something did not converge, in words: a machine has a duality gap, an ascent a rule to end by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.experiment.competitors import Ranked, Selected, competitors_of
from fsvm_cli.ranking.ard import AutomaticRelevance
from fsvm_cli.spec.bayesian import BayesianBase

if TYPE_CHECKING:
    from fsvm_cli.experiment.competitors import Competitor
    from fsvm_cli.spec.schema import Config

MACHINE = "a machine missed its duality gap"
ASCENT = "an ascent on the evidence did not end by its rule, or a machine after it missed its duality gap"


def shortfalls(config: Config) -> dict[str, str]:
    """Say of each competitor, by its label, what has happened where a trial of it did not converge."""
    return {each.label: ASCENT if _ascends(each) else MACHINE for each in competitors_of(config)}


def _ascends(competitor: Competitor) -> bool:
    if isinstance(competitor.classifier, BayesianBase):
        return True
    ranking = competitor.ranking if isinstance(competitor, Ranked) else None
    if isinstance(competitor, Selected):
        ranking = competitor.selection.ranking
    return ranking is not None and ranking.method == AutomaticRelevance.method
