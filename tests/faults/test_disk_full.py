"""A disk that fills: a clear message, and nothing that was counted is lost."""

from __future__ import annotations

import resource
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.helpers.calling import AS_SVG, N_TRIALS, Answer, fsvm_here, hashes, n_stored

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def run_limited(limit: int, *arguments: object) -> Answer:
    """Run where no file may grow, which fails a write as a full disk does, on any machine and for any user."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, usual[1]))
    try:
        return fsvm_here("run", *arguments, *AS_SVG)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


def test_a_store_that_cannot_grow_ends_the_run_and_the_next_one_goes_on(
    undisturbed: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    config, expected = undisturbed
    kept = 0
    for limit in (100_000, 200_000):
        answer = run_limited(limit, config, "--jobs", "1", "--out", tmp_path)
        assert answer.code == 3, answer.err
        assert "Traceback" not in answer.err
        assert answer.err.splitlines()[-1].startswith(f"fsvm: {tmp_path}/small/trials.sqlite: cannot be written")
        assert "free some space, and run again" in answer.err.splitlines()[-1]
        assert kept < n_stored(tmp_path / "small") < 2 * N_TRIALS
        kept = n_stored(tmp_path / "small")
    answer = fsvm_here("run", config, "--jobs", "1", *AS_SVG, "--out", tmp_path)
    assert answer.code == 0, answer.err
    assert f"small: {N_TRIALS} trials, {kept // 2} already done" in answer.err
    assert hashes(tmp_path / "small") == expected


def test_tables_that_cannot_be_written_leave_the_trials_and_no_half_file(
    undisturbed: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    config, expected = undisturbed
    shutil.copytree(config.parent / "results" / "small", tmp_path / "small")
    (tmp_path / "small" / "curves.csv").unlink()
    answer = run_limited(1000, config, "--jobs", "1", "--out", tmp_path)
    assert answer.code == 3, answer.err
    assert "cannot be written" in answer.err.splitlines()[-1]
    assert not (tmp_path / "small" / "curves.csv").exists()
    assert not list((tmp_path / "small").glob(".writing-*"))
    assert fsvm_here("run", config, "--jobs", "1", *AS_SVG, "--out", tmp_path).code == 0
    assert hashes(tmp_path / "small") == expected
