"""Words that only look different: outer blanks, forms of accents, capitals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fsvm_cli
from fsvm_cli.data.opening import load_dataset
from fsvm_cli.data.readers.words import plain_word
from fsvm_cli.errors import DataError

ROLES = {"kind": "café", "colour": "café", "who": "p3", "part": "train"}
"""Of each column of words the word that is written in another way in some rows."""
FORMATS = ["csv", "xlsx", "parquet", "categories", "arff"]
N_CHANGED = 3


def clean() -> pd.DataFrame:
    rows = np.arange(24)
    return pd.DataFrame(
        {
            "x": np.sin(rows + 1.0),
            "colour": np.where(rows % 3 == 0, "café", "blue"),
            "who": [f"p{row // 2 % 6}" for row in rows],
            "part": np.where(rows // 2 % 6 < 4, "train", "test"),
            "kind": np.where(rows % 2, "café", "tea"),
        }
    )


def changed(column: str, other: str, n_rows: int = N_CHANGED) -> pd.DataFrame:
    """Write the word of a column as `other` in some of its rows."""
    frame = clean()
    rows = np.flatnonzero(frame[column] == ROLES[column])[:n_rows]
    frame.loc[rows, column] = other
    return frame


def read(frame: pd.DataFrame, written: str, **options: Any) -> Any:
    name = f"mine.{'parquet' if written == 'categories' else written}"
    if written == "csv":
        frame.to_csv(name, index=False)
    elif written == "xlsx":
        frame.to_excel(name, index=False)
    elif written == "arff":
        quoted = frame.apply(lambda column: column if column.dtype == float else column.map("'{}'".format))
        header = [
            f"@attribute {column} {'numeric' if column == 'x' else '{' + ','.join(sorted(set(quoted[column]))) + '}'}"
            for column in frame
        ]
        lines = ["@relation t", *header, "@data", *(",".join(map(str, row)) for row in quoted.to_numpy())]
        Path(name).write_text("\n".join(lines), encoding="utf-8")
    else:
        words = frame.select_dtypes(exclude="number").columns
        frame.astype(dict.fromkeys(words, "category") if written == "categories" else {}).to_parquet(name)
    said = {"target": "kind", "groups": "who", "categorical": "one-hot", "split": {"column": "part"}}
    return load_dataset({"file": name} | said | options)


def as_words(dataset: Any) -> tuple[Any, ...]:
    return dataset.sha256, dataset.class_names, dataset.feature_names, dataset.groups.tolist()


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("written", FORMATS)
@pytest.mark.parametrize("column", ROLES)
@pytest.mark.parametrize("form", ["{} ", "\u00a0{}", "{}\u200b", "{}\u3000 ", "\ufeff{}"])
def test_outer_blanks_make_no_other_word(written: str, column: str, form: str) -> None:
    expected = read(clean(), written)
    found = read(changed(column, form.format(ROLES[column])), written)
    assert as_words(found) == as_words(expected)
    remark = next(line for line in found.remarks if "outer blanks" in line)
    assert f"'{column}' ({N_CHANGED} rows, such as " in remark
    assert not [line for line in expected.remarks if "outer blanks" in line]


@pytest.mark.parametrize("written", FORMATS)
@pytest.mark.parametrize("column", ["kind", "colour"])
def test_accents_make_no_other_word(written: str, column: str) -> None:
    found = read(changed(column, "cafe\u0301"), written)
    assert as_words(found) == as_words(read(clean(), written))
    assert any(f"'{column}' ({N_CHANGED} rows" in line for line in found.remarks)


@pytest.mark.parametrize("written", FORMATS)
@pytest.mark.parametrize(
    ("column", "other"), [("kind", "Café"), ("colour", "CAFÉ"), ("colour", "ca\u200bfé"), ("kind", "ｃafé")]
)
def test_capitals_are_warned_of(written: str, column: str, other: str) -> None:
    found = read(changed(column, other), written)
    (remark,) = (line for line in found.remarks if "count as different" in line)
    assert f"'{column}' (" in remark
    assert f"({N_CHANGED} rows)" in remark
    assert not [line for line in read(clean(), written).remarks if "count as different" in line]


@pytest.mark.parametrize("written", FORMATS)
def test_capitals_are_refused_among_groups(written: str) -> None:
    with pytest.raises(DataError, match=r"column 'who' names groups that differ by capitals.*'P3' \(3 rows\)"):
        read(changed("who", "P3"), written)


@pytest.mark.parametrize("mark", ["NA ", "  ", "\u00a0", " ?", "none of it "])
@pytest.mark.parametrize("column", ["kind", "colour", "who"])
@pytest.mark.parametrize("written", ["csv", "xlsx"])
def test_a_missing_value_with_blanks_around_it_is_missing(written: str, column: str, mark: str) -> None:
    options = {"na": ["none of it"]} if "none" in mark else {}
    table = changed(column, mark)
    with pytest.raises(DataError, match=rf"missing values in {N_CHANGED} of 24 rows; by column: '{column}'"):
        read(table, written, **options)
    found = read(table, written, missing="drop", **options)
    assert found.n_samples == 24 - N_CHANGED
    assert any(f"with blanks around them, these are taken as missing values: '{column}'" in r for r in found.remarks)


def test_a_mark_with_blanks_among_numbers() -> None:
    Path("mine.csv").write_text("a,kind\n1,u\nmiss ,v\n3,u\n4\u200b,v\n")
    data = load_dataset({"file": "mine.csv", "target": "kind", "na": ["miss"], "missing": "drop"})
    assert data.X.tolist() == [[1], [3], [4]]
    assert any("missing values: 'a' ('miss ' in 1 rows)" in line for line in data.remarks)


def test_both_files_of_a_split_have_the_same_words() -> None:
    clean().to_csv("train.csv", index=False)
    later = clean().assign(who=[f"q{row // 2 % 6} " for row in range(24)], kind=clean()["kind"] + "\u00a0")
    later.to_csv("test.csv", index=False)
    data = load_dataset(
        {"file": "train.csv", "target": "kind", "groups": "who", "drop": ["part"], "categorical": "one-hot"}
        | {"split": {"test_file": "test.csv"}}
    )
    assert data.class_names == ("café", "tea")
    assert len(np.unique(data.groups)) == 12
    assert any("'kind' (24 rows" in line for line in data.remarks)


def test_columns_without_a_use_are_not_spoken_of() -> None:
    table = changed("colour", "café ")
    assert not [line for line in read(table, "csv", drop=["colour"]).remarks if "blanks" in line]


@pytest.mark.parametrize("kind", ["object", "category"])
def test_a_frame_is_read_alike(kind: str) -> None:
    def ranked(frame: pd.DataFrame) -> pd.DataFrame:
        words = frame.select_dtypes(exclude="number").columns
        return fsvm_cli.rank(
            frame.drop(columns="part").astype(dict.fromkeys(words.drop("part"), kind)),
            "kind",
            method="fisher",
            groups="who",
            categorical="one-hot",
        )

    table = clean()
    for column in ("kind", "colour", "who"):
        table[column] = changed(column, f"{ROLES[column]}\u00a0")[column]
    expected = ranked(clean())
    with pytest.warns(UserWarning, match="without outer blanks, .*: 'colour' .*, 'who' .*, 'kind'"):
        found = ranked(table)
    pd.testing.assert_frame_equal(found, expected)


def test_the_order_of_categories_is_kept() -> None:
    grades = pd.Categorical(["low", "mid ", "high", "mid"] * 6, ["low", "mid", "mid ", "high"], ordered=True)
    clean().assign(colour=grades).to_parquet("mine.parquet")
    data = load_dataset({"file": "mine.parquet", "target": "kind", "categorical": "ordinal", "drop": ["who", "part"]})
    assert data.X[:4, 1].tolist() == [0, 1, 2, 1]
    assert any("low < mid < high" in line for line in data.remarks)


def test_a_plain_word_stays_as_it_is() -> None:
    assert plain_word("New  York") == "New  York"
    assert plain_word("x²") == "x²"
