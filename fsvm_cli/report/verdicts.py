"""Published claims beside the results of the trials, with verdicts by the rules of the config.

Three questions are kept apart. Whether our mean agrees with a printed one is a question about two Monte Carlo means:
both spreads, both numbers of runs and the rounding of the print count. Whether one curve lies above another in the mean
over the splits of these data is a question about differences on the same splits, and the paired test over the splits
answers it. Whether it would do so on new data is a third one: random splits of one data set share rows, and the
interval allows for it. A document that prints curves over splits states the second, which therefore decides; the third
is printed beside it. See `docs/verdicts.md`.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.data.source import FixedSource, GeneratedSource
from fsvm_cli.evaluation.bootstrap import paired_bootstrap_interval
from fsvm_cli.evaluation.metrics import METRICS
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.statistics import CONFIDENCE, MeanInterval, difference_interval, holm, mean_interval, p_value
from fsvm_cli.learners.base import MACHINE_FOUND
from fsvm_cli.report.complete_trials import FACTS_OF_CLASSES, MACHINE, convergence_warnings
from fsvm_cli.spec.claims.base import Comparison, Curve, Judgement, NumberClaim, Place, Reading
from fsvm_cli.spec.claims.kinds.orders import SimilarClaim
from fsvm_cli.spec.claims.rules import FEWEST_READINGS, readings_in_words, verdict_over_readings
from fsvm_cli.spec.rankings import ALL_FEATURES
from fsvm_cli.spec.schema import ORACLE, selections

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials
    from fsvm_cli.spec.claims.base import Claim, Fact, Fixed, Portion, Verdict

_NONE = np.zeros(0, dtype=np.intp)
ACTIVE = "n_active"
"""What a descent says of a trial: the number of features that are active when it ends."""


RANGES_OF_MEASURES = {MACHINE_FOUND: (0.0, 1.0)}
"""Least and largest value of measures that have one."""
MAX_EXTREMES = 8
"""Places or rankings with flagged trials whose extremes are combined, 2^8 times; with more, nothing is decided."""


class _NoBoundsError(Exception):
    """A claim asks for what a flagged trial might have been in no known bounds."""


def _are_short(converged: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the trials with a machine that is short of its certificate, (n_trials,) of (n_trials, n_sizes)."""
    return np.asarray(~converged.all(axis=1))


class Trials:
    """The trials that claims are judged by: the `Findings` of an experiment that was run.

    Parameters
    ----------
    experiment : Experiment
    collected : mapping of (label, n_train) to CompleteTrials
    extremes : mapping of Place or str to {0, 1}, optional
        Where flagged trials, those with a machine that missed its gap or an ascent that did not end, are taken at the
        least (0) or the largest (1) value that there can be: by place, or by ranking where its scores count. As they
        are if left out.
    records : mapping of str to mapping of str to DataFrame, optional
        Tables by name of each record that is stored; none if left out.
    """

    def __init__(
        self,
        experiment: Experiment,
        collected: Mapping[tuple[str, int], CompleteTrials],
        extremes: Mapping[Place | str, int] | None = None,
        records: Mapping[str, Mapping[str, pd.DataFrame]] = MappingProxyType({}),
    ) -> None:
        self.experiment = experiment
        self._collected = collected
        self._extremes = extremes
        self._records = records

    def _bounded(
        self, values: NDArray[np.float64], flagged: NDArray[np.bool_], of: Place | str, bounds: tuple[float, float]
    ) -> NDArray[np.float64]:
        """Put flagged trials at an extreme, where extremes are asked for."""
        if self._extremes is None or of not in self._extremes:
            self._refuse(flagged)
            return values
        return np.where(flagged, bounds[self._extremes[of]], values)

    def _refuse(self, flagged: NDArray[np.bool_]) -> None:
        """Refuse flagged trials where extremes are asked for and none are known."""
        if self._extremes is not None and flagged.any():
            raise _NoBoundsError

    def _flagged_at(self, place: Place) -> NDArray[np.bool_]:
        """Which trials have a machine at a place that missed its gap, or a ranking before it that did not converge."""
        return _are_short(self._of(place.ranking, place.train_size).converged[:, self._columns(place)])

    def _flagged_rankings(self, ranking: str) -> NDArray[np.bool_]:
        """Which trials have scores that did not converge: those in which no subset counts as converged."""
        return np.asarray(~self._of(ranking).converged.any(axis=1))

    def _of(self, ranking: str, train_size: int | None = None) -> CompleteTrials:
        """Find the trials of a ranking; of the largest training part where no size is named."""
        return self._collected[self._key(ranking, train_size)]

    def _key(self, ranking: str, train_size: int | None) -> tuple[str, int]:
        n_train = max(self.experiment.n_test) if train_size is None else train_size
        if ranking == ALL_FEATURES:
            # With all features every ranking has the same machine; an extractor's sees components, the oracle's and a
            # selection's few.
            config = self.experiment.config
            others = {ORACLE, *(extraction.label for extraction in config.extractors)}
            others |= {alternative.label for alternative in config.alternatives}
            others |= {selection.label for selection in selections(config.subsets, config.rankings)}
            found = (label for label, size in self._collected if size == n_train and label not in others)
            ranking = next(found, ALL_FEATURES)
        return ranking, n_train

    @property
    def feature_names(self) -> Sequence[str]:
        """Names of the features."""
        return self.experiment.source.feature_names

    def at(self, place: Place) -> NDArray[np.float64]:
        """Value at a place in each trial, in per cent; the mean over a stretch."""
        found = self._of(place.ranking, place.train_size)
        of_sizes = found.values[place.computed, place.part]
        if place.reached_by is None:
            values: NDArray[np.float64] = 100 * of_sizes[:, self._columns(place)].mean(axis=1)
        else:
            counted = self._reached(place)
            n_counted = counted.sum(axis=1)
            total = np.where(counted, of_sizes, 0.0).sum(axis=1)
            values = 100 * np.divide(total, n_counted, out=np.full(len(total), np.nan), where=n_counted > 0)
        values = 100 - values if place.is_error else values
        return self._bounded(values, self._flagged_at(place), place, (0.0, 100.0))

    def _columns(self, place: Place) -> NDArray[np.bool_]:
        """Find which of the sizes a place means."""
        sizes = self._of(place.ranking, place.train_size).sizes
        features = sizes[-1] if place.features == "all" else place.features
        low, high = features if isinstance(features, tuple) else (features, features)
        return np.array([low <= size <= high for size in sizes])

    def _reached(self, place: Place) -> NDArray[np.bool_]:
        """Find which of the sizes a place means the descent of a ranking reached, (n_trials, n_sizes)."""
        assert place.reached_by is not None
        descents = self._of(place.reached_by, place.train_size)
        n_left = np.array([of_trial[ACTIVE] for of_trial in descents.chosen], dtype=np.intp)
        return self._columns(place) & (np.array(descents.sizes) >= n_left[:, None])

    def estimate(self, place: Place) -> MeanInterval:
        """Mean at a place; of a single given split, with the bootstrap interval over its test rows."""
        found = mean_interval(self.at(place))
        trials = self._of(place.ranking, place.train_size)
        of_rows = trials.intervals.get((place.computed, place.part))
        if found.n > 1 or not of_rows or isinstance(place.features, tuple):
            return found
        self._refuse(self._flagged_at(place))
        size = trials.sizes[-1] if place.features == "all" else place.features
        low, high = (100 * end for end in of_rows[trials.sizes.index(size)])
        return replace(found, low=100 - high, high=100 - low) if place.is_error else replace(found, low=low, high=high)

    def compared(self, higher: Place, lower: Place) -> Comparison:
        """Difference between two places on the same trials."""
        differences = self.at(higher) - self.at(lower)
        if len(differences) == 1:
            return self._compared_on_rows(higher, lower, float(differences[0]))
        return self._compared_on_splits(differences, higher)

    def compared_means(self, higher: Sequence[Place], lower: Sequence[Place]) -> Comparison:
        """Difference between the means over two sets of places on the same trials."""
        first, second = (np.mean([self.at(place) for place in places], axis=0) for places in (higher, lower))
        return self._compared_on_splits(first - second, higher[0])

    def _compared_on_splits(self, differences: NDArray[np.float64], place: Place) -> Comparison:
        row = 100 / self._rows(place)
        found = mean_interval(differences, row)
        if self.experiment.config.protocol.row_order is not None:
            # One training part in several orders tells nothing about other rows.
            unknown = replace(found, low=np.nan, high=np.nan)
            return Comparison(found, p_value(found), unknown, "95 % interval of the mean difference over the orders")
        on_new_data = difference_interval(differences, self._test_to_train(place), row)
        return Comparison(found, p_value(found), on_new_data, "95 % interval of the mean difference over the splits")

    def _compared_on_rows(self, higher: Place, lower: Place, difference: float) -> Comparison:
        """Compare two machines on the rows of the only test part, where the trial has kept what they said of them."""
        for place in (higher, lower):
            self._refuse(self._flagged_at(place))
        unknown = MeanInterval(difference, np.nan, np.nan, np.nan, 1)
        test = "95 % interval of the paired bootstrap over the test rows"
        y, first = self._predictions(higher)
        _, second = self._predictions(lower)
        if not len(y) or {higher.part, lower.part} != {"test"}:
            return Comparison(unknown, np.nan, unknown, test)
        if higher.is_error:  # less of what the error is computed from
            first, second = second, first
        metric, n_classes = METRICS[higher.computed], self.experiment.source.n_classes
        found = paired_bootstrap_interval(metric, y, first, second, n_classes, self.stream("bootstrap", "paired"))
        interval = replace(unknown, low=100 * found.low, high=100 * found.high)
        return Comparison(interval, found.p, unknown, test)

    def _predictions(self, place: Place) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Classes of the test rows, and those assigned by the machines of a place, one or those of a stretch."""
        trials = self._of(place.ranking, place.train_size)
        return (
            (trials.predictions[0], trials.predictions[1:][self._columns(place)])
            if trials.predictions.size
            else (_NONE, _NONE)
        )

    def measure(self, place: Place, measure: str) -> NDArray[np.float64]:
        """Measure of the classifiers at a place in each trial; NaN where there is none, or none has it."""
        found = self._of(place.ranking, place.train_size)
        if measure not in found.measures:
            return np.full(len(found.splits), np.nan)
        values: NDArray[np.float64] = found.measures[measure][:, self._columns(place)].mean(axis=1)
        flagged = self._flagged_at(place)
        if measure not in RANGES_OF_MEASURES:
            self._refuse(flagged)
            return values
        return self._bounded(values, flagged, place, RANGES_OF_MEASURES[measure])

    def curve(self, ranking: str, metric: str, part: str) -> Curve:
        """Curve of a ranking in each trial, as fractions."""
        found = self._of(ranking)
        self._refuse(_are_short(found.converged))
        return Curve(found.sizes, found.values[metric, part])

    def priorities(self, ranking: str) -> NDArray[np.intp]:
        """Which of the features that tie comes first in each trial."""
        return self._of(ranking).priorities

    def scores(self, ranking: str) -> NDArray[np.float64]:
        """Scores of the features in each trial."""
        scores = self._of(ranking).scores
        self._refuse(self._flagged_rankings(ranking))
        return scores

    def of_scores(
        self,
        ranking: str,
        statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        bounds: tuple[float, float],
    ) -> NDArray[np.float64]:
        """Statistic of the scores of each trial."""
        return self._bounded(statistic(self._of(ranking).scores), self._flagged_rankings(ranking), ranking, bounds)

    def chosen(self, ranking: str, name: str) -> NDArray[np.float64]:
        """Return a number that was chosen on the training part of each trial where one was."""
        found = self._of(ranking)
        self._refuse(_are_short(found.converged))
        chosen = [of_trial[name] for of_trial in found.chosen if name in of_trial]
        return np.array([number for number in chosen if not isinstance(number, str)], dtype=np.float64)

    def recorded(self, record: str, table: str) -> pd.DataFrame | None:
        """Table of a record; None where it is not stored, or has no such table."""
        return self._records.get(record, {}).get(table)

    def stream(self, *purpose: str) -> np.random.Generator:
        """Random stream of the experiment for a purpose."""
        return random_stream(self.experiment.config.protocol.seed, *purpose)

    def fact(self, fact: Fact, of: Portion = "test part") -> NDArray[np.float64]:
        """Value of a fact of the problem: one, or one of each trial; NaN of a whole set that each trial draws."""
        if of == "whole set":
            return np.array([self._of_whole_set(fact)])
        n_train = max(self.experiment.n_test)
        known = {
            "n_features": self.experiment.source.n_features,
            "n_classes": self.experiment.source.n_classes,
            "n_train": n_train,
            "n_test": self.experiment.n_test[n_train],
        }
        if fact in known:
            return np.array([float(known[fact])])
        values = self._of(ALL_FEATURES).facts[fact]
        if fact not in FACTS_OF_CLASSES:  # which hold whatever the machine says
            self._refuse(self._flagged_at(Place()))
        return values

    def _of_whole_set(self, fact: Fact) -> float:
        source = self.experiment.source
        if not isinstance(source, FixedSource) or fact not in FACTS_OF_CLASSES:
            return np.nan
        return float(FACTS_OF_CLASSES[fact](np.bincount(source.dataset.y, minlength=source.n_classes)))

    def is_set(self, fact: Fact) -> bool:
        """Whether the config or the generator of the data decides a fact."""
        protocol = self.experiment.config.protocol
        parts = {"n_train": protocol.train[0], "n_test": protocol.test}
        is_drawn = isinstance(self.experiment.source, GeneratedSource)
        return isinstance(parts.get(fact), int) or (is_drawn and fact in {"n_features", "n_classes"})

    def _test_to_train(self, place: Place) -> float:
        """Rows of the test part over rows of the training part; 0 where every trial draws new data."""
        if isinstance(self.experiment.source, GeneratedSource):
            return 0.0
        n_train = self._n_train(place)
        return self.experiment.n_test[n_train] / n_train

    def _n_train(self, place: Place) -> int:
        return max(self.experiment.n_test) if place.train_size is None else place.train_size

    def _rows(self, place: Place) -> int:
        """Count the rows of the part that a place is about."""
        n_train = self._n_train(place)
        return self.experiment.n_test[n_train] if place.part == "test" else n_train

    def cover(self, claim: Claim) -> bool:
        """Whether each ranking that the claim names has a complete trial."""
        return self._keys_of(claim) <= self._collected.keys()

    def _keys_of(self, claim: Claim) -> set[tuple[str, int]]:
        of_places = {self._key(place.ranking, place.train_size) for place in claim.places()}
        of_places |= {self._key(place.reached_by, place.train_size) for place in claim.places() if place.reached_by}
        return of_places or {self._key(label, None) for label in claim.rankings()}

    def ended(self, claim: Claim) -> str | None:
        """Say where a curve that the claim is about ends in some trial: a mean over the others would compare these."""
        for place in claim.places():
            trials = self._of(place.ranking, place.train_size)
            values = trials.values[place.computed, place.part]
            ends = np.isnan(values[:, self._columns(place)]).any(axis=1) & ~np.isnan(values[:, -1])
            if ends.any() and place.reached_by is None and MACHINE_FOUND not in trials.measures:
                return f"fewer columns have a score in {np.count_nonzero(ends)} of {len(ends)} trials: {place}"
        return None

    def weighed(self, claim: Claim, judgement: Judgement) -> Judgement:
        """Say nothing of the document where trials are missing, or where flagged ones might change the verdict.

        A trial is flagged where a machine missed its gap or an ascent did not end. At every place, or of every ranking,
        that the claim compares, the flagged trials are taken at the least value that there can be, and at the largest;
        only where a verdict at these extremes, in any combination, is another one does the claim stay open.

        Parameters
        ----------
        claim : Claim
        judgement : Judgement
            By the trials as they are.
        """
        if judgement.verdict == "not comparable":
            return judgement
        flags = []
        for key in sorted(self._keys_of(claim)):
            found = self._collected[key]
            n_trials, planned = len(found.splits), self.experiment.config.protocol.splits
            if n_trials < planned:
                return judgement.held_against(f"only {n_trials} of {planned} trials are complete")
            if n_missed := int(np.count_nonzero(_are_short(found.converged))):
                words = convergence_warnings(self.experiment.config).get(key[0], MACHINE)
                flags.append(f"in {n_missed} of {n_trials} trials {words}")
        if not flags:
            return judgement
        flagged, at_extremes = self._verdicts_at_extremes(claim, judgement)
        others = at_extremes - {judgement.verdict}
        told = " and ".join(dict.fromkeys(flags))
        if others:
            said = " or ".join(sorted(others))
            obstacle = f"{told}; at their worst or best the rule could say {said}, and as they are: {judgement.rule}"
            return judgement.held_against(obstacle)
        if not flagged:  # at other numbers of features than those that the claim is about
            return judgement
        return replace(judgement, rule=f"{judgement.rule}; {told}, and the rule says the same at their worst and best")

    def _verdicts_at_extremes(self, claim: Claim, judgement: Judgement) -> tuple[list[Place | str], set[Verdict]]:
        """Find where a claim compares flagged trials, and what its rule says with these at their extremes.

        Inconclusive, where there are no bounds, and where the claim differs on one side at one extreme and on the other
        at another: somewhere between, it may not.
        """
        places = [place for place in dict.fromkeys(claim.places()) if self._flagged_at(place).any()]
        rankings = [] if any(True for _ in claim.places()) else dict.fromkeys(claim.rankings())
        flagged: list[Place | str] = [*places, *(label for label in rankings if self._flagged_rankings(label).any())]
        if len(flagged) > MAX_EXTREMES:
            return flagged, {"inconclusive"}
        ends = itertools.product((0, 1), repeat=len(flagged))
        try:
            judged = [
                claim.judge(Trials(self.experiment, self._collected, dict(zip(flagged, each, strict=True))))
                for each in ends
            ]
        except _NoBoundsError:
            return flagged, {"inconclusive"}
        centre = claim.published if isinstance(claim, NumberClaim) else 0.0
        is_two_sided = isinstance(claim, NumberClaim | SimilarClaim)
        sides = {each.reproduced >= centre for each in (judgement, *judged) if each.verdict == "differs"}
        crosses = is_two_sided and len(sides) > 1
        verdicts = {each.verdict for each in judged}
        return flagged, verdicts | {"inconclusive"} if crosses else verdicts


VERDICT_COLUMNS = [
    "id",
    "where",
    "what",
    "published",
    "published_sd",
    "published_n",
    *("reproduced", "sd", "n", "ci_low", "ci_high", "p", "p_holm", "rule", "answer", "verdict"),
    *("new_data_low", "new_data_high", "new_data", "accepts_low", "accepts_high", "readings"),
    *("fixed", "nature", "note"),
]


def judge(claim: Claim, trials: Trials, *, overridden: bool) -> Judgement:
    """Judge one claim.

    Parameters
    ----------
    claim : Claim
    trials : Trials
    overridden : bool
        Whether options changed the config: then the document is not judged.
    """
    if not trials.cover(claim):
        return Judgement.withheld("no complete trial", claim.claim)
    if ended := trials.ended(claim):
        return Judgement.withheld(ended, claim.claim)
    judgement = claim.judge(trials)
    if overridden:
        return judgement.held_against("the config was overridden")
    weighed = trials.weighed(claim, judgement)
    return weighed.held_against(obstacle_of(claim, weighed))


def obstacle_of(claim: Claim, judgement: Judgement) -> str | None:
    """Say what a source leaves open and a claim depends on, with the rule's answer; None where nothing."""
    return f"{claim.unstated}; with what is assumed here: {judgement.rule}" if claim.unstated else None


def table_of_verdicts(trials: Trials, *, overridden: bool) -> pd.DataFrame:
    """Judge every claim of the config, one row each; several differences are judged together, see `judged_together`."""
    config = trials.experiment.config
    others = [
        [
            (words, judge(_as_if_stated(read), trials, overridden=overridden))
            for words, read in config.other_readings(claim)
        ]
        for claim in config.expected
    ]
    own = [judge(claim, trials, overridden=overridden) for claim in config.expected]
    judged = judged_together([*own, *(judgement for of_claim in others for _, judgement in of_claim)])
    rest = iter(judged[len(own) :])
    judgements = [
        _in_all_readings(
            claim, judgement, [(words, next(rest)) for words, _ in of_claim], trials, overridden=overridden
        )
        for claim, judgement, of_claim in zip(config.expected, judged[: len(own)], others, strict=True)
    ]
    return table_of(config.expected, judgements, config.fixed)


def _as_if_stated(claim: Claim) -> Claim:
    return claim.model_copy(update={"unstated": ""})


def _in_all_readings(
    claim: Claim,
    judgement: Judgement,
    others: Sequence[tuple[str, Judgement]],
    trials: Trials,
    *,
    overridden: bool,
) -> Judgement:
    """Note what is said under each reading that the experiment declares, and decide by them where there are several."""
    config = trials.experiment.config
    if config.reading is None or not (claim.unstated or config.why):
        return judgement
    alone = _among_several(judge(_as_if_stated(claim), trials, overridden=overridden), judgement.p_holm)
    found = [(claim.reading or config.reading, alone), *others]
    readings = tuple(
        Reading(words, each.verdict, None if np.isnan(each.reproduced) else each.reproduced, each.new_data)
        for words, each in found
    )
    noted = replace(judgement, readings=readings)
    if overridden or len(readings) < FEWEST_READINGS:
        return noted
    verdict = verdict_over_readings([each.answer for each in readings])
    answer = judgement.answer or alone.verdict
    return replace(noted, verdict=verdict, rule=readings_in_words(readings), answer=answer)


def table_of(claims: Sequence[Claim], judgements: Sequence[Judgement], fixed: Fixed | None) -> pd.DataFrame:
    """Make a table with a row for each claim of an experiment, or of a collection, judged together.

    Parameters
    ----------
    claims : sequence of Claim
    judgements : sequence of Judgement
        Of each, as `judged_together` gives them.
    fixed : {"before", "after"}, optional
        When the rules of claims without a date of their own were fixed.
    """
    rows = [_row_of(*judged, fixed) for judged in zip(claims, judgements, strict=True)]
    return pd.DataFrame(rows, columns=VERDICT_COLUMNS)


def judged_together(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Adjust the p-values of the differences that one experiment tests by Holm's correction.

    A difference that is significant alone and not among so many leaves its claim open.
    """
    adjusted = holm(np.array([judgement.p for judgement in judgements], dtype=np.float64))
    return [
        replace(_among_several(judgement, p_holm), p_holm=p_holm)
        for judgement, p_holm in zip(judgements, adjusted.tolist(), strict=True)
    ]


def _among_several(judgement: Judgement, p_holm: float) -> Judgement:
    level = 1 - CONFIDENCE
    is_decided = {judgement.answer, judgement.verdict} & {"reproduced", "differs"}
    if not (is_decided and judgement.p <= level < p_holm):
        return judgement
    rule = f"{judgement.rule}; significant alone, and not among all differences of this experiment (Holm)"
    if judgement.answer is not None:
        return replace(judgement, answer="inconclusive", rule=rule)
    return replace(judgement, verdict="inconclusive", rule=rule)


def _row_of(claim: Claim, judgement: Judgement, fixed: Fixed | None) -> dict[str, object]:
    published: object = getattr(claim, "published", claim.claim)
    readings = [
        reading._asdict() | {"reproduced": None if reading.reproduced is None else float(f"{reading.reproduced:.9g}")}
        for reading in judgement.readings
    ]
    answer = None if judgement.verdict == "not comparable" else judgement.verdict
    return asdict(judgement) | {
        "readings": json.dumps(readings, ensure_ascii=False) if readings else None,
        "answer": judgement.answer or answer,
        "id": claim.id,
        "where": claim.where,
        "published": "-".join(dict.fromkeys(map(str, published))) if isinstance(published, tuple) else published,
        "published_sd": getattr(claim, "published_sd", None),
        "published_n": getattr(claim, "published_n", None),
        "fixed": claim.fixed or fixed,
        "nature": claim.effective_nature,
        "note": claim.note,
    }
