"""The search of the documentation's site quotes what it finds, also where the site is opened from disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from sphinx.cmd.build import build_main

from tests.helpers.calling import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

SETTINGS = """
extensions = ["search_excerpts"]
html_theme = "furo"
"""
PAGES = {
    "index": "Contents\n========\n\n.. toctree::\n\n   parts/relevance\n",
    "parts/relevance": "Relevance\n=========\n\nGradient angles\n---------------\n\n"
    "A feature is irrelevant where </script> no machine turns.\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("word", ["irrelevant", "gradient"])
def test_results_are_quoted_without_a_server(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.syspath_prepend(CHECKOUT / "docs")
    (tmp_path / "parts").mkdir()
    (tmp_path / "conf.py").write_text(SETTINGS, encoding="utf-8")
    for name, text in PAGES.items():
        (tmp_path / f"{name}.rst").write_text(text, encoding="utf-8")
    assert build_main(["--quiet", "--fail-on-warning", "--builder", "html", str(tmp_path), str(tmp_path / "site")]) == 0

    page = browser.new_page(offline=True)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((tmp_path / "site" / "search.html").as_uri() + f"?q={word}")
    found = page.locator("#search-results li").filter(has=page.locator("a[href^='parts/relevance.html']"))
    expect(found.locator(".context").first).to_contain_text("A feature is irrelevant where </script> no machine turns.")
    assert complaints == []
