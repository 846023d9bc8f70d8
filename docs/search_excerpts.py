"""Excerpts in the search of a site that is opened from disk.

Sphinx's search fetches the pages that it finds, to quote them, and no browser fetches files from disk. So a script that
only the search page loads holds the articles, and its `fetch` answers from there.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SCRIPT = "search_excerpts.js"
ARTICLE = re.compile(r'<article role="main".*?</article>', re.DOTALL)
"""What the search quotes of a page of the theme furo."""
ANSWERS = """\
const ROOT = document.documentElement.dataset.content_root;
window.fetch = async (address) => new Response(ARTICLES[address.slice(ROOT.length)] ?? "");
"""


def add_script(app: Sphinx, pagename: str, *_: object) -> None:
    """Let the search page load the script."""
    if pagename == "search":
        app.add_js_file(SCRIPT)


def write_script(app: Sphinx, exception: Exception | None) -> None:
    """Write the articles of a site that has been built, by their addresses."""
    if exception is not None or app.builder.format != "html":
        return
    articles = {}
    for name in sorted(app.env.found_docs):
        found = ARTICLE.search((app.outdir / f"{name}.html").read_text(encoding="utf-8"))
        assert found is not None, name
        articles[f"{name}.html"] = found[0]
    script = f"const ARTICLES = {json.dumps(articles)};\n{ANSWERS}"
    (app.outdir / "_static" / SCRIPT).write_text(script, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Write the script at the end of a build."""
    app.connect("html-page-context", add_script)
    app.connect("build-finished", write_script)
