"""The page in a real browser, without a network."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from fsvm_cli.page import pictures
from fsvm_cli.page.content import VERDICTS, Method, Ranks
from fsvm_cli.page.pictures import Picture, compressed
from fsvm_cli.page.write import render
from fsvm_cli.report.printing import ResultTable
from tests.page.conftest import HOSTILE, SVG, content_of, experiment

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Locator, Page

    OpenPage = Callable[..., Page]

FIVE = content_of(
    experiment(0),
    experiment(1, "Sonar", dataset="sonar", method="kpd", document="kpd2018"),
    *(experiment(number) for number in (2, 3, 4)),
)
LONG = "long" * 200
NAMES = (HOSTILE, "\"quoted\" 'twice' & more", LONG, "تعرف النبيذ", "line\nbreak\x1b[31m")


def shown(page: Page, selector: str) -> list[str]:
    return page.locator(f"{selector}:visible").evaluate_all(
        "all => all.map(each => each.id || each.textContent.trim())"
    )


def all_pictures_are_drawn(place: Locator) -> None:
    pictures = place.locator("img").all()
    assert pictures
    for picture in pictures:
        expect(picture).to_have_js_property("naturalWidth", 200)


def test_filters_leave_what_fits(open_page: OpenPage) -> None:
    page = open_page(FIVE)
    everything = [f"experiment-experiment-{number}" for number in range(5)]
    for field, value, left in (
        ("verdict", VERDICTS[2], ["experiment-experiment-2"]),
        ("dataset", "sonar", ["experiment-experiment-1"]),
        ("method", "kpd", ["experiment-experiment-1"]),
        ("document", "kpd2018", ["experiment-experiment-1"]),
    ):
        page.select_option(f"#{field}", value)
        assert shown(page, ".experiment") == left
        assert page.locator("tr.claim:not([hidden])").count() == 1
        page.click("text=Show all")
        expect(page.locator(".experiment[hidden]")).to_have_count(0)
        assert shown(page, ".experiment") == everything
    page.fill("#words", "sonar elsewhere")
    assert page.inner_text("#shown") == "0 of 5 experiments, 0 of 5 published claims shown"
    page.fill("#words", "SONAR")
    assert page.inner_text("#shown") == "1 of 5 experiments, 0 of 5 published claims shown"


def test_words_of_deviations_are_found_before_an_experiment_is_opened(open_page: OpenPage) -> None:
    departing = replace(experiment(1), deviations=("The paper does not state C.", "Rows of Madelon are <doubled>."))
    page = open_page(content_of(experiment(0), departing, experiment(2)))
    for words, left in (("doubled madelon", ["experiment-experiment-1"]), ("state c", 3), ("halved", [])):
        page.fill("#words", words)
        found = shown(page, ".experiment")
        assert found == left if isinstance(left, list) else len(found) == left


def test_a_heading_sorts_numbers_as_numbers_and_turns(open_page: OpenPage) -> None:
    table = ResultTable("Sizes", ("method", "size"), tuple((f"m{number}", f"{number}") for number in (10, 9, 100)))
    page = open_page(content_of(replace(experiment(0), tables=(table,)), experiment(1)))
    page.evaluate("location.hash = '#experiment-experiment-0'")
    heading = page.get_by_role("button", name="size", exact=True)
    for turn, expected in (("ascending", ["9", "10", "100"]), ("descending", ["100", "10", "9"])):
        heading.click()
        assert page.locator("th", has=heading).get_attribute("aria-sort") == turn
        assert page.locator("table.numbers tbody td").all_inner_texts() == expected


def test_claims_are_sorted_over_all_places(open_page: OpenPage) -> None:
    page = open_page(content_of(*(experiment(number) for number in range(12))))
    page.evaluate("location.hash = '#document-doc2000'")
    heading = page.locator("#document-doc2000").get_by_role("button", name="verdict")
    heading.click()
    found = page.locator("#document-doc2000 tr.claim:visible .verdict").all_inner_texts()
    assert len(found) == 12
    assert [text[2:] for text in found] == sorted(text[2:] for text in found)


def test_a_claim_leads_to_its_evidence_although_filters_hide_it(open_page: OpenPage) -> None:
    page = open_page(FIVE)
    assert page.locator("#experiment-experiment-3 img").get_attribute("src") is None
    page.evaluate("location.hash = '#document-doc2000'")
    page.locator("tr.claim", has_text="doc.claim3").get_by_role("link", name="experiment-3").click()
    row = page.locator("tr.target")
    assert row.get_attribute("id") == "experiment-experiment-3:doc.claim3"
    assert page.locator("#experiment-experiment-3").get_attribute("open") is not None
    assert row.evaluate("row => row === document.activeElement")
    all_pictures_are_drawn(page.locator("#experiment-experiment-3"))
    page.fill("#words", "no such word")
    page.evaluate("location.hash = '#experiment-experiment-2'")
    expect(page.locator("#experiment-experiment-2")).to_be_visible()


def test_a_name_with_a_percent_sign_is_found_and_a_hash_that_is_none_does_no_harm(open_page: OpenPage) -> None:
    names = ("50%", "100%25", "a%20b")
    named = [replace(experiment(number), name=name) for number, name in enumerate(names)]
    page = open_page(content_of(*named))
    for number, name in enumerate(names):
        page.evaluate("location.hash = '#document-doc2000'")
        page.locator("tr.claim", has_text=f"doc.claim{number}").get_by_role("link", name=name, exact=True).click()
        assert page.locator("tr.target").get_attribute("id") == f"experiment-{name}:doc.claim{number}"
    for hash_ in ("experiment-50%", "%E0%A4%A", "no-such"):
        page.evaluate("hash => { location.hash = hash; }", hash_)
    page.fill("#words", "claim1")
    assert shown(page, ".experiment") == ["experiment-100%25"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_is_that_of_the_system_until_it_is_changed(open_page: OpenPage, scheme: str) -> None:
    page = open_page(FIVE, scheme=scheme)
    lightness = "parseInt(getComputedStyle(document.body).backgroundColor.slice(4))"
    was_dark = page.evaluate(lightness) < 100
    assert was_dark == (scheme == "dark")
    page.click("#theme")
    assert (page.evaluate(lightness) < 100) != was_dark
    assert page.get_attribute("#theme", "aria-pressed") == str(not was_dark).lower()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_the_way_of_keyboards_and_screen_readers(open_page: OpenPage, scheme: str) -> None:
    page = open_page(FIVE, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    all_pictures_are_drawn(page.locator("main"))
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


def test_hostile_names_stay_text_and_fit_the_screen(open_page: OpenPage) -> None:
    strange = [experiment(number, name, dataset=name, method=name, document=name) for number, name in enumerate(NAMES)]
    page = open_page(content_of(*strange))
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert page.title() == "Results"
    assert page.locator("script").count() == 1
    for number, name in enumerate(NAMES):
        heading = page.inner_text(f"#experiment-experiment-{number} h3")
        assert heading == name.replace("\x1b", "\\x1b").replace("\n", " ")
    for width in (1440, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_figure_looks_as_its_file_does(open_page: OpenPage) -> None:
    path = Path(__file__).parents[2] / "results" / "wine" / "accuracy-vs-features.svg"
    svg = path.read_text(encoding="utf-8")
    shown = replace(experiment(0), pictures=(Picture("a", "a", svg), Picture("b", "b", svg)))
    page = open_page(content_of(shown))
    picture = page.locator("#experiment-experiment-0 img").first
    expect(picture).not_to_have_js_property("naturalWidth", 0)
    packed = picture.screenshot()
    address = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
    picture.evaluate("(image, address) => { image.src = address; return image.decode(); }", address)
    first, second = (plt.imread(io.BytesIO(each)) for each in (packed, picture.screenshot()))
    assert first.shape == second.shape
    assert second[..., :3].std() > 0.1, "something is drawn"
    # Places are rounded to a tenth of a point, so that edges lie a part of a pixel beside where they lay.
    assert abs(first - second).mean() < 4e-3


def test_claims_stand_below_each_other_where_the_screen_is_narrow(open_page: OpenPage) -> None:
    page = open_page(FIVE)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    for width, is_stacked in ((360, True), (1440, False)):
        page.set_viewport_size({"width": width, "height": 800})
        tops = (
            page.locator("tr.claim")
            .first.locator("th, td")
            .evaluate_all("all => all.filter(each => each.offsetHeight).map(each => each.offsetTop)")
        )
        assert (len(set(tops)) == len(tops)) == is_stacked


def test_every_verdict_is_in_sight_on_a_phone_without_scrolling_sideways_or_in_a_window(open_page: OpenPage) -> None:
    page = open_page(FIVE)
    page.set_viewport_size({"width": 375, "height": 740})
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    boxes = page.locator(".verdict:visible, .counts td").evaluate_all(
        "all => all.map(each => [each.getBoundingClientRect().left, each.getBoundingClientRect().right])"
    )
    assert len(boxes) > 2 * len(FIVE.experiments)
    assert all(0 <= left < right <= 375 for left, right in boxes)
    windows = page.locator("table.claims, table.counts").evaluate_all(
        "all => all.filter(each => each.closest('.scroll')?.scrollHeight > each.closest('.scroll')?.clientHeight + 1)"
    )
    assert not windows
    claim = page.locator("tr.claim").first
    assert claim.locator(".said").bounding_box()["y"] < claim.locator("th").bounding_box()["y"]


def test_the_button_for_the_theme_is_a_word_in_one_line(open_page: OpenPage) -> None:
    page = open_page(FIVE)
    page.set_viewport_size({"width": 360, "height": 800})
    box = page.locator("#theme").bounding_box()
    assert box is not None
    assert box["width"] > box["height"]


def test_panels_and_numbers_can_be_read_where_the_screen_is_narrow(open_page: OpenPage) -> None:
    panels = Picture("scores", "scores", SVG.replace('width="200"', 'width="504pt"', 1))
    page = open_page(content_of(replace(experiment(0), pictures=(panels,))))
    page.set_viewport_size({"width": 360, "height": 800})
    picture = page.locator("figure.wide")
    assert picture.locator("img").evaluate("each => each.offsetWidth") >= 600
    assert picture.evaluate("each => each.scrollWidth > each.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    numbers = page.locator("table.numbers td").first
    assert numbers.evaluate("each => each.getClientRects()[0].height") < 40
    assert not Axe().run(page).violations_count


def test_paper_shows_every_experiment_and_figure(open_page: OpenPage) -> None:
    page = open_page(FIVE)
    page.evaluate(
        "window.print = () => { window.printed = [...document.querySelectorAll('figure img')]"
        ".filter(each => each.complete && each.naturalWidth === 200).length }"
    )
    page.click("#print")
    page.wait_for_function("window.printed !== undefined")
    assert page.evaluate("window.printed") == 5
    assert page.locator(".experiment table.claims tbody tr").count() == 5
    assert page.locator(".experiment[open]").count() == 5


def test_three_hundred_experiments_open_and_answer(open_page: OpenPage) -> None:
    page = open_page(content_of(*(experiment(number) for number in range(300))))
    page.fill("#words", "claim299")
    assert page.inner_text("#shown") == "1 of 300 experiments, 1 of 300 published claims shown"


def asked(page: Page, question: str) -> str:
    """Type a question, follow the first answer, and return where it leads."""
    page.fill("#words", question)
    page.locator("#answers li:visible a").first.click()
    return str(page.evaluate("decodeURIComponent(location.hash)"))


def test_a_question_leads_to_its_answer_in_one_click(open_page: OpenPage) -> None:
    why = replace(
        experiment(2, "Vehicle, other settings", dataset="vehicle"),
        name="why-vehicle",
        why="Is there a setting?",
        explains=("doc.claim1",),
    )
    table = ResultTable("What each method costs", ("ranking", "mean rank"), (("fisher", "1.20"),))
    ranks = Ranks("linear", ("fisher",), "Compared.", SVG, SVG, "Take fisher.", (table, table, table))
    methods = (Method("fisher", "Difference of means.", "", "Mean rank 1.2.", ("wine",)),)
    page = open_page(
        replace(
            content_of(replace(experiment(0), name="wine"), experiment(1, "Vehicle", dataset="vehicle"), why),
            ranks=(ranks,),
            methods=methods,
        )
    )
    for question, answer in (
        ("Did wine reproduce?", "#experiment-wine"),
        ("which method should I use?", "#own-heading"),
        ("Why does Vehicle differ?", "#experiment-why-vehicle"),
        ("fisher", "#method-fisher"),
    ):
        assert asked(page, question) == answer
    expect(page.locator("#experiment-why-vehicle")).to_have_attribute("open", "")
    assert "Is there a setting?" in page.locator("#experiment-why-vehicle").inner_text()


def test_filters_and_search_are_in_the_address(open_page: OpenPage) -> None:
    page = open_page(FIVE)
    page.fill("#words", "sonar")
    page.select_option("#document", "kpd2018")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    assert page.input_value("#words") == "sonar"
    assert page.input_value("#document") == "kpd2018"
    assert shown(page, ".experiment") == ["experiment-experiment-1"]


def test_a_link_leads_to_a_figure(open_page: OpenPage) -> None:
    page = open_page(FIVE)
    page.evaluate("location.hash = '#experiment-experiment-1:figure:scores'")
    figure = page.locator("#experiment-experiment-1 figure")
    expect(figure.locator("img")).to_have_js_property("naturalWidth", 200)
    assert figure.evaluate("each => each === document.activeElement")


CURVES = "ranking,train_size,n_features,metric,part,mean,std,ci_low,ci_high,n_trials,n_unconverged\n" + "".join(
    f"{ranking},9,{size},accuracy,test,{mean},0.1,{mean - 0.1},{mean + 0.1},5,0\n"
    for ranking, means in (("a", (0.5, 0.75)), ('"b, c"', (0.6, 0.9)))
    for size, mean in enumerate(means, start=1)
)


def test_values_are_told_by_arrow_keys_and_under_the_pointer(open_page: OpenPage) -> None:
    page = open_page(content_of(replace(experiment(0), files=(("curves.csv", CURVES),)), experiment(1)))
    page.evaluate("location.hash = '#experiment-experiment-0'")
    chart = page.locator(".explore > svg")
    says = page.locator(".explore p")
    expect(says).to_have_text("a, 1 feature: test accuracy 50.00 % (95 % interval 40.00 to 60.00), 5 trials")
    chart.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(says).to_have_text("b, c, 2 features: test accuracy 90.00 % (95 % interval 80.00 to 100.00), 5 trials")
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 0.05 * box["width"], box["y"] + 0.8 * box["height"])
    expect(says).to_contain_text("a, 1 feature:")
    assert not Axe().run(page).violations_count


def test_a_step_that_fails_spares_the_others(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "index.html"
    made = replace(experiment(0), files=(("curves.csv", CURVES),))
    path.write_text(render(content_of(made), "Results"), encoding="utf-8")
    errors: list[str] = []
    with browser.new_page(offline=True) as page:
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.add_init_script("document.createElementNS = () => { throw new Error('no curve'); }")
        page.goto(path.as_uri())
        all_pictures_are_drawn(page.locator(".experiment"))
        expect(page.locator("#shown")).to_have_text("1 of 1 experiments shown")
        expect(page.locator("table.numbers .sort")).to_have_count(2)
    assert errors == ["no curve"]


@pytest.mark.parametrize("n_characters", [200, 2_000_000])
def test_files_and_figures_are_saved_as_they_are(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, n_characters: int
) -> None:
    monkeypatch.setattr(pictures, "STREAM_CHARACTERS", n_characters)
    names = ", ".join(f'"word {number}"' for number in range(400))
    run = f'{{"feature_names": [{names}], "é": 1}}\n'
    several = [replace(experiment(number), files=(("run.json", run), ("curves.csv", CURVES))) for number in (0, 1)]
    page = open_page(content_of(*several))
    page.evaluate("location.hash = '#experiment-experiment-1'")
    place = page.locator("#experiment-experiment-1")
    for button, expected in (("run.json", run), ("curves.csv", CURVES), ("Save scores of experiment-1 as SVG", SVG)):
        with page.expect_download() as download:
            place.get_by_role("button", name=button).click()
        assert Path(download.value.path()).read_text(encoding="utf-8") == expected
    assert page.locator("#shapes").get_attribute("data-shared")
    assert (page.locator("[data-stream]").count() == 1) == (n_characters == 2_000_000)


def test_streams_are_read_as_they_were_compressed(open_page: OpenPage) -> None:
    """Compressed by Python's LZMA and decoded by the page: short, long, repeated and random texts of any characters."""
    rng = np.random.default_rng(46)
    by_chance = "".join(map(chr, rng.integers(1, 0xD800, 30_000)))
    far = "".join(map(str, rng.integers(0, 10**9, 30_000)))
    two_signs = "".join(rng.choice(["a", "b"], 100_000))
    page = open_page(FIVE)
    cases: tuple[object, ...] = (
        [],
        ["a"],
        ["é𝄞\0"],
        ["a" * 100_000],
        [by_chance],
        [far + far],
        {"two": [two_signs, 1.5]},
    )
    for value in cases:
        assert page.evaluate("unpack", compressed(value)) == value


def test_a_figure_is_enlarged_and_closed_by_keyboard(open_page: OpenPage) -> None:
    page = open_page(FIVE)
    page.evaluate("location.hash = '#experiment-experiment-1'")
    page.get_by_role("button", name="Enlarge scores of experiment-1").press("Enter")
    expect(page.locator("dialog img")).to_have_js_property("naturalWidth", 200)
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).not_to_be_visible()
