"""From a config to trials, and the key under which each outcome is stored."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fsvm_cli.data.scaling import fit_scaling
from fsvm_cli.data.source import DataSource, FixedSource, GeneratedSource, check_source, open_source
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.data.wording import shown
from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.splits import count_rows
from fsvm_cli.experiment.extraction import Extraction
from fsvm_cli.experiment.schema import ALL_FEATURES, GIVEN
from fsvm_cli.experiment.sparse import check_sparse
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.magnitudes import check_magnitudes
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.sources import source_digests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fsvm_cli.experiment.config import LoadedConfig
    from fsvm_cli.experiment.schema import Config, Ranking

TRIAL = f"{__package__}.trial"
"""The module whose code, with all that it imports, leads from the data to an outcome."""

SOURCES = "sources"
"""Under which name the ingredients of a key list the code."""

RECORDED_METHODS = {"decision-field": "gradient-angle", "descent-path": "kpd"}
"""Whose ranking each record shows."""


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


def check_data_exist(loaded: LoadedConfig) -> None:
    """Check that there are the data that a config names, without reading or fetching them.

    Raises
    ------
    UsageError
        If there is no such data set or version, or an option does not belong to it.
    DataError
        If a file of the user's own is missing.
    """
    try:
        check_source(loaded.config.dataset, base_folder=loaded.folder)
    except UsageError as error:
        raise loaded.document.error(("dataset",), str(error)) from error


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
    n_test = _given_rows(loaded, source) if config.protocol.is_given else _drawn_rows(loaded, source)
    sizes = tuple(range(1, source.n_features + 1)) if config.subsets == "all" else config.subsets
    if sizes[-1] > source.n_features:
        raise document.error(
            ("subsets",), f"{sizes[-1]} features cannot be retained; {source.name} has {source.n_features}"
        )
    if not config.rankings:
        sizes = ()
    _check_class_kernels(loaded, source)
    check_sparse(loaded, source)
    _check_magnitudes(loaded, source)
    _check_record(loaded, source)
    # The machine on all features is the reference of every curve.
    return Experiment(config, source, tuple(sorted({*sizes, source.n_features})), n_test)


def _given_rows(loaded: LoadedConfig, source: DataSource) -> dict[int, int]:
    """Count the rows of the test part by those of the training part, for the split that comes with the data."""
    split = source.given_split
    if split is None:
        raise loaded.document.error(
            ("protocol", "train"), f"{source.name} comes without a split; write a number or a fraction of its rows"
        )
    train, test = split
    return {len(train): len(test)}


def _drawn_rows(loaded: LoadedConfig, source: DataSource) -> dict[int, int]:
    """Count the rows of the test part by those of the training part, for random splits."""
    protocol, n_test = loaded.config.protocol, {}
    for part in protocol.train:
        assert part != GIVEN, "a given split is planned as it is"
        n_train = count_rows(part, source.n_samples)
        rest = source.n_samples - n_train
        wanted = rest if protocol.test is None else count_rows(protocol.test, source.n_samples)
        if n_train < 1 or wanted < 1 or wanted > rest:
            raise loaded.document.error(
                ("protocol", "train"),
                f"{n_train} training and {max(wanted, 0)} test rows cannot be drawn from the {source.n_samples} rows "
                f"of {source.name}; both parts need at least 1 row",
            )
        n_test[n_train] = wanted
    return n_test


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


def _check_class_kernels(loaded: LoadedConfig, source: DataSource) -> None:
    places: dict[tuple[str | int, ...], Any] = {("classifier",): loaded.config.classifier}
    for i, ranking in enumerate(loaded.config.rankings):
        places["rankings", i, "classifier"] = ranking.classifier
    for place, classifier in places.items():
        named = getattr(classifier, "class_kernels", {})
        for name in named:
            if name not in source.class_names:
                raise loaded.document.error(
                    (*place, "class_kernels", name),
                    f"{source.name} has no class '{name}'; it has {', '.join(source.class_names)}",
                )
        if named and source.n_classes == 2:
            raise loaded.document.error(
                (*place, "class_kernels"),
                f"the two classes of {source.name} share one machine; give it its kernel by 'kernel'",
            )


def _check_record(loaded: LoadedConfig, source: DataSource) -> None:
    for name in loaded.config.record:
        method, words = RECORDED_METHODS[name], name.replace("-", " ")
        if name == "decision-field" and (source.n_features, source.n_classes) != (2, 2):
            raise loaded.document.error(
                ("record",),
                f"a {words} needs 2 features and 2 classes; {source.name} has {source.n_features} and "
                f"{source.n_classes}",
            )
        if all(ranking.method != method for ranking in loaded.config.rankings):
            raise loaded.document.error(("record",), f"a {words} shows a {method} ranking; list one in 'rankings'")
