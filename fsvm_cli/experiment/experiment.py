"""An experiment: a config with its data, its trials, and the key under which each outcome is stored."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.data.source import FixedSource, GeneratedSource, features_called
from fsvm_cli.data.source_spec import NamedSpec
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.evaluation.metrics import has_positive_class, needs_scores
from fsvm_cli.experiment.compared_methods import compared_methods_of, further_random_orders, oracle_of, with_kept
from fsvm_cli.sources import code_of
from fsvm_cli.spec.rankings import can_be_recommended

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from fsvm_cli.data.scaling import ScalingName
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.experiment.compared_methods import ComparedMethod
    from fsvm_cli.sources import Code
    from fsvm_cli.spec.schema import Config

TRIAL_DEFINITIONS = tuple(
    f"{__package__}.trial.{name}" for name in ("DrawnTrial", "draw_parts", "run_compared_methods")
)
"""Definitions that compute an outcome from the data; as names, because their libraries take a second to load."""

SCORE_METRIC_DEFINITIONS = (f"{__package__}.score_metrics.with_score_metrics",)
"""Those that add what a config asks for beside the classes that are predicted."""

CODE_KEY = "code"
"""Entry of the parts of a key that holds the hash of the code."""


@dataclass(frozen=True, order=True, slots=True)
class Trial:
    """One split.

    Attributes
    ----------
    n_train : int
        Rows of the training part; of given splits that differ, on average.
    split : int
        Number of the split, from 0.
    """

    n_train: int
    split: int


@dataclass(frozen=True)
class Experiment:
    """A config with its data: the complete input of its trials.

    Attributes
    ----------
    config : Config
    source : DataSource
    sizes : tuple of int
        Numbers of retained features, ascending; the last is that of all features.
    n_test : dict of int to int
        Rows of the test part for each number of training rows.
    within : tuple of int or None
        The rows that its splits divide, where these are the training rows of a given split, ascending; None for all.
    """

    config: Config
    source: DataSource
    sizes: tuple[int, ...]
    n_test: dict[int, int]
    within: tuple[int, ...] | None = None

    def trials(self) -> Iterator[Trial]:
        """Yield the planned trials, split by split; before bootstrap samples the one on the whole sample."""
        for split in range(self.config.protocol.splits + self.config.protocol.is_bootstrap):
            for n_train in self.n_test:
                yield Trial(n_train, split)

    @functools.cached_property
    def ends_in_recommendation(self) -> bool:
        """Whether it is on the user's own data, with rankings and several splits of one size, random or in order."""
        config = self.config
        return (
            not isinstance(config.dataset, NamedSpec)
            and config.paper is None
            and config.control is None
            and (self.within is not None or config.protocol.is_ordered or not config.protocol.is_listed)
            and len(self.n_test) == 1
            and any(map(can_be_recommended, config.rankings))
        )

    @functools.cached_property
    def rows(self) -> NDArray[np.intp]:
        """The rows that splits divide, ascending."""
        return np.arange(self.source.n_samples) if self.within is None else np.array(self.within, dtype=np.intp)

    @functools.cached_property
    def on_all_rows(self) -> dict[ScalingName, Any]:
        """By scaling, what has been ranked on all rows: one ranking for all splits, made once in each process."""
        return {}

    @functools.cached_property
    def score_metrics(self) -> tuple[str, ...]:
        """The figures of merit of scores that trials compute, in alphabetical order."""
        return tuple(sorted(filter(needs_scores, self.config.metrics)))

    @functools.cached_property
    def positive(self) -> int:
        """Code of the positive one of two classes: that of the config, or the rarer one, of equals the second."""
        names = self.source.class_names
        if self.config.positive is not None:
            return names.index(self.config.positive)
        if not isinstance(self.source, FixedSource):
            return 1
        counts = np.bincount(self.source.dataset.y, minlength=self.source.n_classes)
        return len(names) - 1 - int(np.argmin(counts[::-1]))

    @functools.cached_property
    def compared_methods(self) -> tuple[ComparedMethod, ...]:
        """The compared methods; outcomes refer to them by their indices here."""
        further = further_random_orders(self.config) if self.ends_in_recommendation else ()
        methods = (*compared_methods_of(self.config), *oracle_of(self.config, self.source), *further)
        return with_kept(methods, self.always_kept)

    @functools.cached_property
    def always_kept(self) -> tuple[int, ...]:
        """The features that every subset holds, in the order of the config; `plan` has checked their names."""
        return features_called(self.config.always_keep, self.source)

    def numbers(self) -> range:
        """Numbers of the compared methods."""
        return range(len(self.compared_methods))

    def n_trials(self) -> int:
        """Count the planned trials."""
        return (self.config.protocol.splits + self.config.protocol.is_bootstrap) * len(self.n_test)

    def key(self, compared_method: int, trial: Trial) -> str:
        """Return the key of a trial's outcome with the compared method of a number.

        A key is the hash of what the outcome depends on: data, scaling, classifier, seed and number of the split, rows
        of its parts, method with parameters and order, and the code that computes it. Names, numbers of splits and the
        other compared methods are not part of it.
        """
        return self.key_of(self.groups[compared_method], trial)

    def key_of(self, group: str, trial: Trial) -> str:
        """Return the key of a trial's outcome from the entry of `groups` of its compared method."""
        text = f"{_prefix(group)}/{trial.n_train}/{self.n_test[trial.n_train]}/{trial.split}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @functools.cached_property
    def groups(self) -> list[str]:
        """The parts of the keys of each compared method, as JSON."""
        return [json.dumps(self.key_parts(number), sort_keys=True) for number in self.numbers()]

    def key_parts(self, compared_method: int) -> dict[str, Any]:
        """Return what the outcomes of a compared method depend on, except the split."""
        compared = self.compared_methods[compared_method]
        # Random splits have no entry, so that keys from before given splits existed stay valid.
        given: dict[str, Any] = {"split": self.config.protocol.train[0]} if self.config.protocol.is_listed else {}
        if self.config.protocol.row_order is not None:
            given |= {"row_order": self.config.protocol.row_order}
        if self.config.protocol.stratified:
            given |= {"stratified": True}
        if self.score_metrics:
            depends = any(map(has_positive_class, self.score_metrics))
            given |= {"score_metrics": [*self.score_metrics], "positive": self.positive if depends else None}
        return given | {
            "data": self.source.identity,
            "scaling": self.config.scaling,
            "classifier": compared.classifier.model_dump(mode="json"),
            "control": self.config.control,
            "seed": self.config.protocol.seed,
            "ranking": compared.identity(),
            CODE_KEY: self.code(compared_method).digest,
        }

    def code(self, compared_method: int) -> Code:
        """Hash the code that the outcomes of a compared method come from."""
        compared = self.compared_methods[compared_method]
        own = SCORE_METRIC_DEFINITIONS if self.score_metrics else ()
        return code_of(*TRIAL_DEFINITIONS, *own, *self._data_code(), *compared.code(), type(compared.classifier))

    def _data_code(self) -> Iterator[object]:
        """Yield the functions and classes that draw or prepare the data of a trial, if any."""
        if isinstance(self.source, GeneratedSource):
            yield GENERATORS[self.source.generator].draw
        if isinstance(self.source, FixedSource) and self.source.dataset.preparation is not None:
            yield type(self.source.dataset.preparation)


@functools.cache
def _prefix(group: str) -> str:
    return hashlib.sha256(group.encode()).hexdigest()
