"""A disk that fills: a clear message, and nothing that was counted is lost."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.helpers.calling import CHECKOUT, N_TRIALS_UNTOUCHED, fsvm_here, hashes, n_stored

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

# A file that may not grow fails a write as a full disk does, on any machine and for any user.
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
del sys.argv[1]
from fsvm_cli.cli import main
main()
"""


def run_limited(limit: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-c", LIMITED, str(limit), "run", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT, check=False)


def test_a_store_that_cannot_grow_ends_the_run_and_the_next_one_goes_on(
    undisturbed_short: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    config, expected = undisturbed_short
    kept = 0
    for limit in (100_000, 200_000):
        answer = run_limited(limit, config, "--jobs", "1", "--out", tmp_path)
        assert answer.returncode == 3, answer.stderr
        assert "Traceback" not in answer.stderr
        assert answer.stderr.splitlines()[-1].startswith(f"fsvm: {tmp_path}/small/trials.sqlite: cannot be written")
        assert "free some space, and run again" in answer.stderr.splitlines()[-1]
        assert kept < n_stored(tmp_path / "small") < 2 * N_TRIALS_UNTOUCHED
        kept = n_stored(tmp_path / "small")
    answer = fsvm_here("run", config, "--jobs", "1", "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert f"small: {N_TRIALS_UNTOUCHED} trials, {kept // 2} already done" in answer.err
    assert hashes(tmp_path / "small") == expected


def test_tables_that_cannot_be_written_leave_the_trials_and_no_half_file(
    undisturbed_short: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    config, expected = undisturbed_short
    assert fsvm_here("run", config, "--jobs", "1", "--out", tmp_path).code == 0
    (tmp_path / "small" / "curves.csv").unlink()
    answer = run_limited(1000, config, "--jobs", "1", "--out", tmp_path)
    assert answer.returncode == 3, answer.stderr
    assert "cannot be written" in answer.stderr.splitlines()[-1]
    assert not (tmp_path / "small" / "curves.csv").exists()
    assert not list((tmp_path / "small").glob(".writing-*"))
    assert fsvm_here("run", config, "--jobs", "1", "--out", tmp_path).code == 0
    assert hashes(tmp_path / "small") == expected
