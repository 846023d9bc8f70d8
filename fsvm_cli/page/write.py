"""Rendering the page from its content, and writing it."""

from __future__ import annotations

import functools
import time
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

import jinja2

import fsvm_cli
from fsvm_cli.console import visible
from fsvm_cli.errors import FsvmError, noting_failure
from fsvm_cli.files import write_atomically
from fsvm_cli.page.content import VERDICTS
from fsvm_cli.page.pictures import Packer
from fsvm_cli.page.reading import read_content
from fsvm_cli.report.drawing import draw_figures

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fsvm_cli.page.content import Content

VERDICT_SIGNS = {
    "reproduced": "✓",
    "differs": "✗",
    "undecided by the source": "≈",
    "inconclusive": "?",
    "not comparable": "–",
    "fact": "•",
}


def render(content: Content, heading: str) -> str:
    """Write the page as HTML that needs no other file.

    Parameters
    ----------
    content : Content
    heading : str
        Of the page.
    """
    packer = Packer()
    return _page().render(
        heading=heading,
        content=content,
        verdicts=VERDICTS,
        signs=VERDICT_SIGNS,
        version=fsvm_cli.__version__,
        packed=packer.packed,
        packed_shapes=packer.packed_shapes,
        style=_template("page.css"),
        script=_template("page.js"),
    )


@functools.cache
def _page() -> jinja2.Template:
    """Compile the template, once in a process: that takes as long as the tables of a small run."""
    environment = jinja2.Environment(
        autoescape=True,
        finalize=_finalised,
        loader=jinja2.FunctionLoader(_template),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("page.html")


def _template(name: str) -> str:
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _finalised(value: object) -> object:
    """Show the characters that have no shape as escapes, in whatever text the page takes up from outside."""
    return visible(value, lines=True) if type(value) is str else value


PAGE_NAME = "index.html"
COLLECTIVE_HEADING = "Feature selection with support vector machines: results"
"""Heading of a page of several experiments; a page of one has its title."""


def write_page(folders: Sequence[Path], path: Path, failures: list[FsvmError] | None = None) -> Path:
    """Write the page of results folders, and return its path.

    Parameters
    ----------
    folders : sequence of Path
    path : Path
    failures : list of FsvmError, optional
        As in `fsvm_cli.page.reading.read_content`.

    Raises
    ------
    DataError
        If results are damaged, or the file cannot be written.
    """
    content = read_content(folders, failures)
    heading = content.experiments[0].title if len(content.experiments) == 1 else COLLECTIVE_HEADING
    write_atomically(path, render(content, heading).encode())
    return path


class Presentation(NamedTuple):
    """The figures and the page of an experiment, the seconds that each of the two took, and what of them failed."""

    figures: list[Path]
    page: Path | None
    seconds: tuple[float, float]
    failures: list[FsvmError]


def show(folder: Path, formats: Sequence[str], *, has_figures: bool) -> Presentation:
    """Draw the figures of an experiment and write its page, from its tables; what fails leaves the rest as it is.

    Parameters
    ----------
    folder : Path
        Its results.
    formats
        As in `fsvm_cli.report.drawing.draw_figures`.
    has_figures : bool
        False where no trial is complete.
    """
    begin = time.monotonic()
    failures: list[FsvmError] = []
    name = folder.resolve().name
    figures: list[Path] = []
    page: Path | None = None
    with noting_failure(failures, name, "drawing"):
        figures = draw_figures(folder, formats, failures=failures) if has_figures else []
    are_drawn = time.monotonic()
    with noting_failure(failures, name, "the page"):
        page = write_page([folder], folder / PAGE_NAME)
    return Presentation(figures, page, (are_drawn - begin, time.monotonic() - are_drawn), failures)
