"""What a person is told of a table before anything is ranked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from fsvm_cli.cli import cli
from fsvm_cli.data.opening import load_dataset

if TYPE_CHECKING:
    from pathlib import Path

N_ROWS = 60


def sound_table(rng: np.random.Generator) -> pd.DataFrame:
    """Two overlapping classes, sorted, with nothing to say about them."""
    y = np.repeat(["no", "yes"], N_ROWS // 2)
    shift = np.where(y == "yes", 0.5, 0.0)
    return pd.DataFrame({"a": rng.normal(shift), "b": rng.normal(shift), "c": rng.normal(size=N_ROWS), "y": y})


def with_small_class(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(y=table["y"].where(table.index > 2, "rare"))


IS_YES = np.arange(N_ROWS) >= N_ROWS // 2
SUSPECT: dict[str, tuple[Any, str]] = {
    "running number": (lambda t: t.assign(id=np.arange(1, N_ROWS + 1)), r"numbers the rows: 'id'; .*\(--drop id\)"),
    "running number, shuffled": (lambda t: t.assign(no=(7 * np.arange(N_ROWS)) % N_ROWS), "numbers the rows: 'no'"),
    "running number with gaps": (lambda t: t.assign(no=np.delete(np.arange(62), [7, 30])), "numbers the rows: 'no'"),
    "identifier": (lambda t: t.assign(id=(37 * np.arange(N_ROWS)) % 997), "another whole number in every row: 'id'"),
    "separates alone": (lambda t: t.assign(late=IS_YES + t["c"] / 100), "separates the classes perfectly: 'late'"),
    "nearly separates": (lambda t: t.assign(late=np.r_[0:29, 44.5, 30:60]), r"nearly separates.*AUC 0\.9"),
    "a code for missing": (lambda t: t.assign(age=np.r_[np.arange(58) % 10, -999, -999]), r"'age' \(-999 in 2 rows\)"),
    "a small code": (lambda t: t.assign(mark=np.r_[99, np.arange(59) % 10]), r"'mark' \(99 in 1 rows\).*--na 99"),
    "the class as numbers": (lambda t: t.assign(code=np.where(IS_YES, 7, 3)), "class under another name: 'code'"),
    "the class as words": (lambda t: t.assign(word=np.where(IS_YES, "ill", "well")), "another name: 'word'"),
    "a column twice": (lambda t: t.assign(d=t["a"]), "columns that repeat another: 'd' is 'a'"),
    "a constant column": (lambda t: t.assign(d=1.5), "constant, and so without information: d"),
    "a small class": (with_small_class, r"classes of fewer than 5 rows: 'rare' \(3\)"),
    "numbers of patients": (
        lambda t: t.assign(patient=1000 + np.arange(N_ROWS) // 3 * 7 % 60),
        r"each value is in rows of one class alone: 'patient'; .*--groups patient\)",
    ),
    "words of patients": (
        lambda t: t.assign(patient=[f"P{row // 3}" for row in range(N_ROWS)]),
        r"each value is in rows of one class alone: 'patient'; .*--groups patient\)",
    ),
    "rows twice": (lambda t: pd.concat([t.iloc[:-3], t.iloc[:3]]), "^3 rows repeat an earlier row; "),
    "rows twice, of two classes": (
        lambda t: pd.concat([t.iloc[:-3], t.iloc[:3].assign(y="yes")]),
        "3 rows repeat an earlier row, 3 of them with another class",
    ),
}


def lines_about(table: pd.DataFrame, path: Path) -> tuple[str, ...]:
    table.to_csv(path / "mine.csv", index=False)
    options = {"file": str(path / "mine.csv"), "target": "y", "categorical": "one-hot"}
    return load_dataset(options).remarks


@pytest.mark.parametrize("kind", SUSPECT)
def test_a_suspect_is_named_once(kind: str, tmp_path: Path, rng: np.random.Generator) -> None:
    change, message = SUSPECT[kind]
    (line,) = lines_about(change(sound_table(rng)), tmp_path)
    assert re.search(message, line)


def test_nothing_is_said_of_a_sound_table(tmp_path: Path, rng: np.random.Generator) -> None:
    assert lines_about(sound_table(rng), tmp_path) == ()


def test_separation_that_is_chance_is_no_suspect(tmp_path: Path, rng: np.random.Generator) -> None:
    few = pd.DataFrame(rng.normal(size=(10, 500)), columns=[f"g{j}" for j in range(500)])
    few["best"] = few.index + rng.uniform(size=10)
    assert lines_about(few.assign(y=few.index < 5), tmp_path) == ()
    many = pd.DataFrame(rng.normal(size=(60, 500)), columns=[f"g{j}" for j in range(500)])
    many["best"] = many.index + rng.uniform(size=60)
    (line,) = lines_about(many.assign(y=many.index < 30), tmp_path)
    assert "'best'" in line


def test_a_column_whose_range_overflows_is_read_without_a_warning(tmp_path: Path, rng: np.random.Generator) -> None:
    table = sound_table(rng)
    table.loc[:1, "c"] = -1.7e308, 1.7e308
    assert lines_about(table, tmp_path) == ()


def test_genes_of_whole_numbers_do_not_number_the_rows(tmp_path: Path, rng: np.random.Generator) -> None:
    wide = {f"g{j}": np.rint(rng.lognormal(8, 1.5, size=40)) for j in range(60)}
    narrow = {f"h{j}": rng.poisson(3, size=40) for j in range(80)}
    table = pd.DataFrame(wide | narrow).assign(y=rng.permutation(40) < 20)
    assert not any("whole number in every row" in line for line in lines_about(table, tmp_path))


def test_a_table_of_whole_numbers_is_one_of_measurements(tmp_path: Path, rng: np.random.Generator) -> None:
    counts = pd.DataFrame({f"g{j}": rng.permutation(5000)[:40] for j in range(8)})
    assert lines_about(counts.assign(y=rng.permutation(40) < 20), tmp_path) == ()


def test_suspects_are_told_before_the_ranking_and_beside_it(tmp_path: Path, rng: np.random.Generator) -> None:
    path = tmp_path / "mine.csv"
    sound_table(rng).assign(id=np.arange(N_ROWS)).to_csv(path, index=False)
    result = CliRunner().invoke(cli, ["rank", str(path), "--target", "y", "--method", "fisher", "--format", "csv"])
    assert result.output.index("suspect, numbers the rows: 'id'") < result.output.index("rank,feature")
    assert result.stdout.startswith("rank,feature")
