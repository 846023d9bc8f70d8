"""The scorecard: one row for each published claim, and the power of the rules that decide them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.table import Table

from fsvm_cli.experiment.run_file import run_content
from fsvm_cli.report.comparison import as_text, badges, coloured, has_new_data, read_comparison, with_provenance
from fsvm_cli.report.folder import SCORECARD_NAME, name_of, write_table
from fsvm_cli.report.numbers import briefly
from fsvm_cli.spec.claims.base import Reading
from fsvm_cli.spec.claims.rules import FEWEST_READINGS, readings_in_words, verdict_over_readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SCORECARD_COLUMNS = [
    *("document", "id", "printed", "obtained", "interval", "verdict", "new_data", "fixed", "nature", "config"),
    *("readings", "elsewhere"),
]

SHOWN = ("id", "printed", "obtained", "verdict", "fixed", "config")
"""Columns of what is printed: the interval stands beside what was obtained."""

GRAVEST_FIRST = ("differs", "undecided by the source", "inconclusive", "not comparable", "reproduced", "fact")
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
    reading: str = ""
    open_claims: frozenset[str] = frozenset()


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
        the verdict, of a difference also the one for new data, where configs say so whether its rule was fixed before
        the figure was known or after, where tables say so what it is about, the config that decides it, what each
        reading of what the source leaves open says, and what has no vote: what other variants of that config say, and
        which experiments ask why it was missed. A claim in several parts has one row with the gravest verdict of its
        parts, and a rule that was fixed after if that of one part was.
    """
    decided = with_decisions(read_comparison(folders), folders)
    explained = _experiments(decided, folders)
    rows = [
        {"document": document, "id": claim} | _rolled_up(found, explained)
        for (document, claim), found in sorted(rows_by_claim(decided).items())
    ]
    scorecard = pd.DataFrame(rows, columns=SCORECARD_COLUMNS)
    empty = [name for name in ("fixed", "nature", "new_data", "readings") if not scorecard[name].any()]
    return scorecard.drop(columns=empty)


def rows_by_claim(decided: pd.DataFrame) -> dict[tuple[str, str], list[Any]]:
    """Gather the rows about each published claim, the claim itself before its parts."""
    by_claim: dict[tuple[str, str], list[Any]] = {}
    published = decided[decided["document"] != WHY]
    for row in sorted(published.itertuples(index=False), key=lambda row: str(row.claim) != str(row.id)):
        by_claim.setdefault((str(row.document), str(row.claim)), []).append(row)
    return by_claim


def with_decisions(comparison: pd.DataFrame, folders: Sequence[Path]) -> pd.DataFrame:
    """Say of each row of a comparison which claim of which document it is about, and decide each claim once.

    What a source leaves open (`unstated`) is decided over the readings that the main experiment and its variants
    declare, see `fsvm_cli.spec.claims.rules.verdict_over_readings`; with fewer than two it is not comparable.

    Returns
    -------
    DataFrame
        The comparison with the columns `document` ("why" for what only experiments claim that ask why another one
        missed), `claim`, which is not the `id` of a row about a part of one, and `decides`: one row of each claim, or
        of each part of one, has True there, that of its main experiment. Where readings decide, that row has their
        verdict, `readings` says in words what each of them says, and `has_vote` is True for the rows of all.
    """
    experiments = _experiments(comparison, folders)
    rows = list(comparison.itertuples())
    are_own = _are_own_claims(comparison, experiments)
    decided = comparison.assign(
        document=[WHY if own else _document(row, experiments) for row, own in zip(rows, are_own, strict=True)],
        claim=[experiments[str(row.experiment)].published_ids.get(str(row.id), str(row.id)) for row in rows],
        decides=False,
        readings="",
        has_vote=False,
    )
    for same in _by_id(rows).values():
        main = main_row(same, experiments)
        decided.loc[main.Index, ["decides", "has_vote"]] = True
        readings = _readings(same, main, experiments)
        found = [reading for of_row in readings.values() for reading in of_row]
        if len(found) < FEWEST_READINGS:
            continue
        decided.loc[list(readings), "has_vote"] = True
        decided.loc[main.Index, "verdict"] = verdict_over_readings([each.answer for each in found])
        decided.loc[main.Index, ["readings", "rule"]] = readings_in_words(found)
        if "new_data" in decided:
            decided["new_data"] = decided["new_data"].astype(object)
            asked = [each.new_data for each in found if each.new_data]
            decided.loc[main.Index, "new_data"] = verdict_over_readings(asked) if len(asked) == len(found) else np.nan
    return decided


def readings_of_claims(comparison: pd.DataFrame, folders: Sequence[Path]) -> dict[str, list[Reading]]:
    """Find what each declared reading says of the claims that readings decide, by the ids of these."""
    experiments = _experiments(comparison, folders)
    found = {
        claim: [reading for of_row in of_rows.values() for reading in of_row]
        for claim, same in _by_id(comparison.itertuples()).items()
        if (of_rows := _readings(same, main_row(same, experiments), experiments))
    }
    return {claim: readings for claim, readings in found.items() if len(readings) >= FEWEST_READINGS}


def _by_id(rows: Iterable[Any]) -> dict[str, list[Any]]:
    by_id: dict[str, list[Any]] = {}
    for row in rows:
        by_id.setdefault(str(row.id), []).append(row)
    return by_id


def _readings(same: Sequence[Any], main: Any, experiments: Mapping[str, _Origin]) -> dict[int, Sequence[Reading]]:
    """Find what the declared readings say of a claim whose source leaves something open, by the places of their rows.

    The main experiment's own are the first; there are none where its config declares no reading.
    """
    name = str(main.experiment)
    if not experiments[name].reading or str(main.id) not in experiments[name].open_claims:
        return {}
    found = {}
    for row in sorted(same, key=lambda row: row.Index != main.Index):
        origin = experiments[str(row.experiment)]
        if origin.reading and name in {str(row.experiment), origin.variant_of}:
            found[row.Index] = _readings_of(row, origin)
    return found


def _readings_of(row: Any, origin: _Origin) -> Sequence[Reading]:
    noted = getattr(row, "readings", None)
    if isinstance(noted, str) and noted:
        return [Reading(**each) for each in json.loads(noted)]
    # Tables of older versions note no readings.
    new_data = getattr(row, "new_data", None)
    found = None if pd.isna(row.reproduced) else row.reproduced
    return [Reading(origin.reading, answer_of(row), found, None if pd.isna(new_data) else new_data)]


def answer_of(row: Any) -> str:
    """Find what the rule alone says, in a table that does not note it: by the printed numbers that it accepts."""
    if row.verdict != "not comparable":
        return str(row.verdict)
    answer = getattr(row, "answer", None)
    if isinstance(answer, str) and answer:
        return answer
    low, high = (getattr(row, name, np.nan) for name in ACCEPTS)
    printed = pd.to_numeric(row.published, errors="coerce")
    if pd.isna(low) or pd.isna(printed) or MISSED.match(str(row.rule)):
        return "not comparable"
    if low > high:
        return "inconclusive"
    return "reproduced" if low <= printed <= high else "differs"


MISSED = re.compile(r"in \d+ of \d+ trials |only \d+ of \d+ trials ")
"""Where trials are missing, or machines missed their gap, nothing can be said of a reading."""


def _are_own_claims(comparison: pd.DataFrame, experiments: Mapping[str, _Origin]) -> NDArray[np.bool_]:
    """Find the claims that only experiments make which ask why another one missed: no document prints them."""
    asks = np.array([experiments[str(name)].asks_why for name in comparison["experiment"]], dtype=bool)
    return asks & ~comparison["id"].isin(comparison["id"][~asks]).to_numpy(dtype=bool)


def _experiments(comparison: pd.DataFrame, folders: Sequence[Path]) -> dict[str, _Origin]:
    # A collection lists experiments whose own results may lie elsewhere.
    found = {str(name): _Origin("", None, {}) for name in comparison["experiment"].unique()}
    return found | {name_of(folder): _experiment(run_content(folder)["config"]) for folder in folders}


def _document(row: Any, experiments: Mapping[str, _Origin]) -> str:
    return experiments[str(row.experiment)].document or str(row.id).partition(".")[0]


def _experiment(config: Mapping[str, Any]) -> _Origin:
    paper = config.get("paper") or {}
    claims = config.get("expected") or ()
    return _Origin(
        paper.get("key", ""),
        config.get("variant_of"),
        {claim["id"]: claim["part_of"] for claim in claims if claim.get("part_of")},
        bool(config.get("why")),
        frozenset(config.get("explains") or ()),
        config.get("reading") or "",
        frozenset(claim["id"] for claim in claims if claim.get("unstated")),
    )


def _rolled_up(rows: Sequence[Any], experiments: Mapping[str, _Origin]) -> dict[str, str]:
    """Let the main experiment of each part of a claim decide, or its readings; the others are listed."""
    decisive = [row for row in rows if row.decides]
    others = [row for row in rows if not row.has_vote]
    ids = {str(name) for row in rows for name in (row.id, row.claim)}
    asking = sorted(name for name, experiment in experiments.items() if experiment.explains & ids)
    return {
        "printed": _joined(row.published for row in decisive),
        "obtained": _joined(_obtained(row) for row in decisive),
        "interval": _joined(_interval(row) for row in decisive),
        "verdict": gravest(row.verdict for row in decisive),
        "new_data": gravest(row.new_data for row in decisive if has_new_data(row)),
        "fixed": min((str(row.fixed) for row in decisive), key=PROVENANCES.index),
        "nature": min((str(row.nature) for row in decisive), key=NATURES.index),
        "config": _joined(dict.fromkeys(str(row.experiment) for row in decisive)),
        "readings": _joined(row.readings for row in decisive),
        "elsewhere": _joined(
            [f"{row.verdict} in {row.experiment}{_with_number(row)}" for row in others]
            + [f"why, in {name}" for name in asking]
        ),
    }


def gravest(verdicts: Iterable[object]) -> str:
    """Give the verdict on a claim whose parts have these; empty where there is none."""
    return min(map(str, verdicts), key=GRAVEST_FIRST.index, default="")


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


COUNTED = ("finding", "order")
"""Natures of claims by which something is found out: totals count these."""
NATURES = (*COUNTED, "", "arithmetic", "fact", "repeat")
"""What claims are about, those first that parts of one claim are counted by; empty where a table does not say."""
OTHER_NATURES = {
    "arithmetic": ("number computed from printed numbers", "numbers computed from printed numbers"),
    "fact": ("fact of data or settings", "facts of data or settings"),
    "repeat": ("repeat of another claim", "repeats of other claims"),
}
"""In words, one and several."""


def published_claims(table: pd.DataFrame) -> pd.DataFrame:
    """List each published claim once, with its verdict: what totals count.

    Parameters
    ----------
    table : DataFrame
        A scorecard, or a comparison `with_decisions`, of which the rows that decide are rolled up.

    Returns
    -------
    DataFrame
        Columns `document`, `verdict`, `fixed` and `nature`. Of a table that does not say what its claims are about, a
        fact is one by its verdict, and all others are taken for findings.
    """
    table = with_provenance(table)
    if "decides" in table:
        rows = [
            {"document": document}
            | {"verdict": gravest(row.verdict for row in found)}
            | {"fixed": min((str(row.fixed) for row in found), key=PROVENANCES.index)}
            | {"nature": min((str(row.nature) for row in found), key=NATURES.index)}
            for (document, _), found in sorted(rows_by_claim(table[table["decides"]]).items())
        ]
        table = pd.DataFrame(rows, columns=["document", "verdict", "fixed", "nature"])
    is_set = table["verdict"] == "fact"
    known = table["nature"].where(table["nature"] != "", np.where(is_set, "fact", COUNTED[0]))
    return table.assign(nature=known)


def counts_of(table: pd.DataFrame) -> pd.DataFrame:
    """Count how many findings and orders of each document have which verdict, those fixed after the fact apart.

    Parameters
    ----------
    table : DataFrame
        As in `published_claims`.

    Returns
    -------
    DataFrame
        One row for each document and provenance, then one for each provenance over several documents. Columns
        `document`, `fixed` where a config says so, one for each verdict that is met, and `in all`.
    """
    claims = published_claims(table)
    counted = _counted(claims[claims["nature"].isin(COUNTED)], "fixed", PROVENANCES[::-1])
    return counted if claims["fixed"].any() else counted.drop(columns="fixed")


def counts_by_nature(table: pd.DataFrame) -> pd.DataFrame:
    """Count how many claims of each document and nature have which verdict, those that totals leave out, too.

    Parameters
    ----------
    table : DataFrame
        As in `published_claims`.

    Returns
    -------
    DataFrame
        One row for each document and nature, then one for each nature over several documents. Columns `document`,
        `nature`, one for each verdict that is met, and `in all`.
    """
    return _counted(published_claims(table), "nature", [nature for nature in NATURES if nature])


def _counted(claims: pd.DataFrame, by: str, in_order: Sequence[str]) -> pd.DataFrame:
    """Count the verdicts of claims by document and another column, whose values stand in an order."""
    verdicts = [verdict for verdict in reversed(GRAVEST_FIRST) if (claims["verdict"] == verdict).any()]
    documents = [(str(document), of_document) for document, of_document in claims.groupby("document")]
    if len(documents) > 1:
        documents.append(("all", claims))
    counts = [
        {"document": document, by: value}
        | {verdict: int((rows["verdict"] == verdict).sum()) for verdict in verdicts}
        | {"in all": len(rows)}
        for document, of_document in documents
        for value in in_order
        if not (rows := of_document[of_document[by] == value]).empty
    ]
    return pd.DataFrame(counts, columns=["document", by, *verdicts, "in all"])


def others_in_words(table: pd.DataFrame) -> str:
    """Say in one line how many claims `counts_of` leaves out, by what they are about and with their verdicts."""
    claims = published_claims(table)
    parts = []
    for nature, words in OTHER_NATURES.items():
        found = claims.loc[claims["nature"] == nature, "verdict"].tolist()
        if found:
            verdicts = ", ".join(f"{found.count(each)} {each}" for each in reversed(GRAVEST_FIRST) if each in found)
            parts.append(f"{len(found)} {words[len(found) > 1]} ({verdicts})")
    return f"Not counted, because they are no findings: {'; '.join(parts)}." if parts else ""


def count_table(scorecard: pd.DataFrame) -> Table:
    """Arrange the counts of a scorecard, or of a comparison `with_decisions`, for people."""
    counts = counts_of(scorecard)
    table = Table(caption=others_in_words(scorecard) or None, caption_justify="left")
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
        table.add_row(*cells, coloured(verdict), fixed, config)
    return table


def format_scorecard(scorecard: pd.DataFrame, style: str) -> str:
    """Write a scorecard as text for other programs; `style` as in `format_comparison`."""
    return as_text(scorecard, style, SHOWN, format_cells(scorecard))


def format_cells(scorecard: pd.DataFrame) -> list[list[str]]:
    """Write the rows of a scorecard for tables whose cells have one line."""
    return [[cell.replace("\n", "; ") for cell in row] for row in _cells(scorecard)]


def _cells(scorecard: pd.DataFrame) -> list[list[str]]:
    rows = with_provenance(scorecard).itertuples(index=False)
    return [[*map(str, (row.id, row.printed, _with_interval(row), badges(row), row.fixed, row.config))] for row in rows]


def _with_interval(row: Any) -> str:
    obtained = f"{row.obtained} [{row.interval}]" if row.interval else str(row.obtained)
    readings = getattr(row, "readings", "")
    return f"{obtained}; {readings}" if readings else obtained


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

LENIENT_COLUMNS = ["claim", "printed", "reproduces", "accepts others' numbers"]
LENIENT_SHARE = 0.9
"""A rule that accepts such a share of the numbers that other claims print hardly fails."""
FEWEST_OTHERS = 2
"""Of fewer numbers a share says nothing."""


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
        other, none is expected. Rules that no printed number could satisfy, facts, repeated numbers and arithmetic do
        not count. Without rows where no table says what its rules accept.
    """
    rows = _printed_numbers(comparison)
    counted = [
        (fixed, int(row.verdict == "reproduced"), *_chances(row, rows))
        for row in rows
        if _can_decide(row)
        for fixed in (row.fixed, "all")
    ]
    table = pd.DataFrame(counted, columns=[POWER_COLUMNS[0], *POWER_COLUMNS[2:]])
    table.insert(1, POWER_COLUMNS[1], 1)
    totals = table.groupby(POWER_COLUMNS[0]).sum()
    in_order = [fixed for fixed in ("all", *PROVENANCES) if fixed in totals.index]
    return totals.loc[in_order[::-1]].reset_index()[POWER_COLUMNS]


def lenient_rules(comparison: pd.DataFrame) -> pd.DataFrame:
    """List the rules that hardly fail, so that agreement by them says little.

    These are rules that accept most numbers which other claims print of the same quantity, and those whose accepted
    numbers span at least the printed number itself, as from half of it to one and a half times.

    Parameters
    ----------
    comparison : DataFrame
        From `fsvm_cli.report.scorecard.with_decisions`.

    Returns
    -------
    DataFrame
        One row for each such rule that decides a claim: the claim, what is printed, which numbers would be reproduced,
        and of how many others it accepts how many.
    """
    rows = _printed_numbers(comparison)
    found = []
    for row in rows:
        if not _can_decide(row):
            continue
        others = [other.printed for other in rows if other.quantity == row.quantity and other.what != row.what]
        share, span = _share_accepted(row, others), row.accepts_high - row.accepts_low
        is_lenient = len(others) >= FEWEST_OTHERS and share >= LENIENT_SHARE
        if is_lenient or span >= abs(row.printed):
            accepts = f"{briefly(row.accepts_low)} to {briefly(row.accepts_high)}"
            found.append((row.id, briefly(row.printed), accepts, f"{round(share * len(others))} of {len(others)}"))
    return pd.DataFrame(found, columns=LENIENT_COLUMNS)


def lenient_table(lenient: pd.DataFrame) -> Table:
    """Arrange the rules that hardly fail for people."""
    table = Table(title="Rules that hardly fail", title_justify="left")
    for name in lenient.columns:
        table.add_column(name, overflow="fold", justify="left" if name == LENIENT_COLUMNS[0] else "right")
    for cells in lenient.itertuples(index=False):
        table.add_row(*cells)
    return table


def _can_decide(row: Any) -> bool:
    """Whether a rule says something about a source, and could say that it agrees."""
    return row.verdict in DECIDED and row.nature in {"finding", ""} and row.accepts_low <= row.accepts_high


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
