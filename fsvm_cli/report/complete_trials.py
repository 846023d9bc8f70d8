"""The complete trials of an experiment as arrays, and what is missing or did not converge, in words."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from fsvm_cli.data.messages import shown
from fsvm_cli.evaluation.bootstrap import (
    bootstrap_interval,
    error_of_left_out,
    no_information_error,
    weight_632_plus,
)
from fsvm_cli.evaluation.metrics import METRICS, metric_of_counts, needs_scores
from fsvm_cli.evaluation.score_metrics import limits_for_other_samples
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.columns import tie_priority_of
from fsvm_cli.experiment.compared_methods import Ranked, Selected, compared_methods_of
from fsvm_cli.experiment.outcome import stored_outcome
from fsvm_cli.experiment.score_metrics import SPREADS, measure_of
from fsvm_cli.learners.base import DUALITY_GAP
from fsvm_cli.numerics import classifier_information, entropy
from fsvm_cli.ranking.ard import AutomaticRelevance
from fsvm_cli.report.style import legible
from fsvm_cli.spec.classifiers import BayesianBase, Classifier

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from fsvm_cli.experiment.compared_methods import ComparedMethod
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.experiment.outcome import Outcome
    from fsvm_cli.spec.schema import Config
    from fsvm_cli.store.store import Store

MACHINE = "a machine missed its duality gap"
ASCENT = "an ascent on the evidence did not end by its rule, or a machine after it missed its duality gap"


def convergence_warnings(config: Config) -> dict[str, str]:
    """Map the label of each compared method to the convergence warning of its trials."""
    return {each.label: ASCENT if _ascends(each) else MACHINE for each in compared_methods_of(config)}


def without_trials(config: Config, labels: Iterable[str]) -> str:
    """List the compared methods without a complete trial; empty where each has one.

    Parameters
    ----------
    config : Config
    labels : iterable of str
        Of the compared methods that have one.
    """
    there = set(labels)
    missing = [legible(each.label) for each in compared_methods_of(config) if each.label not in there]
    return f"; INCOMPLETE: no trial of {shown(missing)}" if missing else ""


def trials_compared(rows: pd.DataFrame, complete: Mapping[str, int], config: Config) -> str:
    """Say how many trials a figure is over, and whether some are missing or have no machine.

    Parameters
    ----------
    rows : DataFrame
        Columns `ranking` and `n_trials`, which counts the trials with a machine.
    complete : mapping of str to int
        By compared method, the trials that are complete where some of them may have no machine.
    config : Config
    """
    n_complete = rows["ranking"].map(complete).fillna(rows["n_trials"])
    trials = f"{config.protocol.trials_in_words(int(n_complete.min()))}{without_trials(config, rows['ranking'])}"
    is_without = n_complete.min() >= config.protocol.splits and (rows["n_trials"] < n_complete).any()
    return f"{trials}; those without a machine do not count" if is_without else trials


def stopped_short(config: Config, measures: pd.DataFrame) -> pd.DataFrame:
    """Find the rows of `measures.csv` whose machines a config stops before they reach their duality gap.

    Returns
    -------
    DataFrame
        Columns as in `measures.csv`: `mean` is the mean over trials of the largest gap of each.
    """
    tolerances = {
        each.label: each.classifier.tolerance
        for each in compared_methods_of(config)
        if isinstance(each.classifier, Classifier) and each.classifier.stop_after is not None
    }
    gaps = measures[measures["measure"] == DUALITY_GAP]
    found: pd.DataFrame = gaps[gaps["mean"] > gaps["ranking"].map(tolerances).astype(float)]
    return found


def _ascends(compared_method: ComparedMethod) -> bool:
    if isinstance(compared_method.classifier, BayesianBase):
        return True
    ranking = compared_method.ranking if isinstance(compared_method, Ranked) else None
    if isinstance(compared_method, Selected):
        ranking = compared_method.selection.ranking
    return ranking is not None and ranking.method == AutomaticRelevance.method


PARTS: tuple[Literal["train", "test"], ...] = ("train", "test")

OUTCOMES_AT_ONCE = 500
"""An outcome as an object takes several times the bytes of the figures of merit that are computed from it."""


FACTS_OF_CLASSES: Mapping[str, Callable[[NDArray[np.intp]], NDArray[np.float64]]] = {
    "major-class": lambda n_per_class: 100 * n_per_class.max(axis=-1) / n_per_class.sum(axis=-1),
    "class-uncertainty": entropy,
}
"""What the numbers of samples of each class say, shape (..., n_classes)."""


@dataclass(frozen=True)
class CompleteTrials:
    """The complete trials of one compared method at one training size.

    Attributes
    ----------
    splits : ndarray of int, shape (n_trials,)
        Numbers of the splits, ascending.
    sizes : tuple of int
        Numbers of retained features, ascending.
    values : dict of (metric, part) to ndarray, shape (n_trials, n_sizes)
        Figures of merit, as fractions, a log loss in nats; those of scores on the test part alone. NaN where there is
        no classifier, or the classes of the part leave a figure of merit undefined.
    scores : ndarray, shape (n_trials, n_features)
        Scores of the features; no columns where nothing was ranked.
    priorities : ndarray of int, shape (n_trials, n_features)
        Which of the features that tie comes first.
    converged : ndarray of bool, shape (n_trials, n_sizes)
        Whether the ranking's machines and the subset's reached their duality gap.
    facts : dict of str to ndarray, shape (n_trials,)
        Of the test part, with the machine on all features: "major-class" in per cent, "class-uncertainty" and
        "classifier-information" in bits.
    intervals : dict of (metric, part) to list of (low, high)
        For the test part of a given split, which has no spread between trials: 95 % bootstrap intervals over its
        samples, by size; else empty.
    chosen : tuple of dict of str to value
        What was chosen on the training part of each trial.
    answers : ndarray of int, shape (1 + n_sizes, n_test)
        Of a single given split: the classes of its test rows, and those assigned on each subset; else empty.
    measures : dict of str to ndarray, shape (n_trials, n_sizes)
        What classifiers measured on the training part, by name; NaN where there is none to measure it.
    test_confusion : ndarray of int, shape (n_sizes, n_classes, n_classes)
        Confusion matrices of the test part, summed over the trials.
    spreads : dict of str to ndarray, shape (n_trials, n_sizes)
        What a test row contributes to the standard error of a figure of merit, by its name; see `SPREADS`.
    """

    splits: NDArray[np.intp]
    sizes: tuple[int, ...]
    values: dict[tuple[str, str], NDArray[np.float64]]
    scores: NDArray[np.float64]
    priorities: NDArray[np.intp]
    converged: NDArray[np.bool_]
    facts: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    intervals: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)
    chosen: tuple[dict[str, float | int | str], ...] = ()
    predictions: NDArray[np.intp] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.intp))
    measures: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    test_confusion: NDArray[np.intp] = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.intp))
    spreads: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def spread_of(
        self, metric: str, column: int, rows: NDArray[np.bool_] | slice = slice(None)
    ) -> NDArray[np.float64] | None:
        """Return what `spreads` holds of a figure of merit on one subset, shape (n_trials,), or None."""
        return self.spreads[metric][rows, column] if metric in self.spreads else None


def collect(experiment: Experiment, store: Store) -> dict[tuple[str, int], CompleteTrials]:
    """Read from the store what an experiment's trials found.

    Returns
    -------
    dict of (label, n_train) to CompleteTrials
        In the order of the config; a compared method of which no trial is complete is left out.
    """
    collected = {}
    for number, compared_method in enumerate(experiment.compared_methods):
        for n_train in experiment.n_test:
            complete = _complete(experiment, store, number, n_train)
            corrected = None
            if experiment.config.protocol.is_bootstrap:
                split, whole = next(complete, (None, None))
                if whole is None or split != 0:
                    continue  # without the machines that all rows trained there is no estimate
                corrected = _Corrected(experiment, whole)
            blocks = []
            while block := dict(itertools.islice(complete, OUTCOMES_AT_ONCE)):
                blocks.append(_summarised(experiment, block))
                if corrected is not None:
                    corrected.add(block)
            if blocks:
                joined = _joined(blocks)
                collected[compared_method.label, n_train] = joined if corrected is None else corrected.of(joined)
    return collected


class _Corrected:
    """The .632+ estimates of a compared method, from what its machines said of the rows that their samples left out.

    Parameters
    ----------
    experiment : Experiment
        Of bootstrap samples.
    whole : Outcome
        Of the trial whose machines are trained and tested on all rows.
    """

    def __init__(self, experiment: Experiment, whole: Outcome) -> None:
        self._experiment = experiment
        self._whole = whole.confusions("test", experiment.sizes)
        self._converged = _converged([whole], experiment.sizes)
        n_samples = experiment.source.n_samples
        self._wrong = np.zeros((len(experiment.sizes), n_samples))
        self._tested = np.zeros((len(experiment.sizes), n_samples), dtype=np.intp)

    def add(self, block: Mapping[int, Outcome]) -> None:
        """Count the errors of some trials, row by row."""
        sizes = self._experiment.sizes
        for split, outcome in block.items():
            _, rows = self._experiment.source.given_splits[split]
            y, *predicted = outcome.predictions_at(sizes)
            exists = outcome.confusions("test", sizes).sum(axis=(1, 2)) > 0
            self._wrong[:, rows] += (np.array(predicted) != y) & exists[:, None]
            self._tested[:, rows] += exists[:, None]

    def of(self, trials: CompleteTrials) -> CompleteTrials:
        """Put the estimate in place of the accuracy on the left-out rows, with the spread of the weighed samples."""
        left_out = error_of_left_out(self._wrong, self._tested)
        apparent = 1.0 - _where_known(METRICS["accuracy"], self._whole)
        weight, bounded = weight_632_plus(apparent, left_out, no_information_error(self._whole))
        of_samples = trials.values["accuracy", "test"]
        n_known = np.maximum(np.count_nonzero(~np.isnan(of_samples), axis=0), 1)
        centred = of_samples - np.nansum(of_samples, axis=0) / n_known
        estimate = 1.0 - ((1.0 - weight) * apparent + weight * bounded)
        return replace(
            trials,
            values=trials.values | {("accuracy", "test"): estimate + weight * centred},
            converged=trials.converged & self._converged,
            predictions=np.zeros((0, 0), dtype=np.intp),
        )


def _complete(
    experiment: Experiment, store: Store, compared_method: int, n_train: int
) -> Iterator[tuple[int, Outcome]]:
    """Yield the complete outcomes of a compared method at a training size, with the numbers of their splits."""
    for trial in experiment.trials():
        outcome = stored_outcome(store, experiment.key(compared_method, trial)) if trial.n_train == n_train else None
        if outcome is not None and outcome.covers(experiment.sizes):
            yield trial.split, outcome


def _joined(blocks: Sequence[CompleteTrials]) -> CompleteTrials:
    first = blocks[0]
    return CompleteTrials(
        splits=np.concatenate([block.splits for block in blocks]),
        sizes=first.sizes,
        values={which: np.concatenate([block.values[which] for block in blocks]) for which in first.values},
        scores=np.concatenate([block.scores for block in blocks]),
        priorities=np.concatenate([block.priorities for block in blocks]),
        converged=np.concatenate([block.converged for block in blocks]),
        facts={name: np.concatenate([block.facts[name] for block in blocks]) for name in first.facts},
        intervals=first.intervals,
        chosen=tuple(itertools.chain.from_iterable(block.chosen for block in blocks)),
        predictions=first.predictions,
        measures={
            name: np.concatenate([_measure(block, name) for block in blocks])
            for name in dict.fromkeys(name for block in blocks for name in block.measures)
        },
        test_confusion=sum((block.test_confusion for block in blocks[1:]), first.test_confusion),
        spreads={name: np.concatenate([block.spreads[name] for block in blocks]) for name in first.spreads},
    )


def _measure(block: CompleteTrials, name: str) -> NDArray[np.float64]:
    return block.measures.get(name, np.full((len(block.splits), len(block.sizes)), np.nan))


def _summarised(experiment: Experiment, complete: dict[int, Outcome]) -> CompleteTrials:
    outcomes, is_single = list(complete.values()), experiment.config.protocol.is_single_given
    confusions = {
        part: np.array([outcome.confusions(part, experiment.sizes) for outcome in outcomes]) for part in PARTS
    }
    return CompleteTrials(
        splits=np.array(list(complete)),
        sizes=experiment.sizes,
        values={
            which: found
            for metric in experiment.config.metrics
            for which, found in _values(experiment, metric, confusions, outcomes)
        },
        scores=np.array([outcome.scores for outcome in outcomes]),
        priorities=np.array([tie_priority_of(experiment, split) for split in complete]),
        converged=_converged(outcomes, experiment.sizes),
        facts=_facts(confusions["test"][:, -1]),
        intervals=_intervals(experiment, confusions["test"][0], outcomes) if is_single else {},
        chosen=tuple(outcome.chosen for outcome in outcomes),
        predictions=outcomes[0].predictions_at(experiment.sizes),
        measures=_measures(outcomes, experiment.sizes, {*SPREADS.values(), *map(measure_of, experiment.score_metrics)}),
        test_confusion=confusions["test"].sum(axis=0),
        spreads=_spreads(experiment, outcomes),
    )


def _values(
    experiment: Experiment,
    metric: str,
    confusions: Mapping[Literal["train", "test"], NDArray[np.intp]],
    outcomes: Sequence[Outcome],
) -> Iterator[tuple[tuple[str, str], NDArray[np.float64]]]:
    """Yield a figure of merit of both parts; of scores that of the test part alone."""
    if needs_scores(metric):
        yield (metric, "test"), _measure_of_each(outcomes, experiment.sizes, measure_of(metric))
        return
    of_counts = metric_of_counts(metric, experiment.positive)
    yield from (((metric, part), _where_known(of_counts, confusions[part])) for part in confusions)


def _measure_of_each(outcomes: Sequence[Outcome], sizes: tuple[int, ...], name: str) -> NDArray[np.float64]:
    """Return what was measured on each trial and subset, NaN where it was not; shape (n_trials, n_sizes)."""
    return np.array(
        [
            [outcome.measures[row].get(name, np.nan) if outcome.measures else np.nan for row in outcome.rows(sizes)]
            for outcome in outcomes
        ]
    )


def _spreads(experiment: Experiment, outcomes: Sequence[Outcome]) -> dict[str, NDArray[np.float64]]:
    """Return what test rows contribute to the standard errors of the figures of merit that have such a measure."""
    metrics = [metric for metric in SPREADS if metric in experiment.config.metrics]
    return {metric: _measure_of_each(outcomes, experiment.sizes, SPREADS[metric]) for metric in metrics}


def _where_known(
    metric: Callable[[NDArray[np.intp]], NDArray[np.float64]], confusions: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Compute a figure of merit; NaN where the confusion matrix is zero, because there is no classifier."""
    is_empty = confusions.sum(axis=(-2, -1)) == 0
    values = metric(confusions + is_empty[..., None, None])
    return np.where(is_empty, np.nan, values)


def _measures(
    outcomes: Sequence[Outcome], sizes: tuple[int, ...], others: Container[str]
) -> dict[str, NDArray[np.float64]]:
    """Return what was measured on the training part, by name; `others` were measured on the test part."""
    of_sizes = [[outcome.measures[row] for row in outcome.rows(sizes)] for outcome in outcomes if outcome.measures]
    names = dict.fromkeys(name for of_trial in of_sizes for measures in of_trial for name in measures)
    names = {name: None for name in names if name not in others}
    return {
        name: np.array([[measures.get(name, np.nan) for measures in of_trial] for of_trial in of_sizes])
        for name in names
    }


def _facts(confusions: NDArray[np.intp]) -> dict[str, NDArray[np.float64]]:
    of_classes = {
        name: _where_known(lambda known, fact=fact: fact(known.sum(axis=2)), confusions)  # type: ignore[misc]
        for name, fact in FACTS_OF_CLASSES.items()
    }
    return of_classes | {"classifier-information": _where_known(classifier_information, confusions)}


def _intervals(
    experiment: Experiment, confusions: NDArray[np.intp], outcomes: Sequence[Outcome]
) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Resample the test part of a given split; of figures of merit of scores give the limits for other samples."""
    seed, found = experiment.config.protocol.seed, {}
    spreads = _spreads(experiment, outcomes)
    for metric in experiment.config.metrics:
        if needs_scores(metric):
            (values,) = _measure_of_each(outcomes, experiment.sizes, measure_of(metric))
            (of_sizes,) = spreads.get(metric, np.full((1, len(values)), np.nan))
            places = zip(values.tolist(), confusions.sum(axis=2).astype(float), of_sizes.tolist(), strict=True)
            found[metric, "test"] = [limits_for_other_samples(metric, *place) for place in places]
            continue
        of_counts = metric_of_counts(metric, experiment.positive)
        found[metric, "test"] = [
            bootstrap_interval(of_counts, confusion, random_stream(seed, "bootstrap", metric))
            for confusion in confusions
        ]
    return found


def _converged(outcomes: Sequence[Outcome], sizes: tuple[int, ...]) -> NDArray[np.bool_]:
    return np.array(
        [outcome.ranking_converged & (outcome.n_unconverged[outcome.rows(sizes)] == 0) for outcome in outcomes]
    )
