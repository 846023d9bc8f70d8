"""The table of benchmarks: which rows stay when topics run again, and when one fails."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from benchmarks import harness
from benchmarks.harness import against_a_limit, report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.harness import Comparison


@pytest.mark.parametrize(
    ("all_of_them", "left"), [(False, {"fit": "2", "draw": "1"}), (True, {"fit": "2"})], ids=["one topic", "all topics"]
)
def test_rows_that_a_topic_no_longer_yields_leave_the_table(
    all_of_them: bool, left: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "RESULTS", tmp_path / "benchmarks.csv")
    rows = {name: against_a_limit(name, 1.0, 1.0, "") for name in ("fit", "former fit", "draw")}
    report({"machines": lambda: [rows["fit"], rows["former fit"]], "draws": lambda: [rows["draw"]]}, all_of_them=True)
    report({"machines": lambda: [against_a_limit("fit", 1.0, 2.0, "")]}, all_of_them=all_of_them)
    with harness.RESULTS.open(newline="", encoding="utf-8") as stream:
        assert {row["work"]: row["our_seconds"] for row in csv.DictReader(stream)} == left


def test_a_topic_that_fails_keeps_its_rows_and_the_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(harness, "RESULTS", tmp_path / "benchmarks.csv")
    fit, draw = (against_a_limit(name, 1.0, 1.0, "") for name in ("fit", "draw"))

    def fails() -> Iterator[Comparison]:
        yield against_a_limit("new fit", 1.0, 2.0, "")
        raise RuntimeError("no such rule")

    assert report({"machines": lambda: [fit], "draws": lambda: [draw]}, all_of_them=True)
    new_draw = against_a_limit("draw", 1.0, 4.0, "")
    assert not report({"machines": fails, "draws": lambda: [new_draw]}, all_of_them=True)
    assert "no such rule" in capsys.readouterr().out
    with harness.RESULTS.open(newline="", encoding="utf-8") as stream:
        left = {row["work"]: row["our_seconds"] for row in csv.DictReader(stream)}
    assert left == {"fit": "1", "new fit": "2", "draw": "4"}
