"""ARFF, the tables of WEKA, with dense and sparse rows.

SciPy and liac-arff refuse what WEKA writes or reads: comments behind an attribute, weights of rows, and the one sparse
rows, the other words in quotes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fsvm_cli.console import brief
from fsvm_cli.data.readers.words import plain_word
from fsvm_cli.data.table_memory import check_memory_for_table, check_memory_for_text
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DATA_LINE = re.compile(r"^[ \t]*@data\b.*$", re.IGNORECASE | re.MULTILINE)
QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
ATTRIBUTE = re.compile(
    rf"""@attribute\s+({QUOTED}|[^\s'"{{}}%]+)\s*(?:\{{((?:{QUOTED}|[^}}'"])*)\}}|([a-z]+)\b)[^'"]*""", re.IGNORECASE
)
WORD = re.compile(rf"""\s*({QUOTED}|[^,'"]+?)\s*(?:,|$)""")
NUMERIC = frozenset({"numeric", "real", "integer"})
COMMENT = re.compile(r"\s%[^'\"]*$")
WEIGHT = re.compile(r"\s*,\s*\{\s*([\d.eE+-]+)\s*\}$")
SPARSE_ROW = re.compile(r"\{(.*)\}")
VALUE = rf"""({QUOTED}|[^,\t'"{{}}]+?)\s*(?:[,\t]|$)"""
DENSE_VALUE = re.compile(rf"\s*{VALUE}")
SPARSE_VALUE = re.compile(rf"\s*(\d{{1,9}})\s+{VALUE}")
ESCAPED = re.compile(r"\\(.)")
MAX_CELLS = 50_000_000
ROW_WEIGHTS = "weights of the rows"
"""Name of the column of the weights that rows have in braces behind them."""


def read_arff(path: Path) -> pa.Table:
    """Read an ARFF file; nominal attributes whose values are all numbers become numbers.

    In sparse rows, ``{index value, ...}`` with indices from 0, an attribute that is not named is 0 where it is numeric
    and has the first of its words where it is nominal, as WEKA has it. Weights of rows are the first column.

    Raises
    ------
    DataError
        If it is none, or has attributes of text, dates or relations; with the line where a row is wrong.
    UsageError
        If there is no memory for it.
    """
    check_memory_for_text(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not ARFF in UTF-8 (byte {error.start})") from error
    begin = DATA_LINE.search(text)
    if begin is None:
        raise DataError(f"{path}: not an ARFF file, or cut off: no line says @data")
    header_end = begin.end()
    words = _attributes(path, text[: begin.start()])
    lines = enumerate(text[header_end:].split("\n"), start=text.count("\n", 0, header_end) + 1)
    rows = [(number, line.strip()) for number, line in lines if line.strip() and not line.lstrip().startswith("%")]
    if not rows or not words:
        raise DataError(f"{path}: holds no rows")
    if len(rows) * len(words) > MAX_CELLS:
        raise DataError(
            f"{path}: {len(rows)} rows of {len(words)} attributes would fill the memory; use LIBSVM's sparse format"
        )
    check_memory_for_table(str(path), len(rows), len(words))
    return _fill(path, words, rows)


def _attributes(path: Path, header: str) -> dict[str, list[str] | None]:
    """List for each attribute the words of a nominal one, or None where it is numeric."""
    what = f"{path}: not an ARFF file of numbers and names"
    found: dict[str, list[str] | None] = {}
    for number, line in enumerate(map(str.strip, header.split("\n")), start=1):
        if not line or line.startswith("%") or line.lower().startswith("@relation"):
            continue
        attribute = ATTRIBUTE.fullmatch(line)
        if attribute is None:
            raise DataError(f"{what} (line {number}: '{brief(line)}')")
        name, listed, kind = _unquoted(attribute[1]), attribute[2], attribute[3]
        if name in found:
            raise DataError(f"{what} (the attribute '{brief(name)}' is declared twice)")
        if kind is not None and kind.lower() not in NUMERIC:
            raise DataError(f"{what} (the attribute '{brief(name)}' is a {brief(kind.lower())})")
        form = "the words of an attribute with commas between them"
        words = [
            plain_word(_unquoted(each[1])) for each in _each(WORD, f"{path}:{number}", (listed or "").strip(), form)
        ]
        if kind is None and not words:
            raise DataError(f"{what} (the attribute '{brief(name)}' has no words)")
        found[name] = words if kind is None else None
    return found


def _fill(path: Path, words: dict[str, list[str] | None], rows: list[tuple[int, str]]) -> pa.Table:
    names, known = list(words), list(words.values())
    is_sparse = rows[0][1].startswith("{")
    entries_of = _sparse_entries if is_sparse else _dense_entries
    columns: list[Any] = [np.zeros(len(rows)) if each is None else [each[0]] * len(rows) for each in known]
    weights = np.ones(len(rows))
    for index, (number, row) in enumerate(rows):
        where = f"{path}:{number}"
        content = COMMENT.sub("", row)
        if weight := WEIGHT.search(content):
            content, weights[index] = content[: weight.start()], _number(where, weight[1], ROW_WEIGHTS)
        for column, written in entries_of(where, content, len(names)):
            allowed, value = known[column], _unquoted(written)
            # In quotes, a question mark that is declared is a word.
            if value == "?" and (written == "?" or allowed is None or "?" not in allowed):
                columns[column][index] = np.nan if allowed is None else None
            elif allowed is None:
                columns[column][index] = _number(where, value, names[column])
            elif plain_word(value) in allowed:
                columns[column][index] = value
            else:
                raise DataError(f"{where}: '{brief(value)}' is no value of the attribute '{brief(names[column])}'")
    table = pa.table(list(map(_column, columns)), names=names)
    return table if (weights == 1).all() else table.add_column(0, ROW_WEIGHTS, pa.array(weights))


def _column(values: Any) -> pa.Array:
    if isinstance(values, np.ndarray):
        return pa.array(values, from_pandas=True)
    try:
        return pa.array([None if word is None else float(word) for word in values], pa.float64())
    except ValueError:
        return pa.array(values, pa.string())


def _dense_entries(where: str, row: str, n_attributes: int) -> Iterator[tuple[int, str]]:
    values = [found[1] for found in _each(DENSE_VALUE, where, row, "a row of values with commas between them")]
    if len(values) != n_attributes or row.endswith((",", "\t")):
        raise DataError(f"{where}: {len(values)} values, where {n_attributes} attributes are declared")
    return enumerate(values)


def _sparse_entries(where: str, row: str, n_attributes: int) -> Iterator[tuple[int, str]]:
    form = "a sparse row {index value, ...} as the rows before it"
    content = SPARSE_ROW.fullmatch(row)
    if content is None:
        raise DataError(f"{where}: not {form}")
    last = -1
    for found in _each(SPARSE_VALUE, where, content[1].strip(), form):
        index = int(found[1])
        if not last < index < n_attributes:
            raise DataError(f"{where}: the index {index} is not one that rises from 0 to {n_attributes - 1}")
        last = index
        yield index, found[2]


def _each(pattern: re.Pattern[str], where: str, text: str, form: str) -> Iterator[re.Match[str]]:
    end = 0
    while end < len(text):
        found = pattern.match(text, end)
        if found is None:
            raise DataError(f"{where}: not {form}: '{text[end : end + 40]}'")
        yield found
        end = found.end()


def _unquoted(value: str) -> str:
    if value[0] not in "'\"":
        return value
    return ESCAPED.sub(lambda found: {"n": "\n", "r": "\r", "t": "\t"}.get(found[1], found[1]), value[1:-1])


def _number(where: str, value: str, name: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise DataError(f"{where}: '{brief(value)}' is no number, which the attribute '{brief(name)}' holds") from None
