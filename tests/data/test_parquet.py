"""A Parquet file is read a few columns at a time."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from fsvm_cli.data.readers import csv
from fsvm_cli.data.readers.csv import read_parquet

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

READ = """
import pathlib
import sys
import pyarrow
from fsvm_cli.data.readers import csv
csv.BYTES_AT_A_TIME = int(sys.argv[2])
csv.read_parquet(pathlib.Path(sys.argv[1]))
print(pyarrow.default_memory_pool().max_memory())
"""
"""In a process of its own, for pyarrow counts the memory of a whole process."""
TABLES = {
    "numbers": pa.table({"a": [1.5, 2.5], "b": [1, None], "c": [True, False]}),
    "names with dots": pa.table({"a": [1, 2], "a.b": [3, 4], "": [5, 6]}),
    "records": pa.table({"a": [{"b": 1, "c": "x"}, {"b": 2, "c": "y"}], "d": [[1], [2, 3]]}),
    "coded words": pa.table({"w": pa.array(["u", "v"]).dictionary_encode(), "v": ["x", None]}),
    "the same name twice": pa.table([[1, 2], [3, 4]], names=["a", "a"]),
    "an index of pandas": pa.Table.from_pandas(pd.DataFrame({"a": [1, 2]}, index=pd.Index([7, 9], name="row"))),
    "no rows": pa.table({"a": pa.array([], pa.float64()), "b": pa.array([], pa.string())}),
}


@pytest.mark.parametrize("what", TABLES)
@pytest.mark.parametrize("at_a_time", [1, 1 << 25])
def test_the_columns_are_those_that_pyarrow_reads_at_once(
    what: str, at_a_time: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv, "BYTES_AT_A_TIME", at_a_time)
    parquet.write_table(TABLES[what], tmp_path / "mine.parquet", row_group_size=1)
    table, index = read_parquet(tmp_path / "mine.parquet")
    assert table.equals(parquet.ParquetFile(tmp_path / "mine.parquet").read())
    assert index == (("row",) if what == "an index of pandas" else ())


def test_reading_takes_little_memory_beside_the_columns(rng: np.random.Generator, tmp_path: Path) -> None:
    table = pa.table(list(rng.standard_normal((40, 50_000))), names=[f"x{j}" for j in range(40)])
    parquet.write_table(table, tmp_path / "mine.parquet", row_group_size=10_000)
    program = [sys.executable, "-c", READ, str(tmp_path / "mine.parquet"), str(table.nbytes // 20)]
    highest = int(subprocess.run(program, check=True, capture_output=True, text=True).stdout)
    assert table.nbytes <= highest < 1.5 * table.nbytes
