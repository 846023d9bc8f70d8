"""What the page takes from folders of results."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from fsvm_cli.experiment.run_file import FILE_NAME
from fsvm_cli.page import reading
from fsvm_cli.page.content import VERDICTS
from fsvm_cli.page.reading import read_content
from fsvm_cli.page.write import render
from fsvm_cli.report.comparison import read_comparison
from fsvm_cli.report.folder import AREAS_NAME, PAIRS_NAME, results_folders, write_table
from fsvm_cli.report.ranks import MIN_DATA_SETS
from tests.helpers.calling import fsvm_here
from tests.page.conftest import content_of, experiment

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
    of_documents = [row for row in content.counts.rows if row[0] != "all"]
    assert sum(int(row[-1]) for row in of_documents) == len(content.scorecard)


def test_tables_and_pictures_are_those_of_the_folder(results: Path) -> None:
    wine = next(each for each in read_content(results_folders(results)).experiments if each.name == "wine")
    table, *statistics = wine.tables
    assert len(statistics) == sum((results / "wine" / name).exists() for name in (AREAS_NAME, PAIRS_NAME)) == 2
    assert [row[0] for row in table.rows] == [str(size) for size in range(1, 14)]
    left, right = map(str, table.rows[-1][1:3])
    assert left.split(" ± ")[0] == right.split(" ± ")[0]  # all features, whatever the ranking
    for picture in wine.pictures:
        assert picture.svg == (results / "wine" / f"{picture.name}.svg").read_text(encoding="utf-8")
    assert dict(wine.facts)["seed"] == "2000"


def test_with_more_experiments_smaller_tables_can_be_saved(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wine() -> tuple[set[str], set[str]]:
        found = next(each for each in read_content(results_folders(results)).experiments if each.name == "wine")
        return {name for name, _ in found.files if name.endswith(".csv")}, set(found.elsewhere)

    saved, elsewhere = wine()
    assert saved == {"curves.csv", "scores.csv", "published.csv"}
    n_bytes = {name: len(zlib.compress((results / "wine" / name).read_bytes())) for name in saved}
    largest = max(n_bytes, key=n_bytes.__getitem__)
    monkeypatch.setattr(reading, "MAX_PACKED_TABLES", len(SHOWN) * n_bytes[largest] - 1)
    assert wine() == (saved - {largest}, elsewhere | {largest})


def test_that_no_trial_is_complete_is_said_where_a_page_without_scripts_shows_it(results: Path) -> None:
    for name in ("curves", "areas", "pairs", "scores", "selection"):
        path = results / "wine" / f"{name}.csv"
        path.write_text(path.read_text(encoding="utf-8").partition("\n")[0] + "\n", encoding="utf-8")
    page = render(read_content(results_folders(results)), "Results")
    assert page.count("INCOMPLETE: no trial is complete.") == 1


def test_documents_are_written_out_and_facts_stand_apart(results: Path) -> None:
    shutil.copytree(RESULTS / "infoprop-led24", results / "infoprop-led24")
    content = read_content(results_folders(results))
    assert set(content.references) == {"hermes2000", "jebara-slides", "infoprop2001"}
    led = next(each for each in content.experiments if each.name == "infoprop-led24")
    facts = {claim.id.rpartition(".")[2] for claim in led.claims if claim.is_about_data}
    assert facts == {"n_features", "major_class_pct", "H_d"}
    assert next(claim for claim in led.claims if claim.id.endswith("n_features")).printed == "24"
    assert "10.1137/1.9781611972719.16" in render(content, "Results")
    alone = render(dataclasses.replace(content, experiments=(led,)), "Results")
    assert alone.count("Facts about the data") == 1


def test_statistics_of_an_experiment_and_over_several_are_shown(results: Path) -> None:
    pair = {"first": "a", "second": "b", "train_size": 9, "metric": "accuracy", "n_features": 0, "n_trials": 5}
    numbers = {"difference": 0.01, "ci_low": -0.02, "ci_high": 0.04, "p": 0.3, "p_holm": 0.3}
    chances = {"first_worse": 0.1, "equivalent": 0.2, "first_better": 0.7}
    write_table(pd.DataFrame([pair | numbers | chances]), results / "wine" / PAIRS_NAME)
    area = {"ranking": "a", "train_size": 9, "metric": "accuracy", "area": 0.9, "area_ci_low": 0.8, "area_ci_high": 1.0}
    best = {"best_n_features": 5, "smallest_n_features": 2, "smallest_mean": 0.89, "n_trials": 5}
    write_table(pd.DataFrame([area | best]), results / "wine" / AREAS_NAME)
    for number in range(MIN_DATA_SETS):
        shutil.copytree(results / "wine", results / f"wine-{number}")
        run = json.loads((results / f"wine-{number}" / FILE_NAME).read_text())
        run["data"]["name"] = f"wine {number}"
        (results / f"wine-{number}" / FILE_NAME).write_text(json.dumps(run))
    content = read_content(results_folders(results))
    wine = next(each for each in content.experiments if each.name == "wine")
    *_, areas, pairs = wine.tables
    assert areas.rows == (("a", "9", "90.00 [80.00, 100.00]", "5", "2", "89.00", "5"),)
    assert pairs.rows == (("a", "b", "9", "1.00 [-2.00, 4.00]", "0.3", "0.10 / 0.20 / 0.70"),)
    (ranks,) = content.ranks
    assert ranks.names[0] == "gradient-angle"
    assert "Rankings over several data sets" in render(content, "Results")


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


def test_no_name_of_an_experiment_is_the_id_of_another_element() -> None:
    plain = set(re.findall(r' id="([^"]+)"', render(content_of(experiment(0)), "Results")))
    taken = sorted(name for name in plain if not name.startswith("experiment-"))
    assert {"shapes", "answers", "shown"} <= set(taken)
    named = [dataclasses.replace(experiment(number), name=name) for number, name in enumerate(taken)]
    ids = re.findall(r' id="([^"]+)"', render(content_of(*named), "Results"))
    assert len(ids) == len(set(ids))
    assert set(taken) <= set(ids)
