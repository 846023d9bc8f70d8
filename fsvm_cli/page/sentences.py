"""What was found of a claim, as a sentence with its unit, and as a mark on one axis with what is printed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from fsvm_cli.report.comparison import alike, is_count, printed_in_words, quantity_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.spec.claims.kinds.orders import TopFeaturesClaim

UNIT = re.compile(r" \((% of the features|%|points|bits|features|rows|classes)\)")
COUNTED_THINGS = re.compile(r"^(most relevant features|least relevant features|features that|test errors)\b")
"""Names of quantities that are numbers of these things."""
BOUND = re.compile(r"\b(?:lies (?:above|below)|at (?:least|most)) (-?\d+(?:\.\d+)?)")
"""What a rule about an order compares the interval with."""
OF_SELECTION = re.compile(r"((?:most|least) relevant [\d.]+') at all features")
"""The name of a selection, whose "all features" are those that it has."""
OF_OWN_MACHINE = re.compile(
    r"(?P<quantity>[^,]*), (?:'(?P<higher>[^']*)' at all features minus that of all features"
    r"|all features minus that of '(?P<lower>[^']*)' at all features)"
)
"""A difference between a classifier that has a label and that of the experiment, which has none."""
MAX_NAMED = 5
"""Features that a sentence names; of more, it says how many."""
WIDTH, MARGIN = 100, 4
"""Of the axis of a mark, in its own units."""
FARTHEST_ACCEPTED = 1.5
"""How far an accepted range is drawn beyond the numbers, in their span: a wide one would push them together."""


@dataclass(frozen=True)
class Mark:
    """Numbers of one unit on an axis from 0 to `WIDTH`.

    Attributes
    ----------
    found : int
        The mean.
    interval : (int, int), optional
        Its 95 % interval.
    reference : int, optional
        The printed number, or the bound that an order is judged by.
    accepts : (int, int), optional
        The printed numbers that the rule would find reproduced.
    """

    found: int
    interval: tuple[int, int] | None = None
    reference: int | None = None
    accepts: tuple[int, int] | None = None


def sentence_of(row: Any, machine: str = "") -> str:
    """Say what was found of a claim: the quantity, its value with unit and interval, and what is printed.

    Parameters
    ----------
    row
        A row of a table of verdicts.
    machine : str
        The classifier of the experiment, in words, where others are compared with it.
    """
    if pd.isna(row.reproduced):
        return f"{row.rule[0].upper()}{row.rule[1:]}."
    name, unit, factor = _quantity(str(row.what), machine)
    printed = _printed_number(row)
    numbers = [factor * number for number in (row.reproduced, row.ci_low, row.ci_high) if not pd.isna(number)]
    signs = "+" if " minus " in name else ""
    mean, *ends = [f"{signs if float(text) > 0 else ''}{text}" for text in alike(*numbers, is_count=is_count(row))]
    trials = f"{row.n} trial{'s' if row.n != 1 else ''}"
    certainty = f" (95 % interval {ends[0]} to {ends[1]}; {trials})" if ends else f" ({trials})" if row.n > 1 else ""
    if factor != 1 or printed is None:
        against = ""
    else:
        against = f", where {printed_in_words(row).removesuffix('.0')}{_with(unit)} is printed"
    return f"{name[0].upper()}{name[1:]} is {mean}{_with(unit)}{certainty}{against}."


def mark_of(row: Any) -> Mark | None:
    """Place what was found, its interval and what is printed on one axis; None where nothing was found."""
    if pd.isna(row.reproduced) or not math.isfinite(row.reproduced):
        return None
    reference = _reference(row)
    interval = None if pd.isna(row.ci_low) or pd.isna(row.ci_high) else (float(row.ci_low), float(row.ci_high))
    numbers = [float(row.reproduced), *(interval or ()), *([] if reference is None else [reference])]
    if len(numbers) == 1 or not all(map(math.isfinite, numbers)):
        return None
    low, high = min(numbers), max(numbers)
    span = (high - low) or abs(high) or 1.0
    accepts = [getattr(row, name, math.nan) for name in ("accepts_low", "accepts_high")]
    has_accepts = not any(map(pd.isna, accepts)) and accepts[0] <= accepts[1]
    if has_accepts:
        reach = FARTHEST_ACCEPTED * span
        accepts = [max(accepts[0], low - reach), min(accepts[1], high + reach)]
        low, high = min(low, *accepts), max(high, *accepts)
    if low == high:
        low, high = low - span / 2, high + span / 2

    def place(number: float) -> int:
        return round(MARGIN + (WIDTH - 2 * MARGIN) * float((number - low) / (high - low)))

    return Mark(
        place(float(row.reproduced)),
        None if interval is None else (place(interval[0]), place(interval[1])),
        None if reference is None else place(reference),
        (place(accepts[0]), place(accepts[1])) if has_accepts and accepts[0] <= accepts[1] else None,
    )


def features_by_name(claim: TopFeaturesClaim, row: Any, scores: pd.DataFrame) -> str:
    """Say which features are the best or the worst where others may be claimed to be.

    Parameters
    ----------
    claim : TopFeaturesClaim
    row
        Its row in the table of verdicts.
    scores : DataFrame
        Columns `ranking`, `feature`, `mean_rank` (1 is best) and `n_trials`.

    Returns
    -------
    str
        As `sentence_of` where the scores do not have the ranking.
    """
    rows = scores[scores["ranking"] == claim.ranking].drop_duplicates("feature", keep="last")
    ranks = rows.set_index("feature")["mean_rank"]
    if pd.isna(row.reproduced) or ranks.empty or not set(claim.features) <= set(ranks.index):
        return sentence_of(row)
    n, is_one = len(claim.features), len(claim.features) == 1
    found = list(ranks.sort_values(ascending=claim.end == "best", kind="stable").index[:n])
    which = "most" if claim.end == "best" else "least"
    others = [name for name in claim.features if name not in set(found)]
    said = f"The {'' if is_one else f'{n} '}{which} relevant feature{' is' if is_one else 's are'} {_listed(found)}"
    said = f"{said} (by the mean rank of {claim.ranking} over {row.n} trial{'s' if row.n != 1 else ''})"
    if others:
        places = [f"{name} has the mean rank {ranks[name]:.1f}" for name in others[:MAX_NAMED]]
        said += f"; {_listed(places, MAX_NAMED)} of {len(ranks)}"
    return f"{said}. {sentence_of(row)}"


def _listed(names: Sequence[str], most: int = MAX_NAMED) -> str:
    shown = [str(name) for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    *first, last = shown
    return f"{', '.join(first)} and {last}" if first else last


def _with(unit: str) -> str:
    return f" {unit}" if unit else ""


def _quantity(what: str, machine: str) -> tuple[str, str, float]:
    """Give a quantity in words, its unit, and the factor by which its numbers are to be multiplied."""
    units = UNIT.findall(what)
    name = UNIT.sub("", quantity_in_words(what))
    name = name.replace("machine found, ", "share of trials in which a machine is found, ")
    name = OF_SELECTION.sub(r"\1", name)
    name = COUNTED_THINGS.sub(r"number of \1", re.sub(r"\btest rci\b", "test RCI", name))
    # Two sides of a difference have one quantity, which is named once.
    head = name.partition(", ")[0]
    name = name.replace(f" minus {head}, ", " minus that of ", 1) if ", " in name else name
    if sides := OF_OWN_MACHINE.fullmatch(name):
        name = _between_machines(sides, machine)
    name = re.sub(r" minus ('[^']*')", r" minus that of \1", name)
    name = re.sub(r"(, |of )all features", r" with all features", name).replace("  ", " ")
    name = re.sub(r", (?=')", " of ", name, count=1)
    name = re.sub(r"(') at (all|\d)", r"\1 with \2", name)
    name = re.sub(r"'([^']*)'", lambda label: label[0] if re.search(r"[, ]", label[1]) else label[1], name)
    if not units and name.startswith("share of "):
        return name, "%", 100.0
    if "% of the features" in units:
        return re.sub("^number of (most|least) relevant", r"share in all features of the \1 relevant", name), "%", 1.0
    return name, units[-1] if units and not name.startswith("number of ") else "", 1.0


def _between_machines(sides: re.Match[str], machine: str) -> str:
    own = f"the machine of this experiment{f' ({machine})' if machine else ''}"
    other = f"'{sides['higher'] or sides['lower']}'"
    higher, lower = (other, own) if sides["higher"] else (own, other)
    return f"{sides['quantity']} of {higher} minus that of {lower}, both with all features,"


def _printed_number(row: Any) -> float | None:
    number = pd.to_numeric(row.published, errors="coerce")
    return None if pd.isna(number) else float(number)


def _reference(row: Any) -> float | None:
    """Find what the numbers are compared with: the printed one, or the bound of the rule."""
    printed = _printed_number(row)
    if printed is not None:
        return printed
    bound = BOUND.search(str(row.rule))
    if bound is not None:
        return float(bound[1])
    return 0.0 if " minus " in str(row.what) else None
