"""What a config may write under ``dataset:``."""

from __future__ import annotations

import operator
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from fsvm_cli.config_io import StrictModel
from fsvm_cli.console import brief

MissingRule = Literal["refuse", "drop", "mean", "median", "most-frequent", "indicator"]
CategoricalRule = Literal["refuse", "one-hot", "ordinal"]
FileFormat = Literal["csv", "excel", "parquet", "arff", "libsvm"]
Separator = Literal[",", ";", "tab", "|", "space", ":"]


class NamedSpec(StrictModel):
    """A data set that has a card.

    Attributes
    ----------
    name : str
        Name of the card.
    version : str or None
        One of the card's versions; the first where nothing is said.
    samples : int or None
        Rows to draw, for a synthetic set; the card's own number where nothing is said.
    dense : bool
        Whether a sparse matrix becomes a full one, which most methods need.
    """

    name: str = Field(min_length=1, description="name of a card in datasets/")
    version: str | None = Field(default=None, description="one of the card's versions; the first by default")
    samples: int | None = Field(default=None, ge=2, le=10_000_000, description="rows to draw from a synthetic set")
    dense: bool = Field(
        default=False,
        exclude_if=operator.not_,
        description="read a sparse matrix into a full one, which most methods need",
    )


def _one_or_more(value: Any) -> Any:
    return value if isinstance(value, tuple | list) else (value,)


Names = Annotated[tuple[str, ...], BeforeValidator(_one_or_more, json_schema_input_type=str | tuple[str, ...])]


class TableSpec(StrictModel):
    """How a table of the user's own becomes numbers and classes.

    Attributes
    ----------
    target : str or None
        Column that holds the class; a table that marks its own has it where nothing is said.
    drop : tuple of str
        Columns that are no features; ``a,b`` means two where no column is called so.
    words : tuple of str
        Columns of which every value is a word, also digits and ``NA``; ``a,b`` as in `drop`.
    missing : {"refuse", "drop", "mean", "median", "most-frequent", "indicator"}
        What to do about missing values: refuse the table, drop the rows, or fill them by what the training part of each
        split shows: the column's mean, median or most frequent value, or the mean with one feature more that tells
        where a value is missing. Words are filled with the most frequent one.
    categorical : {"refuse", "one-hot", "ordinal"}
        What to do about columns of words: refuse the table, turn each into one feature per word, or number the words in
        the order of the alphabet, or of their categories where Parquet or pandas has ordered ones.
    groups : str or None
        Column that is no feature: rows with the same value in it stay together in every split and fold.
    order_by : str or None
        Column that is no feature: dates or numbers that order the rows, for ``train: before``.
    sample_weight : str or None
        Column that is no feature: how many equal rows each row stands for where machines and rankings learn from it.
        Rows of weight 0 are left out.
    """

    target: str | None = Field(default=None, description="column that holds the class")
    drop: tuple[str, ...] = Field(default=(), description="columns that are no features")
    words: Names = Field(
        default=(),
        exclude_if=operator.not_,
        description="columns whose values are words, also where they are digits or NA",
    )
    missing: MissingRule = Field(
        default="refuse", description="what to do about missing values; they are filled by what training rows show"
    )
    categorical: CategoricalRule = Field(default="refuse", description="what to do about columns of words")
    groups: str | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="column whose rows with the same value, such as those of one patient, stay on one side of every "
        "split; it is no feature",
    )
    order_by: str | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="column of dates (2024-01-31 or 31.01.2024) or numbers that orders the rows, for 'train: before'; "
        "it is no feature",
    )
    sample_weight: str | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="column of numbers >= 0: how many equal rows each one stands for in training; rows of weight 0 are "
        "left out, and every test row counts once; it is no feature",
    )


HEADER_ROWS_PATTERN = r"^[1-9]\d{0,3}(-[1-9]\d{0,3})?$"


def _header_rows(value: Any) -> Any:
    """Read a number of rows as the first ones: 2 is 1-2."""
    text = str(value)
    first, _, last = (text if "-" in text else f"1-{text}").partition("-")
    if isinstance(value, bool) or not re.match(HEADER_ROWS_PATTERN, text) or int(first) > int(last):
        raise ValueError(
            f"'{brief(str(value))}' are no rows of a header; write their number, as 2, or the first and last, as 3-4"
        )
    return f"{first}-{last}"


HeaderRows = Annotated[
    str,
    BeforeValidator(_header_rows, json_schema_input_type=Annotated[int, Field(ge=1)] | str),
]


class ColumnSplit(StrictModel):
    """A column of the file says which rows are for training; it is no feature."""

    column: str = Field(min_length=1, description="column that says train or test in each row")


class TestFileSplit(StrictModel):
    """All rows of the file are for training, those of another one for testing."""

    __test__ = False  # pytest takes the name for that of tests

    test_file: str = Field(min_length=1, description="path of the test rows, relative to the config; same columns")


class IndicesSplit(StrictModel):
    """Another file lists splits, one a line."""

    indices: str = Field(
        min_length=1,
        description="path of a file with one split a line: numbers of the training rows, and behind a | those of the "
        "test rows; without it all others are for testing",
    )
    first_row: int = Field(default=1, ge=0, le=1, description="number of the first row of the data in that file")


def _kind_of_split(value: Any) -> str:
    keys = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return next((key for key in ("test_file", "indices") if key in keys), "column")


SplitSpec = Annotated[
    Annotated[ColumnSplit, Tag("column")]
    | Annotated[TestFileSplit, Tag("test_file")]
    | Annotated[IndicesSplit, Tag("indices")],
    Discriminator(_kind_of_split),
]


class FileSpec(TableSpec):
    """A file of the user's own.

    Attributes
    ----------
    file : str
        Relative to the config.
    format : {"csv", "excel", "parquet", "arff", "libsvm"} or None
        By default, what the file's ending says.
    separator : {",", ";", "tab", "|", "space", ":"} or None
        Between the fields of a text; by default, what the header says.
    encoding : str or None
        Of a text, as Python's codecs call it; by default UTF-8, or UTF-16 where the file begins with its mark.
    decimal : {".", ","} or None
        What stands before the decimals; by default a point, or a comma where columns can be read in no other way.
    na : tuple of str
        What stands for a missing value, beside what does everywhere; a dash among words is a word then.
    sheet : str or None
        Of a workbook of Excel, by its name; by default the first.
    header_rows : str or None
        Rows of a sheet that hold the names of the columns, as 3-4; those above do not count. By default the first.
    no_header : bool
        Whether a text begins with its first row; the columns are column1, column2, ...
    dense : bool
        Whether a file in LIBSVM's format becomes a full matrix, which most methods need.
    split : SplitSpec or None
        Which rows are for training, where the config says ``train: given``.
    """

    file: str = Field(min_length=1, description="path, relative to the config")
    format: FileFormat | None = Field(default=None, description="by default, what the file's ending says")
    separator: Separator | None = Field(default=None, description="between fields; by default, what the header says")
    encoding: str | None = Field(default=None, min_length=1, description="of a text; by default UTF-8, or UTF-16")
    decimal: Literal[".", ","] | None = Field(default=None, description="what stands before decimals")
    na: Names = Field(
        default=(),
        description="what stands for a missing value, beside the usual marks; a dash among words is a word then",
    )
    sheet: str | None = Field(
        default=None,
        min_length=1,
        exclude_if=operator.not_,
        description="of a workbook of Excel, by its name; by default the first",
    )
    header_rows: HeaderRows | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="rows of a sheet of Excel that hold the names of the columns: their number, as 2, or the first and "
        "last of them, as 3-4, where rows above are left out; the parts of a name are joined by blanks",
    )
    no_header: bool = Field(
        default=False,
        exclude_if=operator.not_,
        description="the first line of a text is a row; the columns are column1, column2, ...",
    )
    dense: bool = Field(default=False, description="read LIBSVM's format into a full matrix")
    split: SplitSpec | None = Field(default=None, description="which rows are for training, for 'train: given'")


class OpenmlSpec(TableSpec):
    """A data set of OpenML, by its number, or by its name and perhaps the version of that name."""

    openml: int | str = Field(description="number or name of the data set on openml.org")
    version: int | None = Field(default=None, ge=1, description="version of the name; the oldest active by default")


def _from_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _kind(value: Any) -> str:
    keys = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return "own" if "file" in keys else "public" if "openml" in keys else "named"


Spec = NamedSpec | FileSpec | OpenmlSpec
DatasetSpec = Annotated[
    Annotated[NamedSpec, Tag("named")] | Annotated[FileSpec, Tag("own")] | Annotated[OpenmlSpec, Tag("public")],
    Discriminator(_kind),
    BeforeValidator(_from_name, json_schema_input_type=str | Spec),
]
