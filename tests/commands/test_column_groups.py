"""A column of many words, or a group of columns, has no better place than its relation to the class gives it."""

from __future__ import annotations

import csv
import io
import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from fsvm_cli import rank
from fsvm_cli.evaluation.false_discovery import permuted_q_values

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.helpers.calling import Answer

N_TABLES = 30
MOST_BY_CHANCE = 8
"""Of 30 tables, the noise that comes first of ten columns: more have a probability of .002."""


def table(seed: int, n_words: int, *, matters: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    kind = rng.integers(2, size=80)
    columns: dict[str, Any] = {f"x{j}": rng.normal(size=80) for j in range(9)}
    words = rng.integers(n_words, size=80)
    if matters:
        words = np.where(rng.random(80) < 0.8, 2 * (words // 2) + kind, words)
    columns["word"] = [f"w{word:02d}" for word in words]
    return pd.DataFrame(columns).assign(kind=np.where(kind > 0, "a", "b"))


def first(frame: pd.DataFrame, method: str, **options: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(rank(frame, "kind", method=method, categorical="one-hot", **options)["feature"][0])


@pytest.mark.parametrize(
    ("method", "n_words"),
    [("fisher", 2), ("fisher", 30), ("relief-f", 5), ("relief-f", 30), ("kolmogorov-smirnov", 30)],
)
def test_words_without_a_meaning_come_first_no_more_often_than_chance(method: str, n_words: int) -> None:
    assert sum(first(table(seed, n_words), method) == "word" for seed in range(N_TABLES)) <= MOST_BY_CHANCE


@pytest.mark.parametrize("method", ["fisher", "relief-f", "rfe", "mutual-information"])
@pytest.mark.parametrize("n_words", [2, 6])
def test_words_that_tell_the_class_come_first(method: str, n_words: int) -> None:
    assert [first(table(seed, n_words, matters=True), method) for seed in range(3)] == ["word"] * 3


def test_a_named_group_of_noise_comes_first_no_more_often_than_chance() -> None:
    rng = np.random.default_rng(0)
    groups = {f"x{j}": "many" for j in range(9, 29)}
    n_first = 0
    for _ in range(N_TABLES):
        frame = pd.DataFrame(rng.normal(size=(60, 29)), columns=[f"x{j}" for j in range(29)])
        n_first += first(frame.assign(kind=rng.permutation([*"ab"] * 30)), "fisher", column_groups=groups) == "many"
    assert n_first <= MOST_BY_CHANCE


def test_a_group_is_ranked_and_kept_as_one_and_the_output_says_how(call: Callable[..., Answer], tmp_path: Path) -> None:
    frame = table(0, 4, matters=True)
    frame.to_csv(tmp_path / "own.csv", index=False)
    (tmp_path / "groups.csv").write_text("column,group\nx1,pair\nword,pair\n")
    asked = ("rank", "own.csv", "--target", "kind", "--method", "fisher", "--categorical", "one-hot")
    asked += ("--column-groups", "groups.csv")
    answer = call(*asked, "--format", "json", "--out", "kept.csv", "--keep", "1")
    assert answer.code == 0, answer.err
    features = json.loads(answer.out)["features"]
    assert [features[0]["feature"], len(features)] == ["pair", 9]
    assert set(features[0]["words"]) == {"x1", *(f"word=w0{k}" for k in range(4))}
    assert features[0]["method_score"] == max(features[0]["words"].values())
    assert "how often the best of them beats the best of its copy with permuted rows, in 100 rankings" in answer.err
    with (tmp_path / "kept.csv").open() as stream:
        assert next(csv.reader(stream)) == ["x1", *(f"word=w0{k}" for k in range(4)), "kind"]
    shown = call(*asked)
    assert "method_score" in shown.out
    groups = {"x1": "pair", "word": "pair"}
    by_hand = rank(frame, "kind", method="fisher", categorical="one-hot", column_groups=groups)
    rows = pd.read_csv(io.StringIO(call(*asked, "--format", "csv").out))
    pd.testing.assert_frame_equal(rows, by_hand)


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        ("column,group\nx9,pair\n", 2, "has no feature 'x9'"),
        ("column,group\nx1,x2\n", 2, "'x2' is a group and a column outside it"),
        ("x1,pair\n", 3, "the header is to be column,group"),
        ("column,group\nx1\n", 3, "each row a column and its group"),
        ("column,group\nx1,a\nx1,b\n", 3, "'x1' stands there twice"),
        (None, 3, "cannot be read"),
    ],
)
def test_groups_that_cannot_be_are_refused(
    call: Callable[..., Answer], tmp_path: Path, content: str | None, code: int, message: str
) -> None:
    table(0, 3).drop(columns="word").to_csv(tmp_path / "own.csv", index=False)
    if content is not None:
        (tmp_path / "groups.csv").write_text(content)
    answer = call("rank", "own.csv", "--target", "kind", "--method", "fisher", "--column-groups", "groups.csv")
    assert (answer.code, message in answer.err) == (code, True), answer.err


def test_the_controls_of_a_column_of_words_are_those_of_columns_like_it() -> None:
    rng = np.random.default_rng(0)
    columns = np.array([*range(9), *[9] * 30])
    n_found = 0
    for _ in range(N_TABLES):
        X, y = rng.normal(size=(60, 39)), rng.permutation([0, 1] * 30)
        q = permuted_q_values(X, lambda both, y=y: np.abs(both.T @ (y - 0.5)), columns, rng)  # type: ignore[misc]
        n_found += q[9] <= 0.2
    assert n_found <= MOST_BY_CHANCE
