"""What Windows does not have, fsvm does without, and so do the processes that it starts."""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import fsvm_cli
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.files import names_a_folder_everywhere, write_atomically
from fsvm_cli.spec.config import load_config
from fsvm_cli.spec.load import load_all
from fsvm_cli.store.store import FILE_NAME, Entry, Store
from tests.helpers.calling import AS_SVG, CHECKOUT, hashes, write_config

pytestmark = pytest.mark.slow

AS_ON_WINDOWS = Path(__file__).parent / "as_on_windows"
CONSOLE = "cp1252"
"""What a console there writes, and a file that is opened without naming an encoding, of which Python then warns."""
RUN_COMMANDS = """
import importlib, json, sys
from fsvm_cli.cli import main
if __name__ == "__main__":
    for command in json.loads(sys.argv[1]):
        if command[0] == "import":
            list(map(importlib.import_module, command[1:]))
            continue
        sys.argv = ["fsvm", *command]
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
"""


def python_as_on_windows(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    here = {"PYTHONPATH": os.pathsep.join([str(AS_ON_WINDOWS), str(CHECKOUT)]), "PYTHONIOENCODING": CONSOLE}
    command = [sys.executable, "-X", "warn_default_encoding", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, encoding=CONSOLE, check=False, env=os.environ | here, cwd=folder
    )


def test_the_simulation_takes_from_fsvm_and_from_nobody_else(tmp_path: Path) -> None:
    program = """
import os, signal
assert os.getuid() >= 0 and signal.SIGKILL and __import__("fcntl")
ours = {"__name__": "fsvm_cli.anything"}
for statement in ("import fcntl", "import os; os.getuid()", "from signal import SIGKILL", "from os import fork"):
    try:
        exec(statement, ours)
    except (ImportError, AttributeError):
        continue
    raise AssertionError(statement)
with open("held", "w"):
    try:
        os.remove("held")
    except PermissionError:
        pass
    else:
        raise AssertionError("removed")
os.remove("held")
"""
    answer = python_as_on_windows("-c", program, folder=tmp_path)
    assert answer.returncode == 0, answer.stderr


def test_experiments_a_file_of_ones_own_and_every_module(tmp_path: Path) -> None:
    """In one process, for most of the time of each would go into its imports."""
    rows = "".join(f"{row % 7},{row * row % 11},{'yes' if row % 7 > 3 else 'no'}\n" for row in range(40))
    (tmp_path / "mine.csv").write_text(f"first,second,kind\n{rows}", encoding="utf-8")
    damaged = tmp_path / "over" / "small"
    damaged.mkdir(parents=True)
    (damaged / FILE_NAME).write_bytes(b"no database at all" * 100)
    names = [module.name for module in pkgutil.walk_packages(fsvm_cli.__path__, "fsvm_cli.")]
    assert len(names) > 100
    start_over = ("run", write_config(tmp_path, rankings="[]"), "--jobs", 1, *AS_SVG, "--out", "over", "--fresh")
    commands: list[tuple[object, ...]] = [
        ("run", "wine", "--splits", 4, "--jobs", 2, *AS_SVG, "--out", "out"),
        ("run", "wine", "--splits", 4, "--jobs", 2, *AS_SVG, "--out", "out"),
        ("plot", "out", "--format", "svg"),
        ("verify", "out"),
        ("compare", "out"),
        ("report", "out"),
        ("rank", "mine.csv", "--target", "kind", "--method", "fisher"),
        start_over,
        start_over,
        ("import", *(name for name in names if not name.endswith("__main__"))),
    ]
    lines = json.dumps([list(map(str, command)) for command in commands])
    answer = python_as_on_windows("-c", RUN_COMMANDS, lines, folder=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "Traceback" not in answer.stderr
    assert not [line for line in answer.stderr.splitlines() if "EncodingWarning" in line and "fsvm_cli" in line]
    assert "4 trials, 4 already done" in answer.stderr
    results = next(path.parent for path in (tmp_path / "out").rglob("run.json"))
    assert "wine" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert {"curves.csv", "scores.csv", "scores.svg", "accuracy-vs-features.svg"} <= hashes(results).keys()
    assert "2 features ranked on 40 rows" in answer.stdout
    with Store(damaged, writable=False) as again:
        assert list(again.covered_sizes())


def test_a_file_that_another_program_holds_open_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied", str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(DataError, match=r"curves\.csv: cannot be written .*close the program that has it open"):
        write_atomically(tmp_path / "curves.csv", b"new")
    assert not list(tmp_path.iterdir())
    with Store(tmp_path, writable=True, fresh=True) as store:
        store.put("key", Entry("1", "{}"))
        with pytest.raises(DataError, match=r"trials\.sqlite: cannot be replaced .*close what reads it"):
            store.commit()
        monkeypatch.undo()


@pytest.mark.parametrize("name", ["con", "NUL", "aux.2", "Lpt1", "trailing."])
def test_a_config_whose_results_no_folder_could_hold_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="Windows has no folders called"):
        load_config(str(write_config(tmp_path, name)))


@pytest.mark.parametrize("name", ["console", "wine.2", "null", "lpt", "com10", "auxiliary"])
def test_names_that_only_begin_like_those_of_devices_are_good_ones(name: str) -> None:
    assert names_a_folder_everywhere(name)


def test_names_that_differ_in_capitals_would_share_a_folder(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    paths = [write_config(tmp_path, "small"), write_config(tmp_path / "other", "Small")]
    with pytest.raises(UsageError, match="would share a folder"):
        load_all(list(map(str, paths)))


def test_what_is_tracked_has_names_that_every_file_system_takes() -> None:
    answer = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    paths = answer.stdout.split("\0")[:-1]
    assert paths
    assert len({path.casefold() for path in paths}) == len(paths)
    for path in paths:
        for part in path.split("/"):
            assert not set(part) & set('<>:"\\|?*'), path
            assert names_a_folder_everywhere(part) or part.startswith("."), path
