"""Calling the command line, in this process and as a process of its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.cli import main
from tests.helpers.calling import Answer, main_undone
from tests.helpers.pictures import written_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def _main_undone() -> Iterator[None]:
    with main_undone():
        yield


@pytest.fixture(scope="module")
def plain_figures() -> Iterator[None]:
    """Spare the drawing of figures, for tests that care about their names only."""
    with written_alone():
        yield


@pytest.fixture
def call(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path, _main_undone: None
) -> Callable[..., Answer]:
    """Call fsvm in this process, within an empty folder."""
    monkeypatch.chdir(tmp_path)

    def answer(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["fsvm", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = capfd.readouterr()
        return Answer(int(caught.value.code or 0), out, err)

    return answer
