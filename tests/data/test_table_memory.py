"""Tables for which there is no memory are refused before they are read, in one line that says what to do."""

from __future__ import annotations

import gzip
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from fsvm_cli import memory_check as memory
from fsvm_cli.data.opening import open_source
from fsvm_cli.data.readers import csv
from fsvm_cli.data.readers.user_tables import read_excel
from fsvm_cli.data.source_spec import FileSpec
from fsvm_cli.data.user_file import FORMAT_OF_SUFFIX, load_file
from fsvm_cli.errors import DataError, UsageError
from tests.data.test_fuzz import sheet, workbook
from tests.helpers.calling import fsvm_here

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = (
    r"fsvm: .*/mine\.\w+: about ([\d,]+) rows of 11 columns need 0\.1 GB, and 0\.0 GB are free; draw fewer rows, "
    r"take columns out of the file, or use a computer with more memory\n"
)


@pytest.fixture
def table(rng: np.random.Generator) -> pd.DataFrame:
    values = rng.normal(size=(300_000, 1)).repeat(10, axis=1).round(3)
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(10)]).assign(y=np.arange(300_000) % 2)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_without_memory_is_refused_before_it_is_read(
    kind: str, table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"mine.{kind}"
    table.to_parquet(file) if kind == "parquet" else table[:20_000].to_csv(file, index=False)
    monkeypatch.setattr(memory, "free_memory", lambda: 2e7 if kind == "parquet" else 1e6)
    monkeypatch.setattr(csv, "MIN_BYTES_READ_IN_BLOCKS", 1 << 15)
    monkeypatch.setattr(csv, "BLOCK_BYTES", 1 << 15)
    monkeypatch.setattr(csv, "_parsed", None)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read", None)
    answer = fsvm_here("rank", file, "--target", "y", "--method", "fisher")
    assert (answer.code, answer.out) == (2, "")
    expected = REFUSED if kind == "parquet" else REFUSED.replace("0\\.1 GB", "0\\.0 GB")
    found = re.fullmatch(expected, answer.err)
    assert found, answer.err
    assert int(found[1].replace(",", "")) == pytest.approx(300_000 if kind == "parquet" else 20_000, rel=0.02)


def test_memory_that_ends_on_the_way_is_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise pa.ArrowMemoryError("malloc of size 80000000000 failed")

    (tmp_path / "mine.csv").write_text("a,y\n1,2\n")
    monkeypatch.setattr(csv, "_parsed", fails)
    answer = fsvm_here("rank", tmp_path / "mine.csv", "--target", "y")
    assert answer.code == 2
    assert re.fullmatch(r"fsvm: .*mine\.csv: needs more memory than there is; draw fewer rows, .*\n", answer.err)


FEW_BYTES = int(1e9)
"""Free memory of a computer that these files would take all of."""


def written(folder: Path, kind: str) -> Path:
    """Write a small file that would take all memory."""
    path = folder / f"mine.{kind}"
    match kind:
        case "libsvm":
            path.write_text("+1 1:0.5 1000000000:2\n-1 2:1\n+1 1:1 3:1\n-1 2:2 3:2.5\n")
        case "xlsx":
            path.write_bytes(workbook(sheet("XFD65536")))
        case "xlsm":
            path.write_bytes(workbook(sheet(around=f"<!--{' ' * (2 * FEW_BYTES // 1000)}-->")))
        case "gz":
            path.write_bytes(gzip.compress(b"a,y\n" + b"1,2\n" * (FEW_BYTES // 1000)))
        case "parquet":
            # In the file it stands once.
            words = pa.DictionaryArray.from_arrays(np.zeros(20, dtype=np.int32), ["word" * 25_000]).cast(pa.string())
            parquet.write_table(pa.table({"a": words, "y": np.arange(20) % 2}), path)
        case "wide":
            path.write_text('\n"a\n' + "," * 2_000_000 + '",' + "," * 2_000_000 + "y\n")
        case "columns":
            path.write_text("," * 300_000 + "y\n")
        case "pages":
            words = pa.array(["w" * 3_000_000] + ["x"] * 19)
            parquet.write_table(
                pa.table({"a": words, "y": np.arange(20) % 2}), path, compression="zstd", use_dictionary=False
            )
        case "words":
            path.write_text("a,y\n" + "".join(f"w{row % 100},{row % 2}\n" for row in range(2000)))
        case _:
            with path.open("wb") as stream:  # a file of holes
                stream.truncate(10**12)
    return path


@pytest.mark.parametrize(
    ("kind", "free", "expected"),
    [
        ("libsvm", 10**9, r"its largest index is 1,000,000,000, and so many features need 300\.0 GB, .* without gaps"),
        ("xlsx", 10**9, r"reaches over 65,536 rows of 16,384 columns, of whose cells 15 hold something; .*Ctrl\+End"),
        ("xlsm", 10**6, r"decompresses to 0\.0 GB, and 0\.0 GB are free"),
        ("gz", 10**6, r"a text of 0\.0 GB or more needs 0\.0 GB"),
        ("csv", 10**9, r"a text of 1,000\.0 GB or more needs 3,000\.0 GB, and 1\.0 GB are free; draw fewer rows"),
        ("arff", 10**9, r"a text of 1,000\.0 GB or more needs 3,000\.0 GB"),
        ("svm", 10**9, r"a text of 1,000\.0 GB or more needs 3,000\.0 GB"),
        ("words", 10**6, r"about 2,000 rows of 100 columns need 0\.0 GB"),
        ("parquet", 10**6, r"words that are 0\.0 GB"),
        ("pages", 5 * 10**6, r"its pages, decompressed, need 0\.0 GB, and 0\.0 GB are free; draw fewer rows"),
        ("wide", 10**12, r"4,000,002 columns, and at most 1,000,000 are read from text; save them in LIBSVM's format"),
        ("columns", 10**9, r"300,001 columns need 2\.4 GB, and 1\.0 GB are free; draw fewer rows"),
    ],
)
def test_a_small_file_that_unfolds_to_more_than_there_is_memory_for_is_refused(
    kind: str, free: int, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, kind)
    monkeypatch.setattr(memory, "free_memory", lambda: free)
    if kind == "pages":  # none of which is decompressed
        monkeypatch.setattr(parquet.ParquetFile, "read", None)
    options: dict[str, Any] = {} if kind in {"libsvm", "svm", "arff"} else {"target": "y"}
    if kind == "pages":
        options |= {"format": "parquet"}
    if kind in {"gz", "words", "wide", "columns"}:
        options |= {"format": "csv", "categorical": "one-hot"}
    with pytest.raises(UsageError, match=expected) as caught:
        load_file(FileSpec.model_validate({"file": path.name} | options), tmp_path)
    assert len(str(caught.value).splitlines()) == 1
    assert str(caught.value).startswith("mine.words: " if kind == "words" else f"{path}: ")


@pytest.mark.parametrize("cells", [(), ("C5",), ("A1048576",)])
def test_a_sheet_with_room_for_its_cells_is_read(cells: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "mine.xlsx").write_bytes(workbook(sheet(*cells)))
    table, _ = read_excel(tmp_path / "mine.xlsx", ())
    assert table.num_rows >= 6


@pytest.mark.parametrize("kind", sorted({*FORMAT_OF_SUFFIX}))
@pytest.mark.parametrize("given", ["data", "test_file", "indices"])
def test_a_pipe_or_a_device_is_refused_before_it_is_opened(kind: str, given: str, tmp_path: Path) -> None:
    (tmp_path / "sound.svm").write_text("1 1:1\n2 1:2\n1 1:3\n2 1:4\n")
    os.mkfifo(tmp_path / f"pipe{kind}")
    (tmp_path / f"device{kind}").symlink_to("/dev/zero")
    for what in ("pipe", "device"):
        spec: dict[str, Any] = {"file": f"{what}{kind}", "target": "y"}
        if given != "data":
            spec = {"file": "sound.svm", "split": {given: f"{what}{kind}"}}
        with pytest.raises(DataError, match=f"{what}{kind}: is a {what}, not a file; save the .* in a file, and name"):
            open_source(FileSpec.model_validate(spec), base_folder=tmp_path, announce=lambda _: None)


def test_memory_that_ends_in_any_reader_is_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise MemoryError

    (tmp_path / "mine.svm").write_text("1 1:1\n2 1:2\n")
    monkeypatch.setattr("fsvm_cli.data.user_file.assemble", fails)
    with pytest.raises(UsageError, match=r"mine\.svm: needs more memory than there is; draw fewer rows"):
        load_file(FileSpec(file="mine.svm"), tmp_path)


def test_columns_of_a_packed_header_are_counted(tmp_path: Path) -> None:
    (tmp_path / "mine.csv.gz").write_bytes(gzip.compress(b"," * 2_000_000 + b"y\n"))
    with pytest.raises(UsageError, match="2,000,001 columns, and at most"):
        load_file(FileSpec(file="mine.csv.gz", format="csv", target="y"), tmp_path)
