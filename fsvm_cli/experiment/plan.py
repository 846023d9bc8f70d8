"""From a config to trials, and the key under which each outcome is stored."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fsvm_cli.data.outline import outline_of
from fsvm_cli.data.phrases import shown
from fsvm_cli.data.scaling import fit_scaling
from fsvm_cli.data.source import DataSource, FixedSource, GeneratedSource, open_source
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.fit import check_fit, drawn_rows
from fsvm_cli.experiment.sparse import check_sparse
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.magnitudes import check_magnitudes
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.sources import source_digests
from fsvm_cli.spec.extractors import Extraction
from fsvm_cli.spec.schema import ALL_FEATURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.spec.schema import Config, Ranking

TRIAL = f"{__package__}.trial"
"""The module whose code, with all that it imports, leads from the data to an outcome."""

SOURCES = "sources"
"""Under which name the ingredients of a key list the code."""


@dataclass(frozen=True, order=True, slots=True)
class Trial:
    """One random split.

    Attributes
    ----------
    n_train : int
        Rows of the training part.
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

    def rankings(self) -> tuple[Ranking | Extraction | None, ...]:
        """List what has a curve: rankings, then extractors; a lone None stands for the machine on all features."""
        return (*self.config.rankings, *self.config.extractors) or (None,)

    def places(self) -> range:
        """Places of the rankings, by which outcomes are told apart."""
        return range(len(self.rankings()))

    def label(self, place: int) -> str:
        """Name the ranking at `place` as tables do."""
        ranking = self.rankings()[place]
        return ALL_FEATURES if ranking is None else ranking.label

    def n_trials(self) -> int:
        """Count the planned trials."""
        return self.config.protocol.splits * len(self.n_test)

    def key(self, place: int, trial: Trial) -> str:
        """Give the key of a trial's outcome with the ranking at `place`.

        A key is the hash of what the outcome depends on: data, scaling, machine, seed and place of the split, rows of
        its parts, method with parameters and order, and the code that computes it. Names, numbers of splits and the
        other rankings are not part of it.
        """
        text = f"{self._prefixes[place]}/{trial.n_train}/{self.n_test[trial.n_train]}/{trial.split}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @functools.cached_property
    def _prefixes(self) -> list[str]:
        return [
            hashlib.sha256(json.dumps(self.ingredients(place), sort_keys=True).encode()).hexdigest()
            for place in self.places()
        ]

    def ingredients(self, place: int) -> dict[str, Any]:
        """List what the outcomes of the ranking at `place` depend on, beside the split."""
        ranking = self.rankings()[place]
        # A random split says so by saying nothing: stored outcomes are older than given splits.
        given = {"split": "given"} if self.config.protocol.is_given else {}
        return given | {
            "data": self.source.identity,
            "scaling": self.config.scaling,
            "classifier": self.config.classifier_of(ranking).model_dump(mode="json"),
            "control": self.config.control,
            "seed": self.config.protocol.seed,
            "ranking": None if ranking is None else _what_matters(ranking),
            SOURCES: self.sources(place),
        }

    def sources(self, place: int) -> dict[str, str]:
        """Hash the code that the outcomes of the ranking at `place` come from, by the names of its modules."""
        ranking = self.rankings()[place]
        modules = [TRIAL]
        if isinstance(self.source, GeneratedSource):
            modules.append(GENERATORS[self.source.generator].draw.__module__)
        if ranking is not None:
            methods = extraction_methods() if isinstance(ranking, Extraction) else ranking_methods()
            modules.append(methods[ranking.method].__module__)
        return source_digests(*modules)

    def all_sources(self) -> dict[str, str]:
        """Hash the code that any outcome comes from, by the names of its modules."""
        return {module: digest for place in self.places() for module, digest in self.sources(place).items()}


def _what_matters(ranking: Ranking | Extraction) -> dict[str, Any]:
    parameters = ranking.model_dump(mode="json", include=set(ranking.parameters()))
    order = {} if isinstance(ranking, Extraction) else {"order": ranking.order}
    return {"method": ranking.method, "parameters": parameters} | order


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
    check_fit(loaded, outline_of(source))
    given = source.given_split
    n_test = {len(given[0]): len(given[1])} if config.protocol.is_given and given else drawn_rows(loaded, source)
    sizes = tuple(range(1, source.n_features + 1)) if config.subsets == "all" else config.subsets
    if not config.rankings:
        sizes = ()
    check_sparse(loaded, source)
    _check_magnitudes(loaded, source)
    # The machine on all features is the reference of every curve.
    return Experiment(config, source, tuple(sorted({*sizes, source.n_features})), n_test)


def _announce_constant_features(source: DataSource, announce: Callable[[str], None]) -> None:
    if isinstance(source, FixedSource):
        names = [source.feature_names[feature] for feature in fit_scaling("none", source.dataset.X).constant]
        if names:
            announce(f"{source.name}: a single value in all rows, and so no information: {shown(names)}")


def _check_magnitudes(loaded: LoadedConfig, source: DataSource) -> None:
    if isinstance(source, FixedSource) and loaded.config.scaling == "none":
        try:
            check_magnitudes(source.dataset.X, source.feature_names)
        except ValueError as error:
            raise loaded.document.error(("scaling",), f"{source.name}: {error}") from error
