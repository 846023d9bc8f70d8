"""What a document claims beside what the trials found, with a verdict by the rule that the config fixed before the run.

Two questions are kept apart. Whether our mean agrees with a printed one is a question about two Monte Carlo means: both
spreads, both numbers of runs and the rounding of the print count. Whether one curve lies above another is a question
about differences on the same splits: random splits of one data set share rows, and the interval allows for it.
"""

from __future__ import annotations

import functools
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtri

from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.statistics import CONFIDENCE, MeanInterval, difference_interval, mean_interval
from fsvm_cli.report.best_subset import judge_excess, judge_size
from fsvm_cli.report.rules import Judgement, Verdict, agreement, ordinariness
from fsvm_cli.report.tables import ranks_of
from fsvm_cli.report.trials import Trials
from fsvm_cli.spec.claims import (
    AnyClaim,
    BestOfClaim,
    Claim,
    CountClaim,
    DifferenceClaim,
    MonotoneClaim,
    Place,
    ProblemClaim,
    ScoreOrderClaim,
    SelectedCountClaim,
    SelectedFeaturesClaim,
    SingleRunClaim,
    SmallestSubsetClaim,
    TopFeaturesClaim,
    ValueClaim,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

FACT_UNITS = {
    "n_features": "features",
    "n_classes": "classes",
    "n_train": "rows",
    "n_test": "rows",
    "major-class": "%",
    "class-uncertainty": "bits",
    "classifier-information": "bits",
}


COLUMNS = [
    "id",
    "where",
    "what",
    "published",
    "published_sd",
    "published_n",
    *("reproduced", "sd", "n", "ci_low", "ci_high", "rule", "verdict", "note"),
]


def judge(claim: AnyClaim, trials: Trials, *, overridden: bool) -> Judgement:
    """Judge one claim.

    Parameters
    ----------
    claim : Claim
    trials : Trials
    overridden : bool
        Whether options changed the config: then nothing is said about the document.
    """
    if claim.kind == "statement":
        return Judgement("not comparable", "not judged by this experiment", claim.claim)
    if not trials.cover(claim):
        return Judgement("not comparable", "no complete trial", claim.claim)
    judgement = _judge(claim, trials)
    obstacle = "the config was overridden" if overridden else trials.why_not_comparable(claim)
    return judgement if obstacle is None else replace(judgement, verdict="not comparable", rule=obstacle)


@functools.singledispatch
def _judge(claim: Claim, trials: Trials) -> Judgement:
    raise AssertionError(f"no rule for {type(claim).__name__} of {trials.experiment.source.name}")


def table_of_verdicts(trials: Trials, *, overridden: bool) -> pd.DataFrame:
    """Judge every claim of the config, one row each."""
    rows = []
    for claim in trials.experiment.config.expected:
        judgement = asdict(judge(claim, trials, overridden=overridden))
        published: object = getattr(claim, "published", claim.claim)
        rows.append(
            judgement
            | {
                "id": claim.id,
                "where": claim.where,
                "published": "-".join(map(str, published)) if isinstance(published, tuple) else published,
                "published_sd": getattr(claim, "published_sd", None),
                "published_n": getattr(claim, "published_n", None),
                "note": claim.note,
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


@_judge.register
def _judge_value(claim: ValueClaim, trials: Trials) -> Judgement:
    values = trials.at(claim.at)
    found = mean_interval(values)
    spread = (found.std if claim.published_sd is None else claim.published_sd, claim.published_n)
    return _judgement(*agreement(claim, found, spread, "points"), f"{claim.at} (%)", found)


@_judge.register
def _judge_single_run(claim: SingleRunClaim, trials: Trials) -> Judgement:
    values = trials.at(claim.at)
    return _judgement(*ordinariness(claim, values), f"{claim.at} (%)", mean_interval(values))


@_judge.register
def _judge_best_of(claim: BestOfClaim, trials: Trials) -> Judgement:
    """Compare with the method whose mean is best here."""
    best = max(claim.places(), key=lambda place: float(trials.at(place).mean()))
    found = mean_interval(trials.at(best))
    return _judgement(*agreement(claim, found, (found.std, 1), "points"), f"{best} (%), the best of the named", found)


@_judge.register
def _judge_problem(claim: ProblemClaim, trials: Trials) -> Judgement:
    values, unit = trials.fact(claim.fact), FACT_UNITS[claim.fact]
    found, what = mean_interval(values), f"{claim.fact} ({unit})"
    if found.n > 1 and np.ptp(values) > 0:
        return _judgement(*ordinariness(claim, values), what, found)
    return _judgement(*agreement(claim, found, (0.0, 1), unit), what, found)


@_judge.register
def _judge_difference(claim: DifferenceClaim, trials: Trials) -> Judgement:
    higher, lower = trials.at(claim.higher), trials.at(claim.lower)
    found = difference_interval(higher - lower, trials.test_to_train(claim.higher))
    rule = "95 % interval of the paired difference, corrected for shared rows, lies above 0"
    return _judgement(_sign_verdict(found), rule, f"{claim.higher} minus {claim.lower} (points)", found)


def _sign_verdict(found: MeanInterval) -> Verdict:
    if found.low > 0 or found.low == found.mean == found.high > 0:
        return "reproduced"
    return "differs" if found.high < 0 else "inconclusive"


@_judge.register
def _judge_monotone(claim: MonotoneClaim, trials: Trials) -> Judgement:
    """Count a step against the claimed direction where its interval, at 95 % for all steps together, excludes 0."""
    place = Place(ranking=claim.ranking, part=claim.part, metric=claim.metric)
    samples = trials.samples(claim.ranking)
    steps = np.diff(100 * samples.values[claim.metric, claim.part], axis=1)
    against = []
    for step in steps.T:
        found = difference_interval(step, trials.test_to_train(place))
        z = -found.mean / max((found.high - found.mean) / ndtri((1 + CONFIDENCE) / 2), 1e-12)
        against.append(z > ndtri(1 - (1 - CONFIDENCE) / steps.shape[1]))
    total = difference_interval(steps.sum(axis=1), trials.test_to_train(place))
    verdict: Verdict = "differs" if any(against) else _sign_verdict(total)
    steps_in_words = f"{steps.shape[1]} steps judged together"
    rule = f"no step rises significantly as features are dropped ({steps_in_words}), and the whole falls"
    first, last = samples.sizes[0], samples.sizes[-1]
    what = f"{claim.part} {claim.metric}, '{claim.ranking}', at {last} minus at {first} features (points)"
    return _judgement(verdict, rule, what, total)


@_judge.register
def _judge_score_order(claim: ScoreOrderClaim, trials: Trials) -> Judgement:
    from scipy.stats import spearmanr  # noqa: PLC0415 - slow to import, and seldom needed

    scores = trials.samples(claim.ranking).scores
    places = np.arange(scores.shape[1])
    found = mean_interval(np.array([-spearmanr(places, row).statistic for row in scores]))
    verdict: Verdict = "inconclusive"
    if found.low >= claim.at_least:
        verdict = "reproduced"
    elif found.high < claim.at_least:
        verdict = "differs"
    rule = f"rank correlation of at least {claim.at_least:g} with the claimed order"
    return _judgement(verdict, rule, f"rank correlation of the scores of '{claim.ranking}'", found)


@_judge.register
def _judge_count(claim: CountClaim, trials: Trials) -> Judgement:
    return judge_size(claim, *_curves(claim, trials))


@_judge.register
def _judge_smallest_subset(claim: SmallestSubsetClaim, trials: Trials) -> Judgement:
    return judge_excess(claim, *_curves(claim, trials))


def _curves(
    claim: CountClaim | SmallestSubsetClaim, trials: Trials
) -> tuple[list[NDArray[np.float64]], tuple[int, ...], np.random.Generator]:
    """Return the curves that a claim compares, their sizes, and the stream that its bootstrap draws from."""
    found = [trials.samples(label) for label in claim.rankings()]
    rng = random_stream(trials.experiment.config.protocol.seed, "bootstrap", claim.id)
    return [samples.values[claim.metric, "test"] for samples in found], found[0].sizes, rng


@_judge.register
def _judge_top_features(claim: TopFeaturesClaim, trials: Trials) -> Judgement:
    names = trials.experiment.source.feature_names
    claimed = [name in claim.features for name in names]
    ranks = ranks_of(trials.samples(claim.ranking).scores)
    n_claimed = len(claim.features)
    found = mean_interval((ranks[:, claimed] <= n_claimed).sum(axis=1) / n_claimed)
    verdict: Verdict = "inconclusive"
    if found.mean >= claim.at_least and not found.low < claim.at_least:
        verdict = "reproduced"
    elif found.high < claim.at_least:
        verdict = "differs"
    rule = f"a share of at least {claim.at_least:g} of the {n_claimed} features among the {n_claimed} best of a trial"
    return _judgement(verdict, rule, f"share of the claimed features among the best of '{claim.ranking}'", found)


@_judge.register
def _judge_selected_features(claim: SelectedFeaturesClaim, trials: Trials) -> Judgement:
    names = trials.experiment.source.feature_names
    claimed = np.array([name in claim.features for name in names])
    scores = trials.samples(claim.ranking).scores
    best = ranks_of(scores) <= len(claim.features)
    selected = best if claim.threshold is None else scores >= claim.threshold
    found = mean_interval((selected == claimed).all(axis=1).astype(float))
    verdict: Verdict = "reproduced" if found.mean >= claim.at_least else "differs"
    how = "as the best ones" if claim.threshold is None else f"by a score of at least {claim.threshold:g}"
    rule = f"at least {claim.at_least:g} of our runs select exactly the {len(claim.features)} claimed features"
    return _judgement(verdict, rule, f"share of runs that select just these {how}, '{claim.ranking}'", found)


@_judge.register
def _judge_selected_count(claim: SelectedCountClaim, trials: Trials) -> Judgement:
    scores = trials.samples(claim.ranking).scores
    found = mean_interval(np.count_nonzero(scores >= claim.threshold, axis=1).astype(float))
    what = f"features that '{claim.ranking}' selects by a score of at least {claim.threshold:g}"
    return _judgement(*agreement(claim, found, (found.std, 1), "features"), what, found)


def _judgement(verdict: Verdict, rule: str, what: str, found: MeanInterval) -> Judgement:
    return Judgement(verdict, rule, what, found.mean, found.std, found.n, found.low, found.high)
