"""Whether the best of all rankings and sizes is better than guessing: the whole procedure on permuted labels.

The statistic is the largest mean balanced accuracy over all rankings and sizes on the first splits. It is computed
anew after the labels of all rows have been permuted and all that sees labels has been repeated: tuning, ranking,
fitting. Where labels say nothing of the rows, each of the values is as likely to be the largest, whatever the rankings,
classes and correlations are; so that the test allows for the choice of the best (Phipson and Smyth, 2010). It ends at
the second permutation that is as good, when nothing can be found any more (Besag and Clifford, 1991).
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.data.source import FixedSource
from fsvm_cli.evaluation.metrics import balanced_accuracy
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.outcome import stored_outcome
from fsvm_cli.spec.rankings import can_be_recommended, is_control

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from numpy.typing import NDArray

    from fsvm_cli.experiment.experiment import Experiment, Trial
    from fsvm_cli.store.store import Store

SIGNIFICANCE_LEVEL = 0.05
ROUNDING = 1e-9
"""Means of counts that are equal but for rounding are equal."""


def permute_labels(y: NDArray[np.intp], groups: NDArray[np.int64] | None, rng: np.random.Generator) -> NDArray[np.intp]:
    """Permute labels over rows; where rows belong together, over whole groups, or within groups where labels vary.

    Parameters
    ----------
    y : ndarray of int, shape (n_samples,)
    groups : ndarray of int, shape (n_samples,), or None
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (n_samples,)
    """
    if groups is None:
        return rng.permutation(y)
    _, codes = np.unique(groups, return_inverse=True)
    rows_of = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    alike = [rows for rows in rows_of if (y[rows] == y[rows[0]]).all()]
    labels = rng.permutation(np.array([y[rows[0]] for rows in alike], dtype=y.dtype))
    permuted = np.empty_like(y)
    for rows, label in zip(alike, labels, strict=True):
        permuted[rows] = label
    for rows in rows_of:
        if (y[rows] != y[rows[0]]).any():
            permuted[rows] = rng.permutation(y[rows])
    return permuted


def permuted_experiment(experiment: Experiment, permutation: int) -> Experiment:
    """Return what the test repeats of an experiment: rankings that may be recommended, on the first splits.

    Parameters
    ----------
    experiment : Experiment
        On a table that stays the same.
    permutation : int
        Number of the permutation of the labels; 0 for the labels as they are.
    """
    config, source = experiment.config, experiment.source
    assert isinstance(source, FixedSource)
    rankings = tuple(each for each in config.rankings if can_be_recommended(each))
    rankings = tuple(each for each in rankings if not is_control(each)) or rankings
    n_splits = min(config.recommendation.permuted_splits, config.protocol.splits)
    kept: dict[str, Any] = {
        "rankings": rankings,
        "extractors": (),
        "oracle": None,
        "record": (),
        "expected": (),
        "protocol": config.protocol.model_copy(update={"splits": n_splits}),
    }
    if permutation:
        data, rows = source.dataset, experiment.rows
        groups = None if data.groups is None else data.groups[rows]
        y, rng = data.y.copy(), random_stream(config.protocol.seed, "permuted labels", permutation)
        y[rows] = permute_labels(data.y[rows], groups, rng)
        identity = hashlib.sha256(f"{source.identity} labels permuted {permutation}".encode()).hexdigest()
        source = replace(source, dataset=replace(data, y=y), identity=identity)
        kept["metrics"] = ("accuracy",)  # the statistic needs no scores
    return replace(experiment, config=config.model_copy(update=kept), source=source)


@dataclass
class ChanceTest:
    """The test of one experiment, as far as its store holds the trials.

    Attributes
    ----------
    experiment : Experiment
        One that ends in a recommendation, on a table that stays the same.
    observed : float or None
        The statistic on the labels as they are; None as long as trials are missing.
    permuted : list of float
        The statistics on permuted labels in their order; none after the one that decides.
    """

    experiment: Experiment
    observed: float | None = None
    permuted: list[float] = field(default_factory=list)

    @property
    def n_at_least(self) -> int:
        """Count the permutations that are as good as the labels."""
        return sum(self.observed is not None and value >= self.observed - ROUNDING for value in self.permuted)

    @property
    def n_permutations(self) -> int:
        """Permutations of the whole test."""
        return self.experiment.config.recommendation.permutations

    @property
    def n_at_least_to_stop(self) -> int:
        """Permutations as good as the labels with which the p-value is above the level, whatever follows."""
        return math.floor(SIGNIFICANCE_LEVEL * (self.n_permutations + 1) + ROUNDING)

    @property
    def is_decided(self) -> bool:
        """Whether more permutations would change nothing."""
        return self.observed is not None and (
            self.n_at_least >= self.n_at_least_to_stop or len(self.permuted) == self.n_permutations
        )

    @property
    def p(self) -> float:
        """The p-value; where the test stopped early, that of Besag and Clifford; NaN while it is not decided."""
        if not self.is_decided:
            return math.nan
        if self.n_at_least >= self.n_at_least_to_stop:
            return self.n_at_least / len(self.permuted)
        return (1 + self.n_at_least) / (1 + self.n_permutations)

    @property
    def is_found(self) -> bool:
        """Whether it is decided that the best ranking is better than guessing."""
        return self.is_decided and self.p <= SIGNIFICANCE_LEVEL + ROUNDING

    def read(self, store: Store) -> None:
        """Read the statistics whose trials are complete, or failed."""
        failures = store.failures()
        if self.observed is None:
            self.observed = _statistic(permuted_experiment(self.experiment, 0), store, failures, -math.inf)
        while self.observed is not None and not self.is_decided:
            repeated = permuted_experiment(self.experiment, len(self.permuted) + 1)
            value = _statistic(repeated, store, failures, math.inf)
            if value is None:
                return
            self.permuted.append(value)

    def missing(self, store: Store, n_permutations: int) -> Iterator[tuple[int, Trial, dict[int, tuple[int, ...]]]]:
        """Yield the missing trials of the next permutations.

        Parameters
        ----------
        store : Store
        n_permutations : int
            How many of them at most.

        Yields
        ------
        permutation : int
            Number of the permutation.
        trial : Trial
        wanted : dict of int to tuple of int
            Subset sizes by number of the compared method of `permuted_experiment`.
        """
        if self.observed is None or self.is_decided:
            return
        failures = store.failures()
        first = len(self.permuted) + 1
        for permutation in range(first, min(first + n_permutations, self.n_permutations + 1)):
            repeated = permuted_experiment(self.experiment, permutation)
            for trial in repeated.trials():
                keys = {number: repeated.key(number, trial) for number in repeated.numbers()}
                wanted = {
                    number: repeated.sizes
                    for number, key in keys.items()
                    if key not in failures and not _is_stored(store, key, repeated.sizes)
                }
                if wanted:
                    yield permutation, trial, wanted


def chance_test(experiment: Experiment) -> ChanceTest | None:
    """Begin the test of an experiment; None for one that has none."""
    has_test = experiment.ends_in_recommendation and isinstance(experiment.source, FixedSource)
    return ChanceTest(experiment) if has_test and experiment.config.recommendation.permutations else None


def _is_stored(store: Store, key: str, sizes: tuple[int, ...]) -> bool:
    outcome = stored_outcome(store, key)
    return outcome is not None and outcome.covers(sizes)


def _statistic(experiment: Experiment, store: Store, failures: Container[str], without_any: float) -> float | None:
    """Return the largest mean over rankings and sizes; None where a trial is missing that has not failed."""
    means = [without_any]
    for number in experiment.numbers():
        values = []
        for trial in experiment.trials():
            key = experiment.key(number, trial)
            outcome = stored_outcome(store, key)
            if outcome is not None and outcome.covers(experiment.sizes):
                confusions = outcome.confusions("test", experiment.sizes)
                exists = confusions.sum(axis=(-2, -1)) > 0  # there may be no classifier
                values.append(np.where(exists, balanced_accuracy(confusions + ~exists[:, None, None]), np.nan))
            elif key not in failures:
                return None
        if values:
            stacked = np.array(values)
            n_there = np.count_nonzero(~np.isnan(stacked), axis=0)
            means += (np.nansum(stacked, axis=0)[n_there > 0] / n_there[n_there > 0]).tolist()
    return max(means[1:], default=without_any)
