"""`fsvm rank` without a method, kernels by other names, and the columns that are taken home."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner, Result
from pandas import read_csv
from scipy.stats import spearmanr
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from fsvm_cli.cli import cli
from fsvm_cli.errors import UsageError
from fsvm_cli.own_data import side_by_side
from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.svm import Gaussian

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wine with names of classes, a constant column, and a column of words."""
    wine = load_wine(as_frame=True).frame
    path = tmp_path_factory.mktemp("own") / "mine.csv"
    kind = wine.pop("target").map({0: "a", 1: "b", 2: "c"})
    colour = np.where(wine["hue"] > 1, "pale", "deep")
    wine.assign(constant=1.0, colour=colour, kind=kind).to_csv(path, index=False)
    return path


def rank(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["rank", *map(str, arguments)])
    if isinstance(result.exception, Exception):
        raise result.exception
    return result


def test_methods_are_shown_side_by_side_with_their_agreement(file: Path) -> None:
    options = (file, "--target", "kind", "--categorical", "one-hot")
    result = rank(*options, "--format", "json")
    content = json.loads(result.stdout)
    assert content["methods"] == ["fisher", "mutual-information", "relief-f", "rfe"]
    features = content["features"]
    for method in content["methods"]:
        alone = json.loads(rank(*options, "--method", method, "--format", "json").stdout)["features"]
        assert {each["feature"]: each["rank"] for each in alone} == {
            each["feature"]: each["ranks"][method] for each in features
        }
    means = [each["mean_rank"] for each in features]
    assert means == sorted(means)
    for pair in content["agreement"]:
        one, other = ([each["ranks"][method] for each in features] for method in pair["methods"])
        assert pair["spearman"] == pytest.approx(spearmanr(one, other).statistic, abs=1e-6)
    assert result.stderr.count("constant, and so without information: constant") == 1
    rows = list(csv.DictReader(rank(*options, "--format", "csv").stdout.splitlines()))
    assert [row["feature"] for row in rows] == [each["feature"] for each in features]
    assert "agreement of the ranks" in rank(*options).stdout


def test_methods_that_would_take_too_long_are_left_out_and_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "MAX_ROWS_FOR_PAIRS", 100)
    result = rank(file, "--target", "kind", "--drop", "colour", "--format", "json")
    assert json.loads(result.stdout)["methods"] == ["fisher", "mutual-information"]
    assert "left out: rfe compares all pairs of 178 rows; --method rfe does so" in result.stderr


def test_options_that_go_together(file: Path) -> None:
    with pytest.raises(UsageError, match="--set C=2: say of which method"):
        rank(file, "--target", "kind", "--set", "C=2")
    for lonely in (("--out", "x.csv"), ("--keep", "3")):
        with pytest.raises(UsageError, match="go together"):
            rank(file, "--target", "kind", "--method", "fisher", *lonely)
    with pytest.raises(UsageError, match="is the file that is read"):
        rank(file, "--target", "kind", "--method", "fisher", "--out", file, "--keep", "3")
    with pytest.raises(UsageError, match="--keep 99: the data have 14 columns"):
        rank(file, "--target", "kind", "--drop", "colour", "--method", "fisher", "--out", "x.csv", "--keep", "99")


def test_the_best_columns_are_written_as_they_were(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "selected.csv"
    options = (file, "--target", "kind", "--categorical", "one-hot", "--method", "fisher")
    best = json.loads(rank(*options, "--format", "json").stdout)["features"][:9]
    assert "written" not in rank(*options, "--out", out, "--keep", "9").stderr
    chosen, whole = read_csv(out), read_csv(file)
    kept = {each["feature"] for each in best}
    assert "colour" in kept
    expected = [name for name in whole.columns if name in kept]
    assert list(dict.fromkeys(name.partition("=")[0] for name in chosen.columns)) == [*expected, "kind"]
    for name in kept - {"colour"} | {"kind"}:
        assert chosen[name].tolist() == whole[name].tolist()
    assert (chosen["colour=pale"] == (whole["colour"] == "pale")).all()


@pytest.mark.parametrize("name", ["gaussian", "rbf"])
def test_a_width_that_is_not_said_is_in_proportion_and_named(tmp_path: Path, name: str) -> None:
    iris = load_iris(as_frame=True).frame
    iris.to_csv(tmp_path / "iris.csv", index=False)
    options = (tmp_path / "iris.csv", "--target", "target", "--method", "gradient-angle", "--format", "csv")
    result = rank(*options, "--set", f"kernel={name}")
    X = StandardScaler().fit_transform(iris.drop(columns="target"))
    expected = GradientAngle(Gaussian(theta=4 * X.var())).fit(X, iris["target"]).scores_
    found = {int(row["index"]): float(row["score"]) for row in csv.DictReader(result.stdout.splitlines())}
    assert found == pytest.approx(dict(enumerate(expected)))
    assert "theta of the gaussian kernel is 4, in proportion" in result.stderr
    assert ("'rbf' is called 'gaussian' here" in result.stderr) == (name == "rbf")
