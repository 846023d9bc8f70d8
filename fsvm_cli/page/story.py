"""What the page says in words, made from verdicts: the story of a document, and the conclusion of an experiment."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from fsvm_cli.page.content import VERDICTS, ClaimRow
from fsvm_cli.report.scorecard import COUNTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fsvm_cli.page.content import Content, ScorecardRow

    Parts: TypeAlias = tuple[tuple[str, str], ...]
    """A sentence in texts, each with the experiment that it links to, or with nothing."""

MAX_STATEMENTS = 3
"""Claims that a line quotes."""
OUTCOMES = {"reproduced": ("holds", "hold"), "differs": ("does not hold", "do not hold")}
"""Of one statement, and of several, by the verdict."""
PLACES = ("abstract", "section", "figure", "table")
"""In the order in which they are listed, after those of other names."""


@dataclass(frozen=True)
class Claimed:
    """A published claim with all that the page says of it.

    Attributes
    ----------
    row : ScorecardRow
    parts : tuple of ClaimRow
        What its experiments found; several where the claim has several parts.
    experiments : tuple of str
        Those that `parts` come from, one for each.
    why : tuple of str
        Experiments that ask why it differs.
    """

    row: ScorecardRow
    parts: tuple[ClaimRow, ...]
    experiments: tuple[str, ...]
    why: tuple[str, ...]

    @property
    def statement(self) -> str:
        """The claim in words; empty where only numbers are printed."""
        return next((part.statement for part in self.parts if part.statement), "")

    @property
    def is_number(self) -> bool:
        """Whether a number is printed, of which the statement is the sentence."""
        return not self.parts or any(part.printed != part.statement for part in self.parts)

    @property
    def found(self) -> str:
        """What was found of the part that decides; empty where no experiment on the page says."""
        deciding = [part for part in self.parts if part.verdict == self.row.verdict] or self.parts
        return deciding[0].found if deciding else ""

    @property
    def where(self) -> str:
        """Its place in the document."""
        return next((part.where for part in self.parts if part.where), "")


@dataclass(frozen=True)
class Document:
    """A document on the page.

    Attributes
    ----------
    key : str
    story : tuple of (str, Parts)
        About ten lines: what each is about, and the line.
    places : tuple of (str, tuple of Claimed)
        Its claims, by the figure, table or section that prints them.
    """

    key: str
    story: tuple[tuple[str, Parts], ...]
    places: tuple[tuple[str, tuple[Claimed, ...]], ...]

    @property
    def verdicts(self) -> dict[str, int]:
        """How many findings and orders have which verdict."""
        counts = Counter(each.row.verdict for _, claims in self.places for each in claims if _is_counted(each))
        return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def explanations(content: Content) -> dict[str, tuple[str, ...]]:
    """List for each claim, by its id, the experiments that ask why it differs."""
    found: dict[str, list[str]] = {}
    for section in content.experiments:
        for claim in dict.fromkeys(section.explains):
            found.setdefault(claim, []).append(section.name)
    return {claim: tuple(names) for claim, names in found.items()}


def conclusions(content: Content) -> dict[str, Parts]:
    """Say in a sentence what each experiment comes to that asks why another one differs, by its name.

    That is the finding that links to it, else its verdicts in words.
    """
    found: dict[str, Parts] = {}
    for section in content.experiments:
        if section.why:
            of_all = next((each for each in content.findings if any(name == section.name for _, name in each)), None)
            found[section.name] = of_all or ((conclusion_of(section.claims), ""),)
    return found


def conclusion_of(claims: Sequence[ClaimRow]) -> str:
    """Say in a sentence what the verdicts of an experiment come to that asks why another one differs."""
    own, again = [each for each in claims if each.is_own], [each for each in claims if not each.is_own]
    parts = []
    if own:
        parts.append(_own_in_words(own))
    if again:
        n_met = sum(each.verdict == "reproduced" for each in again)
        how_many = "none" if not n_met else "all" if n_met == len(again) else str(n_met)
        of = f"of the {len(again)} published claims" if len(again) > 1 else "of one published claim"
        parts.append(f"{how_many} {of} that it judges again {'are' if n_met > 1 else 'is'} reproduced")
    said = "; ".join(parts) or "It judges no claim: its figures and tables are the answer"
    return f"{said[0].upper()}{said[1:]}."


def _own_in_words(own: Sequence[ClaimRow]) -> str:
    if len(own) == 1:
        return f"{_quoted(own[0])} {_outcome(own[0].verdict, 1)}{_number_of(own[0].found)}"
    counts = Counter(each.verdict for each in own).most_common()
    firsts = {verdict: next(each for each in own if each.verdict == verdict) for verdict, _ in counts}
    if len(counts) == 1:
        verdict, n = counts[0]
        such_as = f"such as {_quoted(firsts[verdict])}"
        if verdict == "differs":
            return f"none of its {n} statements holds, {such_as}"
        return f"all of its {n} statements {_outcome(verdict, n)}, {such_as}"
    said = [
        f"{n} {_outcome(verdict, n)} ({'such as ' if n > 1 else ''}{_quoted(firsts[verdict])})" for verdict, n in counts
    ]
    return f"of its {len(own)} statements, {_listed(said)}"


def _outcome(verdict: str, n: int) -> str:
    return OUTCOMES.get(verdict, (f"is {verdict}", f"are {verdict}"))[n > 1]


def _quoted(claim: ClaimRow) -> str:
    return f"“{(claim.statement or claim.id).rstrip('.')}”"


def _number_of(sentence: str) -> str:
    """Give the number with its unit of a sentence of what was found, in brackets."""
    found = re.search(r" is ([-+]?[\d.]+ ?(?:%|points|bits|features)?)(?= \(|,|\.$)", sentence)
    return "" if found is None else f" ({found[1].strip()})"


def documents(content: Content) -> tuple[Document, ...]:
    """Gather the published claims of each document by figure and table, and tell what became of them."""
    parts: dict[tuple[str, str], list[ClaimRow]] = {}
    for section in content.experiments:
        for claim in section.claims:
            parts.setdefault((section.name, claim.claim or claim.id), []).append(claim)
    asked = explanations(content)
    said = conclusions(content)
    by_document: dict[str, list[Claimed]] = {}
    for row in content.scorecard:
        of_row = [(name, part) for name in row.experiment.split("; ") for part in parts.get((name, row.id), ())]
        ids = dict.fromkeys((row.id, *(part.id for _, part in of_row)))
        why = tuple(dict.fromkeys(name for each in ids for name in asked.get(each, ())))
        claimed = Claimed(row, tuple(part for _, part in of_row), tuple(name for name, _ in of_row), why)
        by_document.setdefault(row.document, []).append(claimed)
    return tuple(
        Document(key, _story(key, claims, content, said), _by_place(claims)) for key, claims in by_document.items()
    )


def _by_place(claims: Sequence[Claimed]) -> tuple[tuple[str, tuple[Claimed, ...]], ...]:
    places: dict[str, list[Claimed]] = {}
    for each in claims:
        places.setdefault(each.where or "Elsewhere", []).append(each)
    return tuple((place, tuple(places[place])) for place in sorted(places, key=_order_of_places))


def _order_of_places(place: str) -> tuple[int, list[tuple[int, str]]]:
    kind = next((number for number, word in enumerate(PLACES) if place.lower().startswith(word)), len(PLACES))
    return kind, [(int(number or 0), word) for word, number in re.findall(r"(\D+)(\d*)", place)]


def _is_counted(claim: Claimed) -> bool:
    return claim.row.nature in (*COUNTED, "") and claim.row.verdict != "fact"


def _story(
    key: str, claims: Sequence[Claimed], content: Content, said: Mapping[str, Parts]
) -> tuple[tuple[str, Parts], ...]:
    """Tell in about ten lines what a document claims, what held, what did not, and why."""
    counted = [each for each in claims if _is_counted(each)]
    in_words = sorted((each for each in counted if not each.is_number), key=lambda each: _order_of_places(each.where))
    lines: list[tuple[str, Parts]] = []

    def add(about: str, *parts: str | tuple[str, str]) -> None:
        lines.append((about, tuple((part, "") if isinstance(part, str) else part for part in parts)))

    if key in content.references:
        add("Source", content.references[key].in_words())
    if in_words:
        add("It claims", _statements(in_words))
    if counted:
        add("In counts", _counts_in_words(counted))
    for about, verdict in (("Held", "reproduced"), ("Did not hold", "differs")):
        of_verdict = [each for each in counted if each.row.verdict == verdict]
        if of_verdict:
            add(about, _held(of_verdict, counted))
    open_ = Counter(part.open for each in counted for part in each.parts[:1] if part.open)
    if open_:
        reason, n = open_.most_common(1)[0]
        decides = "All declared readings together decide such a claim; without two, it is not comparable."
        add("Left open", f"{reason.rstrip('.')} ({_plural(n, 'claim')}). {decides}")
    asked = [each for each in counted if each.row.new_data]
    if asked:
        alike = sum(each.row.new_data == "reproduced" for each in asked)
        add("New data", f"Of {_plural(len(asked), 'claim')} about differences, {alike} would hold on new data, too.")
    if before := [each for each in counted if each.row.fixed == "before"]:
        n_met = sum(each.row.verdict == "reproduced" for each in before)
        add(
            "Fixed before",
            f"Of {_plural(len(before), 'rule')} fixed before the figure was known, {n_met} found it reproduced.",
        )
    own = {name for each in claims for name in each.experiments}
    findings = [each for each in content.findings if any(name in own for _, name in each)]
    lines += [("What it comes to", each) for each in findings[:MAX_STATEMENTS]]
    missed = [each for each in claims if each.row.verdict not in {"reproduced", "fact"}]
    names = Counter(name for each in missed for name in each.why)
    questions = {section.name: section.why for section in content.experiments}
    lines += [
        ("Why", ((f"{questions[name]} ", ""), *said[name], (" Shown by ", ""), (name, name), (".", "")))
        for name, _ in names.most_common(MAX_STATEMENTS)
        if name in said and said[name] not in findings
    ]
    return tuple(lines)


def _counts_in_words(counted: Sequence[Claimed]) -> str:
    counts = Counter(each.row.verdict for each in counted)
    verdicts = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]]
    return f"Of {_plural(len(counted), 'claim')} by which something is found out: {_listed(verdicts)}."


def _statements(claims: Sequence[Claimed]) -> str:
    statements = list(dict.fromkeys(each.statement.rstrip(".") for each in claims))
    shown = statements[:MAX_STATEMENTS]
    more = f" And {len(statements) - len(shown)} more." if len(statements) > len(shown) else ""
    return f"{'. '.join(shown)}.{more}"


def _held(claims: Sequence[Claimed], counted: Sequence[Claimed]) -> str:
    """Say which statements have a verdict, and how many of the printed numbers."""
    in_words = [each for each in claims if not each.is_number]
    numbers = [each for each in claims if each.is_number]
    n_numbers = sum(each.is_number for each in counted)
    said = []
    if in_words:
        shown = "; ".join(f"{each.statement.rstrip('.')}{_number_of(each.found)}" for each in in_words[:MAX_STATEMENTS])
        n_statements = len(counted) - n_numbers
        said.append(f"{len(in_words)} of {_plural(n_statements, 'statement')}: {shown}")
    if numbers:
        said.append(f"{len(numbers)} of {_plural(n_numbers, 'printed number')}{_first_number(numbers)}")
    return f"{'. '.join(said)}."


def _first_number(claims: Sequence[Claimed]) -> str:
    found = next((each.found for each in claims if each.found), "")
    sentence = found.rstrip(".")
    return f", such as: {sentence[0].lower()}{sentence[1:]}" if sentence else ""


def _plural(n: int, thing: str) -> str:
    return f"{n} {thing}{'s' if n != 1 else ''}"


def _listed(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
