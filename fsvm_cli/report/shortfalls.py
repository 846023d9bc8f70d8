"""What results lack, in words: machines that missed their gap or were stopped, ascents, competitors without trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.data.phrases import shown
from fsvm_cli.experiment.competitors import Ranked, Selected, competitors_of
from fsvm_cli.figures import legible
from fsvm_cli.ranking.ard import AutomaticRelevance
from fsvm_cli.spec.bayesian import BayesianBase
from fsvm_cli.spec.classifiers import Classifier
from fsvm_cli.spec.learner import GAP

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from fsvm_cli.experiment.competitors import Competitor
    from fsvm_cli.spec.schema import Config

MACHINE = "a machine missed its duality gap"
ASCENT = "an ascent on the evidence did not end by its rule, or a machine after it missed its duality gap"


def shortfalls(config: Config) -> dict[str, str]:
    """Say of each competitor, by its label, what has happened where a trial of it did not converge."""
    return {each.label: ASCENT if _ascends(each) else MACHINE for each in competitors_of(config)}


def without_trials(config: Config, labels: Iterable[str]) -> str:
    """Say which competitors have no complete trial; nothing where each has one.

    Parameters
    ----------
    config : Config
    labels : iterable of str
        Of the competitors that have one.
    """
    there = set(labels)
    missing = [legible(each.label) for each in competitors_of(config) if each.label not in there]
    return f"; INCOMPLETE: no trial of {shown(missing)}" if missing else ""


def stopped_short(config: Config, measures: pd.DataFrame) -> pd.DataFrame:
    """Find the rows of `measures.csv` whose machines a config stops before they reach their duality gap.

    Returns
    -------
    DataFrame
        Columns as in `measures.csv`: `mean` is the mean over trials of the largest gap of each.
    """
    tolerances = {
        each.label: each.classifier.tolerance
        for each in competitors_of(config)
        if isinstance(each.classifier, Classifier) and each.classifier.stop_after is not None
    }
    gaps = measures[measures["measure"] == GAP]
    found: pd.DataFrame = gaps[gaps["mean"] > gaps["ranking"].map(tolerances).astype(float)]
    return found


def _ascends(competitor: Competitor) -> bool:
    if isinstance(competitor.classifier, BayesianBase):
        return True
    ranking = competitor.ranking if isinstance(competitor, Ranked) else None
    if isinstance(competitor, Selected):
        ranking = competitor.selection.ranking
    return ranking is not None and ranking.method == AutomaticRelevance.method
