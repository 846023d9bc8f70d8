"""The content of the page, read from results folders."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import shlex
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from fsvm_cli.errors import ExperimentFailedError, FsvmError
from fsvm_cli.experiment.provenance import config_folder, is_collection, read_collection, read_run
from fsvm_cli.experiment.run_file import FILE_NAME as RUN_NAME
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.page.content import OWN_DATA, ClaimRow, Content, Method, Ranks, ScorecardRow, Section
from fsvm_cli.page.pictures import read_pictures
from fsvm_cli.page.sentences import features_by_name, mark_of, sentence_of
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.comparison import (
    has_new_data,
    is_about_data,
    printed_in_words,
    read_comparison,
    read_verdicts,
    with_provenance,
)
from fsvm_cli.report.curve_table import curve_tables, describe_measures, read_measures
from fsvm_cli.report.findings import findings_of, parts_of
from fsvm_cli.report.folder import (
    AREAS_NAME,
    CHOSEN_NAME,
    CURVES_NAME,
    OVERVIEW_NAME,
    PAIRS_NAME,
    RECOMMENDATION_NAME,
    SCORES_NAME,
    VERDICTS_NAME,
    name_of,
    read_table,
)
from fsvm_cli.report.gains import Results, drawn_gains, printed_gains
from fsvm_cli.report.guidance import areas_table, chances_in_words, guide, in_words_of_p, pairs_table
from fsvm_cli.report.printing import ResultTable
from fsvm_cli.report.ranks import MIN_DATA_SETS, comparisons_of
from fsvm_cli.report.recommendation import machine_in_words
from fsvm_cli.report.recommendation_in_words import describe_recommendation
from fsvm_cli.report.scorecard import WHY, scorecard_of, with_decisions
from fsvm_cli.report.selection_bias import drawn_selection_biases, selection_biases, table_of_selection_biases
from fsvm_cli.report.tables import describe_choices
from fsvm_cli.spec.claims.kinds.orders import TopFeaturesClaim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from fsvm_cli.spec.schema import Config

    Decided: TypeAlias = Mapping[tuple[str, str], Any]
    """Rows `with_decisions`, by the names of their experiments and their ids."""

SAVED = (CURVES_NAME, SCORES_NAME, VERDICTS_NAME)
"""Tables that can be saved from the page as they are; others can be as they are shown."""
MAX_PACKED_TABLE, MAX_PACKED_TABLES = 6_000, 1_000_000
"""Bytes, compressed, of such a table, and of one in each experiment together."""
MAX_PAIRS_SHOWN = 45
"""Pairs of rankings; of more, the page shows those with the best ranking."""


def read_content(folders: Sequence[Path], failures: list[FsvmError] | None = None) -> Content:
    """Read what the page shows from results folders.

    Parameters
    ----------
    folders : sequence of Path
    failures : list of FsvmError, optional
        Takes what parts of the page fail with, such as an experiment of several, which then are left out.

    Raises
    ------
    DataError
        If a `run.json` or a table is damaged.
    """
    experiments: list[Section] = []
    scorecard: tuple[ScorecardRow, ...] = ()
    decided: Decided = {}
    with _leaving_out(failures, "the page of all", "what readings decide"):
        rows = with_decisions(read_comparison(folders), folders)
        decided = {(str(row.experiment), str(row.id)): row for row in rows.itertuples(index=False)}
    ranks: tuple[Ranks, ...] = ()
    largest = min(MAX_PACKED_TABLE, MAX_PACKED_TABLES // max(len(folders), 1))
    for folder in folders:
        with _leaving_out(failures, name_of(folder), "its part of the page"):
            one = _collection(folder) if is_collection(folder) else _experiment(folder, decided, largest)
            experiments.append(one)
    with _leaving_out(failures, "the page of all", "the scorecard"):
        scorecard = scorecard_rows(folders)
    findings: tuple[tuple[tuple[str, str], ...], ...] = ()
    gains = ""
    with _leaving_out(failures, "the page of all", "the findings"):
        findings, gains = _findings(folders)
    bias: ResultTable | None = None
    bias_picture = ""
    with _leaving_out(failures, "the page of all", "what choosing features on all rows adds"):
        if len(folders) > 1 and (biases := selection_biases(Results(folders))):
            bias = table_of_selection_biases(biases)
            bias_picture = drawn_selection_biases(biases).decode()
    with _leaving_out(failures, "the page of all", "the comparison of rankings"):
        ranks = tuple(_ranks(folders))
    in_order = tuple(sorted(experiments, key=lambda each: (each.document != OWN_DATA, each.document)))
    methods = _methods(in_order, ranks)
    return Content(scorecard, in_order, ranks, findings, gains, bias, bias_picture, methods)


@contextlib.contextmanager
def _leaving_out(failures: list[FsvmError] | None, where: str, what: str) -> Iterator[None]:
    """Note what a part of the page fails with, where the page can do without; damaged files are no such failure."""
    try:
        yield
    except FsvmError:
        raise
    except Exception as error:
        if failures is None:
            raise
        failures.append(ExperimentFailedError.of(where, what, error))


def scorecard_rows(folders: Sequence[Path]) -> tuple[ScorecardRow, ...]:
    """Read the rows of the scorecard; see `fsvm_cli.report.scorecard.scorecard_of`."""
    rows = with_provenance(scorecard_of(folders)).rename(columns={"config": "experiment"}).fillna("").astype(str)
    return tuple(ScorecardRow(**{str(key): value for key, value in row.items()}) for row in rows.to_dict("records"))


def _findings(folders: Sequence[Path]) -> tuple[tuple[tuple[tuple[str, str], ...], ...], str]:
    """Give the sentences in parts, and their figure; nothing for the page of one experiment."""
    results = Results(folders)
    if len(folders) == 1 or not (sentences := findings_of(results)):
        return (), ""
    gains = printed_gains(results)
    return tuple(tuple(parts_of(each)) for each in sentences), drawn_gains(gains).decode() if gains else ""


def _ranks(folders: Sequence[Path]) -> Iterator[Ranks]:
    if len(folders) < MIN_DATA_SETS:
        return
    from fsvm_cli.report.ranks import critical_difference_diagram, loss_heat_map  # noqa: PLC0415 - slow to import

    for machine, found in comparisons_of(folders).items():
        names = tuple(str(found.areas.columns[index]) for index in np.argsort(found.found.ranks, kind="stable"))
        pairs, remark = _shown_pairs(found.pairs, names[0], "in what 'fsvm stats' prints")
        rows = tuple(
            (
                *(row["first"], row["second"], str(row["wins"])),
                *(in_words_of_p(row["p"]), in_words_of_p(row["p_holm"]), chances_in_words(row)),
            )
            for row in pairs.to_dict("records")
        )
        columns = ("first", "second", "data sets where the first is better", "p", "p by Holm", "worse / same / better")
        which = guide(found, folders)
        yield Ranks(
            machine,
            names,
            found.in_words(),
            critical_difference_diagram(found).decode(),
            loss_heat_map(found).decode(),
            which.in_words(),
            (
                which.methods_table(),
                which.data_table(),
                ResultTable("Pairs by Wilcoxon's and by Bayesian signed ranks", columns, rows, remark.strip()),
            ),
        )


def _methods(experiments: Sequence[Section], ranks: Sequence[Ranks]) -> tuple[Method, ...]:
    """Describe the methods that experiments use, in the order of their names, with what they reach and cost."""
    standings: dict[str, str] = {}
    for each in ranks:
        for name, words in _standings(each):
            standings[name] = f"{standings[name]} {words}" if name in standings else words
    known: dict[str, Any] = {**ranking_methods(), **extraction_methods()}
    used: dict[str, list[str]] = {}
    for experiment in experiments:
        for name in experiment.methods:
            used.setdefault(name, []).append(experiment.name)
    return tuple(
        Method(name, *_described(known[name]), standings.get(name, ""), tuple(used[name]))
        for name in sorted(used)
        if name in known
    )


def _described(method: type[Any]) -> tuple[str, str]:
    """Return the first sentence of a method's docstring, and its source."""
    text = inspect.getdoc(method) or ""
    source = re.search(r"^Source: (.+?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return text.partition("\n")[0], " ".join(source[1].split()) if source else ""


def _standings(ranks: Ranks) -> Iterator[tuple[str, str]]:
    """Say of each compared ranking, in the words of the tables over several data sets, where it stands."""
    costs, data_sets, *_ = ranks.tables
    for row in costs.rows:
        cells = dict(zip(costs.columns, row, strict=True))
        best_on = [str(each[0]) for each in data_sets.rows if each[-1] == cells["ranking"]]
        where = f"; the best on {', '.join(best_on)}" if best_on else ""
        seconds = f"; {cells['seconds']} processor seconds for one ranking" if "seconds" in cells else ""
        yield (
            str(cells["ranking"]),
            f"Machines: {ranks.machine}: mean rank {cells['mean rank']} of {len(costs.rows)} over "
            f"{len(data_sets.rows)} data sets, {cells['area below the best']} points of area below the best method of "
            f"each{where}{seconds}.",
        )


def _experiment(folder: Path, decided: Decided, largest: int) -> Section:
    config, run = read_run(folder)
    curves = read_table(folder / CURVES_NAME)
    measures = read_measures(folder)
    shown = () if curves.empty else curve_tables(curves, measures, config)
    saved = {name: text for name in SAVED if _fits(text := _text_of(folder / name), largest)}
    return Section(
        name=name_of(folder),
        title=config.title,
        document=config.paper.key if config.paper else OWN_DATA,
        where=config.paper.where if config.paper else "",
        dataset=run["data"]["name"],
        methods=tuple(
            dict.fromkeys([each.method for each in config.rankings] + [each.method for each in config.extractors])
        ),
        recommendation=_recommendation(folder, config),
        claims=_claims(folder, config.expected, decided, config),
        pictures=read_pictures(folder),
        tables=(
            *(replace(table, title=f"Test {table.title}") for table in shown),
            *_statistics(folder),
        ),
        remarks=(
            *describe_measures(measures),
            *_choices(folder),
        ),
        caveats=(*(("INCOMPLETE: no trial is complete.",) if curves.empty else ()), *run["data"]["caveats"]),
        why=config.why or "",
        explains=_explained(name_of(folder), config, decided),
        deviations=config.deviations,
        command=_command(folder, run),
        facts=_facts(config, run),
        files=(*_run_files(folder, run), *saved.items()),
        elsewhere=tuple(sorted({path.name for path in folder.glob("*.csv")} - saved.keys())),
    )


def _run_files(folder: Path, run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield `run.json`, and the config as a file that can be run; YAML is read where JSON stands."""
    yield RUN_NAME, (folder / RUN_NAME).read_text(encoding="utf-8")
    yield f"{name_of(folder)}.yaml", json.dumps(run["config"], indent=2, ensure_ascii=False) + "\n"


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _fits(text: str, n_bytes: int) -> bool:
    return text != "" and len(zlib.compress(text.encode())) <= n_bytes


def _collection(folder: Path) -> Section:
    loaded = read_collection(folder)
    collection = loaded.collection
    overview = read_table(folder / OVERVIEW_NAME)
    rows = tuple(tuple(_written(value) for value in row) for row in overview.itertuples(index=False))
    own = read_comparison([folder])
    return Section(
        name=loaded.name,
        title=collection.title,
        document=collection.paper.key if collection.paper else OWN_DATA,
        where=collection.paper.where if collection.paper else "",
        claims=_claims(folder, collection.expected, {}, None, only=list(own["experiment"] == loaded.name)),
        pictures=read_pictures(folder),
        tables=(ResultTable("Its experiments", tuple(map(str, overview.columns)), rows),)
        if len(overview.columns) > 1
        else (),
        remarks=(f"Collects the results of {', '.join(collection.experiments)}.",),
        deviations=collection.deviations,
        command=f"fsvm run {shlex.quote(loaded.name)}",
    )


def _statistics(folder: Path) -> Iterator[ResultTable]:
    """Yield the tables that `fsvm stats` prints of an experiment."""
    if not ((folder / AREAS_NAME).exists() and (folder / PAIRS_NAME).exists()):
        return
    areas, pairs = read_table(folder / AREAS_NAME), read_table(folder / PAIRS_NAME)
    best = areas.groupby("ranking", sort=False)["area"].mean().idxmax() if len(areas) else ""
    shown, remark = _shown_pairs(pairs, str(best), f"in {PAIRS_NAME}")
    tests = pairs_table(shown)
    yield areas_table(areas)
    yield replace(tests, note=f"{tests.note}{remark}")


def _shown_pairs(pairs: pd.DataFrame, best: str, elsewhere: str) -> tuple[pd.DataFrame, str]:
    """Keep the pairs with the best ranking if there are many, and return a remark on where the others are."""
    if len(pairs) <= MAX_PAIRS_SHOWN:
        return pairs, ""
    shown = pairs[(pairs["first"] == best) | (pairs["second"] == best)]
    return shown, f" Pairs with {best}, the best; {len(pairs) - len(shown)} more stand {elsewhere}."


def _claims(
    folder: Path,
    expected: Sequence[Any],
    decided: Decided,
    config: Config | None,
    only: Sequence[bool] | None = None,
) -> tuple[ClaimRow, ...]:
    path = folder / VERDICTS_NAME
    if not path.exists():
        return ()
    table = read_verdicts(path)
    claims = {claim.id: claim for claim in expected}
    name = name_of(folder)
    alone = (table if only is None else table[list(only)]).itertuples(index=False)
    scores = read_table(folder / SCORES_NAME) if _name_features(claims.values(), folder) else pd.DataFrame()
    return tuple(_claim(decided.get((name, str(row.id)), row), claims.get(row.id), scores, config) for row in alone)


def _name_features(claims: Iterable[Any], folder: Path) -> bool:
    """Whether a claim names features, and the scores of all can be read."""
    return any(isinstance(claim, TopFeaturesClaim) for claim in claims) and (folder / SCORES_NAME).exists()


def _claim(row: Any, claim: Any, scores: pd.DataFrame, config: Config | None) -> ClaimRow:
    if isinstance(claim, TopFeaturesClaim) and len(scores) > 0:
        found = features_by_name(claim, row, scores)
    else:
        found = sentence_of(row, machine_in_words(config.classifier) if config else "")
    published = str(getattr(row, "claim", row.id))
    return ClaimRow(
        id=str(row.id),
        statement=(claim and claim.claim) or "",
        where=_written(row.where),
        printed=printed_in_words(row) if isinstance(row.published, str) else _written(row.published),
        found=found,
        rule=_written(row.rule),
        note=_written(row.note),
        verdict=str(row.verdict),
        fixed=str(row.fixed),
        is_about_data=is_about_data(row),
        new_data=str(row.new_data) if has_new_data(row) else "",
        mark=mark_of(row),
        claim=published if published != row.id else "",
        is_own=getattr(row, "document", "") == WHY,
        open=(claim and claim.unstated) or "",
    )


def _explained(name: str, config: Config, decided: Decided) -> tuple[str, ...]:
    """List the claims that an experiment explains: those that it says, and those of documents that it judges again."""
    if not config.why:
        return ()
    again = (claim for (experiment, claim), row in decided.items() if experiment == name and row.document != WHY)
    return tuple(dict.fromkeys((*config.explains, *again)))


def _recommendation(folder: Path, config: Config) -> tuple[str, ...]:
    path = folder / RECOMMENDATION_NAME
    if not path.exists():
        return ()
    return tuple(describe_recommendation(read_table(path), config, config_folder(folder), folder))


def _choices(folder: Path) -> list[str]:
    path = folder / CHOSEN_NAME
    return describe_choices(read_table(path)) if path.exists() else []


def _command(folder: Path, run: Mapping[str, Any]) -> str:
    # A config that does not come with fsvm is named by its file.
    is_own = "file" in run["config"]["dataset"]
    words = ["fsvm", "run", f"{name_of(folder)}.yaml" if is_own else name_of(folder)]
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
        *(
            (f"earlier code, {label}", f"adopted after {of['repeated']} of {of['of']} trials were repeated")
            for label, of in run.get("adopted", {}).items()
        ),
    )


def _written(value: object) -> str:
    """Write a cell of a table; an empty one has been read as NaN."""
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.5g}"
    return str(value)
