"""What each reading of what a source leaves open says of each claim: all cells, by documents."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pandas as pd

from fsvm_cli.console import visible
from fsvm_cli.experiment.run_file import run_content
from fsvm_cli.files import is_file, write_atomically
from fsvm_cli.report.comparison import read_comparison
from fsvm_cli.report.folder import READINGS_NAME, name_of
from fsvm_cli.report.printing import MARKDOWN
from fsvm_cli.report.scorecard import answer_of, with_decisions
from fsvm_cli.spec.claims.base import Reading
from fsvm_cli.spec.claims.kinds.counts import SizeRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

NO_VOTE = "; no vote"
"""Suffix of what judges a claim and is no declared reading."""
AS_IT_IS = "as it is"
"""Of an experiment that declares no reading, where it has no title either."""
KEYS = ["experiment", "reading"]
RULE = re.compile(
    r"(?:(?P<reading>.*); )?"
    r"(?P<rule>the (?:best|smallest within one standard error of the best) of (?:one split|the mean over \d+ splits))"
)
"""A rule by which a source may have picked a size, `SizeRule` in words, after the reading that it is combined with."""

MADE_BY = "<!-- made by 'fsvm compare --scorecard', which writes it anew -->"
INTRODUCTION = (
    "Claims whose source leaves something open, and what each reading of it says of each, by the rule alone, with the "
    "number that it gives. A printed size has a column for each rule by which a source may have picked it, with the "
    "number of splits that it looked at. An empty cell: the reading changes nothing in this claim, or the experiment "
    "does not make it. What is no declared reading stands last and has no vote: a leak, a control."
)


def tables_of_readings(
    comparison: pd.DataFrame, decided: pd.DataFrame, folders: Sequence[Path]
) -> dict[str, list[pd.DataFrame]]:
    """Lay out what each reading of what a source leaves open says of each claim, all cells.

    Parameters
    ----------
    comparison : DataFrame
        From `fsvm_cli.report.comparison.read_comparison`.
    decided : DataFrame
        The same from `with_decisions`.
    folders : sequence of Path
        Of the results that were compared.

    Returns
    -------
    dict of str to list of DataFrame
        By document, one table for the claims that one experiment decides: a row for each reading after its experiment,
        those without a vote last, and a column for each claim, by its id, with the answer and the number that the
        reading gives. Where a source may have picked a size by several rules, a claim has a column for each.
    """
    configs = {name_of(folder): run_content(folder)["config"] for folder in folders}
    main = {str(row.id): str(row.experiment) for row in decided[decided["decides"]].itertuples()}
    is_open = decided.loc[decided["readings"] != "", "id"].unique()
    pairs = zip(comparison.itertuples(index=False), decided.itertuples(index=False), strict=True)
    rows: list[tuple[Any, Any]] = [(noted, row) for noted, row in pairs if row.id in is_open]
    by_main: dict[tuple[str, str], dict[tuple[str, str], dict[str, str]]] = {}
    for noted, row in sorted(rows, key=lambda pair: not pair[1].has_vote):
        claim, experiment = str(row.id), str(row.experiment)
        cells = by_main.setdefault((str(row.document), main[claim]), {})
        for words, rule, found in _found(noted, row, configs.get(experiment, {})):
            shown = "" if found.reproduced is None else f" ({found.reproduced:.4g})"
            title = f"{claim}, {rule}" if rule else claim
            cells.setdefault((experiment, words), {})[title] = f"{found.answer}{shown}"
    tables: dict[str, list[pd.DataFrame]] = {}
    for (document, _), cells in by_main.items():
        titles = sorted({title: None for of_row in cells.values() for title in of_row}, key=_in_order(decided))
        lines = [(*keys, *(cells[keys].get(title, "") for title in titles)) for keys in _as_declared(cells, configs)]
        tables.setdefault(document, []).append(pd.DataFrame(lines, columns=[*KEYS, *titles]))
    return dict(sorted(tables.items()))


def _as_declared(cells: Iterable[tuple[str, str]], configs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Order readings as their experiments declare them; experiments as they are found."""
    experiments = list(dict.fromkeys(experiment for experiment, _ in cells))

    def place(keys: tuple[str, str]) -> tuple[int, int]:
        config = configs.get(keys[0], {})
        declared = [config.get("reading"), *(config.get("readings") or {})]
        return experiments.index(keys[0]), declared.index(keys[1]) if keys[1] in declared else len(declared)

    return sorted(cells, key=place)


def _in_order(decided: pd.DataFrame) -> Callable[[str], int]:
    """Give a key by which the columns of claims stand as the claims do in the comparison; of one claim, as found."""
    places = {str(claim): place for place, claim in reversed(list(enumerate(decided["id"])))}
    return lambda title: places[title.partition(", the ")[0]]


def _found(noted: Any, row: Any, config: Mapping[str, Any]) -> Iterator[tuple[str, str, Reading]]:
    """Yield what a row says under each of its readings: the reading's words, and the rule that picked a size."""
    own_rule = _first_rule(str(row.id), config)
    of_row = getattr(noted, "readings", None)
    if not (row.has_vote and isinstance(of_row, str) and of_row):
        words = AS_IT_IS if row.has_vote else f"{config.get('title', AS_IT_IS)}{NO_VOTE}"
        yield words, own_rule, Reading(words, answer_of(row), None if pd.isna(row.reproduced) else row.reproduced)
        return
    found = [Reading(**each) for each in json.loads(of_row)]
    for each in found:
        by_rule = RULE.fullmatch(each.reading) if own_rule else None
        words = (by_rule["reading"] or found[0].reading) if by_rule else each.reading
        yield words, by_rule["rule"] if by_rule else own_rule, each


def _first_rule(claim: str, config: Mapping[str, Any]) -> str:
    """Return the rule by which a claim picks a size unless a reading says otherwise; empty where it picks none."""
    for each in config.get("expected") or ():
        if each["id"] == claim and each.get("rules"):
            return str(SizeRule.model_validate(each["rules"][0]))
    return ""


def write_readings(root: Path, folders: Sequence[Path]) -> Path | None:
    """Write `readings.md` beside the folders of results.

    Returns
    -------
    Path or None
        The file; None where no claim has several readings, or a file of this name is there that fsvm has not written.
    """
    path = root / READINGS_NAME
    if is_file(path) and not path.read_text(encoding="utf-8", errors="replace").startswith(MADE_BY):
        return None
    comparison = read_comparison(folders)
    tables = tables_of_readings(comparison, with_decisions(comparison, folders), folders)
    if not tables:
        return None
    lines = [MADE_BY, "", "# Readings of what sources leave open", "", INTRODUCTION]
    for document, of_document in tables.items():
        lines += ["", f"## {_plain(document)}"]
        for table in of_document:
            lines += ["", *_as_markdown(table)]
    write_atomically(path, ("\n".join(lines) + "\n").encode())
    return path


def _as_markdown(table: pd.DataFrame) -> Iterator[str]:
    yield f"| {' | '.join(_plain(str(title)) for title in table)} |"
    yield "|" + " --- |" * len(table.columns)
    for row in table.itertuples(index=False):
        yield f"| {' | '.join(map(_plain, row))} |"


def _plain(text: str) -> str:
    return visible(text).translate(MARKDOWN)
