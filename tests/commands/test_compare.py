"""`fsvm compare`: claims beside what was found, of one experiment or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from fsvm_cli.experiment.run_file import FILE_NAME
from fsvm_cli.report.folder import VERDICTS_NAME
from fsvm_cli.report.table_files import write_table
from fsvm_cli.report.verdicts import COLUMNS
from tests.helpers.calling import fsvm_here

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for name, claims in {"a": ["paper.t5.size", "paper.t1.best"], "b": ["paper.t5.size"]}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE_NAME).write_text("{}")
        rows = [{"id": claim, "published": 1, "rule": "r", "verdict": "differs"} for claim in claims]
        write_table(pd.DataFrame(rows, columns=COLUMNS), tmp_path / name / VERDICTS_NAME)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["a,paper.t5.size", "a,paper.t1.best", "b,paper.t5.size"]),
        (["--claims", "paper.t5.*"], ["a,paper.t5.size", "b,paper.t5.size"]),
    ],
)
def test_a_pattern_picks_claims_from_all_experiments(results: Path, options: list[str], expected: list[str]) -> None:
    answer = fsvm_here("compare", results, "--format", "csv", *options)
    assert [",".join(line.split(",")[:2]) for line in answer.out.splitlines()[1:]] == expected


def test_a_pattern_of_no_claim_is_named(results: Path) -> None:
    answer = fsvm_here("compare", results, "--claims", "paper.t6.*")
    assert answer.code == 2
    assert "--claims paper.t6.*: no claim in" in answer.err
