"""The page as a file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from fsvm_cli.files import write_atomically
from fsvm_cli.page.reading import read_content
from fsvm_cli.page.render import render
from fsvm_cli.report.drawing import draw_figures

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PAGE_NAME = "index.html"
HEADING = "Feature selection with support vector machines: results"
"""Of a page of several experiments; that of one has its title."""


def write_page(folders: Sequence[Path], path: Path) -> Path:
    """Write the page of results folders, and return its path.

    Raises
    ------
    DataError
        If results are damaged, or the file cannot be written.
    """
    content = read_content(folders)
    heading = content.experiments[0].title if len(content.experiments) == 1 else HEADING
    write_atomically(path, render(content, heading).encode())
    return path


class Shown(NamedTuple):
    """The figures and the page of an experiment, and the seconds that each of the two took."""

    figures: list[Path]
    page: Path
    seconds: tuple[float, float]


def show(folder: Path, formats: Sequence[str], *, has_figures: bool) -> Shown:
    """Draw the figures of an experiment and write its page, from its tables.

    Parameters
    ----------
    folder : Path
        Its results.
    formats
        As in `fsvm_cli.report.drawing.draw_figures`.
    has_figures : bool
        False where no trial is complete.

    Raises
    ------
    DataError
        As `draw_figures` and `write_page`.
    """
    begin = time.monotonic()
    figures = draw_figures(folder, formats) if has_figures else []
    are_drawn = time.monotonic()
    page = write_page([folder], folder / PAGE_NAME)
    return Shown(figures, page, (are_drawn - begin, time.monotonic() - are_drawn))
