"""How a text holds a table: encoding, separator, decimal mark, marks of missing values."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.csv

from fsvm_cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MISSING_MARKS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
SEPARATORS = ",;\t"
LONGEST_HEADER = 1 << 26
"""Characters that are looked at: a file without line ends is a header as long as it is."""
FIRST_LINE_OF_EXCEL = re.compile(r"sep=(.)\s*")
"""What Excel's exports may begin with: the separator of what follows."""


@dataclass(frozen=True)
class CsvForm:
    """How a text holds a table.

    Attributes
    ----------
    separator : str
        One character.
    encoding : str
        As Python's codecs call it.
    lines_before : int
        Lines before the header.
    decimal : {".", ","}
    marks : tuple of str
        What stands for a missing value.
    """

    separator: str
    encoding: str = "utf8"
    lines_before: int = 0
    decimal: str = "."
    marks: tuple[str, ...] = MISSING_MARKS


def find_form(path: Path, separator: str | None = None, encoding: str | None = None) -> CsvForm:
    """Find out how a file is written: UTF-16 by its mark, the separator by the header.

    Raises
    ------
    UsageError
        If no encoding is called so.
    """
    with path.open("rb") as stream:
        mark = stream.read(2)
    encoding = encoding or ("utf-16" if mark in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE} else "utf8")
    try:
        with path.open(encoding=encoding, errors="replace", newline="\n") as stream:
            header = stream.readline(LONGEST_HEADER).removeprefix("\ufeff")
    except LookupError as error:
        raise UsageError(
            f"there is no encoding {encoding!r}; common ones are utf-8, utf-16, cp1252, latin-1"
        ) from error
    except UnicodeError:  # a byte order mark is missing
        header = ""
    if said := FIRST_LINE_OF_EXCEL.fullmatch(header):
        return CsvForm(separator or said[1], encoding, lines_before=1)
    found = max(SEPARATORS, key=header.count)
    if not header.count(found) and "|" in header:
        found = "|"
    return CsvForm(separator or found, encoding)


def options_of(
    form: CsvForm, block: int, refuse: Callable[[pyarrow.csv.InvalidRow], str] | None = None
) -> dict[str, Any]:
    """Say the same in pyarrow's words, for blocks of so many bytes; `refuse` is asked about rows of another length."""
    return {
        "read_options": pyarrow.csv.ReadOptions(block_size=block, skip_rows=form.lines_before, encoding=form.encoding),
        "parse_options": pyarrow.csv.ParseOptions(
            delimiter=form.separator, newlines_in_values=True, invalid_row_handler=refuse
        ),
        "convert_options": pyarrow.csv.ConvertOptions(
            null_values=list(form.marks), strings_can_be_null=True, decimal_point=form.decimal
        ),
    }
