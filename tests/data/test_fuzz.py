"""Every reader against damaged files: a data set or a DataError, never another exception, never a wait.

A sample; ``make fuzz`` is the campaign.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import warnings
import zipfile
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fsvm_cli.data.fetch import extract
from fsvm_cli.data.readers.libsvm import read_libsvm
from fsvm_cli.data.readers.reuters import read_reuters
from fsvm_cli.data.readers.rows import assemble
from fsvm_cli.data.readers.text import read_expression, read_gene_table, read_sequences, read_text
from fsvm_cli.data.source_spec import FileFormat, FileSpec
from fsvm_cli.data.user_file import load_file
from fsvm_cli.errors import DataError, UsageError
from tests.data.test_reuters import STORIES
from tests.data.test_unpack import compress
from tests.fuzz.campaign import MAX_LINES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

EXAMPLES = 60
CSV = b'a,"b c",y\n1,2.5,yes\n3,,no\n-1e3,0,"y,es"\n2,red,no\n'
ARFF = b"@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c {0,1}\n@data\n1,x,0\n2.5,y,1\n?,x,1\n"
SPARSE_ARFF = ARFF.partition(b"1,x,0")[0] + b"{0 1,2 1}\n{1 y}\n{}\n{0 ?, 1 'y'}\n"
GENES = b"1.5 2 3\n\n4 5e3 6\n"


def parquet(columns: dict[str, list[Any]]) -> bytes:
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(columns), stream, compression="snappy")
    return stream.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def sheet(*cells: str, around: str = "") -> bytes:
    """Make the XML of a sheet that has a small table, and cells besides."""
    rows = ["<row><c t='str'><v>a</v></c><c t='str'><v>y</v></c></row>"]
    rows += [f"<row><c><v>{number}</v></c><c><v>{number % 2}</v></c></row>" for number in range(6)]
    rows += [f"<row r='{cell.lstrip(ascii_uppercase)}'><c r='{cell}'><v>1</v></c></row>" for cell in cells]
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f"<worksheet xmlns='{space}'>{around}<sheetData>{''.join(rows)}</sheetData></worksheet>".encode()


def workbook(content: bytes) -> bytes:
    """Pack the XML of a sheet into a workbook."""
    empty, packed = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(empty)
    with zipfile.ZipFile(empty) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, content if name == "xl/worksheets/sheet1.xml" else old.read(name))
    return packed.getvalue()


def own_sheet(path: Path) -> None:
    path.write_bytes(workbook(path.read_bytes()))
    own("excel")(path)


def tarred(mode: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        entry = tarfile.TarInfo("member")
        entry.size = len(CSV)
        archive.addfile(entry, io.BytesIO(CSV))
    return stream.getvalue()


def own(file_format: FileFormat, **options: str) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        target = None if file_format in {"arff", "libsvm"} else "y"
        spec = FileSpec.model_validate({"file": path.name, "format": file_format, "target": target} | options)
        load_file(spec, path.parent)

    return read


def own_tables() -> dict[str, Reader]:
    """Make readers of tables without gaps and words as they are, and of tables with both in two ways.

    Each way is a reader of its own: what one of them refuses would keep the next from ever being tried.
    """
    numbers = ARFF.partition(b"1,x,0")[0].replace(b"b {x,y}", b"b real")
    plain: dict[str, tuple[FileFormat, bytes]] = {
        "CSV": ("csv", b'a,"b c",y\n1,2.5,yes\n3,7,no\n-1e3,0,"y,es"\n2,.5,no\n'),
        "Parquet": ("parquet", parquet({"a": [1.0, 2.5, 3.0], "b": [0, 2, 1], "y": [0, 1, 1]})),
        "ARFF": ("arff", numbers + b"1,7,0\n2.5,8,1\n4,7,1\n"),
        "sparse ARFF": ("arff", numbers + b"{0 1,2 1}\n{1 4}\n{}\n"),
    }
    messy: dict[str, tuple[FileFormat, bytes]] = {
        "CSV": ("csv", CSV),
        "Parquet": ("parquet", parquet({"a": [1.0, None, 3.0, 4.0], "b": ["x", "y", "x", "y"], "y": [0, 1, 1, 0]})),
        "ARFF": ("arff", ARFF),
        "sparse ARFF": ("arff", SPARSE_ARFF),
    }
    dropped, filled = {"missing": "drop", "categorical": "one-hot"}, {"missing": "mean", "categorical": "ordinal"}
    readers = {f"own {name}": Reader(own(kind), sound) for name, (kind, sound) in plain.items()}
    for name, (kind, sound) in messy.items():
        readers[f"own {name}, gaps dropped"] = Reader(own(kind, **dropped), sound)
        readers[f"own {name}, gaps filled"] = Reader(own(kind, **filled), sound)
    return readers


def expression(path: Path) -> None:
    (path.parent / "tissues").write_bytes(b"-1\r\n1\r\n-2\r\n")
    (path.parent / "names").write_bytes(b"g1\tR1\tx\ng2\tR2\ty\n")
    read_expression(path, path.parent / "tissues", path.parent / "names")


def gene_table(path: Path) -> None:
    (path.parent / "samples").write_bytes(b"SAMPLES\r\n\r\n1 \tALL\tBM\r\n2\tAML\r\n3 ALL\r\n")
    assemble("t", [read_gene_table(path, path.parent / "samples")])


def reuters(path: Path) -> None:
    for part in read_reuters([path], topics=("gold", "gnp"), split="any", vocabulary="whole"):
        assert part.X.shape[0] == len(part.labels)


def packed(name: str, member: str = "") -> Callable[[Path], None]:
    def read(path: Path) -> None:
        assert len(extract(path, name, member, 10_000)) <= 10_000

    return read


@dataclass(frozen=True)
class Reader:
    """A reader, and a file that it reads."""

    read: Callable[[Path], object]
    sound: bytes


READERS = {
    "text, commas": Reader(
        lambda path: assemble("t", [read_text(path, separator="comma", target="last", drop=[1], missing="?")]),
        b"7, 1,2.5,x\r\n8,3,?,y\r\n9,-1e3,0,y\r\n10,1,1,x",
    ),
    "text, blanks": Reader(
        lambda path: assemble("t", [read_text(path, separator="blank", target="first")]), b"van 1 2\nbus 3 4\n"
    ),
    "sequences": Reader(
        lambda path: assemble("t", [read_sequences(path, coding="AGCT")]),
        b"EI, n-1,  ACGT\nN,  n-2,  TTGA\nIE,x,ADGT\n",
    ),
    "expression": Reader(expression, GENES),
    "gene table": Reader(
        gene_table, b"Name\tNumber\t2\tcall\t1\tcall\r\ng\tX1_at\t-7\tA\t2.5\tP\t\r\nh\tX2_at\t0\tA\t1\tM\t\r\n"
    ),
    "reuters": Reader(reuters, "".join(STORIES).encode("latin-1")),
    "libsvm": Reader(lambda path: assemble("t", [read_libsvm(path)]), b"+1 1:0.5 3:2 # c\n-1 2:1\n1 1:1e3\n"),
    **own_tables(),
    "own LIBSVM": Reader(own("libsvm"), b"+1 1:0.5 3:2 # c\n-1 2:1\n1 1:1e3\n"),
    "own Excel": Reader(own("excel"), workbook(sheet())),
    "own Excel, its sheet": Reader(own_sheet, sheet()),
    "zip": Reader(packed("a.zip", "member"), zipped("member", CSV * 3)),
    "tar in a zip": Reader(packed("a.zip", "m.tar#member"), zipped("m.tar", tarred("w"))),
    "tar": Reader(packed("a.tar", "member"), tarred("w")),
    "tar.gz": Reader(packed("a.tar.gz", "member"), tarred("w:gz")),
    "gz": Reader(packed("a.gz"), gzip.compress(CSV * 3)),
    "bz2": Reader(packed("a.bz2"), bz2.compress(CSV * 3)),
    "xz": Reader(packed("a.xz"), lzma.compress(CSV * 3)),
    "Z": Reader(packed("a.Z"), compress(CSV * 3, 16)),
}

MARKS = b"\n|\r\n|,| |:|?|nan|inf|1e999|1e308|5e-324|9007199254740993|-|\xff\xfe|\x00|'|{|}|@data|%|#|\x1b[2J|"
MARKS += b'99999999999999999999|0:1|<D>|</REUTERS>|"'


def damaged(sound: bytes, rng: Random) -> bytes:
    """`sound` with a few places cut, repeated, overwritten or cut off; or something else altogether."""
    if rng.randint(0, 15) == 0:
        return rng.randbytes(rng.randint(0, 200))
    content = sound
    for _ in range(rng.randint(1, 4)):
        start = rng.randint(0, len(content))
        end = min(len(content), start + rng.randint(0, 12))
        inserted = rng.choice(MARKS.split(b"|")) if rng.random() < 0.5 else rng.randbytes(rng.randint(0, 8))
        match rng.randint(0, 4):
            case 0:
                content = content[:start] + content[end:]
            case 1:
                content = content[:end] + content[start:]
            case 2:
                content = content[:start] + inserted + content[end:]
            case 3:
                content = content[:start] + inserted + content[start:]
            case _:
                content = content[:start]
    return content


@pytest.mark.parametrize("name", READERS)
def test_sound_files_are_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(READERS[name].sound)
    READERS[name].read(path)


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    reader, path = READERS[name], tmp_path / "file"

    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None)
    @given(st.randoms(use_true_random=False))
    def read(rng: Random) -> None:
        path.write_bytes(damaged(reader.sound, rng))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            try:
                reader.read(path)
            except (DataError, UsageError) as error:
                assert 1 <= len(str(error).splitlines()) <= MAX_LINES  # noqa: PT017

    read()
