"""From a config to trials, and the key under which each outcome is stored."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.data.messages import shown
from fsvm_cli.data.opening import open_source
from fsvm_cli.data.scaling import fit_scaling
from fsvm_cli.data.source import DataSource, FixedSource, GeneratedSource, metadata_of
from fsvm_cli.data.source_spec import FileSpec
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.checks import check_fit, drawn_rows
from fsvm_cli.experiment.compared_methods import compared_methods_of, oracle_of
from fsvm_cli.numerics import check_input_range
from fsvm_cli.sources import code_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fsvm_cli.experiment.compared_methods import ComparedMethod
    from fsvm_cli.sources import Code
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.spec.protocol import Protocol
    from fsvm_cli.spec.schema import Config

TRIAL = tuple(f"{__package__}.trial.{name}" for name in ("DrawnTrial", "draw_parts", "run_compared_methods"))
"""What leads from the data to an outcome; by name, because their libraries take a second to load."""

CODE = "code"
"""Under which name the ingredients of a key hold the hash of the code."""


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
    """A config with its data: all that a trial needs.

    Attributes
    ----------
    config : Config
    source : DataSource
    sizes : tuple of int
        Numbers of retained features, ascending; the last is that of all features.
    n_test : dict of int to int
        Rows of the test part for each number of training rows.
    """

    config: Config
    source: DataSource
    sizes: tuple[int, ...]
    n_test: dict[int, int]

    def trials(self) -> Iterator[Trial]:
        """Yield the planned trials, split by split."""
        for split in range(self.config.protocol.splits):
            for n_train in self.n_test:
                yield Trial(n_train, split)

    @functools.cached_property
    def compared_methods(self) -> tuple[ComparedMethod, ...]:
        """What has a curve; outcomes are told apart by their numbers here."""
        return (*compared_methods_of(self.config), *oracle_of(self.config, self.source))

    def numbers(self) -> range:
        """Numbers of the competitors."""
        return range(len(self.compared_methods))

    def n_trials(self) -> int:
        """Count the planned trials."""
        return self.config.protocol.splits * len(self.n_test)

    def key(self, compared_method: int, trial: Trial) -> str:
        """Give the key of a trial's outcome with the competitor of a number.

        A key is the hash of what the outcome depends on: data, scaling, classifier, seed and number of the split, rows
        of its parts, method with parameters and order, and the code that computes it. Names, numbers of splits and the
        other competitors are not part of it.
        """
        return self.key_of(self.groups[compared_method], trial)

    def key_of(self, group: str, trial: Trial) -> str:
        """Give the key of a trial's outcome by what `groups` says of its competitor."""
        text = f"{_prefix(group)}/{trial.n_train}/{self.n_test[trial.n_train]}/{trial.split}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @functools.cached_property
    def groups(self) -> list[str]:
        """The ingredients of each competitor, as JSON."""
        return [json.dumps(self.key_parts(number), sort_keys=True) for number in self.numbers()]

    def key_parts(self, compared_method: int) -> dict[str, Any]:
        """List what the outcomes of a competitor depend on, beside the split."""
        compared = self.compared_methods[compared_method]
        # A random split says so by saying nothing: stored outcomes are older than given splits.
        given = {"split": "given"} if self.config.protocol.is_given else {}
        return given | {
            "data": self.source.identity,
            "scaling": self.config.scaling,
            "classifier": compared.classifier.model_dump(mode="json"),
            "control": self.config.control,
            "seed": self.config.protocol.seed,
            "ranking": compared.identity(),
            CODE: self.code(compared_method).digest,
        }

    def code(self, compared_method: int) -> Code:
        """Hash the code that the outcomes of a competitor come from."""
        compared = self.compared_methods[compared_method]
        return code_of(*TRIAL, *self._data_code(), *compared.code(), type(compared.classifier))

    def _data_code(self) -> Iterator[object]:
        """Name what draws or prepares the data of a trial, where something does."""
        if isinstance(self.source, GeneratedSource):
            yield GENERATORS[self.source.generator].draw
        if isinstance(self.source, FixedSource) and self.source.dataset.preparation is not None:
            yield type(self.source.dataset.preparation)


@functools.cache
def _prefix(group: str) -> str:
    return hashlib.sha256(group.encode()).hexdigest()


def plan(loaded: LoadedConfig, announce: Callable[[str], None]) -> Experiment:
    """Open the data of a config and check that the two fit together.

    Parameters
    ----------
    loaded : LoadedConfig
    announce : callable
        Is told, in one sentence each, what takes time or deserves notice.

    Raises
    ------
    UsageError
        If the config asks for rows or features that the data do not have.
    DataError
        If the data cannot be had.
    """
    config, document = loaded.config, loaded.document
    try:
        source = open_source(config.dataset, base_folder=loaded.folder, announce=announce)
    except UsageError as error:
        raise document.error(("dataset",), str(error)) from error
    _announce_constant_features(source, announce)
    data = replace(metadata_of(source), is_own=isinstance(config.dataset, FileSpec))
    check_fit(loaded, data)
    n_test = given_rows(source, config.protocol) if config.protocol.is_given else drawn_rows(config.protocol, data)
    listed = config.subsets if isinstance(config.subsets, tuple) else ()
    sizes = tuple(range(1, source.n_features + 1)) if config.subsets == "all" else listed
    if not config.rankings:
        sizes = ()
    _check_input_range(loaded, source)
    # The machine on all features is the reference of every curve.
    return Experiment(config, source, tuple(sorted({*sizes, source.n_features})), n_test)


def given_rows(source: DataSource, protocol: Protocol) -> dict[int, int]:
    """Count the rows of the parts of given splits; where these differ, on average, to the nearest whole number."""
    sizes = [(len(train), len(test)) for train, test in source.given_splits[: protocol.splits]]
    n_train, n_test = np.rint(np.mean(sizes, axis=0)).astype(int).tolist()
    return {n_train: n_test}


def _announce_constant_features(source: DataSource, announce: Callable[[str], None]) -> None:
    if isinstance(source, FixedSource):
        names = [source.feature_names[feature] for feature in fit_scaling("none", source.dataset.X).constant]
        if names:
            announce(f"{source.name}: a single value in all rows, and so no information: {shown(names)}")


def _check_input_range(loaded: LoadedConfig, source: DataSource) -> None:
    if isinstance(source, FixedSource) and loaded.config.scaling == "none":
        try:
            check_input_range(source.dataset.X, source.feature_names)
        except ValueError as error:
            raise loaded.document.error(("scaling",), f"{source.name}: {error}") from error
