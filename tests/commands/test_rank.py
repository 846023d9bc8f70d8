"""`fsvm rank` on files that a person brings."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from fsvm_cli.cli import cli
from fsvm_cli.errors import DataError, FsvmError, UsageError
from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.svm import Gaussian

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    wine = load_wine(as_frame=True).frame
    return wine.drop(columns="target").assign(kind=wine["target"].map({0: "a", 1: "b", 2: "c"}), constant=1.0)


@pytest.fixture(scope="module")
def file(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "mine.csv"
    frame.to_csv(path, index=False)
    return path


def rank(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["rank", *map(str, arguments)])


def error_of(kind: type[FsvmError], *arguments: object) -> str:
    result = rank(*arguments)
    assert isinstance(result.exception, kind)
    return str(result.exception)


@pytest.mark.parametrize("method", ranking_methods())
def test_every_method_ranks_a_file(file: Path, frame: pd.DataFrame, method: str) -> None:
    content = json.loads(rank(file, "--target", "kind", "--method", method, "--format", "json").stdout)
    assert (content["method"], content["n_samples"], content["n_features"]) == (method, 178, 14)
    features = content["features"]
    assert [each["rank"] for each in features] == list(range(1, 15))
    assert sorted(each["index"] for each in features) == list(range(14))
    names = [name for name in frame.columns if name != "kind"]
    assert [each["feature"] for each in features] == [names[each["index"]] for each in features]
    scores = [each["score"] for each in features]
    assert scores == sorted(scores, reverse=True)


def test_parameters_reach_the_method_and_its_machine(file: Path, frame: pd.DataFrame) -> None:
    settings = ("epsilon=0.3", "kernel=gaussian", "theta=20", "C=5")
    options = [word for setting in settings for word in ("--set", setting)]
    result = rank(file, "--target", "kind", "--method", "gradient-angle", "--format", "csv", *options)
    X = StandardScaler().fit_transform(frame.drop(columns=["kind"]))
    expected = GradientAngle(Gaussian(theta=20.0), C=5.0, epsilon=0.3).fit(X, frame["kind"]).scores_
    found = {int(row["index"]): float(row["score"]) for row in csv.DictReader(result.stdout.splitlines())}
    assert found == pytest.approx(dict(enumerate(expected)))


def test_a_ranking_is_the_same_each_time(file: Path) -> None:
    arguments = (file, "--target", "kind", "--method", "random", "--format", "json")
    assert rank(*arguments).stdout == rank(*arguments).stdout


def test_a_constant_feature_is_named(file: Path) -> None:
    result = rank(file, "--target", "kind", "--method", "fisher")
    assert "constant, and so without information: constant" in result.stderr


def test_a_data_set_with_a_card_can_be_named() -> None:
    assert "13 features ranked on 178 samples" in rank("wine", "--method", "fisher").stdout


def test_mistakes_are_named_with_what_is_allowed(file: Path) -> None:
    good = (file, "--target", "kind", "--method", "gradient-angle")
    assert "did you mean 'gradient-angle'?" in error_of(UsageError, *good[:-1], "gradient-angl")
    assert "did you mean 'standard'?" in error_of(UsageError, *good, "--scaling", "standart")
    assert "neither gradient-angle nor its machine has a 'epsilo'" in error_of(UsageError, *good, "--set", "epsilo=1")
    assert "should be greater than or equal to 0" in error_of(UsageError, *good, "--set", "epsilon=-1")
    assert "there is no column 'knd'" in error_of(UsageError, file, "--target", "knd", "--method", "fisher")
    assert "nothing.csv" in error_of(DataError, "nothing.csv", "--target", "kind", "--method", "fisher")


def test_missing_values_are_refused_until_a_rule_is_named(frame: pd.DataFrame, tmp_path: Path) -> None:
    holes = frame.drop(columns="constant")
    holes.loc[[3, 5], "ash"] = float("nan")
    path = tmp_path / "holes.csv"
    holes.to_csv(path, index=False)
    arguments = (path, "--target", "kind", "--method", "fisher")
    assert "ash" in error_of(DataError, *arguments)
    assert "ranked on 176 samples" in rank(*arguments, "--missing", "drop").stdout
    assert "ranked on 178 samples" in rank(*arguments, "--missing", "mean").stdout
