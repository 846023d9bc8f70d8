"""A browser that has no network, and pages to open in it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from fsvm_cli.page.content import VERDICTS, ClaimRow, Content, ScorecardRow, Section
from fsvm_cli.page.pictures import Picture
from fsvm_cli.page.write import render
from fsvm_cli.report.printing import ResultTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, ViewportSize

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = "<script>document.title='taken'</script>"
"""What a name must not do."""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><rect width="200" height="100"/></svg>'


def experiment(number: int, title: str = "Wine", **settings: str) -> Section:
    """Make an experiment with one claim, one picture and one table."""
    verdict = VERDICTS[number % len(VERDICTS)]
    claim = ClaimRow(f"doc.claim{number}", "A is better.", "Table 1", "97.1", "96.8 [96, 97]", "by rule", "", verdict)
    name = f"experiment-{number}"
    rows = (("1", "66.95 ± 0.63"), ("13", "97.00 ± 0.10"))
    return Section(
        name=name,
        title=title,
        document=settings.get("document", "doc2000"),
        where="Figure 1",
        dataset=settings.get("dataset", "wine"),
        methods=(settings.get("method", "fisher"),),
        claims=(claim,),
        pictures=(Picture("scores", "scores", SVG),),
        tables=(ResultTable("Test accuracy in %", ("features", "fisher"), rows, "Mean over 500 splits."),),
        deviations=("The paper does not state C.",),
        command=f"fsvm run {name}",
        facts=(("seed", "2000"),),
    )


def content_of(*experiments: Section) -> Content:
    """Make a page's content, whose scorecard has a row for each claim."""
    rows = [
        ScorecardRow(each.document, claim.id, claim.printed, f"{number}", "", claim.verdict, "", each.name, "")
        for number, each in enumerate(experiments)
        for claim in each.claims
    ]
    return Content(tuple(rows), experiments)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("needs a browser: Chromium, as the package manager of the system has it")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def open_file(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a page from disk; whatever the browser complains of fails the test."""
    complaints: list[str] = []

    def opened(path: Path, scheme: str = "light", width: int = 1280) -> Page:
        viewport: ViewportSize = {"width": width, "height": 720}
        page = browser.new_page(color_scheme=scheme, viewport=viewport, offline=True)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in browser.contexts:
        context.close()
    assert not complaints


@pytest.fixture
def open_page(open_file: Callable[..., Page], tmp_path: Path) -> Callable[..., Page]:
    """Write a page of made content, and open it."""

    def opened(content: Content, scheme: str = "light") -> Page:
        path = tmp_path / "index.html"
        path.write_text(render(content, "Results"), encoding="utf-8")
        return open_file(path, scheme)

    return opened
