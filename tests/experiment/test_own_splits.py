"""Splits that files of the user's own bring: a column, a file of test rows, a list of many splits."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fsvm_cli.data.cards import CardSplits
from fsvm_cli.data.dataset import Dataset
from fsvm_cli.data.given_splits import read_splits
from fsvm_cli.data.load import load_splits
from fsvm_cli.errors import DataError, FsvmError, UsageError
from fsvm_cli.experiment.plan import check_before_run
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.tables import summarise
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.config import LoadedConfig

    Planned = Callable[..., Experiment]
    Load = Callable[..., LoadedConfig]

N = 24
FRAME = pd.DataFrame({"a": np.arange(N) * 1.0, "b": np.arange(N) % 5 + 0.5, "kind": ["x", "y"] * (N // 2)})
CHANGES: dict[str, Any] = {"scaling": "none", "subsets": [1], "rankings": [{"method": "random"}], "expected": None}


@pytest.fixture
def own(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Write a table and say in a config's words how it is split."""

    def changes(split: dict[str, Any] | None, splits: int = 1, frame: pd.DataFrame = FRAME, **said: Any) -> Any:
        frame.to_csv(tmp_path / "mine.csv", index=False)
        dataset = {"file": "mine.csv", "target": "kind", **said} | ({} if split is None else {"split": split})
        return CHANGES | {"dataset": dataset, "protocol": {"splits": splits, "train": "given", "seed": 1}}

    return changes


def rows_of(experiment: Experiment, split: int) -> tuple[list[float], list[float]]:
    """Tell rows by the feature that numbers them."""
    parts = draw_parts(experiment, list(experiment.trials())[split])
    return parts.X_train[:, 0].tolist(), parts.X_test[:, 0].tolist()


def test_a_column_says_which_rows_are_for_training(planned: Planned, own: Any) -> None:
    words = ["Train", "test", "TEST ", "train"] * (N // 4)
    experiment = planned(**own({"column": "part"}, frame=FRAME.assign(part=words)))
    expected = [[row for row in range(N) if words[row].strip().lower() == part] for part in ("train", "test")]
    assert rows_of(experiment, 0) == (expected[0], expected[1])
    assert experiment.source.feature_names == ("a", "b")
    assert experiment.n_test == {12: 12}


def test_rows_that_are_dropped_take_their_part_with_them(planned: Planned, own: Any) -> None:
    holed = FRAME.assign(part=["train", "train", "test"] * (N // 3), b=[None, *FRAME["b"][1:]])
    experiment = planned(**own({"column": "part"}, frame=holed, missing="drop"))
    assert rows_of(experiment, 0)[1] == [float(row) for row in range(2, N, 3)]
    assert rows_of(experiment, 0)[0][0] == 1.0


@pytest.mark.parametrize("kind", ["csv", "libsvm"])
def test_another_file_holds_the_test_rows(planned: Planned, own: Any, tmp_path: Path, kind: str) -> None:
    changes = own({"test_file": f"test.{kind}"})
    if kind == "csv":
        FRAME.iloc[:10][["kind", "b", "a"]].assign(a=np.arange(100, 110)).to_csv(tmp_path / "test.csv", index=False)
    else:
        (tmp_path / "mine.libsvm").write_text("".join(f"{row % 2} 1:{row}\n" for row in range(N)))
        (tmp_path / "test.libsvm").write_text("".join(f"{row % 2} 1:{row} 2:1\n" for row in range(100, 110)))
        changes["dataset"] = {"file": "mine.libsvm", "dense": True, "split": {"test_file": "test.libsvm"}}
    experiment = planned(**changes)
    assert rows_of(experiment, 0) == ([float(row) for row in range(N)], [float(row) for row in range(100, 110)])
    assert experiment.source.n_features == 2


def test_a_file_lists_a_hundred_splits_and_all_are_run(planned: Planned, own: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    chosen = [rng.choice(N, 16, replace=False) for _ in range(100)]
    (tmp_path / "splits.txt").write_text("\n".join(" ".join(map(str, rows + 1)) for rows in chosen))
    experiment = planned(**own({"indices": "splits.txt"}, 100))
    for split in (0, 7, 99):
        train, test = rows_of(experiment, split)
        assert train == chosen[split].tolist()
        assert set(test) == set(range(N)) - set(train)
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        collected = collect(experiment, store)
    curves, _ = summarise(experiment, collected)
    on_test = curves[curves["part"] == "test"]
    assert set(on_test["n_trials"]) == {100}
    assert set(on_test["train_size"]) == {16}
    assert (on_test["std"] > 0).any()
    assert (on_test["ci_low"] < on_test["mean"]).all()


def test_splits_may_differ_in_size_and_name_their_test_rows(planned: Planned, own: Any, tmp_path: Path) -> None:
    (tmp_path / "splits.txt").write_text("0,1,2,3 | 4\n\n0 1 2 3 4 5 6\t7| 8 9,10\n")
    experiment = planned(**own({"indices": "splits.txt", "first_row": 0}, 2))
    assert rows_of(experiment, 0) == ([0, 1, 2, 3], [4])
    assert rows_of(experiment, 1) == ([0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10])
    assert experiment.n_test == {6: 2}


def test_another_list_of_splits_is_other_data(planned: Planned, own: Any, tmp_path: Path) -> None:
    keys = []
    for line in ("1 2 3 4", "1 2 3 5", "1 2 3 5 | 6"):
        (tmp_path / "splits.txt").write_text(line)
        experiment = planned(**own({"indices": "splits.txt"}))
        keys.append(experiment.key(0, next(experiment.trials())))
    assert len(set(keys)) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2 3\n1 2 x\n", "splits.txt:2: 'x' is no number of a row; write whole numbers, with blanks between them"),
        ("1 2 25", "splits.txt:1: there is no row 25; the data have 1 to 24"),
        ("0 1 2", "splits.txt:1: there is no row 0; the data have 1 to 24; count from 1, or say that the file counts"),
        ("1 2 2", "splits.txt:1: row 2 stands twice; write it once"),
        ("1 2 3 | 3", "splits.txt:1: row 3 is in both parts; leave it out of one"),
        ("1 2 | 3 | 4", "splits.txt:1: more than one '|'; write one between training and test rows"),
        ("1 2 |", "splits.txt:1: no row is left for testing"),
        (
            "1 3 5",
            "splits.txt:1: the training rows are all of class 'x'; put rows of two classes there, as a machine needs",
        ),
        ("| 1 2", "splits.txt:1: the training rows are none; put rows of two classes there, as a machine needs"),
        ("\n \n", "splits.txt: holds no splits; write the numbers of the training rows of each in a line"),
    ],
)
def test_a_list_that_is_none_is_refused_with_its_line(
    load: Load, own: Any, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "splits.txt").write_text(text)
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        check_before_run(load(**own({"indices": "splits.txt"})))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"split": None}, UsageError, "mine.csv comes without a split; .*, or say under 'dataset' what splits it"),
        ({"split": {"column": "part"}, "splits": 2}, UsageError, r"small\.yaml:\d+:\d+: 1 split is given with mine"),
        ({"split": {"column": "prat"}}, UsageError, "no column 'prat' to split by; did you mean 'part'"),
        ({"split": {"column": "kind"}}, UsageError, "the target 'kind' cannot tell the parts apart"),
        ({"split": {"column": "odd"}}, DataError, "column 'odd', row 3 says 'valid'; write train or test"),
        ({"split": {"column": "all"}}, DataError, "mine.csv: no row is left for testing"),
        ({"split": {"test_file": "none.csv"}}, DataError, "none.csv: cannot be read"),
        ({"split": {"test_file": "other.csv"}}, DataError, "other.csv: has no column 'b', as the other part has"),
        ({"split": {"indices": "none.txt"}}, DataError, "none.txt: cannot be read"),
        ({"split": {}}, UsageError, "the key 'column' is missing"),
        ({"split": {"indices": "s.txt", "column": "part"}}, UsageError, "unknown key 'column'"),
        ({"split": {"indices": "s.txt"}, "missing": "drop"}, DataError, "are dropped, and s.txt counts them"),
    ],
)
def test_check_refuses_what_cannot_be(
    load: Load, own: Any, tmp_path: Path, changes: dict[str, Any], error: type[FsvmError], message: str
) -> None:
    words = ["train", "test"] * (N // 2)
    frame = FRAME.assign(part=["train", "train", "test"] * (N // 3), odd=[*words[:2], "valid", *words[3:]], all="train")
    if "missing" in changes:
        frame.loc[0, "b"] = None
    FRAME.drop(columns="b").to_csv(tmp_path / "other.csv", index=False)
    (tmp_path / "s.txt").write_text("1 2 3")
    drop = [] if changes["split"] == {"test_file": "other.csv"} else ["part", "odd", "all"]
    left = [name for name in drop if name not in (changes["split"] or {}).values()]
    frame = frame if drop else FRAME
    with pytest.raises(error, match=message):
        check_before_run(load(**own(frame=frame, drop=left, **changes)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("0123456789 |,\n-x٣", max_size=40))
def test_a_list_gives_disjoint_rows_or_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "list.txt"
    path.write_text(text, encoding="utf-8")
    y = np.arange(12) % 2
    names = ("x", "y")
    dataset = Dataset("d", np.ones((12, 1)), y.astype(np.int64), ("a",), names, "0" * 64)
    try:
        splits = read_splits(path, dataset, 1)
    except DataError as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017 - the text decides whether there is an error
        return
    for train, test in splits:
        assert not set(train) & set(test)
        assert set(train) | set(test) <= set(range(12))
        assert len(test)
        assert len(set(y[train])) == 2


def test_a_card_may_list_many_splits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.txt").write_text("1 2 3\n2 3 4 | 9\n")
    monkeypatch.setattr("fsvm_cli.data.load.fetch_files", lambda files, _: [tmp_path / file.path for file in files])
    card: Any = SimpleNamespace(files=[SimpleNamespace(path="data.txt"), SimpleNamespace(path="s.txt")])
    y = np.arange(12, dtype=np.int64) % 2
    dataset = Dataset("d", np.ones((12, 1)), y, ("a",), ("x", "y"), "0" * 64)

    def of_card(number: int) -> Any:
        version: Any = SimpleNamespace(splits=CardSplits(file="s.txt", number=number))
        return load_splits(card, version, dataset, print)

    assert [train.tolist() for train, _ in of_card(2)] == [[0, 1, 2], [1, 2, 3]]
    assert [test.tolist() for _, test in of_card(2)] == [list(range(3, 12)), [8]]
    with pytest.raises(DataError, match="2 splits, where the card expects 3"):
        of_card(3)
