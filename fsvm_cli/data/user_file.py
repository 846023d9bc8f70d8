"""The user's own files."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fsvm_cli.console import brief, visible
from fsvm_cli.data.given_splits import read_splits
from fsvm_cli.data.readers.arff import ROW_WEIGHTS, read_arff
from fsvm_cli.data.readers.libsvm import names_queries, read_libsvm
from fsvm_cli.data.readers.numbers import Reading, are_numbers_with_signs, without_marks
from fsvm_cli.data.readers.parquet import with_string_columns
from fsvm_cli.data.readers.rows import assemble
from fsvm_cli.data.readers.user_tables import numbers_of, read_user_table, taken_as_written, with_declared_words
from fsvm_cli.data.source_spec import ColumnSplit, IndicesSplit, TestFileSplit
from fsvm_cli.data.table_memory import out_of_memory
from fsvm_cli.data.tables import MAX_WORDS_PER_COLUMN, dataset_from_table, is_missing
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.files import special_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.given_splits import GivenSplit
    from fsvm_cli.data.source_spec import FileFormat, FileSpec, TableSpec

FORMAT_OF_SUFFIX: dict[str, FileFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
}

TEXT_FORMATS: frozenset[FileFormat] = frozenset({"csv", "excel"})
"""Formats in which words mark missing values; the others have a missing value of their own."""


def find_file(spec: FileSpec, base_folder: Path) -> tuple[Path, FileFormat]:
    """Find a file of the user's own, and determine its format.

    Raises
    ------
    UsageError
        If the format cannot be determined.
    DataError
        If the file is missing or empty, or is a pipe or a device.
    """
    path = _expanded(base_folder, spec.file)
    if kind := special_kind(path):
        raise DataError(f"{brief(str(path))}: is {kind}, not a file; save the data in a file, and name that")
    file_format = spec.format or FORMAT_OF_SUFFIX.get(path.suffix.lower())
    if file_format is None:
        raise UsageError(
            f"{brief(str(path))}: the ending does not tell what the file is; give it one of "
            f"{', '.join(FORMAT_OF_SUFFIX)}, or say so in a config (format: csv, excel, parquet, arff or libsvm)"
        )
    try:
        with path.open("rb") as stream:
            is_empty = not stream.read(1)
    except OSError as error:
        raise DataError(f"{brief(str(path))}: cannot be read ({error.strerror}); check its path") from error
    except ValueError as error:  # a name with a zero byte
        raise DataError(f"{brief(str(path))}: no file can have this name; give the path of an existing one") from error
    if is_empty:
        raise DataError(f"{path}: is empty; give a table of rows below their header")
    return path, file_format


def _expanded(base_folder: Path, file: str) -> Path:
    try:
        return base_folder / Path(file).expanduser()
    except RuntimeError:  # no such user: then the tilde is part of a name
        return base_folder / file


def load_file(spec: FileSpec, base_folder: Path) -> Dataset:
    """Read a file of the user's own; its name without ending is the data set's.

    Raises
    ------
    UsageError
        If the format cannot be determined, an option does not fit the file, or there is no memory for it.
    DataError
        If the file is missing or is not what its format asks for.
    """
    path, file_format = find_file(spec, base_folder)
    try:
        return _load(path, file_format, spec, base_folder)
    except MemoryError as error:
        raise UsageError(out_of_memory(path)) from error


def _load(path: Path, file_format: FileFormat, spec: FileSpec, base_folder: Path) -> Dataset:
    _check_options(path, file_format, spec)
    part = spec.split.column if isinstance(spec.split, ColumnSplit) else None
    paths = [path]
    if isinstance(spec.split, TestFileSplit):
        test_spec = spec.model_copy(update={"file": spec.split.test_file, "format": file_format})
        paths.append(find_file(test_spec, base_folder)[0])
    if file_format == "libsvm":
        if spec.model_dump(exclude_defaults=True).keys() & {
            "target",
            "drop",
            "words",
            "missing",
            "categorical",
            "groups",
            "order_by",
            "sample_weight",
        }:
            raise UsageError(f"{path}: LIBSVM's format marks its target and has neither names nor missing values")
        if part is not None:
            raise UsageError(f"{path}: LIBSVM's format has no columns to split by; name a test_file, or indices")
        return _from_libsvm(paths, dense=spec.dense)
    if spec.dense:
        raise UsageError(f"{path}: 'dense' is for LIBSVM's format; other tables are dense as they are")
    readings = [_read_table(each, file_format, spec) for each in paths]
    reading = readings[0]
    own_target = reading.table.column_names[-1] if file_format == "arff" else None
    if file_format == "arff" and reading.table.column_names[0] == ROW_WEIGHTS and spec.sample_weight is None:
        spec = spec.model_copy(update={"sample_weight": ROW_WEIGHTS})
    if len(readings) > 1:
        reading, part = _both(paths, readings)
    if file_format in TEXT_FORMATS and not spec.na:
        reading = without_marks(reading, {*taken_as_written(spec), part or "", spec.sample_weight or ""})
    dataset = dataset_from_table(visible(path.name), reading, spec, own_target, part)
    del readings, reading
    pa.default_memory_pool().release_unused()  # of the columns, which the data set holds in an array of its own
    return dataset


def load_splits(spec: FileSpec, base_folder: Path, dataset: Dataset) -> tuple[GivenSplit, ...]:
    """Read the splits that another file lists for a file of the user's own; none where it names no such file.

    Raises
    ------
    DataError
        If that file is missing or lists anything else, or rows of the data were left out.
    """
    if not isinstance(spec.split, IndicesSplit):
        return ()
    path, file_format = find_file(spec, base_folder)
    if spec.missing == "drop" and _read_table(path, file_format, spec).table.num_rows > dataset.n_samples:
        raise DataError(
            f"{path}: rows with missing values are dropped, and {brief(spec.split.indices)} counts them; have "
            "gaps filled instead (missing: median)"
        )
    return read_splits(_expanded(base_folder, spec.split.indices), dataset, spec.split.first_row)


def read_columns(spec: FileSpec, base_folder: Path) -> Reading:
    """Read the columns of a table as they stand, with nothing in place of codes of missing values.

    Raises
    ------
    UsageError
        If the format cannot be determined, or an option does not fit the file.
    DataError
        If the file is missing, or is not what its format asks for.
    """
    path, file_format = find_file(spec, base_folder)
    _check_options(path, file_format, spec)
    reading = _read_table(path, file_format, spec)
    return without_marks(reading, taken_as_written(spec)) if file_format in TEXT_FORMATS and not spec.na else reading


def _read_table(path: Path, file_format: FileFormat, spec: FileSpec) -> Reading:
    if file_format == "arff":
        return Reading.of_words(with_declared_words(read_arff(path), spec.words))
    return read_user_table(path, file_format, spec)


MIN_SHARE_OF_DATES = 0.9
"""Of the words of a column that is one of dates."""
DATE = re.compile(r"(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4})([T ]\d{1,2}:\d{2}.*)?$")


def columns_without_use(spec: FileSpec, base_folder: Path) -> dict[str, str]:
    """Find the columns that cannot become features whatever is done about gaps and words, each with the reason.

    Those are empty columns, dates, and words most of which occur in a single row. Target, groups and columns that are
    dropped already are not among them.

    Parameters
    ----------
    spec : FileSpec
    base_folder : Path
        Where relative paths begin.

    Raises
    ------
    UsageError, DataError
        As of `load_file`.
    """
    path, file_format = find_file(spec, base_folder)
    if file_format == "libsvm":
        return {}
    _check_options(path, file_format, spec)
    table = _read_table(path, file_format, spec).table
    kept = {*taken_as_written(spec), spec.sample_weight or ""}
    found: dict[str, str] = {}
    times = Counter(table.column_names)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if table.num_rows and name and name not in kept and times[name] == 1:
            reason = _without_use(column)
            found |= {name: reason} if reason else {}
    return found


def _without_use(column: pa.ChunkedArray) -> str:
    if is_missing(column).all():
        return "it is empty"
    dates = (
        "it holds dates; a number, such as the days since an event, could be a feature, and order_by (--order-by) "
        "tests on later rows than those of training"
    )
    if pa.types.is_temporal(column.type):
        return dates
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return ""
    words = [word.strip() for word in column.drop_null().to_pylist()]
    if sum(DATE.match(word) is not None for word in words) >= MIN_SHARE_OF_DATES * len(words):
        return dates
    n_different = len(set(words))
    # Numbers whose signs differ are refused later, with a remedy.
    if n_different > MAX_WORDS_PER_COLUMN and 2 * n_different > len(words) and not are_numbers_with_signs(words):
        return f"it holds {n_different:,} different words, and so names rows, or is free text"
    return ""


def _check_options(path: Path, file_format: FileFormat, spec: FileSpec) -> None:
    """Refuse options that the file's format has no use for."""
    given = spec.model_dump(exclude_defaults=True).keys()
    of_formats = {
        "separator": {"csv"},
        "encoding": {"csv"},
        "no_header": {"csv"},
        "decimal": {"csv", "excel"},
        "na": {"csv", "excel"},
        "sheet": {"excel"},
        "header_rows": {"excel"},
    }
    if wrong := [option for option, formats in of_formats.items() if option in given and file_format not in formats]:
        raise UsageError(f"{path}: '{wrong[0]}' is not for files of this kind ({file_format}); leave it out")


def _both(paths: Sequence[Path], readings: Sequence[Reading]) -> tuple[Reading, str]:
    """Concatenate training and test rows; return also the name of a new column that holds the part of each row."""
    train, test = (reading.table for reading in readings)
    names = train.column_names
    for there, here, path in ((names, test.column_names, paths[1]), (test.column_names, names, paths[0])):
        for name in there:
            if name not in here:
                raise DataError(
                    f"{path}: has no column '{brief(name)}', as the other part has; both need the same columns"
                )
    part = next(name for name in ("part", *(f"part {number}" for number in range(len(names) + 1))) if name not in names)
    try:
        table = pa.concat_tables([train, test.select(names)], promote_options="permissive")
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{paths[1]}: a column holds another kind of values than in {paths[0]} ({reason})") from error
    table = table.append_column(part, pa.array(["train"] * train.num_rows + ["test"] * test.num_rows))
    remarks = dict.fromkeys(remark for reading in readings for remark in reading.remarks)
    issues = {column: issue for reading in readings for column, issue in reading.issues.items()}
    taken = dict.fromkeys(remark for reading in readings for remark in reading.taken_as_missing)
    first, second = (reading.changed_words for reading in readings)
    changed = {name: (*first.get(name, ()), *second.get(name, ())) for name in {**first, **second}}
    return Reading(table, tuple(remarks), issues, tuple(taken), changed), part


def _from_libsvm(paths: Sequence[Path], *, dense: bool) -> Dataset:
    parts = [read_libsvm(path, dense=dense) for path in paths]
    # A file omits features that are zero in all of its rows.
    n_features = max(part.X.shape[1] for part in parts)
    parts = [
        part if part.X.shape[1] == n_features else read_libsvm(path, n_features=n_features, dense=dense)
        for path, part in zip(paths, parts, strict=True)
    ]
    dataset = assemble(visible(paths[0].name), parts)
    if not any(map(names_queries, paths)):
        return dataset
    remark = (
        "qid, which tells the rows that belong together, is ignored: random splits have them on both sides; a table "
        "with a column of them can name it (groups: COLUMN, or --groups COLUMN)"
    )
    return dataclasses.replace(dataset, remarks=(*dataset.remarks, remark))


def from_frame(name: str, frame: Any, spec: TableSpec) -> Dataset:
    """Read a table that is in memory already, of pandas or any other library of Arrow's; an index is no feature.

    Raises
    ------
    UsageError
        If there is no target, or a column that is named does not exist.
    DataError
        If the table is not usable as it is.
    """
    import pandas as pd  # noqa: PLC0415 - a file does without it

    try:
        if isinstance(frame, pd.DataFrame):
            table = pa.Table.from_pandas(_with_named_intervals(frame.rename(columns=str)), preserve_index=False)
        else:
            table = pa.table(frame)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise DataError(f"{name}: not a table of numbers and words ({str(error).splitlines()[0]})") from error
    table = with_declared_words(with_string_columns(table), spec.words)
    return dataset_from_table(name, numbers_of(table, taken_as_written(spec)), spec)


def _with_named_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    """Name categories that are no words, such as the intervals of `pandas.cut`, and keep their order."""
    own: dict[str, Any] = {
        str(name): column.cat.rename_categories(list(map(str, column.cat.categories)))
        for name, column in frame.items()
        if column.dtype == "category" and not all(isinstance(each, str) for each in column.cat.categories)
    }
    return frame.assign(**own)
