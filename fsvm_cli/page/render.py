"""The page, from its content."""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING

import jinja2

import fsvm_cli
from fsvm_cli.page.content import VERDICTS
from fsvm_cli.page.pictures import Packer
from fsvm_cli.terminal import visible

if TYPE_CHECKING:
    from fsvm_cli.page.content import Content

SIGNS = {"reproduced": "✓", "differs": "✗", "inconclusive": "?", "not comparable": "–", "fact": "•"}


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
        signs=SIGNS,
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
