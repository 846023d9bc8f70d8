"""Settings of the documentation site, for Sphinx."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))

import generate

import fsvm_cli

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MARKUP = re.compile(r"(``.*?``|`.*?`_?)|(\||(?<=\w)_(?!\w))")
"""What stands in quotes of code, and else what a formula means as itself and reStructuredText as markup."""

project = "fsvm"
author = "The fsvm developers"
copyright = author  # noqa: A001 - Sphinx's name
release = fsvm_cli.__version__
extensions = [
    "myst_parser",
    "search_excerpts",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "generated/examples",
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": float("inf"),  # times are of the machine that built the page
}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # links that lead out of the site: to results and configs of the repository
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "fsvm"
html_show_sourcelink = False
html_copy_source = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {
    "exclude-members": "set_fit_request, set_score_request, set_transform_request, set_predict_request"
}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

generate.write_pages(Path(__file__).parent / "generated")


def as_plain_text(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:  # noqa: ARG001, PLR0917
    """Take bars and trailing underscores of docstrings, which are plain text, for themselves."""
    in_example = False
    for number, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example and not line.lstrip().startswith(".. "):
            lines[number] = MARKUP.sub(lambda found: found[1] or f"\\{found[2]}", line)


def with_heading_levels(
    app: Sphinx,  # noqa: ARG001 - the interface of the event
    pagename: str,  # noqa: ARG001
    templatename: str,  # noqa: ARG001
    context: dict[str, Any],
    doctree: object,  # noqa: ARG001
) -> None:
    """Give captions of the table of contents the level that the role of a heading requires (WAI-ARIA)."""
    for part in ("body", "furo_navigation_tree"):
        if part in context:
            context[part] = context[part].replace('role="heading">', 'role="heading" aria-level="2">')


def setup(app: Sphinx) -> None:
    """Treat docstrings after their sections have been read, and pages after the theme."""
    app.connect("autodoc-process-docstring", as_plain_text, priority=600)
    app.connect("html-page-context", with_heading_levels, priority=900)
