"""Columns of text that are numbers, with decimal commas or grouped digits, and marks of missing values in columns."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import pyarrow as pa

from fsvm_cli.console import brief
from fsvm_cli.data.messages import shown
from fsvm_cli.data.readers.words import about_changes, with_plain_words

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence

    from fsvm_cli.data.readers.words import ChangedWord

MARKS_AMONG_WORDS = frozenset({"", "-", "--", "–", "—", "n/a", "#n/a", "#nv", "#value!", "#div/0!"})
"""What stands for a missing value in a column of words; in small letters, without blanks."""
MARKS_AMONG_NUMBERS = MARKS_AMONG_WORDS | {".", "?", "na", "nan", "null", "none"}
"""The same where the other values of a column are numbers, so that words cannot be meant."""
_SIGN_WORD = re.compile(r"[-+±/–—−]+")


def is_mark(value: str, marks: Collection[str]) -> bool:
    """Whether a value is one of the marks, ignoring case and surrounding blanks."""
    return value.strip().lower() in marks


def marks_among_words(values: Sequence[str]) -> list[str]:
    """List which of the different values of a column of words stand for a missing one.

    A dash is a word if other words are signs too, such as ``+``, and if there is only one word that is no mark: in a
    column of ``x`` and ``-``, the dash means the absence of x.
    """
    marks = [value for value in values if is_mark(value, MARKS_AMONG_WORDS)]
    words = {value.strip() for value in values} - {mark.strip() for mark in marks}
    has_other_signs = any(_SIGN_WORD.fullmatch(word) for word in words)
    return [] if len(words) < 2 or has_other_signs else marks


def found_in(name: str, marks: Sequence[str], n_rows: int) -> str:
    """Describe the marks of a column and the number of rows that hold them."""
    return f"'{brief(name)}' ({shown([brief(repr(mark)) for mark in marks])} in {n_rows} rows)"


DecimalMark: TypeAlias = Literal[".", ","]

_EXPONENT = r"(?:[eE][+-]?\d+)?"
_WITH_POINT = re.compile(rf"[+-]?(?:\d+\.?\d*|\.\d+){_EXPONENT}")
_WITH_COMMA = re.compile(rf"[+-]?(?:\d+,?\d*|,\d+){_EXPONENT}")
_GROUPED_BY_COMMA = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_GROUPED_BY_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?")
_GROUPED_BY_BLANK = re.compile(r"[+-]?[1-9]\d{0,2}(?:[\s’']\d{3})+(?:[.,]\d+)?")
_NUMBER_PATTERNS = (_WITH_POINT, _WITH_COMMA, _GROUPED_BY_COMMA, _GROUPED_BY_POINT)
_UP_TO_THREE_DIGITS = re.compile(r"[+-]?(?:0|[1-9]\d{0,2})")
_SYMBOL = r"[^\w\s.,:;/+()=\"'’<>≤≥*?!|-]"
_WITH_SIGNS = re.compile(
    rf"(?P<minus>[+-]?)(?P<before>(?:(?:[^\W\d_]{{0,3}}{_SYMBOL}|[A-Z]{{3}}\s)\s*)?)"
    rf"(?P<number>[+-]?(?:\d(?:[\d.,\s’']*\d)?[.,]?|[.,]\d+){_EXPONENT})"
    rf"(?P<behind>(?:\s*(?:{_SYMBOL}|[^\W\d_])\D*[23]?)?)"
)
_AS_FORMULA = re.compile(r'="(.*)"')
"""How spreadsheets are made to keep a number as it is written."""


@dataclass(frozen=True)
class Reading:
    """A table whose columns of numbers are numbers, and what the reader of the file decided.

    Attributes
    ----------
    table : pyarrow.Table
    remarks : tuple of str
        Decisions of the reader that users should know.
    issues : mapping of str to str
        For columns that cannot be read, the problem and remedy: a sentence that continues the column's name.
    taken_as_missing : tuple of str
        Remarks on marks in which missing values were seen; a table that is refused for missing values needs them, too.
    changed_words : mapping of str to tuple of ChangedWord
        By column; `with_remarks_on_words` tells them.
    """

    table: pa.Table
    remarks: tuple[str, ...] = ()
    issues: Mapping[str, str] = field(default_factory=dict)
    taken_as_missing: tuple[str, ...] = ()
    changed_words: Mapping[str, tuple[ChangedWord, ...]] = field(default_factory=dict)

    @classmethod
    def of_words(cls, table: pa.Table) -> Reading:
        """Read a table whose numbers are numbers already."""
        table, changed = with_plain_words(table)
        return cls(table, changed_words=changed)

    def with_remarks_on_words(self, names: Container[str | None]) -> Reading:
        """Tell what was changed in the words of some columns."""
        own = {name: words for name, words in self.changed_words.items() if name in names}
        known = {name: [word for word in words if word.read is not None] for name, words in own.items()}
        gaps = {name: [word for word in words if word.read is None] for name, words in own.items()}
        found = [
            found_in(name, [word.written for word in words], sum(word.n_rows for word in words))
            for name, words in gaps.items()
            if words
        ]
        missing = [f"with blanks around them, these are taken as missing values: {shown(found)}"] if found else []
        return replace(
            self,
            remarks=(*self.remarks, *about_changes(known)),
            taken_as_missing=(*self.taken_as_missing, *missing),
            changed_words={},
        )

    def without_columns(self, names: Collection[str]) -> Reading:
        """Leave out columns, and what keeps them from being read."""
        if not names:
            return self
        indices = [index for index, name in enumerate(self.table.column_names) if name not in names]
        issues = {name: issue for name, issue in self.issues.items() if name not in names}
        return replace(self, table=self.table.select(indices), issues=issues)


def reads_as_number(value: str) -> bool:
    """Whether a word is a number, with a decimal point or a decimal comma."""
    return _all_read_with([value], _NUMBER_PATTERNS)


def are_numbers_with_signs(words: Sequence[str]) -> bool:
    """Whether all words are numbers, some with signs; a letter right behind a number may name a kind, as in 2b."""
    return all(number_and_signs(word) and not re.fullmatch(r"\d+[^\W\d_]", word) for word in words) and not all(
        map(reads_as_number, words)
    )


def in_order_of_numbers(words: Sequence[str]) -> bool:
    """Whether words are in the order of the first number in each; true unless all begin alike, as stage 2, stage 10."""
    parts = [re.fullmatch(r"(\D*?)(\d+(?:\.\d+)?).*", word, re.DOTALL) for word in words]
    if len({part and part[1] for part in parts}) != 1 or parts[0] is None:
        return True
    numbers = [float(part[2]) for part in parts if part]
    return numbers == sorted(numbers)


def has_comma(value: str) -> bool:
    """Whether a word is a number that contains a comma."""
    return "," in value and reads_as_number(value)


def number_and_signs(value: str) -> tuple[str, tuple[str, str]] | None:
    """Split a number from what stands before and behind it, such as ``$`` and ``kg``; None for any other word.

    A number in brackets, or with its minus behind, is negative, as accountants write it.
    """
    bare = value.strip().replace("−", "-")
    if formula := _AS_FORMULA.fullmatch(bare):
        bare = formula[1].strip()
    minus = ""
    if bare.startswith("(") and bare.endswith(")"):
        minus, bare = "-", bare[1:-1].strip()
    elif bare.endswith("-"):
        minus, bare = "-", bare[:-1].strip()
    found = _WITH_SIGNS.fullmatch(bare)
    if found is None or (minus and found["minus"]):
        return None
    number = f"{minus or found['minus']}{found['number']}"
    return (number, (found["before"].strip(), found["behind"].strip())) if reads_as_number(number) else None


def with_decimal_commas(table: pa.Table, left_out: Container[str]) -> list[str]:
    """List the columns of words that can only be numbers with decimal commas.

    ``1,234`` alone is ambiguous: the comma may group digits.
    """
    return [column.name for column in _columns_of_words(table, left_out) if _is_certain([*column.numbers.values()])]


def with_numbers(
    table: pa.Table, decimal: DecimalMark | None, left_out: Container[str], missing: Collection[str] = ()
) -> Reading:
    """Turn columns of words that are numbers into numbers, and put all other words into their plain form.

    Parameters
    ----------
    table : pyarrow.Table
    decimal : {".", ","} or None
        The decimal mark, None where it is not known; then numbers such as ``1,234`` are an error.
    left_out : container of str
        Columns of words that stay such.
    missing : collection of str
        What stands for a missing value, also with blanks around it.
    """
    table, changed = with_plain_words(table, missing)
    issues: dict[str, str] = {}
    groups: list[str] = []
    signs: list[str] = []
    marks: list[str] = []
    for name, index, numbers, own_marks in _columns_of_words(table, left_out):
        if not numbers or (own_marks and len(own_marks) >= len(numbers)):
            continue
        found = _as_numbers([*numbers.values()], decimal)
        if found is None:
            issues[name] = _unclear([*numbers.values()], decimal)
            continue
        as_words = table.column(index).cast(pa.string()).to_pylist()
        column = pa.array([found[numbers[word]] if word in numbers else None for word in as_words], pa.float64())
        table = table.set_column(index, name, pa.chunked_array([column]))
        changed[name] = tuple(word for word in changed.get(name, ()) if word.read is None)
        groups += [name] * _are_grouped([*numbers.values()], decimal)
        if sign := next((_sign_of(word) for word, number in numbers.items() if _sign_of(word)), ""):
            signs.append(f"'{brief(name)}' ({brief(repr(sign))})")
        if own_marks:
            n_rows = sum(word in own_marks for word in as_words if word is not None)
            marks.append(found_in(name, own_marks, n_rows))
    remarks = [f"digits are taken as grouped by thousands in: {quoted(groups)}"] * bool(groups)
    if signs:
        remarks.append(f"read as numbers, without their signs: {shown(signs)}; --words NAME (words: NAME) keeps words")
    about_marks = (f"among numbers, these are taken as missing values: {shown(marks)}",) if marks else ()
    return Reading(table, tuple(remarks), issues, about_marks, changed)


def _sign_of(word: str) -> str:
    """Return what stands beside a number, or the word itself where its minus is written in another way."""
    if reads_as_number(word):
        return ""
    _, (before, behind) = number_and_signs(word) or ("", ("", ""))
    return " and ".join(filter(None, (before, behind))) or word.strip()


def quoted(names: Sequence[str]) -> str:
    """Join names of columns for a message, the first few of many."""
    return shown([f"'{brief(name)}'" for name in names])


class _WrittenNumbers(NamedTuple):
    """A column of words that are numbers: the number in each different word, and the marks of missing values."""

    name: str
    place: int
    numbers: dict[str, str]
    marks: list[str]


def _columns_of_words(table: pa.Table, left_out: Container[str]) -> Iterable[_WrittenNumbers]:
    """Yield the columns of words whose values are numbers with the same signs, or marks."""
    for index, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if name in left_out or not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        if _written_numbers(column.slice(0, 1000)) is None:  # spares the different values of a long column of words
            continue
        if (found := _written_numbers(column)) is not None:
            yield _WrittenNumbers(name, index, *found)


def _written_numbers(column: pa.ChunkedArray) -> tuple[dict[str, str], list[str]] | None:
    """Return the number in each different word of a column, and its marks; None where other words, or signs, occur."""
    numbers: dict[str, str] = {}
    marks: list[str] = []
    signs: set[tuple[str, str]] = set()
    for value in column.unique().to_pylist():
        if value is None:
            continue
        if _is_mark(value):
            marks.append(value)
        elif reads_as_number(value):
            numbers[value] = value
            signs.add(("", ""))
        elif found := number_and_signs(value):
            numbers[value] = found[0]
            signs.add(found[1])
        else:
            return None
        if len(signs) > 1:
            return None
    behind = [number for word, number in numbers.items() if word.strip().endswith(("-", "−"))]
    # School grades such as 1- are no negative numbers.
    is_grade = bool(behind) and all(len(number) <= 2 for number in behind)
    return None if is_grade else (numbers, marks)


def _is_certain(numbers: Sequence[str]) -> bool:
    with_commas = [number for number in numbers if "," in number]
    return (
        bool(with_commas)
        and _all_read_with(numbers, (_WITH_COMMA, _GROUPED_BY_POINT))
        and not _all_read_with(with_commas, (_GROUPED_BY_COMMA,))
    )


def _as_numbers(numbers: Sequence[str], decimal: DecimalMark | None) -> dict[str, float] | None:
    """Return the value of each number, or None if their formats differ."""
    if decimal is None and any("," in number and ("." in number or number.count(",") > 1) for number in numbers):
        decimal = "."  # in 1,234.5 and 1,234,567 commas can only group digits
    if decimal is None and _may_be_grouped(numbers):
        return None
    if decimal == "," and _all_read_with(numbers, (_WITH_COMMA, _GROUPED_BY_POINT)):
        return {number: float(_bare(number).replace(".", "").replace(",", ".")) for number in numbers}
    if _all_read_with(numbers, (_WITH_POINT,)):
        return {number: float(_bare(number)) for number in numbers}
    if decimal == "." and _all_read_with(numbers, (_WITH_POINT, _GROUPED_BY_COMMA)):
        return {number: float(_bare(number).replace(",", "")) for number in numbers}
    return None


def _may_be_grouped(numbers: Sequence[str]) -> bool:
    """Whether all points may stand between thousands, as in 1.234 beside 899; with three decimals, 899.000 would."""
    with_points = [number for number in map(_bare, numbers) if "." in number]
    return (
        0 < len(with_points) < len(numbers)
        and all(_GROUPED_BY_POINT.fullmatch(number) and "," not in number for number in with_points)
        and all("." in number or _UP_TO_THREE_DIGITS.fullmatch(number) for number in map(_bare, numbers))
    )


def unclear_points(columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Describe the columns of numbers whose points may stand between thousands; none where any point cannot.

    Parameters
    ----------
    columns : mapping of str to sequence of str
        For each column, its different numbers as written.
    """
    with_points = [number for numbers in columns.values() for number in numbers if "." in number]
    if not _all_read_with(with_points, (_GROUPED_BY_POINT,)):
        return {}
    return {name: _unclear(numbers, None) for name, numbers in columns.items() if _may_be_grouped(numbers)}


def _are_grouped(numbers: Sequence[str], decimal: DecimalMark | None) -> bool:
    patterns = {",": _GROUPED_BY_POINT, ".": _GROUPED_BY_COMMA, None: _GROUPED_BY_COMMA}
    return any(
        _GROUPED_BY_BLANK.fullmatch(number.strip()) or patterns[decimal].fullmatch(_bare(number)) for number in numbers
    )


def _unclear(numbers: Sequence[str], decimal: DecimalMark | None) -> str:
    """Describe why a column of numbers is ambiguous."""
    odd = max(numbers, key=lambda number: (not _all_read_with([number], (_WITH_POINT,)), "." in number))
    if decimal is None:
        return (
            f"holds numbers such as {brief(repr(odd))}; say whether a comma or a point stands before the decimals "
            "(decimal: ',' or decimal: '.'; --decimal , or --decimal .)"
        )
    patterns = {",": (_WITH_COMMA, _GROUPED_BY_POINT), ".": (_WITH_POINT, _GROUPED_BY_COMMA)}[decimal]
    other = next((number for number in numbers if not _all_read_with([number], patterns)), odd)
    example = brief(repr(other))
    return f"writes numbers in several ways, such as {example} where '{decimal}' stands before decimals; correct them"


def _is_mark(value: str) -> bool:
    return is_mark(value, MARKS_AMONG_NUMBERS)


def _bare(value: str) -> str:
    """Strip blanks around a number and between groups of three digits."""
    bare = value.strip().replace("−", "-")
    return re.sub(r"[\s’']", "", bare) if _GROUPED_BY_BLANK.fullmatch(bare) else bare


def _all_read_with(values: Sequence[str], patterns: Sequence[re.Pattern[str]]) -> bool:
    return all(any(pattern.fullmatch(bare) for pattern in patterns) for bare in map(_bare, values))


def without_marks(reading: Reading, left_out: Container[str]) -> Reading:
    """Replace marks by missing values in columns of words, with a remark.

    Parameters
    ----------
    reading : Reading
        Columns of numbers are numbers already.
    left_out : container of str
        Columns that stay as they are.
    """
    table = reading.table
    found: list[str] = []
    for index, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if not is_text or name in left_out or name in reading.issues:
            continue
        values = [value for value in column.unique().to_pylist() if value is not None]
        marks = marks_among_words(values)
        if not marks or all(reads_as_number(value) or is_mark(value, MARKS_AMONG_NUMBERS) for value in values):
            continue
        as_words = column.to_pylist()
        known = pa.array([None if word in marks else word for word in as_words], column.type)
        table = table.set_column(index, name, pa.chunked_array([known]))
        found.append(found_in(name, marks, sum(word in marks for word in as_words)))
    if not found:
        return reading
    remark = (
        f"among words, these are taken as missing values: {shown(found)}; where they are words, name instead what is "
        "missing (na: NA, or --na NA)"
    )
    return dataclasses.replace(reading, table=table, taken_as_missing=(*reading.taken_as_missing, remark))
