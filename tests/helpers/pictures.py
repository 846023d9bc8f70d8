"""Figures that are files of what is written on them, for tests that care about nothing else: drawing takes long."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, BinaryIO

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@contextlib.contextmanager
def written_alone() -> Iterator[None]:
    """Let figures hold the lines of their texts, as comments of SVG: titles, labels and legends, and no ticks.

    Whatever is to be compared with such figures must be drawn in this process too.
    """
    from matplotlib.figure import Figure as Drawing  # noqa: PLC0415 - loaded by the first test that draws
    from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415
    from matplotlib.text import Text  # noqa: PLC0415

    def write(drawing: Figure, stream: BinaryIO, **_: object) -> None:
        lines = (line for text in drawing.findobj(Text) for line in text.get_text().splitlines())
        stream.write("\n".join(f"<!-- {line} -->" for line in lines).encode())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Drawing, "savefig", write)
        patch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)  # takes as long as to draw
        yield
