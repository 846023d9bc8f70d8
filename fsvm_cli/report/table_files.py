"""Tables as CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fsvm_cli.errors import DataError
from fsvm_cli.files import write_atomically
from fsvm_cli.report.numbers import as_csv

if TYPE_CHECKING:
    from pathlib import Path


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, the same bytes on every platform; digits as in `fsvm_cli.report.numbers.as_csv`."""
    write_atomically(path, as_csv(frame).encode())


def read_table(path: Path) -> pd.DataFrame:
    """Read what `write_table` wrote.

    Raises
    ------
    DataError
        If the file is missing or is no such table.
    """
    try:
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise DataError(f"{path}: no such table; 'fsvm run' makes it") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as a table ({error}); run the experiment again") from error
