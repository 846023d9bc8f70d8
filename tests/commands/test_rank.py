"""`fsvm rank` on files that a person brings."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from pandas import read_csv
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from fsvm_cli.cli import cli
from fsvm_cli.errors import DataError, FsvmError, UsageError
from fsvm_cli.evidence import tuning
from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings
from fsvm_cli.own_data.tables import MAX_TABLE_ROWS
from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.svm import Gaussian
from tests.helpers.hostile import BRIEF

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.helpers.calling import Answer


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
    options = [word for name, value in BRIEF.get(method, {}).items() for word in ("--set", f"{name}={value}")]
    content = json.loads(rank(file, "--target", "kind", "--method", method, "--format", "json", *options).stdout)
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


def numbers(path: Path, *, copy: bool = False, twice: bool = False) -> Path:
    """Write four columns of numbers and the class; the fourth the first with the other sign, or each row in both."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4)).round(3)
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(30) > 0, "ill", "well")
    if copy:
        X[:, 3] = -X[:, 0]
    if twice:
        X, y = np.vstack([X, X]), np.concatenate([y, y[::-1]])
        y[30:] = np.where(y[:30] == "ill", "well", "ill")
    pd.DataFrame(X, columns=list("abcd")).assign(kind=y).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(("method", "what"), [("gradient-angle", "4 of 4 places"), ("rfe", "3 of 3 eliminations")])
def test_a_certificate_gives_intervals_and_verdicts(tmp_path: Path, method: str, what: str) -> None:
    arguments = (numbers(tmp_path / "mine.csv"), "--target", "kind", "--method", method, "--certify")
    assert rank(*arguments).stdout.splitlines()[-1] == f"{what} decided"
    content = json.loads(rank(*arguments, "--format", "json").stdout)
    assert content["certified"] == f"{what} decided"
    rows = list(csv.DictReader(rank(*arguments, "--format", "csv").stdout.splitlines()))
    for row, feature in zip(rows, content["features"], strict=True):
        assert row["verdict"] == feature["verdict"] == "decided"
        assert feature["score_low"] <= feature["score"] <= feature["score_high"]
        assert float(row["score_low"]) == feature["score_low"]
        assert float(row["score_high"]) == feature["score_high"]


@pytest.mark.parametrize("settings", [(), ("kernel=gaussian",)], ids=str)
def test_the_intervals_are_those_of_the_estimator(tmp_path: Path, settings: tuple[str, ...]) -> None:
    path = numbers(tmp_path / "mine.csv")
    options = [word for setting in (*settings, "theta=3") if settings for word in ("--set", setting)]
    said = rank(path, "--target", "kind", "--method", "gradient-angle", "--certify", "--format", "json", *options)
    table = read_csv(path)
    X = StandardScaler().fit_transform(table[list("abcd")])
    expected = GradientAngle(Gaussian(3.0) if settings else "linear", certify=True).fit(X, table["kind"])
    for each in json.loads(said.stdout)["features"]:
        assert [each["score_low"], each["score_high"]] == pytest.approx(expected.score_intervals_[each["index"]])


@pytest.mark.parametrize(("method", "decided"), [("gradient-angle", "2 of 4 places"), ("rfe", "2 of 3 eliminations")])
def test_copies_and_ties_are_marked(tmp_path: Path, method: str, decided: str) -> None:
    options = ("--target", "kind", "--method", method, "--certify")
    said = rank(numbers(tmp_path / "copy.csv", copy=True), *options).stdout
    marked = re.findall(r"\d c │ (\w)", said)
    assert said.splitlines()[-1].startswith(f"{decided} decided; ")
    assert "between copies" in said.splitlines()[-1]
    assert len(marked) == (2 if method == "gradient-angle" else 1)
    assert set(marked) <= {"a", "d"}
    said = rank(numbers(tmp_path / "twice.csv", twice=True), *options).stdout
    assert said.splitlines()[-1].startswith("0 of ")
    assert sorted(re.findall(r"\d = │ (\w)", said)) == list("abcd")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--method", "fisher"), "no bound is known for the scores of fisher; one is for gradient-angle, rfe"),
        (("--method", "infoprop"), "no bound is known for the scores of infoprop"),
        (("--method", "rfe", "--set", "kernel=gaussian"), "rfe: certify=True needs the linear kernel"),
        (("--method", "gradient-angle", "--set", "kernel=laplace"), "no bound is known for derivatives with"),
        (("--method", "rfe", "--always-keep", "b"), "leave --always-keep out"),
        ((), r"is about one ranking; say which \(--method NAME\)"),
    ],
)
def test_a_certificate_that_cannot_be_given_is_refused(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    said = error_of(UsageError, numbers(tmp_path / "mine.csv"), "--target", "kind", "--certify", *options)
    assert re.search(words, said)
    assert "\n" not in said


def test_columns_of_words_have_no_certificate(tmp_path: Path) -> None:
    path = numbers(tmp_path / "mine.csv")
    read_csv(path).assign(place=["here", "there", "far"] * 10).to_csv(path, index=False)
    options = (path, "--target", "kind", "--method", "rfe", "--categorical", "one-hot")
    assert "decided" not in rank(*options).stdout
    assert "a column that becomes several features" in error_of(UsageError, *options, "--certify")


def test_a_ranking_is_the_same_each_time(file: Path) -> None:
    arguments = (file, "--target", "kind", "--method", "random", "--format", "json")
    assert rank(*arguments).stdout == rank(*arguments).stdout


def test_a_constant_feature_is_named(file: Path) -> None:
    result = rank(file, "--target", "kind", "--method", "fisher")
    assert "constant, and so without information: constant" in result.stderr


@pytest.mark.parametrize("method", ranking_methods())
def test_constant_columns_come_last_and_change_nothing(method: str, tmp_path: Path) -> None:
    table = read_csv(numbers(tmp_path / "mine.csv"))
    constant = pd.DataFrame({f"constant {number}": [number] * len(table) for number in range(20)})
    pd.concat([constant.iloc[:, :15], table[list("abc")], constant.iloc[:, 15:], table[["d", "kind"]]], axis=1).to_csv(
        tmp_path / "wide.csv", index=False
    )
    options = [word for name, value in BRIEF.get(method, {}).items() for word in ("--set", f"{name}={value}")]
    options += ["--certify"] * (method == "gradient-angle")  # as rfe does of itself
    arguments = ("--target", "kind", "--method", method, "--format", "json", *options)
    alone = json.loads(rank(tmp_path / "mine.csv", *arguments).stdout)["features"]
    said = rank(tmp_path / "wide.csv", *arguments)
    beside = json.loads(said.stdout)["features"]
    shown = ("feature", "score", "score_low", "score_high", "verdict")
    assert [[each.get(key) for key in shown] for each in beside[:4]] == [
        [each.get(key) for key in shown] for each in alone
    ]
    assert {each["feature"] for each in beside[4:]} == {*constant}
    assert {each["score"] for each in beside[4:]} == {min(0.0, alone[-1]["score"])}
    assert said.stderr.count("constant, and so without information") == 1


def test_q_values_are_those_of_the_columns_that_vary(tmp_path: Path) -> None:
    table = read_csv(numbers(tmp_path / "mine.csv"))
    table.assign(e=1, f=2)[[*"eabfcd", "kind"]].to_csv(tmp_path / "wide.csv", index=False)
    for controls in ("permuted", "knockoffs"):
        arguments = ("--target", "kind", "--method", "fisher", "--fdr", controls, "--format", "json")
        alone, beside = (
            {each["feature"]: each["q_value"] for each in json.loads(rank(path, *arguments).stdout)["features"]}
            for path in (tmp_path / "mine.csv", tmp_path / "wide.csv")
        )
        assert beside == alone | {"e": 1.0, "f": 1.0}


def test_words_of_a_column_that_are_collinear_are_told_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    table = read_csv(numbers(tmp_path / "mine.csv")).assign(constant=1, colour=["red", "blue", "green"] * 10)
    table[["constant", "a", "colour", "b", "c", "d", "kind"]].to_csv(path, index=False)
    arguments = ("--target", "kind", "--method", "fisher", "--fdr", "knockoffs", "--categorical")
    message = error_of(UsageError, path, *arguments, "one-hot")
    assert re.search(r"'colour=\w+' is a linear combination of 'colour=\w+', 'colour=\w+': no knockoff can be", message)
    assert "number the words (--categorical ordinal), or drop the column (--drop colour), or take" in message
    for remedy in (("ordinal",), ("one-hot", "--drop", "colour")):
        assert rank(path, *arguments, *remedy).exit_code == 0


def test_a_constant_column_that_is_always_kept_comes_first(tmp_path: Path) -> None:
    table = read_csv(numbers(tmp_path / "mine.csv")).assign(e=1, f=2)
    table[[*"eabfcd", "kind"]].to_csv(tmp_path / "wide.csv", index=False)
    said = rank(tmp_path / "wide.csv", "--target", "kind", "--method", "rfe", "--always-keep", "f", "--format", "csv")
    names = [row["feature"] for row in csv.DictReader(said.stdout.splitlines())]
    assert names[0] == "f"
    assert names[-1] == "e"


def test_the_index_of_a_feature_means_the_same_beside_constant_columns(tmp_path: Path) -> None:
    table = read_csv(numbers(tmp_path / "mine.csv")).assign(e=1, site=np.arange(30) % 2)
    table[["e", "a", "b", "site", "kind"]].to_csv(tmp_path / "wide.csv", index=False)
    table[["site", "a", "b", "kind"]].to_csv(tmp_path / "alone.csv", index=False)
    order = {}
    for name, task in (("wide", 3), ("alone", 0)):
        options = ("--method", "multi-task", "--set", f"task={task}", "--set", "ridge=1", "--format", "csv")
        said = rank(tmp_path / f"{name}.csv", "--target", "kind", *options)
        order[name] = [row["feature"] for row in csv.DictReader(said.stdout.splitlines())]
    assert [name for name in order["wide"] if name != "e"] == order["alone"]


def test_a_column_of_one_word_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("a,place,y\n" + "".join(f"{row},here,{row % 2}\n" for row in range(12)))
    result = rank(path, "--target", "y", "--method", "fisher", "--categorical", "one-hot")
    assert result.stderr.count("constant, and so without information") == 1
    assert "constant, and so without information: place\n" in result.stderr


def test_of_many_constant_features_the_first_are_named(tmp_path: Path) -> None:
    path = tmp_path / "wide.libsvm"
    path.write_text("".join(f"{row % 2} {1 + row % 2}:1 30000:1\n" for row in range(12)))
    result = rank(path, "--method", "infoprop", "--scaling", "none")
    assert "constant, and so without information: x3, x4, x5, x6, x7 and 29993 more\n" in result.stderr
    assert result.stdout.splitlines()[-1] == f"and {30_000 - MAX_TABLE_ROWS:,} features more; --format csv lists all"
    assert sum("│" in line for line in result.stdout.splitlines()) == MAX_TABLE_ROWS
    everything = rank(path, "--method", "infoprop", "--scaling", "none", "--format", "csv").stdout
    assert len(everything.splitlines()) == 30_001


def test_a_data_set_with_a_card_can_be_named() -> None:
    assert "13 features ranked on 178 rows" in rank("wine", "--method", "fisher").stdout


def test_mistakes_are_named_with_what_is_allowed(file: Path) -> None:
    good = (file, "--target", "kind", "--method", "gradient-angle")
    assert "did you mean 'gradient-angle'?" in error_of(UsageError, *good[:-1], "gradient-angl")
    assert "did you mean 'standard'?" in error_of(UsageError, *good, "--scaling", "standart")
    assert "neither gradient-angle nor its machine has a 'epsilo'" in error_of(UsageError, *good, "--set", "epsilo=1")
    assert "epsilon is -1; it should be 0 or more" in error_of(UsageError, *good, "--set", "epsilon=-1")
    assert "there is no column 'knd'" in error_of(UsageError, file, "--target", "knd", "--method", "fisher")
    assert "nothing.csv" in error_of(DataError, "nothing.csv", "--target", "kind", "--method", "fisher")


def test_a_chain_that_is_stuck_is_told_with_the_name_of_the_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(tuning.SAMPLERS, "paper", (SamplerSettings(2, 3, 5, step=90.0, acceptance=None),))
    path = tmp_path / "odd.csv"
    path.write_text("a,b,y\n" + "".join(f"{i % 3},{i % 5},{i % 2}\n" for i in range(12)))
    settings = ("--set", "sampler=paper", "--set", "rule=magnitude", "--set", "approximation=exact")
    message = error_of(UsageError, path, "--target", "y", "--method", "ard", *settings)
    assert message.startswith("odd.csv: 2 of 2 chains accepted none of 5 trajectories of 1 steps of 90")
    assert message.endswith("which are too long here; choose chains whose step is adapted")


def test_missing_values_are_refused_until_a_rule_is_named(frame: pd.DataFrame, tmp_path: Path) -> None:
    holes = frame.drop(columns="constant")
    holes.loc[[3, 5], "ash"] = float("nan")
    path = tmp_path / "holes.csv"
    holes.to_csv(path, index=False)
    arguments = (path, "--target", "kind", "--method", "fisher")
    assert "ash" in error_of(DataError, *arguments)
    assert "ranked on 176 rows" in rank(*arguments, "--missing", "drop").stdout
    assert "ranked on 178 rows" in rank(*arguments, "--missing", "mean").stdout


@pytest.fixture(scope="module")
def coloured(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wines with a column of words between the numbers, which tells one class from the others."""
    path = tmp_path_factory.mktemp("own") / "coloured.csv"
    colour = frame["kind"].map({"a": "pale", "b": "deep", "c": "deep"}).where(frame.index % 9 > 0, "odd")
    frame.assign(colour=colour)[["alcohol", "colour", "ash", "kind"]].to_csv(path, index=False)
    return path


@pytest.mark.parametrize("method", ["fisher", "mutual-information", "rfe"])
def test_the_words_of_a_column_stay_together_in_every_format(coloured: Path, method: str) -> None:
    arguments = (coloured, "--target", "kind", "--method", method, "--categorical", "one-hot", "--format")
    content = json.loads(rank(*arguments, "json").stdout)
    assert content["n_features"] == 3
    assert {each["feature"]: each["index"] for each in content["features"]} == {"alcohol": 0, "colour": 1, "ash": 2}
    scores = [each["score"] for each in content["features"]]
    assert scores == sorted(scores, reverse=True)
    (group,) = (each for each in content["features"] if "words" in each)
    assert set(group["words"]) == {"colour=pale", "colour=deep", "colour=odd"}
    assert group["method_score"] == max(group["words"].values())
    assert all(0 <= each["score"] <= 1 for each in content["features"])
    rows = list(csv.DictReader(rank(*arguments, "csv").stdout.splitlines()))
    assert [(row["feature"], float(row["score"])) for row in rows] == [
        (each["feature"], each["score"]) for each in content["features"]
    ]
    lines = rank(*arguments, "table").stdout.splitlines()
    place = next(number for number, line in enumerate(lines) if " colour " in line)
    assert all("  colour=" in line for line in lines[place + 1 : place + 4])


def test_words_score_as_they_would_as_columns_of_their_own(coloured: Path, tmp_path: Path) -> None:
    words = read_csv(coloured)
    apart = words.drop(columns="colour").assign(
        **{f"is {word}": (words["colour"] == word).astype(float) for word in ("deep", "odd", "pale")}
    )
    apart.to_csv(tmp_path / "apart.csv", index=False)
    options = ("--target", "kind", "--method", "fisher", "--format", "json")
    found = json.loads(rank(coloured, *options, "--categorical", "one-hot").stdout)["features"]
    expected = {
        each["feature"]: each["score"] for each in json.loads(rank(tmp_path / "apart.csv", *options).stdout)["features"]
    }
    (group,) = (each for each in found if "words" in each)
    for word in ("deep", "odd", "pale"):
        assert group["words"][f"colour={word}"] == pytest.approx(expected[f"is {word}"])


def test_columns_of_words_are_refused_until_a_rule_is_named(coloured: Path) -> None:
    message = error_of(DataError, coloured, "--target", "kind", "--method", "fisher")
    assert "columns of words: 'colour'" in message
    assert "--categorical one-hot" in message


def test_a_method_that_runs_out_of_memory_says_so(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(ranking_methods()["fisher"], "_scores", exhausted)
    message = error_of(UsageError, file, "--target", "kind", "--method", "fisher")
    assert "fisher needs more memory than there is for 178 rows and 14 features" in message


def test_a_sparse_file_is_ranked_as_a_full_matrix_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "mine.svm"
    path.write_text("1 1:1 2:3\n-1 2:1\n1 1:2\n-1 2:2\n")
    assert "--dense" in error_of(UsageError, path, "--method", "relief-f")
    for method in ("fisher", "rfe"):
        assert f"{method}: 2 features ranked on 4 rows" in rank(path, "--method", method, "--scaling", "none").stdout
    assert "fisher: 2 features ranked on 4 rows" in rank(path, "--method", "fisher", "--dense").stdout


def test_neither_a_file_nor_a_data_set_is_answered_with_the_nearest() -> None:
    message = error_of(UsageError, "spambas", "--method", "fisher")
    assert "spambas: there is no such file, nor a data set of this name; did you mean 'spambase'?" in message
    assert "/dev/zero: is a device, not a file" in error_of(DataError, "/dev/zero", "--method", "fisher")


@pytest.mark.parametrize("value", ["1e308", "-1e308", "5e-324"])
@pytest.mark.parametrize("method", ["fisher", "pearson-redundancy", "kpd", "random"])
def test_values_at_the_ends_of_the_doubles_are_scaled_or_refused_by_name(
    tmp_path: Path, method: str, value: str
) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("a,b,y\n" + "".join(f"{i % 3},{value if i == 3 else 0},{i % 2}\n" for i in range(12)))
    options = (path, "--target", "y", "--method", method)
    content = json.loads(rank(*options, "--format", "json").stdout)
    assert np.isfinite([each["score"] for each in content["features"]]).all()
    message = error_of(UsageError, *options, "--scaling", "none")
    assert "odd.csv: feature 'b' has values of up to" in message
    assert "scale the features" in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("controls", "method"), [("permuted", "fisher"), ("knockoffs", "fisher"), ("knockoffs", "knockoffs")]
)
def test_q_values_stand_beside_the_scores(call: Callable[..., Answer], controls: str, method: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 24))
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(24)])
    frame = frame.assign(kind=np.where(X[:, :12].sum(axis=1) + rng.normal(size=200) > 0, "a", "b"))
    frame.to_csv("made.csv", index=False)
    told = call("rank", "made.csv", "--target", "kind", "--method", method, "--fdr", controls, "--format", "csv")
    assert told.code == 0, told.err
    found = pd.read_csv(io.StringIO(told.out))
    assert found["q_value"].between(0, 1).all()
    relevant = found["feature"].str[1:].astype(int) < 12
    discovered = found["q_value"] <= 0.2
    assert (relevant & discovered).sum() >= 8
    assert (~relevant & discovered).sum() <= (relevant & discovered).sum() / 2
    # The ranking itself is the same without controls.
    alone = call("rank", "made.csv", "--target", "kind", "--method", method, "--format", "csv")
    plain = pd.read_csv(io.StringIO(alone.out))
    assert plain.equals(found.drop(columns="q_value"))


def test_controls_that_there_are_not(call: Callable[..., Answer]) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=[*"abcd"]).assign(kind=np.arange(60) % 2)
    frame.assign(e=frame["a"] - 2 * frame["c"], patient=np.arange(60) // 2).to_csv("made.csv", index=False)
    asked = ["rank", "made.csv", "--target", "kind", "--fdr", "knockoffs"]
    for options, message in (
        (("--method", "fisher", "--drop", "patient"), "is a linear combination of"),
        (("--method", "fisher", "--groups", "patient"), "rows of one group depend on each other"),
        ((), "say which (--method NAME)"),
    ):
        told = call(*asked, *options)
        assert (told.code, message in told.err) == (2, True), told.err
        assert "Traceback" not in told.err
