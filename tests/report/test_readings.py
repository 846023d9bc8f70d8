"""What a source leaves open is decided over the declared readings: made tables whose truth is known."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.experiment.run_file import FILE_NAME
from fsvm_cli.page.content import Content
from fsvm_cli.page.reading import scorecard_rows
from fsvm_cli.report.comparison import read_comparison
from fsvm_cli.report.contents import contents
from fsvm_cli.report.folder import READINGS_NAME, VERDICTS_NAME, results_folders, write_table
from fsvm_cli.report.readings import INTRODUCTION, NO_VOTE, tables_of_readings, write_readings
from fsvm_cli.report.scorecard import (
    GRAVEST_FIRST,
    counts_by_nature,
    counts_of,
    others_in_words,
    scorecard_of,
    with_decisions,
)
from fsvm_cli.report.verdicts import VERDICT_COLUMNS
from fsvm_cli.spec.claims.kinds.counts import SizeRule
from fsvm_cli.spec.claims.rules import verdict_over_readings
from tests.helpers.calling import CHECKOUT, fsvm_here

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TRUTH = [
    (["reproduced", "reproduced", "reproduced"], "reproduced"),
    (["differs", "differs"], "differs"),
    (["fact", "fact"], "fact"),
    (["fact", "reproduced"], "reproduced"),
    (["reproduced", "differs", "differs"], "undecided by the source"),
    # A reading that cannot tell is neither; it leaves open what the others agree in, and nothing that they do not.
    (["reproduced", "inconclusive"], "inconclusive"),
    (["differs", "differs", "not comparable"], "inconclusive"),
    (["reproduced", "differs", "inconclusive"], "undecided by the source"),
    (["not comparable", "differs", "reproduced"], "undecided by the source"),
    (["inconclusive", "not comparable"], "inconclusive"),
    (["not comparable", "not comparable"], "not comparable"),
]


@pytest.mark.parametrize(("answers", "expected"), TRUTH)
def test_the_answers_of_all_readings_decide(answers: list[str], expected: str) -> None:
    assert verdict_over_readings(answers) == expected


@given(answers=st.lists(st.sampled_from(["reproduced", "differs", "inconclusive", "not comparable"]), min_size=2))
def test_no_order_of_the_readings_and_no_further_one_turns_a_verdict_around(answers: list[str]) -> None:
    verdict = verdict_over_readings(answers)
    assert verdict_over_readings(answers[::-1]) == verdict
    opposite = {"reproduced": "differs", "differs": "reproduced"}
    for further in ("reproduced", "differs", "inconclusive", "not comparable"):
        assert verdict_over_readings([*answers, further]) != opposite.get(verdict)


def row_of(claim: str, verdict: str, **more: Any) -> dict[str, Any]:
    row = {"id": claim, "published": 90.0, "reproduced": 80.0, "rule": "by r", "verdict": verdict, "fixed": "after"}
    return row | {"what": "test accuracy (%)", "n": 9, "accepts_low": np.nan, "accepts_high": np.nan} | more


def write_results(root: Path, name: str, rows: Sequence[dict[str, Any]], **config: Any) -> None:
    """Write results of an experiment; claims whose verdict is withheld have a source that leaves something open."""
    folder = root / name
    folder.mkdir()
    expected = [{"id": row["id"]} | ({"unstated": "C"} if row.pop("unstated", True) else {}) for row in rows]
    content = {"title": name, "paper": {"key": "doc2000", "where": "Table 1"}, "expected": expected}
    (folder / FILE_NAME).write_text(json.dumps({"config": content | config}))
    columns = [*VERDICT_COLUMNS, *({key for row in rows for key in row} - set(VERDICT_COLUMNS))]
    write_table(pd.DataFrame(rows, columns=columns), folder / VERDICTS_NAME)


def noted(*answers: str, new_data: str | None = None) -> str:
    readings = [
        {"reading": f"r{number}", "answer": answer, "reproduced": 80.0 + number, "new_data": new_data}
        for number, answer in enumerate(answers)
    ]
    return json.dumps(readings)


@pytest.mark.parametrize(("answers", "expected"), TRUTH)
def test_the_main_experiment_and_its_variants_decide_together(
    tmp_path: Path, answers: list[str], expected: str
) -> None:
    for number, answer in enumerate(answers):
        main = {} if number == 0 else {"variant_of": "main"}
        row = row_of("t", "not comparable", readings=noted(answer))
        write_results(tmp_path, "main" if number == 0 else f"v{number}", [row], reading=f"r{number}", **main)
    # What declares no reading is a control: it has no vote.
    write_results(tmp_path, "control", [row_of("t", "reproduced")], variant_of="main")
    (row,) = scorecard_of(results_folders(tmp_path)).to_dict("records")
    assert (row["verdict"], row["config"]) == (expected, "main")
    n_agreeing = sum(answer in {"reproduced", "fact"} for answer in answers)
    assert row["readings"].startswith(f"agrees in {n_agreeing} of {len(answers)} readings")
    assert row["readings"].count("r0: ") == len(answers)
    assert row["elsewhere"] == "reproduced in control (80)"


def test_several_readings_of_one_experiment_count_each(tmp_path: Path) -> None:
    write_results(tmp_path, "main", [row_of("t", "differs", readings=noted("differs", "differs"))], reading="a")
    variant = [row_of("t", "not comparable", readings=noted("reproduced"))]
    write_results(tmp_path, "v", variant, reading="b", variant_of="main")
    (row,) = scorecard_of(results_folders(tmp_path)).to_dict("records")
    assert row["verdict"] == "undecided by the source"
    assert "agrees in 1 of 3 readings" in row["readings"]


def test_a_single_reading_decides_nothing(tmp_path: Path) -> None:
    write_results(tmp_path, "main", [row_of("t", "not comparable", readings=noted("reproduced"))], reading="a")
    write_results(tmp_path, "v", [row_of("t", "differs")], variant_of="main")
    (row,) = scorecard_of(results_folders(tmp_path)).to_dict("records")
    assert row["verdict"] == "not comparable"
    assert row.get("readings", "") == ""


def test_a_claim_whose_source_leaves_nothing_open_is_decided_by_its_main_experiment(tmp_path: Path) -> None:
    write_results(tmp_path, "main", [row_of("t", "reproduced", unstated=False)], reading="a")
    write_results(tmp_path, "v", [row_of("t", "differs", unstated=False)], reading="b", variant_of="main")
    (row,) = scorecard_of(results_folders(tmp_path)).to_dict("records")
    assert row["verdict"] == "reproduced"
    assert row["elsewhere"] == "differs in v (80)"


@pytest.mark.parametrize(
    ("old", "answer"),
    [
        ({"accepts_low": 89.0, "accepts_high": 91.0}, "reproduced"),
        ({"accepts_low": 70.0, "accepts_high": 80.0}, "differs"),
        ({"accepts_low": 91.0, "accepts_high": 89.0}, "inconclusive"),
        ({"accepts_low": 89.0, "accepts_high": 91.0, "rule": "in 2 of 9 trials a machine missed"}, "not comparable"),
        ({"published": "A above B"}, "not comparable"),
        ({"published": "A above B", "answer": "differs"}, "differs"),
    ],
)
def test_tables_of_older_versions_say_what_their_rules_accept(tmp_path: Path, old: dict[str, Any], answer: str) -> None:
    for name, main in (("main", {}), ("v", {"variant_of": "main"})):
        write_results(tmp_path, name, [row_of("t", "not comparable", **old)], reading=name, **main)
        path = tmp_path / name / VERDICTS_NAME
        pd.read_csv(path).drop(columns="readings").to_csv(path, index=False)
    (row,) = scorecard_of(results_folders(tmp_path)).to_dict("records")
    assert row["verdict"] == verdict_over_readings([answer, answer])
    assert f"main: {answer}" in row["readings"]


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Claims of every nature, one in parts, one over readings, and those of an experiment that asks why."""
    natures = ["finding", "order", "arithmetic", "fact", "repeat", "finding"]
    claims = [
        row_of(f"t{number}", verdict, unstated=False, nature=nature)
        for number, (nature, verdict) in enumerate(zip(natures, GRAVEST_FIRST, strict=True))
    ]
    open_claim = row_of("u", "not comparable", readings=noted("reproduced"), nature="finding")
    write_results(tmp_path, "main", [*claims, open_claim], reading="a")
    variant = row_of("u", "not comparable", readings=noted("differs"), nature="finding")
    write_results(tmp_path, "v", [variant], reading="b", variant_of="main")
    parts = [row_of(f"p.{end}", verdict, unstated=False, nature="order") for end, verdict in
             (("x", "reproduced"), ("y", "differs"))]  # fmt: skip
    write_results(tmp_path, "parts", parts, paper={"key": "doc2001", "where": "Table 2"})
    path = tmp_path / "parts" / FILE_NAME
    content = json.loads(path.read_text())
    content["config"]["expected"] = [{"id": row["id"], "part_of": "p"} for row in parts]
    path.write_text(json.dumps(content))
    write_results(tmp_path, "why-1", [row_of("own", "reproduced", unstated=False)], why="Why?", explains=["t0"])
    return tmp_path


def test_totals_count_findings_and_orders_and_say_the_rest_below(mixed: Path) -> None:
    scorecard = scorecard_of(results_folders(mixed))
    counts = counts_of(scorecard).set_index("document")
    assert counts["in all"].to_dict() == {"doc2000": 4, "doc2001": 1, "all": 5}
    assert counts.loc["all", "undecided by the source"] == 2
    assert others_in_words(scorecard) == (
        "Not counted, because they are no findings: 1 number computed from printed numbers (1 inconclusive); 1 fact of "
        "data or settings (1 not comparable); 1 repeat of another claim (1 reproduced)."
    )


def test_counts_by_nature_leave_nothing_out(mixed: Path) -> None:
    scorecard = scorecard_of(results_folders(mixed))
    counts = counts_by_nature(scorecard).set_index(["document", "nature"])
    assert counts["in all"].loc["doc2000"].to_dict() == {
        "finding": 3,
        "order": 1,
        "arithmetic": 1,
        "fact": 1,
        "repeat": 1,
    }
    assert counts["in all"].loc["doc2001"].to_dict() == {"order": 1}
    assert counts["in all"].loc["all"].to_dict() == {"finding": 3, "order": 2, "arithmetic": 1, "fact": 1, "repeat": 1}
    assert counts.loc[("all", "repeat"), "reproduced"] == 1
    assert counts.loc["all", "in all"].sum() == len(scorecard)
    verdicts = counts.drop(columns="in all")
    assert (verdicts.sum(axis=1) == counts["in all"]).all()


def test_readme_page_scorecard_and_compare_count_alike(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(CHECKOUT / "docs"))
    import generate  # noqa: PLC0415 - where Sphinx finds it

    folders = results_folders(mixed)
    scorecard = scorecard_of(folders)
    others = others_in_words(scorecard)
    rows = [tuple(map(str, row)) for row in counts_of(scorecard).itertuples(index=False)]
    pd.testing.assert_frame_equal(counts_of(with_decisions(read_comparison(folders), folders)), counts_of(scorecard))

    def rows_of(text: str) -> list[tuple[str, ...]]:
        lines = [[cell.strip() for cell in re.split(r"[|│┃]", line)[1:-1]] for line in text.splitlines()]
        start = next(number for number, cells in enumerate(lines) if cells[:1] == ["document"])
        found = [
            tuple(cells)
            for cells in lines[start + 1 :]
            if cells[:1] in ([each] for each in ("doc2000", "doc2001", "all"))
        ]
        return found[: len(rows)]

    for arguments in (("compare", mixed), ("compare", mixed, "--scorecard")):
        answer = fsvm_here(*arguments)
        assert answer.code == 0, answer.err
        assert rows_of(answer.out) == rows
        assert others in " ".join(answer.out.split())
    page = Content(scorecard_rows(folders), ())
    assert (page.counts.rows, page.counts.note) == (tuple(rows), others)
    assert rows_of(contents(folders, scorecard)) == rows
    assert others in contents(folders, scorecard)
    monkeypatch.setattr(generate, "ROOT", mixed)
    (mixed / "results").mkdir()
    (mixed / "scorecard.csv").rename(mixed / "results" / "scorecard.csv")
    assert rows_of(generate.totals()) == rows
    assert others in generate.totals()


def test_a_comparison_shows_readings_and_both_questions_about_a_difference(tmp_path: Path) -> None:
    difference = {"new_data": "inconclusive", "new_data_low": -1.0, "new_data_high": 2.0, "unstated": False}
    rows = [row_of("d", "reproduced", **difference), row_of("u", "not comparable", readings=noted("reproduced"))]
    write_results(tmp_path, "main", rows, reading="a")
    write_results(tmp_path, "v", [row_of("u", "x", readings=noted("differs"))], reading="b", variant_of="main")
    scorecard = scorecard_of(results_folders(tmp_path)).set_index("id")
    assert scorecard.loc["d", "new_data"] == "inconclusive"
    assert scorecard.loc["u", "new_data"] == ""
    shown = " ".join(fsvm_here("compare", tmp_path, "--format", "markdown").out.split())
    assert "on these data: reproduced" in shown
    assert "on new data: inconclusive" in shown
    written = fsvm_here("compare", tmp_path, "--scorecard", "--format", "markdown").out
    assert "on these data: reproduced; on new data: inconclusive" in written
    assert "agrees in 1 of 2 readings" in written


def test_all_cells_of_readings_and_claims_are_shown(tmp_path: Path) -> None:
    main = [row_of(claim, "not comparable", readings=noted("differs", "reproduced")) for claim in ("t", "u")]
    write_results(tmp_path, "main", [*main, row_of("stated", "reproduced", unstated=False)], reading="a")
    write_results(
        tmp_path, "v", [row_of("t", "not comparable", readings=noted("inconclusive"))], reading="b", variant_of="main"
    )
    write_results(tmp_path, "control", [row_of("u", "differs", unstated=False)], variant_of="main")
    folders = results_folders(tmp_path)
    comparison = read_comparison(folders)
    (table,) = tables_of_readings(comparison, with_decisions(comparison, folders), folders)["doc2000"]
    assert table.to_dict("list") == {
        "experiment": ["main", "main", "v", "control"],
        "reading": ["r0", "r1", "r0", f"control{NO_VOTE}"],
        "t": ["differs (80)", "reproduced (81)", "inconclusive (80)", ""],
        "u": ["differs (80)", "reproduced (81)", "", "differs (80)"],
    }
    answer = fsvm_here("compare", str(tmp_path), "--readings", "--claims", "t", "--format", "csv")
    assert answer.out.splitlines()[0] == "experiment,reading,t"
    assert fsvm_here("compare", str(tmp_path), "--readings", "--claims", "stated").code == 2


def test_each_rule_of_a_size_has_a_column_and_readings_stand_as_declared(tmp_path: Path) -> None:
    ten = str(SizeRule(splits=10))
    said = [("own", "differs"), (ten, "reproduced"), ("c", "fact"), (f"c; {ten}", "inconclusive"), ("b", "differs")]
    readings = json.dumps([{"reading": words, "answer": answer} for words, answer in said])
    rows = [row_of("size", "not comparable", readings=readings)]
    write_results(tmp_path, "main", rows, reading="own", readings={"b": {}, "c": {}})
    run = tmp_path / "main" / FILE_NAME
    content = json.loads(run.read_text())
    content["config"]["expected"][0]["rules"] = [{}, {"splits": 10}]
    run.write_text(json.dumps(content))
    folders = results_folders(tmp_path)
    comparison = read_comparison(folders)
    (table,) = tables_of_readings(comparison, with_decisions(comparison, folders), folders)["doc2000"]
    assert table.drop(columns="experiment").to_dict("list") == {
        "reading": ["own", "b", "c"],
        f"size, {SizeRule()}": ["differs", "differs", "fact"],
        f"size, {ten}": ["reproduced", "", "inconclusive"],
    }


def test_the_readings_beside_the_folders_are_written_and_those_of_others_left(tmp_path: Path) -> None:
    row = row_of("t", "not comparable", readings=noted("differs", "reproduced"))
    write_results(tmp_path, "main", [row], reading="a")
    path = write_readings(tmp_path, results_folders(tmp_path))
    assert path == tmp_path / READINGS_NAME
    written = path.read_text(encoding="utf-8")
    assert INTRODUCTION in written
    assert "| main | r1 | reproduced (81) |" in written
    path.write_text("my own", encoding="utf-8")
    assert write_readings(tmp_path, results_folders(tmp_path)) is None
    assert path.read_text(encoding="utf-8") == "my own"


def test_the_committed_readings_are_those_of_the_results(tmp_path: Path) -> None:
    written = write_readings(tmp_path, results_folders(CHECKOUT / "results"))
    assert written is not None
    assert written.read_bytes() == (CHECKOUT / "results" / READINGS_NAME).read_bytes()
