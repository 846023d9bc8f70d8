"""What is ranked outside any experiment: a file, a data frame, or a data set that fsvm knows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsvm_cli.data.catalogue import data_cards
from fsvm_cli.data.opening import open_source
from fsvm_cli.data.phrases import nearest
from fsvm_cli.data.source import fixed_source
from fsvm_cli.data.spec import FileSpec, NamedSpec, TableSpec
from fsvm_cli.documents import Document, as_in_documents, validate
from fsvm_cli.errors import UsageError
from fsvm_cli.files import is_file
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from fsvm_cli.data.source import DataSource
    from fsvm_cli.data.spec import Spec


def source_of(file: str, options: Mapping[str, Any], announce: Callable[[str], None]) -> DataSource:
    """Open a file of the user's own, or a data set that fsvm knows.

    Parameters
    ----------
    file : str
        Path, or name of a data set; a file of the name goes first.
    options : mapping of str to value
        What is said of a file, as in `FileSpec`; those that are None say nothing.
    announce : callable
        Is told, line by line, what takes time.

    Raises
    ------
    UsageError
        If there is neither, or an option is wrong.
    DataError
        If the data are missing, corrupt or out of reach.
    """
    exists = is_file(Path(file))
    names = [] if exists else [*data_cards()]
    if file in names:
        spec: Spec = NamedSpec(name=file)
    elif not (exists or Path(file).suffix):
        raise UsageError(f"{brief(file)}: there is no such file, nor a data set of this name; {nearest(file, names)}")
    else:
        spec = validate(_document({"file": file, **options}), FileSpec)
    return open_source(spec, base_folder=Path(), announce=announce)


def source_of_frame(table: pd.DataFrame, options: Mapping[str, Any]) -> DataSource:
    """Open a data frame; `options` and errors as in `source_of`."""
    from fsvm_cli.data.user_file import from_frame  # noqa: PLC0415 - brings pyarrow, which is slow to import

    spec = validate(_document(options), TableSpec)
    return fixed_source(from_frame("table", table, spec))


def _document(options: Mapping[str, Any]) -> Document:
    said = as_in_documents({name: value for name, value in options.items() if value is not None})
    return Document("rank", said, {(name,): name for name in said})
