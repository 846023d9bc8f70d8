"""Tables for which there is no memory are refused before they are read, in one line that says what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fsvm_cli import memory
from fsvm_cli.data.readers import blocks, columns
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
def test_a_table_without_room_is_refused_before_it_is_read(
    kind: str, table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"mine.{kind}"
    table.to_parquet(file) if kind == "parquet" else table[:20_000].to_csv(file, index=False)
    monkeypatch.setattr(memory, "free_memory", lambda: 2e7 if kind == "parquet" else 1e6)
    monkeypatch.setattr(blocks, "LARGE", 1 << 15)
    monkeypatch.setattr(blocks, "BLOCK", 1 << 15)
    monkeypatch.setattr(columns, "_parsed", None)
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
    monkeypatch.setattr(columns, "_parsed", fails)
    answer = fsvm_here("rank", tmp_path / "mine.csv", "--target", "y")
    assert answer.code == 2
    assert re.fullmatch(r"fsvm: .*mine\.csv: needs more memory than there is; draw fewer rows, .*\n", answer.err)
