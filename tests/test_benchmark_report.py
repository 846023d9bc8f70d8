"""The table of benchmarks: which rows stay when topics run again."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from benchmarks import harness
from benchmarks.harness import against_a_limit, report

if TYPE_CHECKING:
    from pathlib import Path


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
