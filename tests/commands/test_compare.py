"""`fsvm compare`: claims beside what was found, of one experiment or of several."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from rich.console import Console

from fsvm_cli.experiment.run_file import FILE_NAME
from fsvm_cli.report.comparison import read_comparison
from fsvm_cli.report.contents import tables_of_claims
from fsvm_cli.report.folder import VERDICTS_NAME, write_table
from fsvm_cli.report.scorecard import with_decisions
from fsvm_cli.report.verdicts import VERDICT_COLUMNS
from fsvm_cli.spec import OF_ONE_SPLIT
from tests.helpers.calling import CHECKOUT, fsvm_here

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for name, claims in {"a": ["paper.t5.size", "paper.t1.best"], "b": ["paper.t5.size"]}.items():
        (tmp_path / name).mkdir()
        config = {"paper": {"key": "infoprop2001"}, "variant_of": "a" if name == "b" else None}
        (tmp_path / name / FILE_NAME).write_text(json.dumps({"config": config}))
        whats = ["n_features (features)" if claim.endswith("size") else "test accuracy (%)" for claim in claims]
        rows = [
            {"id": claim, "what": what, "published": 1, "reproduced": 2.0, "n": 5, "rule": "by r", "verdict": verdict}
            for claim, what, verdict in zip(claims, whats, ("differs", "reproduced"), strict=False)
        ]
        write_table(pd.DataFrame(rows, columns=VERDICT_COLUMNS), tmp_path / name / VERDICTS_NAME)
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


def test_each_claim_stands_once_beside_its_rule_and_facts_about_the_data_apart(results: Path) -> None:
    answer = fsvm_here("compare", results)
    assert answer.code == 0, answer.err
    results_part, _, facts_part = answer.out.partition("Facts about the data")
    assert "paper.t1.best" in results_part
    assert "number of features (features)" in facts_part
    assert "n_features" not in answer.out
    assert "│ 1       │ 2 over 5 trials: number of features" in facts_part
    assert answer.out.count("paper.t5.size") == 1
    assert "2, differs, in b" in facts_part
    assert answer.out.count("by r") == 2
    totals = answer.out.partition("Each claim once")[2]
    assert totals.split("\n")[4].split("│")[1:-1] == [" infoprop2001 ", "          1 ", "       1 ", "      2 "]
    assert 'infoprop2001: V. Sindhwani, P. Bhattacharya and S. Rakshit, "Information' in answer.out


@pytest.mark.parametrize(
    ("verdicts", "claims"),
    [
        (["reproduced"], ["paper.t1.best"]),
        (["differs", "reproduced"], ["paper.t5.size", "paper.t1.best"]),
        (["fact"], []),
    ],
)
def test_claims_are_picked_by_their_verdicts(results: Path, verdicts: list[str], claims: list[str]) -> None:
    options = [word for verdict in verdicts for word in ("--verdict", verdict)]
    answer = fsvm_here("compare", results, *options)
    assert answer.code == 0, answer.err
    assert [claim for claim in ("paper.t5.size", "paper.t1.best") if claim in answer.out] == claims
    rows = json.loads(fsvm_here("compare", results, "--format", "json", *options).out)
    assert {row["id"] for row in rows if row["decides"]} == set(claims)
    assert {row["verdict"] for row in rows} <= set(verdicts)


def test_a_scorecard_of_some_verdicts_is_refused(results: Path) -> None:
    answer = fsvm_here("compare", results, "--scorecard", "--verdict", "fact")
    assert answer.code == 2
    assert "without --claims, --verdict and --readings" in answer.err


def test_rows_of_a_record_are_not_called_trials(results: Path) -> None:
    row = {"id": "p.n", "what": "n_same", "published": "8", "reproduced": 7.5, "n": 11, "verdict": "differs"}
    rows = [row, row | {"id": "p.s", "what": "share", "n": 1}]
    table = pd.DataFrame([each | {"rule": f"a.csv: r; {OF_ONE_SPLIT}"} for each in rows], columns=VERDICT_COLUMNS)
    write_table(table, results / "a" / VERDICTS_NAME)
    answer = fsvm_here("compare", results / "a", "--format", "markdown")
    assert "| p.n | 8 | 7.50 over 11 rows of the record: n_same |" in answer.out
    assert "| p.s | 8 | 7.50: share |" in answer.out


def test_a_number_and_its_interval_have_the_same_decimals_and_names_of_the_field(results: Path) -> None:
    row = {"id": "p.n", "what": "support_vectors, 'a'", "published": "475.0", "reproduced": 457.225, "n": 40}
    rows = [
        row | {"ci_low": 454.6, "ci_high": 459.8},
        {"id": "p.s", "what": "share of runs", "published": "all", "reproduced": 0.01, "n": 2}
        | {"ci_low": -0.00391, "ci_high": 0.0239},
    ]
    table = pd.DataFrame([each | {"rule": "by r", "verdict": "differs"} for each in rows], columns=VERDICT_COLUMNS)
    write_table(table, results / "a" / VERDICTS_NAME)
    answer = fsvm_here("compare", results / "a", "--format", "markdown")
    assert "| p.n | 475 | 457.23 [454.60, 459.80] over 40 trials: number of support vectors, 'a' |" in answer.out
    assert "| p.s | all | 0.0100 [-0.0039, 0.0239] over 2 trials: share of runs |" in answer.out


def test_on_a_narrow_terminal_each_claim_takes_a_few_lines(results: Path) -> None:
    """The table of a wide one would break each word of its columns."""
    console = Console(width=80, file=io.StringIO())
    comparison = with_decisions(read_comparison([results / "a", results / "b"]), [results / "a", results / "b"])
    for table in tables_of_claims(comparison):
        console.print(table)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    begin = next(number for number, line in enumerate(lines) if line.startswith("paper.t5.size (a)"))
    assert [line.strip() for line in lines[begin : begin + 5]] == [
        f"paper.t5.size (a){'differs':>63}",
        "printed  1",
        "obtained 2 over 5 trials: number of features (features)",
        "2, differs, in b",
        "rule     by r",
    ]


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there is no pseudo-terminal here")
def test_more_than_a_screen_goes_to_the_pager(results: Path) -> None:
    told = results / "told"
    pager = results / "pager"
    pager.write_text(f"#!/bin/sh\ncat > {told}\n")
    pager.chmod(0o700)
    for height, is_paged in ((5, True), (100, False)):
        controller, terminal = os.openpty()
        environment = os.environ | {"PAGER": str(pager), "COLUMNS": "80", "LINES": str(height), "TERM": "xterm"}
        command = [sys.executable, "-m", "fsvm_cli", "compare", str(results)]
        with subprocess.Popen(
            command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment | {"PYTHONPATH": str(CHECKOUT)}
        ) as process:
            os.close(terminal)
            shown = b""
            with contextlib.suppress(OSError):  # Linux's way to say that the other end is closed
                while part := os.read(controller, 65536):
                    shown += part
        os.close(controller)
        assert process.returncode == 0, shown
        assert told.exists() == is_paged
        assert "paper.t5.size" in (told.read_text() if is_paged else shown.decode())
        told.unlink(missing_ok=True)
