"""CSV for spreadsheets: no name in it is a formula, and without the option names are as they are."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.console import without_formulas
from tests.helpers.calling import fsvm_here

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ["=1+1", "+a", "-b", "@c", "plain"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    rows = [[(7 * row + 3 * column) % 11 - row % 2 for column in range(5)] for row in range(12)]
    lines = [",".join([*map(str, row), ("=cmd", "@no")[number % 2]]) for number, row in enumerate(rows)]
    path.write_text("\n".join([",".join([*NAMES, "y"]), *lines]) + "\n")
    return path


@pytest.mark.parametrize("how", [(), ("--method", "fisher")])
@pytest.mark.parametrize("escaped", [False, True])
def test_names_are_escaped_on_request_alone(how: tuple[str, ...], escaped: bool, table: Path) -> None:
    out = table.with_name("out.csv")
    options = [*how, "--format", "csv", "--out", out, "--keep", 5, *(["--for-spreadsheet"] if escaped else [])]
    answer = fsvm_here("rank", table, "--target", "y", *options)
    assert answer.code == 0
    quote = "'" if escaped else ""
    expected = {*(f"{quote}{name}" for name in NAMES[:4]), "plain"}
    assert {row["feature"] for row in csv.DictReader(io.StringIO(answer.out))} == expected
    header, *rows = csv.reader(io.StringIO(out.read_text()))
    assert set(header) == expected | {"y"}
    assert {row[-1] for row in rows} == {f"{quote}=cmd", f"{quote}@no"}
    assert all(float(value) < 11 for row in rows for value in row[:-1])


def test_numbers_and_long_fields_stay_as_they_are() -> None:
    assert without_formulas('-1.5,+2e3,"-a\nb",-inf\n') == '-1.5,+2e3,"\'-a\nb",-inf\n'
    long = "=" + "x" * 200_000
    assert without_formulas(f"{long},1\n") == f"'{long},1\n"


def test_the_option_is_refused_where_no_csv_is_written(table: Path) -> None:
    answer = fsvm_here("rank", table, "--target", "y", "--for-spreadsheet")
    assert answer.code == 2
    assert "--format csv" in answer.err


@pytest.mark.parametrize("command", ["compare", "stats", "methods"])
def test_other_commands_refuse_it_where_no_csv_is_written(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = fsvm_here(command, "--for-spreadsheet")
    assert (answer.code, answer.err) == (2, "fsvm: --for-spreadsheet applies to CSV only; add --format csv\n")


def test_methods_are_escaped_on_request() -> None:
    plain, escaped = (fsvm_here("methods", "--format", "csv", *options).out for options in ((), ("--for-spreadsheet",)))
    assert escaped == without_formulas(plain)
