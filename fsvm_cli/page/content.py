"""What the page says: the results of experiments, as texts and tables, in the order in which they are shown."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from fsvm_cli.experiment.provenance import config_folder, is_collection, read_collection, read_run
from fsvm_cli.page.pictures import Picture, read_pictures
from fsvm_cli.report.choices import describe_choices
from fsvm_cli.report.comparison import found_in_words, read_comparison
from fsvm_cli.report.curve_table import curve_tables
from fsvm_cli.report.folder import (
    CHOSEN_NAME,
    CURVES_NAME,
    OVERVIEW_NAME,
    RECOMMENDATION_NAME,
    VERDICTS_NAME,
)
from fsvm_cli.report.measures import describe_measures, read_measures
from fsvm_cli.report.recommended import describe_recommendation
from fsvm_cli.report.scorecard import GRAVEST_FIRST, scorecard_of
from fsvm_cli.report.table_files import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fsvm_cli.spec.schema import Config

VERDICTS = tuple(reversed(GRAVEST_FIRST))
OWN_DATA = "own data"
"""Instead of a document, where an experiment reproduces none."""


@dataclass(frozen=True)
class Claim:
    """One claim of a document, beside what was found.

    Attributes
    ----------
    id : str
    statement : str
        The claim in words, where the config has any.
    where : str
        Place in the document.
    printed, found, rule, note : str
    verdict : str
        One of `VERDICTS`.
    """

    id: str
    statement: str
    where: str
    printed: str
    found: str
    rule: str
    note: str
    verdict: str


@dataclass(frozen=True)
class Table:
    """A table for people; the first cell of a row is its heading."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Experiment:
    """One experiment, or one collection of experiments.

    Attributes
    ----------
    name, title : str
    document, where : str
        Which document, and where in it.
    dataset : str
        Empty for a collection.
    methods : tuple of str
    recommendation : tuple of str
        Sentences; none for an experiment of a paper.
    claims : tuple of Claim
    pictures : tuple of Picture
    tables : tuple of Table
    remarks : tuple of str
        What was chosen, what was measured.
    caveats : tuple of str
        What every report on these data must say.
    deviations : tuple of str
    command : str
        Runs it again.
    facts : tuple of (str, str)
        Seeds, splits, versions: what it takes to get the same numbers.
    """

    name: str
    title: str
    document: str
    where: str
    dataset: str = ""
    methods: tuple[str, ...] = ()
    recommendation: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    remarks: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    command: str = ""
    facts: tuple[tuple[str, str], ...] = ()

    @property
    def verdicts(self) -> dict[str, int]:
        """How many claims have which verdict, without those that none has."""
        counts = Counter(claim.verdict for claim in self.claims)
        return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


@dataclass(frozen=True)
class ScorecardRow:
    """One published claim, decided by its main experiment."""

    document: str
    id: str
    printed: str
    obtained: str
    interval: str
    verdict: str
    experiment: str
    elsewhere: str


@dataclass(frozen=True)
class Content:
    """All that the page shows.

    Attributes
    ----------
    scorecard : tuple of ScorecardRow
    experiments : tuple of Experiment
        Those on own data first, then by document.
    """

    scorecard: tuple[ScorecardRow, ...]
    experiments: tuple[Experiment, ...]

    @property
    def documents(self) -> list[str]:
        """What the experiments are about, in their order."""
        return list(dict.fromkeys(experiment.document for experiment in self.experiments))

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many published claims of each document have which verdict."""
        counted = Counter((row.document, row.verdict) for row in self.scorecard)
        documents = dict.fromkeys(row.document for row in self.scorecard)
        return {document: {verdict: counted[document, verdict] for verdict in VERDICTS} for document in documents}


def read_content(folders: Sequence[Path]) -> Content:
    """Read what the page shows from results folders.

    Raises
    ------
    DataError
        If a `run.json` or a table is damaged.
    """
    experiments = [_collection(folder) if is_collection(folder) else _experiment(folder) for folder in folders]
    rows = scorecard_of(folders).rename(columns={"config": "experiment"}).fillna("").astype(str)
    scorecard = tuple(
        ScorecardRow(**{str(key): value for key, value in row.items()}) for row in rows.to_dict("records")
    )
    return Content(scorecard, tuple(sorted(experiments, key=lambda each: (each.document != OWN_DATA, each.document))))


def _experiment(folder: Path) -> Experiment:
    config, run = read_run(folder)
    curves = read_table(folder / CURVES_NAME)
    measures = read_measures(folder)
    shown = () if curves.empty else curve_tables(curves, measures, config)
    return Experiment(
        name=folder.resolve().name,
        title=config.title,
        document=config.paper.key if config.paper else OWN_DATA,
        where=config.paper.where if config.paper else "",
        dataset=run["data"]["name"],
        methods=tuple(
            dict.fromkeys([each.method for each in config.rankings] + [each.method for each in config.extractors])
        ),
        recommendation=_recommendation(folder, config),
        claims=_claims(folder, config.expected),
        pictures=read_pictures(folder),
        tables=tuple(Table(f"Test {table.quantity}", table.columns, table.rows, table.note) for table in shown),
        remarks=(*describe_measures(measures), *_choices(folder)),
        caveats=tuple(run["data"]["caveats"]),
        deviations=config.deviations,
        command=_command(folder, run),
        facts=_facts(config, run),
    )


def _collection(folder: Path) -> Experiment:
    loaded = read_collection(folder)
    collection = loaded.collection
    overview = read_table(folder / OVERVIEW_NAME)
    rows = tuple(tuple(_written(value) for value in row) for row in overview.itertuples(index=False))
    own = read_comparison([folder])
    return Experiment(
        name=loaded.name,
        title=collection.title,
        document=collection.paper.key if collection.paper else OWN_DATA,
        where=collection.paper.where if collection.paper else "",
        claims=_claims(folder, collection.expected, only=list(own["experiment"] == loaded.name)),
        pictures=read_pictures(folder),
        tables=(Table("Its experiments", tuple(map(str, overview.columns)), rows),)
        if len(overview.columns) > 1
        else (),
        remarks=(f"Collects the results of {', '.join(collection.experiments)}.",),
        deviations=collection.deviations,
        command=f"fsvm run {shlex.quote(loaded.name)}",
    )


def _claims(folder: Path, expected: Sequence[Any], only: Sequence[bool] | None = None) -> tuple[Claim, ...]:
    path = folder / VERDICTS_NAME
    if not path.exists():
        return ()
    table = read_table(path)
    statements = {claim.id: claim.claim for claim in expected}
    rows = table if only is None else table[list(only)]
    return tuple(
        Claim(
            id=str(row.id),
            statement=statements.get(row.id) or "",
            where=_written(row.where),
            printed=_written(row.published),
            found=found_in_words(row),
            rule=_written(row.rule),
            note=_written(row.note),
            verdict=str(row.verdict),
        )
        for row in rows.itertuples(index=False)
    )


def _recommendation(folder: Path, config: Config) -> tuple[str, ...]:
    path = folder / RECOMMENDATION_NAME
    if not path.exists():
        return ()
    return tuple(describe_recommendation(read_table(path), config, config_folder(folder), folder))


def _choices(folder: Path) -> list[str]:
    path = folder / CHOSEN_NAME
    return describe_choices(read_table(path)) if path.exists() else []


def _command(folder: Path, run: Mapping[str, Any]) -> str:
    # What is no name of a config that comes with fsvm is the file of one.
    is_own = "file" in run["config"]["dataset"]
    words = ["fsvm", "run", f"{folder.resolve().name}.yaml" if is_own else folder.resolve().name]
    for key, value in run["overrides"].items():
        words += ["--set", f"{key}={value}"]
    return shlex.join(words)


def _facts(config: Config, run: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    protocol = config.protocol
    return (
        ("splits", str(protocol.splits)),
        ("training part", ", ".join(map(str, protocol.train))),
        ("seed", str(protocol.seed)),
        ("scaling", config.scaling),
        ("rows and features", f"{run['data']['n_samples']} x {len(run['data']['feature_names'])}"),
        ("sha256 of the data", run["data"]["sha256"]),
        ("versions", ", ".join(f"{package} {version}" for package, version in run["packages"].items())),
    )


def _written(value: object) -> str:
    """Write a cell of a table; an empty one has been read as NaN."""
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.5g}"
    return str(value)
