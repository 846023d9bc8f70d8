"""Files that a user names for output: what is no file of its own is written through, as a shell's `>` does."""

from __future__ import annotations

import os
import subprocess
import sys
import tty
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.helpers.calling import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.helpers.calling import Answer

TABLE = "a,b,y\n" + "".join(f"{row % 5},{row},{'uv'[row > 9]}\n" for row in range(20))
CHOSEN = "b,y\n" + "".join(f"{row},{'uv'[row > 9]}\n" for row in range(20))
RANK = ("rank", "mine.csv", "--target", "y", "--method", "fisher", "--keep", "1", "--out")


@pytest.fixture(autouse=True)
def _table(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(TABLE)


def test_a_pipe_gets_the_output_and_stays_a_pipe(tmp_path: Path, call: Callable[..., Answer]) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert call(*RANK, "pipe").code == 0
    assert (tmp_path / "pipe").is_fifo()
    assert os.read(reader, 10_000).decode() == CHOSEN
    os.close(reader)


def test_a_device_gets_the_output_and_stays_a_device(call: Callable[..., Answer]) -> None:
    terminal, device = os.openpty()  # a device that is made for us alone
    tty.setraw(device)
    path = os.ttyname(device)
    assert call(*RANK, path).code == 0
    assert Path(path).is_char_device()
    assert os.read(terminal, 10_000).decode() == CHOSEN
    os.close(terminal)
    os.close(device)


@pytest.mark.parametrize("exists", [True, False], ids=["a file", "nothing yet"])
def test_a_link_stays_one_and_what_it_names_is_written(
    tmp_path: Path, call: Callable[..., Answer], *, exists: bool
) -> None:
    (tmp_path / "elsewhere").mkdir()
    own, link = tmp_path / "elsewhere" / "own.csv", tmp_path / "link.csv"
    if exists:
        own.write_text("old")
    link.symlink_to(Path("elsewhere") / "own.csv")
    assert call(*RANK, "link.csv").code == 0
    assert link.is_symlink()
    assert own.read_text() == CHOSEN
    (tmp_path / "mine.yaml").symlink_to(Path("elsewhere") / "own.yaml")
    assert call("init", "mine.csv", "--target", "y").code == 0
    assert (tmp_path / "mine.yaml").is_symlink()
    assert "target" in (tmp_path / "elsewhere" / "own.yaml").read_text()


def test_a_link_in_a_circle_is_refused(tmp_path: Path, call: Callable[..., Answer]) -> None:
    (tmp_path / "a.csv").symlink_to("b.csv")
    (tmp_path / "b.csv").symlink_to("a.csv")
    answer = call(*RANK, "a.csv")
    assert (answer.code, "a.csv: cannot be written" in answer.err) == (3, True)
    assert (tmp_path / "a.csv").is_symlink()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a file", "a pipe"])
def test_standard_output_may_be_named(tmp_path: Path, kind: str) -> None:
    # A link of our own: were that in /dev replaced, every program would miss it.
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    command = [sys.executable, "-m", "fsvm_cli", *RANK, "stdout", "--format", "csv"]
    with (tmp_path / "both.csv").open("wb") as stream:
        done = subprocess.run(
            command,
            stdout=stream if kind == "a file" else subprocess.PIPE,
            check=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        )
    out = (tmp_path / "both.csv").read_bytes() if kind == "a file" else done.stdout
    ranking, chosen = out.decode()[: -len(CHOSEN)], out.decode()[-len(CHOSEN) :]
    assert ranking.startswith("rank,feature")
    assert chosen == CHOSEN
    assert (tmp_path / "stdout").is_symlink()
