"""What the page says: the results of experiments, as texts and tables, in the order in which they are shown."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fsvm_cli.experiment.provenance import config_folder, is_collection, read_collection, read_run
from fsvm_cli.page.pictures import Picture, read_pictures
from fsvm_cli.references import references
from fsvm_cli.report.choices import describe_choices
from fsvm_cli.report.comparison import found_in_words, is_about_data, read_comparison
from fsvm_cli.report.curve_table import curve_tables
from fsvm_cli.report.folder import (
    AREAS_NAME,
    CHOSEN_NAME,
    CURVES_NAME,
    OVERVIEW_NAME,
    PAIRS_NAME,
    RECOMMENDATION_NAME,
    VERDICTS_NAME,
)
from fsvm_cli.report.measures import describe_measures, read_measures
from fsvm_cli.report.ranks import LEAST_DATA_SETS, areas_of, compare_over_experiments
from fsvm_cli.report.recommended import describe_recommendation
from fsvm_cli.report.scorecard import GRAVEST_FIRST, scorecard_of
from fsvm_cli.report.statistics_tables import areas_cells, in_words_of_p, pairs_cells
from fsvm_cli.report.table_files import read_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from fsvm_cli.references import Reference
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
    is_about_data : bool
        Whether it is about the data and how they were divided, whatever is done with them.
    """

    id: str
    statement: str
    where: str
    printed: str
    found: str
    rule: str
    note: str
    verdict: str
    is_about_data: bool = False


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
class Ranks:
    """Rankings compared over several data sets.

    Attributes
    ----------
    names : tuple of str
        The rankings, the best first.
    words : str
        What was compared, and what the test of all found.
    svg : str
        The critical-difference diagram.
    table : Table
        The tests of pairs.
    """

    names: tuple[str, ...]
    words: str
    svg: str
    table: Table


@dataclass(frozen=True)
class Content:
    """All that the page shows.

    Attributes
    ----------
    scorecard : tuple of ScorecardRow
    experiments : tuple of Experiment
        Those on own data first, then by document.
    ranks : Ranks, optional
        None where too few experiments have rankings in common.
    """

    scorecard: tuple[ScorecardRow, ...]
    experiments: tuple[Experiment, ...]
    ranks: Ranks | None = None

    @property
    def references(self) -> dict[str, Reference]:
        """The documents that stand in the bibliography, by their keys."""
        return {key: references()[key] for key in self.documents if key in references()}

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
    in_order = sorted(experiments, key=lambda each: (each.document != OWN_DATA, each.document))
    return Content(scorecard, tuple(in_order), _ranks(folders))


def _ranks(folders: Sequence[Path]) -> Ranks | None:
    if len(folders) < LEAST_DATA_SETS or (found := compare_over_experiments(areas_of(folders))) is None:
        return None
    from fsvm_cli.report.critical_difference import critical_difference_diagram  # noqa: PLC0415 - slow to import

    rows = tuple(
        (row["first"], row["second"], str(row["wins"]), in_words_of_p(row["p"]), in_words_of_p(row["p_holm"]))
        for row in found.pairs.to_dict("records")
    )
    columns = ("first", "second", "data sets where the first is better", "p", "p by Holm")
    names = tuple(str(found.areas.columns[place]) for place in np.argsort(found.found.ranks, kind="stable"))
    table = Table("Pairs by Wilcoxon's signed ranks", columns, rows)
    return Ranks(names, found.in_words(), critical_difference_diagram(found).decode(), table)


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
        tables=(
            *(Table(f"Test {table.quantity}", table.columns, table.rows, table.note) for table in shown),
            *_statistics(folder),
        ),
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


def _statistics(folder: Path) -> Iterator[Table]:
    """Arrange what `fsvm stats` says of an experiment."""
    if not ((folder / AREAS_NAME).exists() and (folder / PAIRS_NAME).exists()):
        return
    for arranged in (areas_cells(read_table(folder / AREAS_NAME)), pairs_cells(read_table(folder / PAIRS_NAME))):
        yield Table(arranged.title, arranged.columns, arranged.rows, arranged.note)


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
            is_about_data=is_about_data(row),
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
