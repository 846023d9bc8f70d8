"""The table of contents beside the results."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from fsvm_cli.report.contents import contents
from fsvm_cli.report.folder import results_folders
from fsvm_cli.report.scorecard import scorecard_of
from tests.helpers.calling import fsvm_here

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    for name in ("wine", "wdbc"):
        shutil.copytree(RESULTS / name, tmp_path / name)
    return tmp_path


def test_the_committed_contents_are_those_of_the_results() -> None:
    folders = results_folders(RESULTS)
    committed = (RESULTS / "README.md").read_text(encoding="utf-8")
    assert committed == contents(folders, scorecard_of(folders)), "run: fsvm compare results --scorecard"


def test_every_experiment_is_listed_and_every_link_leads_somewhere() -> None:
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((.*?)\)", text)
    assert {f"{folder.name}/" for folder in results_folders(RESULTS)} <= set(links)
    assert all((RESULTS / link).exists() for link in links)
    for folder in results_folders(RESULTS):
        assert {f"{folder.name}/{path.name}" for path in folder.glob("*.svg")} <= set(links)


def test_titles_are_text(two: Path) -> None:
    path = two / "wine" / "run.json"
    run = json.loads(path.read_text(encoding="utf-8"))
    run["config"]["title"] = "a | [b](http://c) <script>\x1b[31m\n# d"
    path.write_text(json.dumps(run), encoding="utf-8")
    folders = results_folders(two)
    (line,) = [each for each in contents(folders, scorecard_of(folders)).splitlines() if each.startswith("| [wine]")]
    assert r"a \| \[b](http://c) \<script>\\x1b\[31m\\n\# d" in line


def test_links_lead_to_folders_of_any_name(two: Path) -> None:
    odd = two / "50%25 (a b)"
    (two / "wine").rename(odd)
    folders = results_folders(two)
    links = re.findall(r"\]\((.*?)\)", contents(folders, scorecard_of(folders)))
    assert all((two / unquote(link)).exists() for link in links)
    assert f"{quote(odd.name)}/" in links


def test_a_file_of_somebody_else_stays(two: Path) -> None:
    answer = fsvm_here("compare", two, "--scorecard")
    assert answer.code == 0, answer.err
    assert "README.md" in answer.out
    assert (two / "README.md").read_text(encoding="utf-8").count("| [wine](wine/) |") == 1
    (two / "README.md").write_text("mine", encoding="utf-8")
    assert "left as it is" in fsvm_here("compare", two, "--scorecard").out
    assert (two / "README.md").read_text(encoding="utf-8") == "mine"
