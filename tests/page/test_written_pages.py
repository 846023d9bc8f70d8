"""Pages as the commands write them, in a real browser: of a paper, of an own table, of all results of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.helpers.calling import AS_SVG, CHECKOUT, fsvm_here

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a paper's config and of an own table, and their page."""
    folder = tmp_path_factory.mktemp("written")
    rows = np.random.default_rng(3).normal(size=(40, 3)).round(3)
    lines = [f"{a},{b},{c},{'yes' if a + b > 0 else 'no'}" for a, b, c in rows.tolist()]
    (folder / "mine.csv").write_text("\n".join(["a,b,c,kind", *lines]) + "\n")
    config, results = folder / "mine.yaml", folder / "results"
    wine = CHECKOUT / "configs" / "wine.yaml"
    assert fsvm_here("init", folder / "mine.csv", "--target", "kind", "--out", config).code == 0
    config.write_text(config.read_text().replace("permutations: 39", "permutations: 0"))
    answer = fsvm_here("run", wine, config, "--splits", "2", "--jobs", "1", "--out", results, *AS_SVG)
    assert answer.code == 0, answer.err
    assert f"page, with all that is known of it: {results / 'wine' / 'index.html'}" in answer.out
    assert fsvm_here("report", results).code == 0
    return results


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize(("place", "n_experiments"), [("wine", 1), ("mine", 1), (".", 2)])
def test_a_page_that_was_written_shows_all_that_it_holds(
    results: Path, open_file: Callable[..., Page], place: str, n_experiments: int, width: int
) -> None:
    page = open_file(results / place / "index.html", width=width)
    page.locator("details:not([open]) > summary").evaluate_all("all => all.forEach(each => each.click())")
    images = page.locator("figure img").all()
    assert len(images) >= 3 * n_experiments
    for image in images:
        expect(image).not_to_have_js_property("naturalWidth", 0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the window"

    charts = page.locator(".explore > svg").all()
    assert len(charts) == n_experiments
    for chart in charts:
        says = chart.locator("xpath=../p")
        expect(says).to_contain_text("1 feature: test accuracy")
        chart.focus()
        page.keyboard.press("ArrowRight")
        expect(says).to_contain_text("2 features: test accuracy")

    heading = page.get_by_role("button", name="features", exact=True).first
    sizes = page.locator("table", has=heading).first.locator("tbody th")
    ascending = [str(size) for size in sorted(map(int, sizes.all_inner_texts()))]
    for expected in (ascending, ascending[::-1]):
        heading.click()
        assert sizes.all_inner_texts() == expected
