"""Large files are read block by block, with the same data set, the same remarks and the same errors as in one piece."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fsvm_cli import console, numerics
from fsvm_cli.data import data_quality
from fsvm_cli.data.data_quality import data_quality_warnings
from fsvm_cli.data.dataset import hash_values
from fsvm_cli.data.readers import csv
from fsvm_cli.data.scaling import fit_scaling
from fsvm_cli.data.source_spec import FileSpec
from fsvm_cli.data.user_file import load_file
from fsvm_cli.errors import DataError, UsageError
from tests.data.test_messy_files import READ, REFUSED

if TYPE_CHECKING:
    from fsvm_cli.data.dataset import Dataset

BLOCK = 64
"""Bytes, of a few rows."""
FIRST = "a,b,y\n" + "1,2,u\n7,9,v\n" * 12
"""Fills the first block with integers."""


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def outcome(content: bytes, options: dict[str, Any]) -> Dataset | str:
    Path("mine.csv").write_bytes(content)
    try:
        return load_file(FileSpec(**({"file": "mine.csv", "target": "y"} | options)), Path())
    except (DataError, UsageError) as error:
        return str(error)


def in_blocks(content: bytes, options: dict[str, Any]) -> Dataset | str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv, "MIN_BYTES_READ_IN_BLOCKS", 0)
        patch.setattr(csv, "BLOCK_BYTES", BLOCK)
        return outcome(content, options)


def assert_alike(content: bytes, options: dict[str, Any]) -> None:
    whole, found = outcome(content, options), in_blocks(content, options)
    if isinstance(whole, str) or isinstance(found, str):
        assert found == whole
        return
    assert found.sha256 == whole.sha256
    assert found.X.tobytes() == whole.X.tobytes()
    assert (found.feature_names, found.class_names) == (whole.feature_names, whole.class_names)
    assert found.remarks == whole.remarks


@pytest.mark.parametrize("mess", [*READ, *REFUSED])
def test_messy_files(mess: str) -> None:
    content, options, *_ = (READ | REFUSED)[mess]
    assert_alike(content.encode() if isinstance(content, str) else content, options)


LATER = {
    "fractions": "1.5,2e3,u\n",
    "nothing": ",,u\n",
    "a word": "1,red,u\n",
    "an integer that doubles do not hold": f"{2**53 + 1},1,u\n{2**53 + 2},1,v\n",
    "a fraction as class": "1,2,2.5\n",
    "a truth value": "true,1,u\n",
    "a date": "2024-01-01,1,u\n",
    "an infinite value": "inf,1,u\n",
    "a hexadecimal number": "0x1F,1,u\n",
    "a decimal comma": '"1,5",1,u\n',
    "a dash": "-,1,u\n",
    "a short row": "1,u\n",
    "a long row": "1,2,3,u\n",
    "a row beyond a block": f'"{"x" * 200}",1,u\n',
    "a line end within quotes": '1,2,"u\n"\n',
    "empty lines": "\n\n\n1,1,u\n",
}


@pytest.mark.parametrize("options", [{}, {"missing": "drop", "categorical": "one-hot"}, {"groups": "b"}], ids=str)
@pytest.mark.parametrize("later", LATER)
def test_what_the_first_block_does_not_tell(later: str, options: dict[str, Any]) -> None:
    assert_alike((FIRST + LATER[later] + "3,4,v\n" * 20).encode(), options)


def test_bytes_that_are_not_utf8_far_down() -> None:
    assert_alike((FIRST + "1,Köln,u\n").encode("cp1252"), {})
    assert_alike((FIRST.replace("1,2,", "1,red,") + "1,Köln,u\n").encode("cp1252"), {})


@pytest.mark.parametrize("target", ["1", "1000000000000000001"])
def test_integers_of_the_class_and_of_parts_stay_integers(target: str) -> None:
    content = f"a,part,y\n{f'1.5,train,0{chr(10)}2,train,{target}{chr(10)}' * 9}3,test,{target}\n4,test,0\n"
    assert_alike(content.encode(), {"split": {"column": "part"}})
    assert_alike(content.replace("train", "0").replace("test", "1").encode(), {"split": {"column": "part"}})


cells = st.one_of(
    st.integers(-(2**60), 2**60).map(str), st.floats(allow_nan=False).map(repr), st.sampled_from(["", "x", "NA", " 7 "])
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(cells, cells, st.sampled_from(["u", "v"])), min_size=8, max_size=30))
def test_any_table(rows: list[tuple[str, str, str]]) -> None:
    content = "a,b,y\n" + "".join(",".join(row) + "\n" for row in rows)
    assert_alike(content.encode(), {"missing": "mean", "categorical": "one-hot"})


def test_no_large_text_is_in_memory_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers that begin as integers and end as fractions, the common case, are read in blocks to the end."""
    monkeypatch.setattr(csv, "_parsed", None)
    found = in_blocks((FIRST + "1.5,,u\n" * 20).encode(), {"missing": "drop"})
    assert not isinstance(found, str)
    assert found.X.shape == (24, 2)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "is_quiet"), [(Terminal(), False), (Terminal(), True), (io.StringIO(), False)])
def test_a_bar_is_shown_on_a_terminal_alone(
    stream: io.StringIO, is_quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(console, "is_quiet", lambda: is_quiet)
    in_blocks((FIRST + "3,4,v\n" * 20).encode(), {})
    shows = stream.isatty() and not is_quiet
    assert ("mine.csv" in stream.getvalue()) == shows
    assert ("100%" in stream.getvalue()) == shows


@pytest.fixture
def table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = np.round(rng.normal(size=(60, 4)) * [1, 1e6, 1e-6, 3])
    X[:, 3] = X[:, 1]
    X[40:50] = X[10:20]
    return X, rng.integers(0, 3, size=60)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "minmax-symmetric"])
def test_blocks_of_rows_are_scaled_as_the_whole(scaling: Any, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X = table[0]
    expected = fit_scaling(scaling, X).transform(X)
    for patched in ("fsvm_cli.data.scaling.CHUNK_VALUES", "fsvm_cli.numerics.CHUNK_VALUES"):
        monkeypatch.setattr(patched, 40)
    found = fit_scaling(scaling, X)
    np.testing.assert_allclose(found.transform(X), expected, rtol=1e-13, atol=1e-13)
    own = X.copy()
    assert found.transform(own, overwrite=True) is own
    assert own.tobytes() == found.transform(X).tobytes()


def test_blocks_of_rows_have_the_hash_and_the_warnings_of_the_whole(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table
    X[5, 0] = -0.0
    names = ("a", "b", "c", "d")

    def said() -> tuple[str, tuple[str, ...]]:
        return hash_values(X, y), data_quality_warnings(X, y, names, names, ("u", "v", "w"))

    whole = said()
    monkeypatch.setattr(numerics, "CHUNK_VALUES", 20)
    assert len([*data_quality.row_blocks(*X.shape)]) == 12
    assert said() == whole
    assert any("'d' is 'b'" in line for line in whole[1])
    assert any("10 rows repeat" in line for line in whole[1])
