"""Published claims that nothing has decided: why, and what could decide each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from fsvm_cli.experiment.run_file import run_content
from fsvm_cli.report.comparison import read_comparison
from fsvm_cli.report.folder import name_of
from fsvm_cli.report.scorecard import GRAVEST_FIRST, WHY, gravest, readings_of_claims, rows_by_claim, with_decisions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fsvm_cli.spec.claims.base import Reading

OPEN = ("not comparable", "undecided by the source", "inconclusive")
"""Verdicts that decide nothing."""

NOTHING = "Nothing"
SOURCE = "What the source does not say"
OTHER_ROWS = "Other rows"
ENDED_MACHINES = "Machines and ascents that end"
MORE_SPLITS = "More splits"
DECIDERS = {
    NOTHING: "What it takes cannot be had.",
    SOURCE: "Readings of what the source leaves open contradict each other, or are too few, or leave out what lies "
    "between them.",
    OTHER_ROWS: "The source fixes the split, or every row was left out once: there are no more splits of these rows.",
    ENDED_MACHINES: "Some machines missed their duality gap, or ascents did not end by their rule, and what they would "
    "have given could turn the verdict.",
    MORE_SPLITS: "Splits are random, and more of them make intervals shorter.",
}
"""What could decide a claim, that which is hardest to have first, and when a claim stands under it."""

OPEN_COLUMNS = ["document", "id", "nature", "verdict", "decider", "why"]


def open_claims(folders: Sequence[Path]) -> pd.DataFrame:
    """List the published claims that no result decides.

    Parameters
    ----------
    folders : sequence of Path
        Results of experiments and collections.

    Returns
    -------
    DataFrame
        One row for each claim whose verdict is in `OPEN`, but for those that repeat others, by what could decide it
        (`decider`, of `DECIDERS`) and document. Of a claim in several parts, the open ones say why.
    """
    comparison = read_comparison(folders)
    decided = with_decisions(comparison, folders)
    readings = readings_of_claims(comparison, folders)
    configs = {name_of(folder): run_content(folder)["config"] for folder in folders}
    decisive = decided[decided["decides"] & (decided["document"] != WHY) & (decided["nature"] != "repeat")]
    rows = []
    for (document, claim), parts in rows_by_claim(decisive).items():
        verdict = gravest(part.verdict for part in parts)
        if verdict not in OPEN:
            continue
        reasons = [
            _reason(part, configs[str(part.experiment)], readings.get(str(part.id), ()))
            for part in parts
            if part.verdict in OPEN
        ]
        decider = min((reason.decider for reason in reasons), key=list(DECIDERS).index)
        rows.append((document, claim, str(parts[0].nature), verdict, decider, _in_words(reasons)))
    rows.sort(key=lambda row: (list(DECIDERS).index(row[4]), row[0], row[1]))
    return pd.DataFrame(rows, columns=OPEN_COLUMNS)


class _Reason(NamedTuple):
    """Why a part of a claim is open.

    Attributes
    ----------
    decider : str
        What could decide it, one of `DECIDERS`.
    premise : str
        What parts may have in common: what the source leaves open, and which splits there are.
    found : str
        What was found out; empty where the premise says it all.
    """

    decider: str
    premise: str
    found: str = ""


def _in_words(reasons: Sequence[_Reason]) -> str:
    """Say each premise once, with all that was found."""
    by_premise: dict[str, dict[str, None]] = {}
    for reason in reasons:
        by_premise.setdefault(reason.premise, {})[reason.found] = None
    return " ".join(
        f"{premise}: {'; '.join(found)}." if any(found) else f"{premise.removesuffix('.')}."
        for premise, found in by_premise.items()
    )


def _reason(row: Any, config: Mapping[str, Any], readings: Sequence[Reading]) -> _Reason:
    claim = next(each for each in config["expected"] if each["id"] == row.id)
    unstated = claim.get("unstated", "")
    if claim["kind"] == "statement":
        return _Reason(NOTHING, str(row.note))
    no_more_splits = _splits_in_words(config.get("protocol") or {})
    if readings:
        answers = Counter(reading.answer for reading in readings)
        counted = ", ".join(f"{answers[each]} {each}" for each in reversed(GRAVEST_FIRST) if answers[each])
        if row.verdict != "inconclusive" or no_more_splits:
            decider = SOURCE
        else:
            decider = MORE_SPLITS if answers["inconclusive"] else ENDED_MACHINES
        return _Reason(decider, unstated, f"of {len(readings)} readings {counted}")
    if row.verdict == "not comparable":
        return _Reason(SOURCE, unstated) if unstated else _Reason(ENDED_MACHINES, str(row.rule))
    splits = no_more_splits or f"{row.n} trials"
    return _Reason(
        OTHER_ROWS if no_more_splits else MORE_SPLITS, f"Neither shown nor refuted with {splits}", str(row.rule)
    )


def _splits_in_words(protocol: Mapping[str, Any]) -> str:
    """Say which splits there are where no more can be drawn; empty where they are random."""
    train = list(protocol.get("train") or ())
    if "leave-one-out" in train:
        return "every row left out once"
    return "the split of the source" if train == ["given"] else ""
