"""The user's own files, and the sets of OpenML."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from fsvm_cli.data.fetch import cache_folder
from fsvm_cli.data.load import assemble
from fsvm_cli.data.readers.libsvm import read_libsvm
from fsvm_cli.data.readers.numbers import Reading
from fsvm_cli.data.readers.own import numbers_of, read_own_table
from fsvm_cli.data.table import dataset_from_table
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.terminal import brief, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.spec import FileFormat, FileSpec, OpenmlSpec, TableSpec

FORMATS: dict[str, FileFormat] = {
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


def find_file(spec: FileSpec, base_folder: Path) -> tuple[Path, FileFormat]:
    """Find a file of the user's own, and tell its format.

    Raises
    ------
    UsageError
        If the format cannot be told.
    DataError
        If the file is missing or empty.
    """
    path = _expanded(base_folder, spec.file)
    file_format = spec.format or FORMATS.get(path.suffix.lower())
    if file_format is None:
        raise UsageError(
            f"{brief(str(path))}: the ending does not tell what the file is; give it one of "
            f"{', '.join(FORMATS)}, or say so in a config (format: csv, excel, parquet, arff or libsvm)"
        )
    try:
        with path.open("rb") as stream:
            is_empty = not stream.read(1)
    except OSError as error:
        raise DataError(f"{brief(str(path))}: cannot be read ({error.strerror})") from error
    except ValueError as error:  # a name with a zero byte
        raise DataError(f"{brief(str(path))}: no file can be called so") from error
    if is_empty:
        raise DataError(f"{path}: is empty")
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
        If the format cannot be told, or an option does not fit the file.
    DataError
        If the file is missing or is not what its format asks for.
    """
    path, file_format = find_file(spec, base_folder)
    _check_options(path, file_format, spec)
    if file_format == "libsvm":
        if spec.model_dump(exclude_defaults=True).keys() & {"target", "drop", "missing", "categorical"}:
            raise UsageError(f"{path}: LIBSVM's format marks its target and has neither names nor missing values")
        return assemble(visible(path.stem), [read_libsvm(path, dense=spec.dense)])
    if spec.dense:
        raise UsageError(f"{path}: 'dense' is for LIBSVM's format; other tables are dense as they are")
    if file_format == "arff":
        from fsvm_cli.data.readers.arff import read_arff  # noqa: PLC0415 - slow to import, and seldom needed

        table = read_arff(path)
        return dataset_from_table(visible(path.stem), Reading(table), spec, own_target=table.column_names[-1])
    return dataset_from_table(visible(path.stem), read_own_table(path, file_format, spec), spec)


def _check_options(path: Path, file_format: FileFormat, spec: FileSpec) -> None:
    """Refuse options that the file's format has no use for."""
    said = spec.model_dump(exclude_defaults=True).keys()
    of_formats = {"separator": {"csv"}, "encoding": {"csv"}, "decimal": {"csv", "excel"}, "na": {"csv", "excel"}}
    if wrong := [option for option, formats in of_formats.items() if option in said and file_format not in formats]:
        raise UsageError(f"{path}: '{wrong[0]}' is not for files of this kind ({file_format}); leave it out")


def from_frame(name: str, frame: pd.DataFrame, spec: TableSpec) -> Dataset:
    """Read a table that is in memory already; its index is no feature.

    Raises
    ------
    UsageError
        If there is no target, or a column that is named does not exist.
    DataError
        If the table is not usable as it is.
    """
    try:
        table = pa.Table.from_pandas(frame.rename(columns=str), preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise DataError(f"{name}: not a table of numbers and words ({str(error).splitlines()[0]})") from error
    return dataset_from_table(name, numbers_of(table, {spec.target or "", *spec.drop}), spec)


def load_openml(spec: OpenmlSpec, announce: Callable[[str], None]) -> Dataset:
    """Fetch a data set of OpenML, or take it from the cache.

    Raises
    ------
    UsageError
        If a number comes with a version.
    DataError
        If OpenML has no such set, it cannot be reached, or the set is not usable as it is.
    """
    import sklearn.datasets  # noqa: PLC0415 - slow to import, and seldom needed

    is_number = isinstance(spec.openml, int)
    if is_number and spec.version is not None:
        raise UsageError(f"OpenML {spec.openml}: a number stands for one version; leave 'version' out")
    announce(f"OpenML {spec.openml}: from the cache, or from openml.org")
    try:
        with warnings.catch_warnings(record=True) as remarks:
            warnings.simplefilter("always")
            bunch = sklearn.datasets.fetch_openml(
                name=None if is_number else spec.openml,
                version=spec.version or "active",
                data_id=spec.openml if is_number else None,
                as_frame=True,
                data_home=cache_folder(),
            )
    except (OSError, ValueError) as error:  # no network; no such set, or other bytes than OpenML announces
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(
            f"OpenML {spec.openml}: cannot be had ({reason})\n"
            "Try again later, or save the table and name it in the config (dataset: {file: NAME.csv, target: COLUMN})."
        ) from error
    for remark in remarks:  # which of several versions was taken, for example
        announce(str(remark.message).splitlines()[0])
    table = pa.Table.from_pandas(bunch.frame, preserve_index=False)
    own_target = bunch.target_names[0] if len(bunch.target_names) == 1 else None
    return dataset_from_table(f"openml-{spec.openml}", Reading(table), spec, own_target)


def caveats(spec: TableSpec) -> tuple[str, ...]:
    """Say what every report on a table that was read so must say."""
    if spec.missing == "mean":
        return ("Missing values were replaced by means over all rows, test rows included.",)
    return ()
