"""The scorecard: one row for each published claim, and the power of the rules that decide them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.table import Table
from rich.text import Text

from fsvm_cli.experiment.run_file import run_content
from fsvm_cli.report.comparison import COLOURS, as_text, read_comparison, with_provenance
from fsvm_cli.report.folder import SCORECARD_NAME, write_table
from fsvm_cli.report.numbers import briefly

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SCORECARD_COLUMNS = ["document", "id", "printed", "obtained", "interval", "verdict", "fixed", "config", "elsewhere"]

SHOWN = ("id", "printed", "obtained", "verdict", "fixed", "config")
"""Columns of what is printed: the interval stands beside what was obtained."""

GRAVEST_FIRST = ("differs", "inconclusive", "not comparable", "reproduced", "fact")
"""A claim in several parts holds if every part does: its verdict is the gravest."""

WHY = "why"
"""Instead of a document, for the claims of experiments that ask why another one missed."""

PROVENANCES = ("", "after", "before")
"""When rules were fixed, the least trusted first: not stated, after the figure was known, or before."""


@dataclass(frozen=True)
class _Origin:
    """Where the claims of an experiment come from, as its `run.json` says."""

    document: str
    variant_of: str | None
    published_ids: Mapping[str, str]
    asks_why: bool = False
    explains: frozenset[str] = frozenset()


def write_scorecard(root: Path, folders: Sequence[Path]) -> pd.DataFrame:
    """Write `scorecard.csv` beside the folders of results.

    Parameters
    ----------
    root : Path
        Holds the folders.
    folders : sequence of Path
        Results of experiments and collections.

    Returns
    -------
    DataFrame
        As `scorecard_of` makes it.

    Raises
    ------
    DataError
        If a `run.json` or a table is damaged.
    """
    scorecard = scorecard_of(folders)
    write_table(scorecard, root / SCORECARD_NAME)
    return scorecard


def scorecard_of(folders: Sequence[Path]) -> pd.DataFrame:
    """Roll up the verdicts of experiments, so that each published claim is counted once.

    Returns
    -------
    DataFrame
        One row for each claim, sorted by document and id: what is printed, what was obtained with its 95 % interval,
        the verdict, where configs say so whether its rule was fixed before the figure was known or after, the config
        that decides it, and what has no vote: what variants of that config say, and which experiments ask why it was
        missed. A claim in several parts has one row with the gravest verdict of its parts, and a rule that was fixed
        after if that of one part was.
    """
    comparison = read_comparison(folders)
    experiments = _experiments(comparison, folders)
    comparison = comparison[~_are_own_claims(comparison, experiments)]
    by_claim: dict[tuple[str, str], list[Any]] = {}
    # The claim itself stands before its parts.
    for row in sorted(
        comparison.itertuples(index=False),
        key=lambda row: str(row.id) in experiments[str(row.experiment)].published_ids,
    ):
        experiment = experiments[str(row.experiment)]
        document = _document(row, experiments)
        by_claim.setdefault((document, experiment.published_ids.get(str(row.id), str(row.id))), []).append(row)
    rows = [
        {"document": document, "id": claim} | _rolled_up(found, experiments)
        for (document, claim), found in sorted(by_claim.items())
    ]
    scorecard = pd.DataFrame(rows, columns=SCORECARD_COLUMNS)
    return scorecard if scorecard["fixed"].any() else scorecard.drop(columns="fixed")


def with_decisions(comparison: pd.DataFrame, folders: Sequence[Path]) -> pd.DataFrame:
    """Add to each row of a comparison the document that it is about, and whether it decides its claim.

    Returns
    -------
    DataFrame
        The comparison with the columns `document` ("why" for what only experiments claim that ask why another one
        missed), and `decides`: one row of each claim has True there, that of its
        main experiment.
    """
    experiments = _experiments(comparison, folders)
    rows = list(comparison.itertuples())
    by_claim: dict[str, list[Any]] = {}
    for row in rows:
        by_claim.setdefault(str(row.id), []).append(row)
    decisive = {main_row(same, experiments).Index for same in by_claim.values()}
    are_own = _are_own_claims(comparison, experiments)
    documents = [WHY if own else _document(row, experiments) for row, own in zip(rows, are_own, strict=True)]
    return comparison.assign(document=documents, decides=[row.Index in decisive for row in rows])


def _are_own_claims(comparison: pd.DataFrame, experiments: Mapping[str, _Origin]) -> NDArray[np.bool_]:
    """Find the claims that only experiments make which ask why another one missed: no document prints them."""
    asks = np.array([experiments[str(name)].asks_why for name in comparison["experiment"]], dtype=bool)
    return asks & ~comparison["id"].isin(comparison["id"][~asks]).to_numpy(dtype=bool)


def _experiments(comparison: pd.DataFrame, folders: Sequence[Path]) -> dict[str, _Origin]:
    # A collection lists experiments whose own results may lie elsewhere.
    found = {str(name): _Origin("", None, {}) for name in comparison["experiment"].unique()}
    return found | {folder.resolve().name: _experiment(run_content(folder)["config"]) for folder in folders}


def _document(row: Any, experiments: Mapping[str, _Origin]) -> str:
    return experiments[str(row.experiment)].document or str(row.id).partition(".")[0]


def _experiment(config: Mapping[str, Any]) -> _Origin:
    paper = config.get("paper") or {}
    claims = config.get("expected") or ()
    parts = {claim["id"]: claim["part_of"] for claim in claims if claim.get("part_of")}
    explains = frozenset(config.get("explains") or ())
    return _Origin(paper.get("key", ""), config.get("variant_of"), parts, bool(config.get("why")), explains)


def _rolled_up(rows: Sequence[Any], experiments: Mapping[str, _Origin]) -> dict[str, str]:
    """Let the main experiment of each part of a claim decide; the others are listed."""
    parts: dict[str, list[Any]] = {}
    for row in rows:
        parts.setdefault(str(row.id), []).append(row)
    decisive = [main_row(part, experiments) for part in parts.values()]
    others = [row for row in rows if not any(row is each for each in decisive)]
    ids = {*parts, *(experiments[str(row.experiment)].published_ids.get(str(row.id), "") for row in rows)}
    asking = sorted(name for name, experiment in experiments.items() if experiment.explains & ids)
    return {
        "printed": _joined(row.published for row in decisive),
        "obtained": _joined(_obtained(row) for row in decisive),
        "interval": _joined(_interval(row) for row in decisive),
        "verdict": min((str(row.verdict) for row in decisive), key=GRAVEST_FIRST.index),
        "fixed": min((str(row.fixed) for row in decisive), key=PROVENANCES.index),
        "config": _joined(dict.fromkeys(str(row.experiment) for row in decisive)),
        "elsewhere": _joined(
            [f"{row.verdict} in {row.experiment}{_with_number(row)}" for row in others]
            + [f"why, in {name}" for name in asking]
        ),
    }


def main_row(rows: Sequence[Any], experiments: Mapping[str, _Origin]) -> Any:
    """Pick the row that decides a claim: that of the one experiment that is no variant of another.

    Where a claim stands in variants alone, or in several experiments none of which is a variant, the first decides.
    """
    main = [row for row in rows if experiments[str(row.experiment)].variant_of is None]
    return (main or list(rows))[0]


def _joined(texts: Iterable[object]) -> str:
    return "; ".join(f"{text:.10g}" if isinstance(text, float) else str(text) for text in texts if text != "")


def _obtained(row: Any) -> str:
    return "" if pd.isna(row.reproduced) else briefly(row.reproduced)


def _interval(row: Any) -> str:
    return "" if pd.isna(row.ci_low) else f"{briefly(row.ci_low)} to {briefly(row.ci_high)}"


def _with_number(row: Any) -> str:
    return "" if pd.isna(row.reproduced) else f" ({_obtained(row)})"


def counts_of(scorecard: pd.DataFrame) -> pd.DataFrame:
    """Count how many claims of each document have which verdict, those whose rules were fixed after the fact apart.

    Parameters
    ----------
    scorecard : DataFrame
        A scorecard, or a comparison `with_decisions`, of which the rows that decide are counted.

    Returns
    -------
    DataFrame
        One row for each document and provenance, then one for each provenance over several documents. Columns
        `document`, `fixed` where a config says so, one for each verdict that is met, and `in all`.
    """
    if "decides" in scorecard:
        scorecard = scorecard[scorecard["decides"]]
    scorecard = with_provenance(scorecard)
    verdicts = [verdict for verdict in reversed(GRAVEST_FIRST) if (scorecard["verdict"] == verdict).any()]
    groups = [(str(document), fixed, rows) for (document, fixed), rows in scorecard.groupby(["document", "fixed"])]
    groups.sort(key=lambda group: (group[0], -PROVENANCES.index(group[1])))
    published = scorecard[scorecard["document"] != WHY]
    if published["document"].nunique() > 1:
        groups += [
            ("all", fixed, rows)
            for fixed in reversed(PROVENANCES)
            if not (rows := published[published["fixed"] == fixed]).empty
        ]
    counts = [
        {"document": document, "fixed": fixed}
        | {verdict: int((rows["verdict"] == verdict).sum()) for verdict in verdicts}
        | {"in all": len(rows)}
        for document, fixed, rows in groups
    ]
    table = pd.DataFrame(counts, columns=["document", "fixed", *verdicts, "in all"])
    return table if scorecard["fixed"].any() else table.drop(columns="fixed")


def count_table(scorecard: pd.DataFrame) -> Table:
    """Arrange the counts of a scorecard, or of a comparison `with_decisions`, for people."""
    counts = counts_of(scorecard)
    table = Table()
    for name in counts.columns:
        table.add_column(name, justify="left" if name in {"document", "fixed"} else "right")
    for row in counts.itertuples(index=False):
        table.add_row(*map(str, row))
    return table


def scorecard_table(scorecard: pd.DataFrame) -> Table:
    """Arrange a scorecard as a table for people."""
    table = Table()
    for title in SHOWN:
        table.add_column(title, overflow="fold", no_wrap=title == "verdict")
    for *cells, verdict, fixed, config in _cells(scorecard):
        table.add_row(*cells, Text(verdict, style=COLOURS[verdict]), fixed, config)
    return table


def format_scorecard(scorecard: pd.DataFrame, style: str) -> str:
    """Write a scorecard as text for other programs; `style` as in `format_comparison`."""
    return as_text(scorecard, style, SHOWN, _cells(scorecard))


def _cells(scorecard: pd.DataFrame) -> list[list[str]]:
    rows = with_provenance(scorecard).itertuples(index=False)
    return [[*map(str, (row.id, row.printed, _with_interval(row), row.verdict, row.fixed, row.config))] for row in rows]


def _with_interval(row: Any) -> str:
    return f"{row.obtained} [{row.interval}]" if row.interval else str(row.obtained)


DECIDED = ("reproduced", "differs", "inconclusive")
"""Verdicts by which something is said about a source."""
ACCEPTS = ("accepts_low", "accepts_high")
POWER_COLUMNS = [
    "rule fixed",
    "printed numbers",
    "reproduced",
    "by chance, other experiments",
    "by chance, same experiment",
]


def power_of(comparison: pd.DataFrame) -> pd.DataFrame:
    """Give every claim the printed numbers of other claims about the same quantity, and count what its rule accepts.

    A rule so wide that it accepts most numbers of the kind finds agreement whatever is printed. What is expected of a
    random permutation of the numbers is computed exactly: nothing is drawn.

    Parameters
    ----------
    comparison : DataFrame
        From `fsvm_cli.report.scorecard.with_decisions`.

    Returns
    -------
    DataFrame
        One row for each time when rules were fixed, and one for all: how many printed numbers are judged, how many of
        them are reproduced, and how many would be expected to be if each were replaced by the number that another
        claim prints of the same quantity, in another experiment or in the same one. Of the claims that have no such
        other, none is expected. Without rows where no table says what its rules accept.
    """
    rows = _printed_numbers(comparison)
    counted = [
        (fixed, int(row.verdict == "reproduced"), *_chances(row, rows))
        for row in rows
        if row.verdict in DECIDED
        for fixed in (row.fixed, "all")
    ]
    table = pd.DataFrame(counted, columns=[POWER_COLUMNS[0], *POWER_COLUMNS[2:]])
    table.insert(1, POWER_COLUMNS[1], 1)
    totals = table.groupby(POWER_COLUMNS[0]).sum()
    in_order = [fixed for fixed in ("all", *PROVENANCES) if fixed in totals.index]
    return totals.loc[in_order[::-1]].reset_index()[POWER_COLUMNS]


def power_table(power: pd.DataFrame) -> Table:
    """Arrange the power for people."""
    table = Table(title="What the rules would accept by chance", title_justify="left")
    for name in power.columns:
        table.add_column(name, justify="left" if name == POWER_COLUMNS[0] else "right")
    for cells in power_cells(power):
        table.add_row(*cells)
    return table


def power_cells(power: pd.DataFrame) -> list[tuple[str, ...]]:
    """Write the power, with one decimal of what is expected."""
    return [
        (str(fixed) or "not said", str(printed), str(reproduced), f"{elsewhere:.1f}", f"{beside:.1f}")
        for fixed, printed, reproduced, elsewhere, beside in power.itertuples(index=False)
    ]


def _printed_numbers(comparison: pd.DataFrame) -> list[Any]:
    """List the rows that decide a claim about a number; tables of older versions lack the accepted range."""
    if not set(ACCEPTS) <= set(comparison.columns):
        return []
    numbers = pd.to_numeric(comparison["published"], errors="coerce")
    is_number = comparison["decides"] & numbers.notna() & comparison[list(ACCEPTS)].notna().all(axis=1)
    rows = comparison.assign(printed=numbers, quantity=comparison["what"].map(quantity_of, na_action="ignore"))
    return list(rows[is_number].itertuples(index=False))


def quantity_of(what: str) -> str:
    """Name a quantity with its unit, without the ranking and the place: numbers of one may stand for each other."""
    name = re.split(r", | of '| \(", what, maxsplit=1)[0]
    units = re.findall(r"\(([^()]*)\)", what)
    return f"{name} ({units[-1]})" if units else name


def _chances(row: Any, rows: Sequence[Any]) -> tuple[float, float]:
    """Find the shares of the numbers of other claims, in other experiments and in the same, that a rule accepts."""
    alike = [other for other in rows if other.quantity == row.quantity]
    elsewhere = [other.printed for other in alike if other.experiment != row.experiment]
    # Two tables may print the number of one place.
    beside = [other.printed for other in alike if other.experiment == row.experiment and other.what != row.what]
    return _share_accepted(row, elsewhere), _share_accepted(row, beside)


def _share_accepted(row: Any, numbers: Sequence[float]) -> float:
    if not numbers:
        return 0.0
    return float(np.mean([row.accepts_low <= number <= row.accepts_high for number in numbers]))
