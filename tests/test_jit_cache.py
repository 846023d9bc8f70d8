"""Compiled code belongs to the state of the sources that it was compiled from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import fsvm_cli.svm  # noqa: F401 - sets the folder
from fsvm_cli.jit_cache import CACHE_PREFIX, CACHE_VARIABLE, digest_of_sources, is_cold, use_cache_of_these_sources


def test_the_folder_changes_with_any_source(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("y = 1\n")
    before = digest_of_sources([tmp_path])
    assert digest_of_sources([tmp_path]) == before
    (tmp_path / "b.py").write_text("y = 2\n")
    assert digest_of_sources([tmp_path]) != before


def test_numba_and_the_processes_that_are_started_use_the_same_folder() -> None:
    assert os.environ[CACHE_VARIABLE] == numba.config.CACHE_DIR
    command = [sys.executable, "-c", "import fsvm_cli.svm.solvers.active_set, numba; print(numba.config.CACHE_DIR)"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == numba.config.CACHE_DIR


def test_a_folder_that_the_user_names_holds_it(compiled_folder: Path) -> None:
    for _ in range(2):
        use_cache_of_these_sources()
        assert os.environ[CACHE_VARIABLE].startswith(str(compiled_folder / CACHE_PREFIX))
    assert is_cold()
    compiled = compiled_folder / os.environ[CACHE_VARIABLE] / "svm_1" / "function.nbi"
    compiled.parent.mkdir(parents=True)
    assert is_cold()
    compiled.write_bytes(b"")
    assert not is_cold()


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    command = [
        sys.executable,
        "-c",
        "import fsvm_cli.ranking, fsvm_cli.svm.solvers.smo, numba; print(numba.config.CACHE_DIR)",
    ]
    environment = os.environ | {CACHE_VARIABLE: str(tmp_path / "file" / "folder")}
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert answer.stderr.count("cannot be kept in") == 1
    assert f"{CACHE_VARIABLE}=FOLDER names another" in answer.stderr
    # What was put up for one process is gone with it.
    assert not Path(answer.stdout.strip()).parent.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="modes of folders are those of POSIX")
@pytest.mark.parametrize("mode", [0o777, 0o1777])
@pytest.mark.parametrize("own", [True, False])
def test_a_folder_in_which_others_can_write_is_not_used(
    mode: int, own: bool, compiled_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use_cache_of_these_sources()
    kept = Path(os.environ[CACHE_VARIABLE])
    assert kept.parent == compiled_folder
    assert kept.stat().st_mode & 0o077 == 0
    assert not capsys.readouterr().err
    # Of the folder above, the sticky bit keeps the entries.
    (kept if own else compiled_folder).chmod(mode)
    use_cache_of_these_sources()
    refused = own or mode != 0o1777
    assert (Path(os.environ[CACHE_VARIABLE]) != kept) is refused
    assert ("other users can write in" in capsys.readouterr().err) is refused


@pytest.mark.skipif(sys.platform == "win32", reason="owners of folders are those of POSIX")
def test_a_folder_of_another_user_is_not_used(
    compiled_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if os.geteuid() == 0:
        os.chown(compiled_folder, 12345, 12345)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: compiled_folder.stat().st_uid + 1)
    use_cache_of_these_sources()
    assert not Path(os.environ[CACHE_VARIABLE]).is_relative_to(compiled_folder)
    assert "other users can write in" in capsys.readouterr().err
