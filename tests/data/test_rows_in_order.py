"""Rows that a column orders, and splits whose test parts come after their training parts."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import TimeSeriesSplit

from fsvm_cli.data.given_splits import splits_in_order
from fsvm_cli.data.opening import load_dataset
from fsvm_cli.data.source_spec import TableSpec
from fsvm_cli.data.user_file import from_frame
from fsvm_cli.errors import DataError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

DAYS = pd.date_range("2024-01-28", periods=12)
WRITTEN: dict[str, Any] = {
    "iso.csv": DAYS.strftime("%Y-%m-%d"),
    "times.csv": DAYS.strftime("%Y-%m-%d %H:%M"),
    "points.csv": DAYS.strftime("%d.%m.%Y"),
    "numbers.csv": np.arange(3, 15).astype(str),
    "dates.parquet": DAYS,
    "dates.xlsx": DAYS,
}


def table(when: Any) -> pd.DataFrame:
    """Rows in another order than that of their dates."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=12), "b": rng.normal(size=12), "y": ["u", "v"] * 6, "when": when})
    return frame.iloc[rng.permutation(12)]


def write(frame: pd.DataFrame, path: Path) -> dict[str, Any]:
    writers = {".csv": frame.to_csv, ".parquet": frame.to_parquet, ".xlsx": frame.to_excel}
    writers[path.suffix](path, index=False)
    return {"file": str(path), "target": "y", "order_by": "when"}


@pytest.mark.parametrize("name", WRITTEN)
def test_dates_and_numbers_order_the_rows(tmp_path: Path, name: str) -> None:
    frame = table(WRITTEN[name])
    found = load_dataset(write(frame, tmp_path / name))
    assert found.feature_names == ("a", "b")
    assert found.order is not None
    assert found.order.tolist() == frame.index.tolist()
    plain = load_dataset({"file": str(tmp_path / name), "target": "y", "drop": ["when"]})
    assert plain.sha256 != found.sha256


@pytest.mark.parametrize(
    ("when", "message"),
    [
        (
            ["soon", *["2024-01-31"] * 11],
            "orders no rows: write all values as numbers, or all as dates like 2024-01-31",
        ),
        (["01/02/2024"] * 12, "orders no rows: write all values as numbers"),
        (["2024-01-31"] * 12, "orders no rows: all values are the same"),
        ([None, *map(str, DAYS[1:])], "missing values in 1 of 12 rows; by column: 'when'"),
    ],
)
def test_what_orders_no_rows_is_refused(tmp_path: Path, when: list[str | None], message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_dataset(write(table(when), tmp_path / "table.csv"))


def test_a_missing_date_is_not_filled_and_the_column_must_be_there(tmp_path: Path) -> None:
    spec = write(table([None, *map(str, DAYS[1:])]), tmp_path / "table.csv")
    with pytest.raises(DataError, match="'when', which orders the rows, is missing in 1 rows; fill it in, or drop"):
        load_dataset(spec | {"missing": "median"})
    assert load_dataset(spec | {"missing": "drop"}).n_samples == 11
    with pytest.raises(UsageError, match="no column 'whne' to order by; did you mean 'when'"):
        load_dataset(spec | {"order_by": "whne"})
    with pytest.raises(UsageError, match="the order needs a column of its own"):
        load_dataset(spec | {"order_by": "y"})


@pytest.mark.parametrize(("n_rows", "n_splits"), [(12, 2), (50, 5), (53, 7)])
def test_without_equal_places_splits_are_those_of_scikit_learn(n_rows: int, n_splits: int) -> None:
    order = np.random.default_rng(0).permutation(n_rows)
    rows = np.argsort(order)
    found = splits_in_order(order, None, n_splits)
    expected = [*TimeSeriesSplit(n_splits).split(rows)]
    assert len(found) == n_splits
    for (train, test), (peer_train, peer_test) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(train, rows[peer_train])
        np.testing.assert_array_equal(test, rows[peer_test])


def test_no_row_for_testing_is_as_early_as_one_for_training_nor_of_its_group() -> None:
    rng = np.random.default_rng(0)
    order, groups = rng.integers(8, size=60), rng.integers(20, size=60)
    for train, test in splits_in_order(order, groups, 4):
        assert order[train].max() < order[test].min()
        assert not set(groups[train]) & set(groups[test])
        earlier = np.flatnonzero(order < order[test].min())
        assert set(earlier[~np.isin(groups[earlier], groups[test])]) == set(train)
    ((train, test),) = splits_in_order(np.arange(9), None, 1)
    assert (len(train), len(test)) == (5, 4)
    with pytest.raises(ValueError, match="9 splits in order need 10 rows, and there are 9"):
        splits_in_order(np.arange(9), None, 9)


def test_ordered_categories_keep_their_order(tmp_path: Path) -> None:
    sizes = ["S", "M", "L", "XL"]
    words = np.random.default_rng(0).choice(sizes[:3], 12)
    ordered = pd.Categorical(words, categories=sizes, ordered=True)
    frame = table(DAYS).assign(size=ordered, colour=pd.Categorical(words))
    frame.to_parquet(tmp_path / "sizes.parquet", index=False)
    spec = {"file": str(tmp_path / "sizes.parquet"), "target": "y", "categorical": "ordinal", "drop": ["when"]}
    found = load_dataset(spec)
    column = found.feature_names.index
    assert found.X[:, column("size")].tolist() == ordered.codes.tolist()
    assert found.X[:, column("colour")].tolist() == np.unique(words, return_inverse=True)[1].tolist()
    assert "numbered in the order of their categories: 'size' (S < M < L)" in found.remarks
    hot = load_dataset(spec | {"categorical": "one-hot"})
    assert not any("in the order of" in remark for remark in hot.remarks)


def test_names_may_stand_in_several_rows_of_a_sheet(tmp_path: Path) -> None:
    cells = [
        ["Report", None, None],
        ["lab", "lab", "who"],
        ["CRP", "Leuko", None],
        [1.5, 2, "a"],
        [1, 3, "b"],
        [2, 1, "a"],
    ]
    pd.DataFrame(cells).to_excel(tmp_path / "lab.xlsx", header=False, index=False)
    spec = {"file": str(tmp_path / "lab.xlsx"), "target": "who"}
    found = load_dataset(spec | {"header_rows": "2-3"})
    assert found.feature_names == ("lab CRP", "lab Leuko")
    assert found.X.tolist() == [[1.5, 2], [1, 3], [2, 1]]
    pd.DataFrame(cells[1:]).to_excel(tmp_path / "lab.xlsx", header=False, index=False)
    assert load_dataset(spec | {"header_rows": 2}).feature_names == found.feature_names
    for wrong in ("3-2", "0", "two"):
        with pytest.raises(UsageError, match="are no rows of a header; write their number, as 2"):
            load_dataset(spec | {"header_rows": wrong})
    frame = table(DAYS)
    with pytest.raises(UsageError, match="'header_rows' is not for files of this kind"):
        load_dataset(write(frame, tmp_path / "table.csv") | {"header_rows": 2})


def test_dates_of_python_order_rows_of_a_frame() -> None:
    days = [date(2024, 1, 1 + number) for number in range(12)]
    found = from_frame("table", table(days), TableSpec(target="y", order_by="when"))
    assert found.order is not None
    assert sorted(found.order.tolist()) == list(range(12))
