"""How much memory is said to be free, and what is said where it is not enough."""

from __future__ import annotations

import errno
import math
import re
import subprocess
import sys

import click
import pytest

from fsvm_cli import cli
from fsvm_cli import memory_check as memory
from fsvm_cli.memory_check import DEFAULT_FREE_BYTES, check_memory_for_pairs, free_memory
from tests.helpers.calling import fsvm_here


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system that tells nothing, whose files a test may write."""
    monkeypatch.setattr(memory, "_MEMINFO_PATH", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_CGROUP_FOLDER", tmp_path)
    return tmp_path


def test_the_least_of_what_the_system_and_the_group_leave_counts(system):
    (system / "meminfo").write_text("MemTotal: 4000 kB\nMemAvailable: 3000 kB\n")
    assert free_memory() == 3000 * 1024
    (system / "memory.max").write_text("2000000\n")
    (system / "memory.current").write_text("500000\n")
    assert free_memory() == 1_500_000
    (system / "memory.max").write_text("max\n")
    assert free_memory() == 3000 * 1024


def test_a_system_that_does_not_tell_is_taken_to_have_some(system, monkeypatch):
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.__getitem__, raising=False)
    assert free_memory() == 2_048_000
    monkeypatch.delattr(memory.os, "sysconf")
    assert free_memory() == DEFAULT_FREE_BYTES


def test_too_many_rows_are_refused_with_what_fits(system):
    (system / "meminfo").write_text("MemAvailable: 1000000 kB\n")
    check_memory_for_pairs("a method", 10_000, 1, "or leave it")
    with pytest.raises(
        ValueError,
        match=r"a method holds 2 matrices of all pairs of rows: 10,000 rows take 1.6 GB, and "
        r"1.0 GB are free, enough for 8,000 rows; draw fewer rows, or leave it",
    ):
        check_memory_for_pairs("a method", 10_000, 2, "or leave it")


def test_a_limit_of_the_address_space_counts(system, monkeypatch):
    (system / "meminfo").write_text("MemAvailable: 3000000 kB\n")
    (system / "statm").write_text("1000 1 1 1 0 1 0\n")
    monkeypatch.setattr(memory, "_STATM_PATH", system / "statm")
    monkeypatch.setattr(memory, "address_space", lambda: 1_000_000_000.0)
    assert free_memory() == 1_000_000_000 - 1000 * memory.os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no address space")
@pytest.mark.parametrize("command", [["rank", "wine"], ["check", "wine"], ["run", "wine"]])
def test_too_small_an_address_space_is_told_in_a_line(command, tmp_path):
    import resource  # noqa: PLC0415 - not on Windows

    answer = subprocess.run(
        [sys.executable, "-m", "fsvm_cli", *command],
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (900_000 * 1024, 900_000 * 1024)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (answer.returncode, answer.stdout) == (2, "")
    (line,) = answer.stderr.splitlines()
    assert line.startswith("fsvm: the address space of a process is limited to 0.9 GB here")
    assert "ulimit -v unlimited" in line


NO_MEMORY = OSError(errno.ENOMEM, "Cannot allocate memory")
NO_LIBRARY = OSError("could not load the library")
LIMITED = r"the address space of a process is limited to 3\.0 GB here, and the libraries .* raise the limit .*"


@pytest.mark.parametrize(
    ("error", "limit", "code", "told"),
    [
        (MemoryError(), math.inf, 2, "needs more memory than there is; use fewer rows or columns, .*"),
        (MemoryError(), 3e9, 2, LIMITED),
        (NO_MEMORY, 3e9, 2, LIMITED),
        (NO_LIBRARY, 3e9, 2, LIMITED),
        (NO_MEMORY, math.inf, 3, "Cannot allocate memory"),
        (OSError(errno.ENOSPC, "No space left", "x.bin"), 3e9, 3, r"x\.bin: the disk is full; .*"),
        (ImportError("no room for\nthe library"), 3e9, 2, f"no room for.*the library; {LIMITED}"),
        (SystemError("no room"), 3e9, 2, f"no room; {LIMITED}"),
    ],
    ids=repr,
)
def test_memory_that_ends_in_any_command_is_told_in_a_line(error, limit, code, told, monkeypatch):
    @click.command()
    def fails() -> None:
        raise error

    monkeypatch.setattr(cli, "address_space", lambda: limit)
    monkeypatch.setattr(cli.LazyGroup, "get_command", lambda *_: fails)
    answer = fsvm_here("rank")
    assert (answer.code, answer.out) == (code, "")
    (line,) = answer.err.splitlines()
    assert re.fullmatch(f"fsvm: {told}", line), line


@pytest.mark.parametrize("error", [ImportError("no such module"), SystemError("a defect")], ids=repr)
def test_a_defect_is_not_taken_for_a_lack_of_memory(error, monkeypatch):
    def fails(*_):
        raise error

    monkeypatch.setattr(cli, "address_space", lambda: math.inf)
    monkeypatch.setattr(cli.LazyGroup, "get_command", fails)
    monkeypatch.setattr(sys, "argv", ["fsvm", "rank"])
    with pytest.raises(type(error)):
        cli._run()
