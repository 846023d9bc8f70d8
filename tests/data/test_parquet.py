"""A Parquet file is read a few columns at a time, and not believed in what it says of its size."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from fsvm_cli import memory_check as memory
from fsvm_cli.data.readers import parquet as reader
from fsvm_cli.data.readers.parquet import read_parquet
from fsvm_cli.data.source_spec import FileSpec
from fsvm_cli.data.user_file import load_file
from fsvm_cli.errors import DataError, UsageError
from tests.helpers.parquet_lies import I32, I64, chunks_of, groups_of, rewritten

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np

    from tests.helpers.parquet_lies import Fields

READ = """
import pathlib
import sys
import pyarrow
from fsvm_cli.data.readers import parquet
parquet.READ_BLOCK_BYTES = int(sys.argv[2])
parquet.read_parquet(pathlib.Path(sys.argv[1]))
print(pyarrow.default_memory_pool().max_memory())
"""
"""In a process of its own, for pyarrow counts the memory of a whole process."""
TABLES = {
    "numbers": pa.table({"a": [1.5, 2.5], "b": [1, None], "c": [True, False]}),
    "names with dots": pa.table({"a": [1, 2], "a.b": [3, 4], "": [5, 6]}),
    "coded words": pa.table({"w": pa.array(["u", "v"]).dictionary_encode(), "v": ["x", None]}),
    "coded words beside numbers": pa.table({"w": pa.array(["u", "v"]).dictionary_encode(), "a": [1, 2]}),
    "times": pa.table({"t": pa.array([1, 2], pa.timestamp("ms")), "d": pa.array([1, 2], pa.decimal128(9, 2))}),
    "an index of pandas": pa.Table.from_pandas(pd.DataFrame({"a": [1, 2]}, index=pd.Index([7, 9], name="row"))),
    "no rows": pa.table({"a": pa.array([], pa.float64()), "b": pa.array([], pa.string())}),
}


@pytest.mark.parametrize("what", TABLES)
@pytest.mark.parametrize("at_a_time", [1, 1 << 25])
def test_the_columns_are_those_that_pyarrow_reads_at_once(
    what: str, at_a_time: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "READ_BLOCK_BYTES", at_a_time)
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


def test_the_headers_of_pages_are_read_whatever_they_hold(rng: np.random.Generator, tmp_path: Path) -> None:
    table = pa.table({"x": rng.standard_normal(5000), "w": [f"word {k % 70}" * (k % 9) for k in range(5000)]})
    for number, options in enumerate(
        (
            {"data_page_version": "2.0", "compression": "zstd"},
            {"compression": "snappy", "use_dictionary": False},
            {"compression": "none", "write_page_checksum": True},
            {"column_encoding": {"x": "BYTE_STREAM_SPLIT", "w": "DELTA_BYTE_ARRAY"}, "use_dictionary": False},
            {"column_encoding": {"w": "DELTA_LENGTH_BYTE_ARRAY"}, "use_dictionary": False, "compression": "gzip"},
            {"write_page_index": True, "write_statistics": True, "max_rows_per_page": 100},
        )
    ):
        path = tmp_path / f"{number}.parquet"
        parquet.write_table(table, path, data_page_size=1000, row_group_size=1700, **options)
        assert read_parquet(path)[0].equals(table)


OTHERS = {
    "lists": [[1, 2], [], [3]],
    "records": [{"b": 1, "c": "x"}] * 3,
    "bytes": [b"ab", b"", b"\xff"],
}


@pytest.mark.parametrize("what", OTHERS)
def test_columns_of_neither_numbers_nor_words_are_not_read(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, others = tmp_path / "mine.parquet", pa.array(OTHERS[what] * 4)
    parquet.write_table(pa.table({"x": range(12), "other": others, "y": ["a", "b"] * 6}), path)
    table, _ = read_parquet(path)
    kind = table.column("other").type
    assert table.column("other").null_count == 12
    for options, message in (
        ({}, f"mine.parquet: column 'other' holds {kind}, not numbers; drop it"),
        ({"target": "other"}, f"mine.parquet: the target 'other' holds {kind}, not classes"),
    ):
        spec = FileSpec.model_validate({"file": path.name, "target": "y", "drop": ("y",) if options else ()} | options)
        with pytest.raises(DataError) as caught:
            load_file(spec, tmp_path)
        assert str(caught.value).startswith(message)
    assert load_file(FileSpec(file=path.name, target="y", drop=("other",)), tmp_path).feature_names == ("x",)


def test_a_name_that_stands_twice_is_told_before_anything_is_read(tmp_path: Path) -> None:
    parquet.write_table(pa.table([[1, 2], [3, 4]], names=["a", "a"]), tmp_path / "mine.parquet")
    with pytest.raises(DataError, match=r"mine\.parquet: column names occur more than once: 'a'; make them distinct"):
        read_parquet(tmp_path / "mine.parquet")


def test_a_name_that_is_the_path_of_a_list_is_told(tmp_path: Path) -> None:
    table = pa.table({"a": [[1.0], [2.0, 3.0]], "a.list.element": [1.0, 2.0]})
    parquet.write_table(table, tmp_path / "mine.parquet")
    with pytest.raises(DataError, match=r"'a\.list\.element' is the name of a column and the path of a list"):
        read_parquet(tmp_path / "mine.parquet")


def leave(_: Fields) -> None:
    """Change nothing."""


def declare_rows(footer: Fields) -> None:
    footer[3] = I64, 10**10
    for group in groups_of(footer):
        group[3] = I64, 10**10
    for chunk in chunks_of(footer):
        chunk[5] = I64, 10**10


def declare_rows_of_a_part(footer: Fields) -> None:
    groups_of(footer)[0][3] = I64, 10**10


def declare_few_values(footer: Fields) -> None:
    for chunk in chunks_of(footer):
        chunk[5] = I64, 1


def declare_few_bytes(footer: Fields) -> None:
    for group in groups_of(footer):
        group[2] = I64, 1
    for chunk in chunks_of(footer):
        chunk[6] = I64, 1


def hold_many_values(header: Fields) -> None:
    for number in {5, 8} & header.keys():
        header[number][1][1] = I32, 2**31 - 1


def hold_many_words(header: Fields) -> None:
    if 7 in header:
        header[7][1][1] = I32, 2**31 - 1


def unfold(header: Fields) -> None:
    header[2] = I32, 2**31 - 1


def shrink(header: Fields) -> None:
    header[2] = I32, -1


MEMORY = r"its pages, decompressed, need 17\.2 GB, and 0\.1 GB are free; draw fewer rows"
ROWS = r"damaged: it declares [\d,]+ rows, .* of them in a part whose pages hold [\d,]+ of the column '.*'; write the"


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize(
    ("of_pages", "of_footer", "error", "message"),
    [
        (leave, declare_rows, DataError, ROWS),
        (leave, declare_rows_of_a_part, DataError, ROWS),
        (leave, declare_few_values, DataError, ROWS),
        (hold_many_values, leave, DataError, ROWS),
        (hold_many_words, leave, DataError, r"no page begins at byte 4\); write the file again"),
        (shrink, leave, DataError, r"no page begins at byte 4\); write the file again"),
        (unfold, declare_few_bytes, UsageError, MEMORY),
    ],
)
def test_what_a_file_says_of_its_size_is_not_believed(
    version: str,
    of_pages: Callable[[Fields], None],
    of_footer: Callable[[Fields], None],
    error: type[Exception],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = pa.table({"w": ["a", "b"] * 20, "x": [1.0, 2.0] * 20})
    parquet.write_table(table, tmp_path / "sound.parquet", compression="zstd", data_page_version=version)
    rewritten(tmp_path / "sound.parquet", tmp_path / "same.parquet", leave, leave)
    assert read_parquet(tmp_path / "same.parquet")[0].equals(table)
    path = tmp_path / "mine.parquet"
    rewritten(tmp_path / "sound.parquet", path, of_pages, of_footer)
    monkeypatch.setattr(parquet.ParquetFile, "read", None)
    monkeypatch.setattr(memory, "free_memory", lambda: 10**8)
    with pytest.raises(error, match=message) as caught:
        read_parquet(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value).splitlines()) == 1


def test_bytes_that_are_no_header_of_a_page_are_told(rng: np.random.Generator, tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    parquet.write_table(pa.table({"x": rng.standard_normal(50), "y": [1, 2] * 25}), path, compression="snappy")
    content = path.read_bytes()
    for head in (
        b"\xff" * 20,
        b"\x1c" * 5000,
        b"\x19\xf8" + b"\xff" * 8,
        b"\x00",
        b"\x5c\x15\x02\x00",
        *map(bytes, range(1, 16)),
    ):
        path.write_bytes(content[:4] + head + content[4 + len(head) :] if len(head) < 100 else content[:4] + head)
        with pytest.raises(DataError, match=r"mine\.parquet: (not a Parquet file, or )?damaged"):
            read_parquet(path)


def test_words_that_lengthen_the_word_before_are_counted_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.parquet"
    words = pa.array(["w" * 10_000 + str(k) for k in range(1000)])
    parquet.write_table(
        pa.table(
            {
                "w": words,
            }
        ),
        path,
        use_dictionary=False,
        column_encoding={"w": "DELTA_BYTE_ARRAY"},
    )
    assert path.stat().st_size < 100_000
    assert read_parquet(path)[0]["w"].to_pylist() == words.to_pylist()
    monkeypatch.setattr(memory, "free_memory", lambda: 2 * 10**7)
    monkeypatch.setattr(parquet.ParquetFile, "read", None)
    with pytest.raises(UsageError, match=r"columns of words that are 0\.0 GB, row by row, need 0\.0 GB"):
        read_parquet(path)


def test_coded_words_are_counted_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = pa.DictionaryArray.from_arrays([0] * 50, ["w" * 100_000])
    parquet.write_table(pa.table({"w": codes}), tmp_path / "mine.parquet")
    monkeypatch.setattr(memory, "free_memory", lambda: 10**7)
    with pytest.raises(UsageError, match="columns of words that are"):
        read_parquet(tmp_path / "mine.parquet")


def test_metadata_that_is_nested_deeper_than_python_reads_is_no_obstacle(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0, 2.0, 3.0], "kind": ["p", "q", "p"]})
    path = tmp_path / "mine.parquet"
    parquet.write_table(table.replace_schema_metadata({"pandas": "[" * 10**5 + "]" * 10**5}), path)
    found, index = read_parquet(path)
    assert (found.to_pydict(), index) == (table.to_pydict(), ())
    assert load_file(FileSpec(file=path.name, target="kind"), tmp_path).X.ravel().tolist() == [1.0, 2.0, 3.0]
