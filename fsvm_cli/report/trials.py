"""The trials of an experiment, as claims ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.source import GeneratedSource
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.spec.claims.findings import Curve
from fsvm_cli.spec.rankings import ALL_FEATURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials
    from fsvm_cli.spec.claims.base import Claim, Place
    from fsvm_cli.spec.claims.findings import Fact


class Trials:
    """The trials that claims are judged by: the `Findings` of an experiment that was run.

    Parameters
    ----------
    experiment : Experiment
    collected : mapping of (label, n_train) to CompleteTrials
    """

    def __init__(self, experiment: Experiment, collected: Mapping[tuple[str, int], CompleteTrials]) -> None:
        self.experiment = experiment
        self._collected = collected

    def _of(self, ranking: str, train_size: int | None = None) -> CompleteTrials:
        """Find the trials of a ranking; of the largest training part where no size is named."""
        return self._collected[self._key(ranking, train_size)]

    def _key(self, ranking: str, train_size: int | None) -> tuple[str, int]:
        n_train = max(self.experiment.n_test) if train_size is None else train_size
        if ranking == ALL_FEATURES:
            # With all features every ranking has the same machine; an extractor's sees components.
            extracted = {extraction.label for extraction in self.experiment.config.extractors}
            found = (label for label, size in self._collected if size == n_train and label not in extracted)
            ranking = next(found, ALL_FEATURES)
        return ranking, n_train

    @property
    def feature_names(self) -> Sequence[str]:
        """Names of the features."""
        return self.experiment.source.feature_names

    def at(self, place: Place) -> NDArray[np.float64]:
        """Value at a place in each trial, in per cent; the mean over a stretch."""
        found = self._of(place.ranking, place.train_size)
        features = found.sizes[-1] if place.features == "all" else place.features
        low, high = features if isinstance(features, tuple) else (features, features)
        chosen = [low <= size <= high for size in found.sizes]
        values: NDArray[np.float64] = 100 * found.values[place.metric, place.part][:, chosen].mean(axis=1)
        return values

    def curve(self, ranking: str, metric: str, part: str) -> Curve:
        """Curve of a ranking in each trial, as fractions."""
        found = self._of(ranking)
        return Curve(found.sizes, found.values[metric, part])

    def scores(self, ranking: str) -> NDArray[np.float64]:
        """Scores of the features in each trial."""
        return self._of(ranking).scores

    def chosen(self, ranking: str, name: str) -> NDArray[np.float64]:
        """Return a number that was chosen on the training part of each trial where one was."""
        chosen = [of_trial[name] for of_trial in self._of(ranking).chosen if name in of_trial]
        return np.array([number for number in chosen if not isinstance(number, str)], dtype=np.float64)

    def stream(self, *purpose: str) -> np.random.Generator:
        """Random stream of the experiment for a purpose."""
        return random_stream(self.experiment.config.protocol.seed, *purpose)

    def fact(self, fact: Fact) -> NDArray[np.float64]:
        """Value of a fact of the problem: one, or one of each trial."""
        n_train = max(self.experiment.n_test)
        known = {
            "n_features": self.experiment.source.n_features,
            "n_classes": self.experiment.source.n_classes,
            "n_train": n_train,
            "n_test": self.experiment.n_test[n_train],
        }
        return np.array([float(known[fact])]) if fact in known else self._of(ALL_FEATURES).facts[fact]

    def test_to_train(self, place: Place) -> float:
        """Rows of the test part over rows of the training part; 0 where every trial draws new data."""
        if isinstance(self.experiment.source, GeneratedSource):
            return 0.0
        n_train = max(self.experiment.n_test) if place.train_size is None else place.train_size
        return self.experiment.n_test[n_train] / n_train

    def cover(self, claim: Claim) -> bool:
        """Say whether there is a complete trial of everything that the claim speaks of."""
        return self._keys_of(claim) <= self._collected.keys()

    def _keys_of(self, claim: Claim) -> set[tuple[str, int]]:
        of_places = {self._key(place.ranking, place.train_size) for place in claim.places()}
        return of_places or {self._key(label, None) for label in claim.rankings()}

    def why_not_comparable(self, claim: Claim) -> str | None:
        """Say why no statement about the document can be made, None where one can."""
        for key in sorted(self._keys_of(claim)):
            found = self._collected[key]
            n_trials, planned = len(found.splits), self.experiment.config.protocol.splits
            if n_trials < planned:
                return f"only {n_trials} of {planned} trials are complete"
            n_missed = int(np.count_nonzero(~found.converged.all(axis=1)))
            if n_missed:
                return f"in {n_missed} of {n_trials} trials a machine missed its duality gap"
        return None
