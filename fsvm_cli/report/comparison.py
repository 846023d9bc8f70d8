"""The verdicts of several experiments as one table, and in words."""

from __future__ import annotations

import fnmatch
import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fsvm_cli.console import json_text, visible
from fsvm_cli.evaluation.metrics import METRIC_TITLES
from fsvm_cli.report.folder import VERDICTS_NAME, name_of, read_table
from fsvm_cli.report.numbers import as_csv
from fsvm_cli.spec import OF_ONE_SPLIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderableType

FACT_TITLES: dict[str, str] = {
    "n_features": "number of features",
    "n_classes": "number of classes",
    "n_train": "number of training rows",
    "n_test": "number of test rows",
    "major-class": "share of the largest class",
    "class-uncertainty": "uncertainty of the class",
    "classifier-information": "information of the classifier",
}
"""Of facts of the problem, by their names in claims."""
CHOSEN_TITLES: dict[str, str] = {
    "n_active": "number of active features",
    "support_vectors": "number of support vectors",
}
"""Of what methods leave beside scores, by their names in claims."""
OF_MACHINES: frozenset[str] = frozenset({"classifier-information"})
"""Facts that are no facts about the data alone."""


COLOURS = {
    "reproduced": "green",
    "differs": "red",
    "undecided by the source": "magenta",
    "inconclusive": "yellow",
    "not comparable": "dim",
    "fact": "dim",
}
TITLES = ("claim", "printed", "obtained", "verdict", "rule")

MIN_VERDICT_WIDTH = len("on these data:")
"""Characters of a column of verdicts."""

MIN_TABLE_WIDTH = 120
"""Characters; on a narrower terminal, claims are listed one below the other."""

MIN_P_SHOWN = 1e-4
"""Smaller p-values are written as a bound."""


def read_comparison(folders: Sequence[Path], claims: str = "*") -> pd.DataFrame:
    """Read the verdicts of those experiments that claim something, with the experiment's name in front.

    A collection repeats verdicts of its experiments; each is listed once.

    Parameters
    ----------
    folders : sequence of Path
    claims : str
        Pattern, as of file names, that the identifiers of the claims match.
    """
    tables = []
    for folder in folders:
        if (folder / VERDICTS_NAME).exists():
            table = read_verdicts(folder / VERDICTS_NAME)
            table = table.loc[[fnmatch.fnmatchcase(claim, claims) for claim in table["id"]]]
            if "experiment" not in table:
                table.insert(0, "experiment", name_of(folder))
            tables.append(table)
    # A table without a row has no types, which would change those of the others.
    tables = [table for table in tables if len(table)] or tables[:1]
    if not tables:
        return pd.DataFrame(columns=["experiment", "id", "verdict", "fixed", "nature"])
    return pd.concat(tables, ignore_index=True).drop_duplicates(["experiment", "id"], ignore_index=True)


def read_verdicts(path: Path) -> pd.DataFrame:
    """Read a table of verdicts."""
    return with_provenance(read_table(path))


def with_provenance(table: pd.DataFrame) -> pd.DataFrame:
    """Complete the columns that say when rules were fixed and what claims are about, empty as in older tables."""
    return table.assign(
        **{name: table[name].astype(object).fillna("") if name in table else "" for name in ("fixed", "nature")}
    )


def has_new_data(row: Any) -> bool:
    """Whether a verdict on a difference stands beside the answer to another question, whether it holds on new data."""
    answer = getattr(row, "new_data", None)
    return isinstance(answer, str) and answer != "" and row.verdict in ANSWERED


ANSWERED = ("reproduced", "differs", "inconclusive")
"""Verdicts on the mean over the splits of these data."""


def badges(row: Any) -> str:
    """Give the verdict; on a difference one line for each question, on these data and on new data."""
    if not has_new_data(row):
        return str(row.verdict)
    return f"on these data: {row.verdict}\non new data: {row.new_data}"


def format_comparison(comparison: pd.DataFrame, style: str) -> str:
    """Write a comparison as text for other programs.

    Parameters
    ----------
    comparison : DataFrame
        From `read_comparison`.
    style : {"csv", "markdown", "json"}
    """
    return as_text(comparison, style, TITLES, _cells_of_comparison(comparison))


def as_text(frame: pd.DataFrame, style: str, titles: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Write a table for other programs; in markdown, which people read, other cells stand in its place."""
    if style == "csv":
        return as_csv(frame)
    if style == "json":
        return json_text(json.loads(frame.to_json(orient="records")))
    rows = [titles, ["---"] * len(titles), *([cell.replace("|", "\\|") for cell in row] for row in cells)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def comparison_table(comparison: pd.DataFrame) -> ClaimTable:
    """Arrange a comparison as a table for people."""
    return ClaimTable(_cells_of_comparison(comparison))


@dataclass(frozen=True)
class ClaimTable:
    """Claims for people: a table, or a list where the terminal is narrower than `MIN_TABLE_WIDTH`.

    Attributes
    ----------
    rows : sequence of sequence of str
        The cells of each claim in the order of `TITLES`.
    title : str or None
    """

    rows: Sequence[Sequence[str]]
    title: str | None = None

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Render as rich asks for it."""
        if options.max_width >= MIN_TABLE_WIDTH:
            yield self._as_table()
            return
        if self.title:
            yield Text(self.title, style="italic")
        for row in self.rows:
            yield Padding(self._as_lines(row), (1, 0, 0, 0))
        yield Text()

    def _as_table(self) -> Table:
        table = Table(title=self.title, title_justify="left")
        for name, ratio in zip(TITLES, (None, 3, 4, None, 3), strict=True):
            least = MIN_VERDICT_WIDTH if name == "verdict" else None
            table.add_column(name, ratio=ratio, overflow="fold", min_width=least)
        for claim, printed, found, verdict, rule in self.rows:
            table.add_row(claim, printed, found, coloured(verdict), rule)
        return table

    def _as_lines(self, row: Sequence[str]) -> RenderableType:
        claim, printed, found, verdict, rule = row
        head = Table.grid(padding=(0, 2), expand=True)
        head.add_column(overflow="fold", ratio=1)
        head.add_column(justify="right", no_wrap=True)
        name, _, experiment = claim.partition("\n")
        head.add_row(Text(visible(f"{name} ({experiment})" if experiment else name), style="bold"), coloured(verdict))
        body = Table.grid(padding=(0, 1))
        body.add_column(no_wrap=True)
        body.add_column(overflow="fold")
        for title, text in zip(TITLES[1:3] + TITLES[4:], (printed, found, rule), strict=True):
            if text:
                body.add_row(f"  {title}", text)
        return Group(head, body)


def coloured(verdict: str) -> Text:
    """Give a verdict, or the lines of `badges`, the colours of what they say."""
    lines = [Text(line, style=COLOURS[line.rpartition(": ")[2]]) for line in verdict.split("\n")]
    return Text("\n").join(lines)


def _cells_of_comparison(comparison: pd.DataFrame) -> list[list[str]]:
    return [
        [_name(row, comparison), printed_in_words(row), found_in_words(row), badges(row), rule_beside(row)]
        for row in comparison.itertuples(index=False)
    ]


def _name(row: Any, comparison: pd.DataFrame) -> str:
    """Name a claim, with its experiment where there are several."""
    return str(row.id) if comparison["experiment"].nunique() == 1 else f"{row.experiment}: {row.id}"


def quantity_in_words(what: str) -> str:
    """Name a quantity in the field's terms; tables have the names of configs."""
    name, _, unit = what.partition(" (")
    if name in FACT_TITLES:
        return f"{FACT_TITLES[name]} ({unit}"
    titles = METRIC_TITLES | CHOSEN_TITLES | FACT_TITLES
    return re.sub(rf"\b(?:{'|'.join(titles)})\b(?=,| of a printed)", lambda name: titles[name[0]], what)


def is_about_data(row: Any) -> bool:
    """Whether a claim is about the data and their division alone."""
    name = str(row.what).partition(" (")[0]
    return row.verdict == "fact" or (name in FACT_TITLES and name not in OF_MACHINES)


def rule_beside(row: Any) -> str:
    """Give the rule of a verdict and its provenance; empty where `found_in_words` gives the rule."""
    is_said = pd.isna(row.reproduced) or row.verdict == "not comparable"
    return "" if is_said else f"{row.rule}{provenance_in_words(row.fixed)}"


def provenance_in_words(fixed: str) -> str:
    """Give when a rule was fixed, as a suffix to the rule; empty where no config states it."""
    return f"; fixed {fixed} the figure was known" if fixed else ""


def printed_in_words(row: Any) -> str:
    """Format the published value; a count has no decimals, although its column may hold other numbers."""
    return str(row.published).removesuffix(".0") if is_count(row) else str(row.published)


def is_count(row: Any) -> bool:
    """Whether a claim is about a number of things."""
    unit_or_name = r" \((?:features|rows)\)$|^(?:support_vectors, |n_active, |features that )"
    return re.search(unit_or_name, str(row.what)) is not None


def alike(*numbers: float, is_count: bool) -> list[str]:
    """Write numbers of one unit with the same decimals, as many as the largest needs."""
    largest = max(map(abs, numbers))
    if is_count and all(float(number).is_integer() for number in numbers):
        decimals = 0
    else:
        decimals = 2 if largest == 0.0 or not math.isfinite(largest) else max(2, 2 - math.floor(math.log10(largest)))
    return [f"{number:.{decimals}f}" for number in numbers]


def found_in_words(row: Any) -> str:
    """Format what was found, with its interval and the name of the quantity."""
    if pd.isna(row.reproduced):
        return str(row.rule)
    interval = () if pd.isna(row.ci_low) else (row.ci_low, row.ci_high)
    mean, *ends = alike(row.reproduced, *interval, is_count=is_count(row))
    interval_in_words = f" [{', '.join(ends)}]" if ends else ""
    counted = f" over {row.n} trial{'' if row.n == 1 else 's'}"
    if OF_ONE_SPLIT in str(row.rule):
        counted = f" over {row.n} rows of the record" if row.n > 1 else ""
    obstacle = f" ({row.rule})" if row.verdict == "not comparable" else ""
    found = f"{mean}{interval_in_words}{counted}"
    return f"{found}{_further(row)}{obstacle}: {quantity_in_words(row.what)}"


def _further(row: Any) -> str:
    """Format the results beside the deciding interval: Holm's p-value, and the interval for new data."""
    # Tables of older versions have no such columns.
    p_holm, new_data = getattr(row, "p_holm", None), getattr(row, "new_data", None)
    together = "" if pd.isna(p_holm) else f", p {'< 0.0001' if p_holm < MIN_P_SHOWN else f'= {p_holm:.2g}'} by Holm"
    if pd.isna(new_data):
        return together
    return f"{together}; on new data [{row.new_data_low:.2f}, {row.new_data_high:.2f}]"
