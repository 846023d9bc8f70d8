"""What a person can get wrong: each ends with its exit code and a line or two that say what to do."""

from __future__ import annotations

import errno
import re
import sqlite3
from typing import TYPE_CHECKING

import pytest

from tests.helpers.calling import write_config

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.helpers.calling import Answer

    Call = Callable[..., Answer]

pytestmark = pytest.mark.usefixtures("plain_figures")


def refused(answer: Answer, code: int, *parts: str) -> None:
    """The answer is an exit code and one or two lines, on standard error alone, that hold all parts."""
    assert answer.code == code, answer
    assert answer.out == ""
    assert "Traceback" not in answer.err
    message = [line for line in answer.err.splitlines() if not line.startswith(("Usage:", "Try "))]
    assert 1 <= len([line for line in message if line]) <= 2, answer.err
    for part in parts:
        assert part in answer.err


def test_no_such_config(call: Call) -> None:
    refused(call("run", "wien"), 2, "wien: no such file", "did you mean 'wine'?")
    refused(call("run", "missing.yaml"), 2, "missing.yaml: no such file", "fsvm experiments list")


def test_a_config_that_is_nowhere_does_not_have_all_shipped_ones_told(call: Call) -> None:
    answer = call("run", "The paper states C = training set size. Its program may have divided C by that number. " * 2)
    refused(answer, 2, "no such file", "fsvm experiments list")
    assert len(answer.err) < 1500


def test_a_folder_is_no_config(call: Call, tmp_path: Path) -> None:
    refused(call("run", tmp_path), 2, "is a folder")


def test_yaml_syntax(call: Call, tmp_path: Path) -> None:
    refused(call("run", write_config(tmp_path, dataset="[plane")), 2, "small.yaml:3:", "not YAML")


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"protocol": "{splits: many, train: 1/2, seed: 7}"}, (":5:20:", "protocol.splits is 'many'", "whole number")),
        ({"titel": "again"}, (":8:1:", "unknown key 'titel'", "did you mean 'title'?")),
        ({"rankings": "[{method: radom}]"}, (":6:21:", "'radom' is no method", "did you mean 'random'?")),
        ({"dataset": "wien"}, (":2:10:", "there is no data set 'wien'", "did you mean 'wine'")),
        ({"protocol": "{splits: 4, train: 0, seed: 7}"}, (":5:30:", "0 rows cannot be drawn")),
        ({"protocol": "{splits: 4, train: 60, seed: 7}"}, (":5:30:", "60 training and 0 test rows cannot be drawn")),
        ({"protocol": "{splits: 4, train: 1.0, seed: 7}"}, (":5:30:", "leaves none for the other part")),
        (
            {"protocol": "{splits: 4, train: 1, seed: 7}"},
            (":5:30:", "1 training row is of one class", "; write 2 or more"),
        ),
        ({"protocol": "{splits: 1, train: given, seed: 7}"}, (":5:30:", "comes without a split")),
        ({"subsets": "[1, 21]"}, (":7:10:", "21 features cannot be retained")),
        ({"dataset": "wine", "subsets": "[1, 14]"}, (":7:10:", "14 features cannot be retained; wine has 13")),
        (
            {"record": "[decision-field]", "rankings": "[{method: gradient-angle}]"},
            (":8:10:", "needs 2 features and 2 classes"),
        ),
        ({"classifier": "{kernel: linear, C: 1, class_kernels: {x: {kernel: linear}}}"}, (":4:", "share one machine")),
        (
            {"dataset": "wine", "classifier": "{kernel: linear, C: 1, class_kernels: {x: {kernel: linear}}}"},
            (":4:", "has no class 'x'", "cultivar 1"),
        ),
        ({"classifier": "{kernel: linear, C: 1, tune: {C: [1, 2], folds: 30}}"}, (":4:", "60 training rows")),
        ({"classifier": "{kernel: rbf, C: 1}"}, (":4:22:", "did you mean 'gaussian'?")),
        ({"classifier": "{kernel: gaussian, C: 1, gamma: 2}"}, (":4:38:", "did you mean 'theta'?")),
        ({"rankings": "[{method: svm-rfe}]"}, (":6:21:", "did you mean 'rfe'?")),
        ({"metrics": "[acc]"}, (":8:11:", "'acc' is no figure of merit; did you mean ")),
        ({"metrics": "[]"}, (":8:10:", "metrics is empty; write at least one value")),
        ({"subsets": "5"}, (":7:10:", "subsets is 5; it should be 'all', or a list")),
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_config_that_is_wrong(
    call: Call, tmp_path: Path, command: str, changes: dict[str, str], parts: tuple[str, ...]
) -> None:
    refused(call(command, write_config(tmp_path, **changes)), 2, "small.yaml", *parts)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("run", "wine", "--jobs", "0"), ("--jobs", "x>=1")),
        (("run", "wine", "--splits", "0"), ("--splits", "x>=1")),
        (("run",), ("CONFIG",)),
        (("run", "wine", "--set", "protocol.splits"), ("--set protocol.splits: write KEY=VALUE",)),
        (("run", "wine", "--set", "classifier.D=3"), ("--set classifier.D=3: unknown key 'D'", "allowed: ")),
        (("rum", "wine"), ("No such command 'rum'", "Did you mean 'run'?")),
    ],
)
def test_a_wrong_option(call: Call, arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    refused(call(*arguments), 2, *parts)


def test_an_output_folder_that_cannot_be_written(call: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    refused(
        call("run", write_config(tmp_path), "--out", tmp_path / "file" / "results"), 3, "cannot be written", "--out"
    )


def test_a_store_of_another_version(call: Call, tmp_path: Path) -> None:
    config = write_config(tmp_path)
    assert call("run", config, "--jobs", "1").code == 0
    connection = sqlite3.connect(tmp_path / "results" / "small" / "trials.sqlite")
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    refused(call("run", config), 3, "written by another version of fsvm", "--fresh")
    refused(call("run", config, "--dry-run"), 3, "written by another version of fsvm", "--fresh")
    assert call("run", config, "--fresh", "--jobs", "1").code == 0


def test_a_training_part_with_a_single_class(call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("y,a,b,c,d,e\n" + "no,1,2,3,4,5\n" * 39 + "yes,5,4,3,2,1\n")
    config = write_config(tmp_path, dataset="{file: mine.csv, target: y}", protocol="{splits: 2, train: 2, seed: 7}")
    answer = call("run", config, "--jobs", "1")
    assert answer.code == 4
    assert "2 of 2 trials failed: the training part holds only one class" in answer.err
    assert "some trials of small failed; the rest is kept" in answer.err
    assert "Traceback" not in answer.err


def test_one_split_with_a_single_class_leaves_the_others(call: Call, tmp_path: Path) -> None:
    answer = call("run", write_config(tmp_path, protocol="{splits: 12, train: 3, seed: 7}"), "--jobs", "1")
    assert answer.code == 4
    assert "of 12 trials failed: the training part holds only one class" in answer.err
    assert "INCOMPLETE" in answer.out
    assert (tmp_path / "results" / "small" / "curves.csv").exists()


def test_a_wrong_config_keeps_the_right_ones_from_beginning(call: Call, tmp_path: Path) -> None:
    wrong = write_config(tmp_path, "wrong", scaling="standart")
    refused(call("run", write_config(tmp_path), wrong), 2, "wrong.yaml:3:10")
    assert not (tmp_path / "results").exists()


def test_an_experiment_that_cannot_begin_leaves_the_others_to_be_finished(call: Call, tmp_path: Path) -> None:
    hopeless = write_config(tmp_path, "hopeless", dataset="wien")
    answer = call("run", hopeless, write_config(tmp_path), "--jobs", "1")
    assert answer.code == 2
    assert "there is no data set 'wien'" in answer.err
    assert "Written to results/small" in answer.out
    assert (tmp_path / "results" / "small" / "curves.csv").exists()


def own_table(folder: Path, **cells: str) -> None:
    """Write a table of 40 rows whose column b is constant; `cells` are put into the first row."""
    rows = [{"y": n % 2, "a": n % 7, "b": 1.5, "c": (n * 5) % 11 - n % 2} for n in range(40)]
    rows[0] |= cells
    lines = [",".join(map(str, row.values())) for row in ({name: name for name in rows[0]}, *rows)]
    (folder / "mine.csv").write_text("\n".join(lines) + "\n")


OWN = {"dataset": "{file: mine.csv, target: y}", "subsets": "all"}


def test_a_constant_feature_is_ranked_and_evaluated(call: Call, tmp_path: Path) -> None:
    own_table(tmp_path)
    answer = call("run", write_config(tmp_path, **OWN), "--jobs", "1")
    assert answer.code == 0, answer.err
    assert "every machine reached its duality gap" in answer.out
    assert call("verify", tmp_path / "results" / "small", "--rerun", "1").code == 0


@pytest.mark.parametrize("cell", ["", "nan", "inf", "-inf"])
def test_a_value_that_is_missing_or_infinite(call: Call, tmp_path: Path, cell: str) -> None:
    own_table(tmp_path, a=cell)
    refused(call("run", write_config(tmp_path, **OWN), "--jobs", "1"), 3, "mine", "in 1 of 40 rows", "'a' (1)")
    assert not (tmp_path / "results").exists()


def test_a_file_that_does_not_exist(call: Call, tmp_path: Path) -> None:
    refused(call("run", write_config(tmp_path, **OWN), "--jobs", "1"), 3, "mine.csv")


def test_check_tells_every_mistake_between_a_config_and_its_data(call: Call, tmp_path: Path) -> None:
    classifier = "{kernel: linear, C: 1, tune: [{C: [1], folds: 2}, {C: [1, 2], folds: 90}]}"
    changes = {"subsets": "[99, 1, 50]", "record": "[descent-path, decision-field]", "classifier": classifier}
    answer = call("check", write_config(tmp_path, **changes, rankings="[{method: random}]"))
    assert answer.code == 2
    places = [":4:82: folds is 90", ":7:10: 50, 99 features", ":8:10: a descent path shows", ":8:24: a decision field"]
    lines = answer.err.splitlines()
    for place in places:
        assert any(place in line for line in lines), answer.err
    protocol = "{splits: 1, train: [1, 60, 1/2, 0.001], test: 0.3, seed: 1}"
    lines = call("check", write_config(tmp_path, protocol=protocol, subsets="[40]")).err.splitlines()
    assert [line.removeprefix("fsvm: ").split(":")[2] for line in lines] == ["31", "34", "43", "10"]


ON_REUTERS = {"dataset": "{name: reuters, version: reuters-1}", "scaling": "none", "subsets": "[2]"}


def test_check_knows_that_a_card_is_of_sparse_data(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSVM_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FSVM_MIRROR", raising=False)
    methods = "[{method: mrmr}, {method: mutual-information}, {method: relief-f}]"
    changes = ON_REUTERS | {"scaling": "standard", "rankings": methods, "extractors": "[{method: pca}]"}
    answer = call("check", write_config(tmp_path, **changes))
    assert answer.code == 2
    lines = answer.err.splitlines()
    for line, words in zip(lines, ("scaling 'standard'", "mrmr takes", "relief-f takes", "pca takes"), strict=True):
        assert words in line
    assert all(re.match(r"(fsvm: )?\S+small\.yaml:\d+:\d+: ", line) for line in lines)
    assert "methods that take a sparse one: " in lines[1]
    assert not (tmp_path / "cache").exists()
    right = ON_REUTERS | {"rankings": "[{method: mutual-information}]"}
    assert call("check", write_config(tmp_path, "right", **right)).code == 0


def test_check_looks_whether_the_data_exist(call: Call, tmp_path: Path) -> None:
    missing = write_config(tmp_path, **OWN)
    refused(call("check", missing), 3, "mine.csv: cannot be read (No such file or directory)")
    unknown = write_config(tmp_path, "unknown", dataset="wien")
    refused(call("check", unknown), 2, "unknown.yaml:2:10", "there is no data set 'wien'", "did you mean 'wine'")
    refused(call("check", unknown, missing), 2, "there is no data set 'wien'", "mine.csv: cannot be read")
    version = write_config(tmp_path, "version", dataset="{name: splice, version: acgu}")
    refused(call("check", version), 2, "version.yaml:2:10", "no version 'acgu'")
    samples = write_config(tmp_path, "samples", dataset="{name: wine, samples: 20}")
    refused(call("check", samples), 2, "samples.yaml:2:10", "'samples' is for synthetic sets")
    own_table(tmp_path)
    assert call("check", missing).out.endswith("small.yaml: correct\n")


def test_check_fetches_nothing(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSVM_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FSVM_MIRROR", raising=False)
    assert call("check", write_config(tmp_path, dataset="sonar")).code == 0
    assert not (tmp_path / "cache").exists()


CLAIM = "{id: %s, kind: monotone, where: Table 1, claim: It falls., ranking: random}"


def test_claims_that_share_an_id(call: Call, tmp_path: Path) -> None:
    claims = "".join(f"\n  - {CLAIM % name}" for name in ("one", "two", "one"))
    parts = ("small.yaml:11:10", "two claims have the id 'one' (first at 9:10)", "rename one")
    refused(call("check", write_config(tmp_path, expected=claims)), 2, *parts)


def test_a_target_that_does_not_exist(call: Call, tmp_path: Path) -> None:
    own_table(tmp_path)
    config = write_config(tmp_path, dataset="{file: mine.csv, target: z}")
    refused(call("run", config, "--jobs", "1"), 2, "small.yaml:2:10", "'z'")


def test_data_of_a_single_class(call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("y,a\n" + "1,2\n1,3\n" * 10)
    refused(call("run", write_config(tmp_path, **OWN), "--jobs", "1"), 3, "class")


def test_a_disk_that_is_full_for_compiled_code(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_in_vain(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "index.nbi")

    monkeypatch.setattr("fsvm_cli.own_data.rank.rank_features", compile_in_vain)
    refused(call("rank", "wine", "--method", "fisher"), 3, "index.nbi: the disk is full", "NUMBA_CACHE_DIR")
