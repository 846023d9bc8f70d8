"""ARFF, the tables of WEKA: the header through SciPy, dense and sparse rows here.

SciPy reads no sparse rows, and quoted words only where the first row has some.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from scipy.io import arff

from fsvm_cli.console import brief
from fsvm_cli.data.readers.words import plain_word
from fsvm_cli.data.table_memory import check_memory_for_table, check_memory_for_text
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# scipy's reader has no error of its own for most malformed texts.
PARSE_ERRORS = (arff.ArffError, ValueError, KeyError, IndexError, TypeError, StopIteration, NotImplementedError)

DATA_LINE = re.compile(r"^[ \t]*@data\b.*$", re.IGNORECASE | re.MULTILINE)
SPARSE_ROW = re.compile(r"\{(.*)\}")
VALUE = r"""('[^']*'|"[^"]*"|[^,\t'"{}]+?)\s*(?:[,\t]|$)"""
DENSE_VALUE = re.compile(rf"\s*{VALUE}")
SPARSE_VALUE = re.compile(rf"\s*(\d{{1,9}})\s+{VALUE}")
MAX_CELLS = 50_000_000


def read_arff(path: Path) -> pa.Table:
    """Read an ARFF file; nominal attributes whose values are all numbers become numbers.

    In sparse rows, ``{index value, ...}`` with indices from 0, an attribute that is not named is 0 where it is numeric
    and has the first of its words where it is nominal, as WEKA has it.

    Raises
    ------
    DataError
        If it is none, or has attributes of text, dates or relations, or weights of rows; with the line where a row is
        wrong.
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
    try:
        _, meta = arff.loadarff(io.StringIO(text[:header_end]))
    except PARSE_ERRORS as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise DataError(f"{path}: not an ARFF file of numbers and names ({reason})") from error
    words = {name: _words(path, name, *meta[name]) for name in meta.names()}
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


def _words(path: Path, name: str, kind: str, values: tuple[str, ...] | None) -> list[str] | None:
    """List the words of a nominal attribute; None where it is numeric."""
    if kind not in {"numeric", "nominal"}:
        raise DataError(f"{path}: not an ARFF file of numbers and names (the attribute '{brief(name)}' is a {kind})")
    return None if values is None else [plain_word(word) for word in values]


def _fill(path: Path, words: dict[str, list[str] | None], rows: list[tuple[int, str]]) -> pa.Table:
    names, known = list(words), list(words.values())
    is_sparse = rows[0][1].startswith("{")
    entries_of = _sparse_entries if is_sparse else _dense_entries
    columns: list[Any] = [np.zeros(len(rows)) if each is None else [each[0]] * len(rows) for each in known]
    for index, (number, row) in enumerate(rows):
        where = f"{path}:{number}"
        for column, value in entries_of(where, row, len(names)):
            allowed = known[column]
            if value == "?":
                columns[column][index] = np.nan if allowed is None else None
            elif allowed is None:
                columns[column][index] = _number(where, value, names[column])
            elif plain_word(value) in allowed:
                columns[column][index] = value
            else:
                raise DataError(f"{where}: '{brief(value)}' is no value of the attribute '{brief(names[column])}'")
    return pa.table(list(map(_column, columns)), names=names)


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
    return enumerate(map(_unquoted, values))


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
        yield index, _unquoted(found[2])


def _each(pattern: re.Pattern[str], where: str, text: str, form: str) -> Iterator[re.Match[str]]:
    end = 0
    while end < len(text):
        found = pattern.match(text, end)
        if found is None:
            raise DataError(f"{where}: not {form}: '{text[end : end + 40]}'")
        yield found
        end = found.end()


def _unquoted(value: str) -> str:
    return value[1:-1] if value[0] in "'\"" else value


def _number(where: str, value: str, name: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise DataError(f"{where}: '{brief(value)}' is no number, which the attribute '{brief(name)}' holds") from None
