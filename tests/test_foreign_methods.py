"""Methods from outside that do what they must not: it stays theirs, in every command and in Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from fsvm_cli import Extractor, Fisher, Ranker, Wrapper
from tests.helpers.calling import CHECKOUT, write_config

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FAILING = {
    "writes-x": ("X[:] = np.round(X)", "writes into the samples"),
    "scales-x": ("X *= 0", "writes into the samples"),
    "unlocks-x": ("X.flags.writeable = True; X *= 0", "writes into the samples"),
    "writes-y": ("y[:] = 0", "writes into the samples"),
    "exits": ("raise SystemExit(0)", "would have ended the process (SystemExit: 0)"),
    "ends": ("raise GeneratorExit", "would have ended the process (GeneratorExit)"),
    "short": ("found = found[:-1]", "gave 12 {} for 13 features"),
    "list": ("found = list(found)", "gave a list of {} for 13 features"),
    "matrix": ("found = found[None]", "gave an array of the shape (1, 13"),
    "complex": ("found = found + 0j", "gave {} of the type complex128 for 13 features"),
    "nan": ("found = np.nan * found", ""),
    "raises": ("raise LookupError('my own')", "my own"),
}
"""What each does, and what is said beside its name."""
SOUND = {"prints": "print('.\\n' * 10_000)", "moves": "import os; os.chdir('/')"}
"""What is let pass, and changes nothing."""
BENCHMARKED = ("writes-x", "exits", "short", "moves")
DOES = {name: does for name, (does, _) in FAILING.items()} | SOUND
MODULE = "import numpy as np\nfrom fsvm_cli import Extractor, Ranker\n" + "".join(
    f"""
class Ranker{number}(Ranker):
    method = "{name}"

    def _scores(self, X, y, n_classes):
        found = np.arange(X.shape[1], dtype=float)
        {does}
        return found

class Extractor{number}(Extractor):
    method = "x-{name}"

    def _directions(self, X, y, n_classes, n_components):
        found = np.eye(X.shape[1])
        {does}
        return found
"""
    for number, (name, does) in enumerate(DOES.items())
)
PROGRAM = """
import contextlib, io, json, os, sys
from fsvm_cli.cli import main
answers = {}
for name, arguments in json.load(sys.stdin).items():
    out, err = io.StringIO(), io.StringIO()
    sys.argv, code = ["fsvm", *arguments], None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    answers[name] = [code, out.getvalue(), err.getvalue()]
with open("answers.json", "w") as stream:
    json.dump(answers, stream)
"""
"""Many commands in one process, which the methods are installed for."""
Answers = dict[str, tuple[int, str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the methods, run all commands with them, and return where the answers are."""
    folder = tmp_path_factory.mktemp("foreign")
    (folder / "foreign_methods.py").write_text(MODULE)
    info = folder / "foreign_methods-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign-methods\nVersion: 1.0\n")
    entries = {"rankings": ("", "Ranker"), "extractors": ("x-", "Extractor")}
    lines = [
        line
        for group, (prefix, base) in entries.items()
        for line in [
            f"[fsvm.{group}]",
            *(f"{prefix}{name} = foreign_methods:{base}{k}" for k, name in enumerate(DOES)),
        ]
    ]
    lines[1:1] = ["leaves = leaving:Ranker"]
    (folder / "leaving.py").write_text("raise SystemExit(0)\n")
    (info / "entry_points.txt").write_text("\n".join(lines))
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 13)), columns=[f"f{j}" for j in range(13)])
    table["kind"] = np.where(table["f3"] + rng.normal(size=60) > 0, "a", "b")
    table.to_csv(folder / "own.csv", index=False)
    keys = {"dataset": "{file: own.csv, target: kind}", "protocol": "{splits: 2, train: 1/2, seed: 7}"}
    keys |= {"subsets": "[1, 5, 13]"}
    foreign = ", ".join(f"{{method: {name}}}" for name in DOES)
    extractors = ", ".join(f"{{method: x-{name}}}" for name in DOES)
    write_config(folder, "clean", **keys, rankings="[{method: fisher}, {method: random}]")
    rankings = f"[{foreign}, {{method: fisher}}, {{method: random}}]"
    write_config(folder, "foreign", **keys, rankings=rankings, extractors=f"[{extractors}]")
    run = ["--jobs", "1", "--format", "svg"]
    commands = {each: ["run", f"{each}.yaml", *run] for each in ("clean", "foreign")}
    for name in DOES:
        commands[f"rank {name}"] = ["rank", "own.csv", "--target", "kind", "--method", name, "--format", "json"]
    for name in BENCHMARKED:
        commands[f"benchmark {name}"] = ["benchmark", name, "clean.yaml", "--jobs", "1", "--out", f"of-{name}"]
    subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(commands),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(CHECKOUT)])},
        text=True,
        check=True,
    )
    return folder


@pytest.fixture(scope="module")
def answers(folder: Path) -> Answers:
    found: Answers = json.loads((folder / "answers.json").read_text())
    return found


def rows_of_others(folder: Path, table: str) -> list[str]:
    lines = (folder / table).read_text().splitlines()
    return [line for line in lines if line.startswith(("ranking,", "fisher,", "random,"))]


def test_a_run_keeps_the_others_and_names_each_method(folder: Path, answers: Answers) -> None:
    code, _, err = answers["foreign"]
    assert code == 4
    assert "Traceback" not in err
    for name, (_, told) in FAILING.items():
        assert f"{name} {told.format('scores')}".strip() in err.replace("LookupError: ", "raises ") or not told
        assert f"x-{name} {told.format('directions')}".strip() in err.replace("LookupError: ", "x-raises ") or not told
    assert "'leaves' cannot be used: RuntimeError: leaving:Ranker would have ended the process" in answers["clean"][2]
    for table in ("scores.csv", "curves.csv"):
        rows = rows_of_others(folder / "results" / "clean", table)
        assert len(rows) > 3
        assert rows == rows_of_others(folder / "results" / "foreign", table)
    assert {*SOUND} <= set(pd.read_csv(folder / "results" / "foreign" / "curves.csv")["ranking"])


@pytest.mark.parametrize("name", BENCHMARKED)
def test_a_benchmark_keeps_the_references_and_names_the_method(folder: Path, answers: Answers, name: str) -> None:
    code, out, err = answers[f"benchmark {name}"]
    assert code == (0 if name in SOUND else 4)
    assert name in out + err
    assert (folder / f"of-{name}" / f"{name}.csv").exists() == (name in SOUND)
    known = rows_of_others(folder / "results" / "clean", "scores.csv")
    assert rows_of_others(folder / f"of-{name}" / "clean", "scores.csv") == known


@pytest.mark.parametrize("name", FAILING)
def test_rank_says_which_method_failed(answers: Answers, name: str) -> None:
    code, out, err = answers[f"rank {name}"]
    assert code == (2 if name == "nan" else 4)
    assert not out
    assert name in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", SOUND)
def test_what_a_method_prints_and_where_it_goes_is_no_matter(answers: Answers, name: str) -> None:
    code, out, err = answers[f"rank {name}"]
    assert code == 0, err
    assert json.loads(out)["n_features"] == 13


def foreign(base: type[Any], does: str) -> Any:
    """Make one of the methods in this process."""
    space: dict[str, Any] = {}
    exec(MODULE, space)
    return space[f"{base.__name__}{[*DOES].index(does)}"]()


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("base", [Ranker, Extractor])
def test_the_array_of_a_caller_stays_as_it_is(base: type[Any], name: str) -> None:
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(40, 13)))
    y = np.arange(40) % 2
    before, (_, told) = X.copy(), FAILING[name]
    steps = make_pipeline(FunctionTransformer(), foreign(base, name))
    with pytest.raises(ValueError if name == "nan" else (RuntimeError, LookupError)) as caught:
        steps.fit(X, y)
    assert told.format("scores" if base is Ranker else "directions") in str(caught.value)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(y, np.arange(40) % 2)
    assert X.flags.writeable


class WritingEstimator(Fisher):
    """A classifier that spoils what it is fitted on and asked about."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.intp]) -> WritingEstimator:
        X *= 0
        y[:] = 0
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.intp]:
        X *= 0
        return np.zeros(len(X), dtype=int)


def test_a_classifier_within_a_wrapper_writes_into_copies() -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    before = X.copy()
    Wrapper(folds=2, estimator=WritingEstimator()).fit(X, y)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(y, np.arange(40) % 2)


def test_the_person_can_still_interrupt() -> None:
    class Slow(Ranker):
        method = "slow"

        def _scores(self, X: Any, y: Any, n_classes: int) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Slow().fit(np.eye(4), [0, 1, 0, 1])
