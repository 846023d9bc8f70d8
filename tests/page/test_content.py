"""What the page takes from folders of results."""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fsvm_cli.experiment.run_file import FILE_NAME
from fsvm_cli.page.content import VERDICTS, read_content
from fsvm_cli.report.comparison import read_comparison
from fsvm_cli.report.folder import results_folders
from tests.helpers.calling import fsvm_here

RESULTS = Path(__file__).parents[2] / "results"
SHOWN = ("hermes-advantage", "lanckriet-sonar", "wine")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for name in SHOWN:
        shutil.copytree(RESULTS / name, tmp_path / name, ignore=shutil.ignore_patterns("*.png", "trials.*"))
    return tmp_path


def test_every_claim_stands_in_its_section_and_every_published_one_in_the_scorecard(results: Path) -> None:
    content = read_content(results_folders(results))
    comparison = read_comparison(results_folders(results))
    ours = comparison[comparison["experiment"].isin(SHOWN)]
    found = {(each.name, claim.id, claim.verdict) for each in content.experiments for claim in each.claims}
    assert found == set(ours[["experiment", "id", "verdict"]].itertuples(index=False, name=None))
    assert {row.verdict for row in content.scorecard} <= set(VERDICTS)
    assert sum(sum(counts.values()) for counts in content.counts.values()) == len(content.scorecard)


def test_tables_and_pictures_are_those_of_the_folder(results: Path) -> None:
    wine = next(each for each in read_content(results_folders(results)).experiments if each.name == "wine")
    (table,) = wine.tables
    assert [row[0] for row in table.rows] == [str(size) for size in range(1, 14)]
    assert table.rows[-1][1].split(" ± ")[0] == table.rows[-1][2].split(" ± ")[0]  # all features, whatever the ranking
    for picture in wine.pictures:
        assert (
            zlib.decompress(base64.b64decode(picture.data)) == (results / "wine" / f"{picture.name}.svg").read_bytes()
        )
    assert dict(wine.facts)["seed"] == "2000"


class _Addresses(HTMLParser):
    """Collects whatever a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in {"src", "href", "srcset"} and tag != "a"]


def test_the_page_needs_nothing_beside_itself(results: Path, tmp_path: Path) -> None:
    answer = fsvm_here("report", results)
    assert answer.code == 0, answer.err
    page = results / "index.html"
    assert answer.out == f"{page}\n"
    addresses = _Addresses()
    addresses.feed(page.read_text(encoding="utf-8"))
    assert addresses.found == ["data:,"]
    assert fsvm_here("report", results / "wine", "--out", tmp_path / "wine.html").code == 0
    assert "<title>Wine recognition</title>" in (tmp_path / "wine.html").read_text(encoding="utf-8")


def test_results_of_a_damaged_folder_are_named(results: Path) -> None:
    content = json.loads((results / "wine" / FILE_NAME).read_text())
    del content["config"]["title"]
    (results / "wine" / FILE_NAME).write_text(json.dumps(content))
    answer = fsvm_here("report", results)
    assert answer.code == 3
    assert str(results / "wine" / FILE_NAME) in answer.err
    assert not (results / "index.html").exists()
    nothing = fsvm_here("report", results / "nowhere")
    assert nothing.code == 3
    assert "no results here" in nothing.err
