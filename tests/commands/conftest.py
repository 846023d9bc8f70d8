"""Calling the command line, in this process and as a process of its own."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, BinaryIO

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from fsvm_cli.cli import main
from tests.helpers.calling import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def _handlers() -> Iterator[None]:
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture(scope="module")
def plain_figures() -> Iterator[None]:
    """Let figures be files of what is written on them, for tests that care about their names only: drawing takes long.

    Whatever is to be compared with such figures must be drawn in this process too.
    """

    def write(drawing: Figure, stream: BinaryIO, **_: object) -> None:
        stream.write("\n".join(text.get_text() for text in drawing.findobj(Text)).encode())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", write)
        yield


@pytest.fixture
def call(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path, _handlers: None
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
