"""What choosing features on all rows adds: printed numbers, both accuracies, their table and their figure."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from fsvm_cli.report.findings import read_selection_bias, write_findings
from fsvm_cli.report.folder import results_folders
from fsvm_cli.report.gains import Results
from fsvm_cli.report.selection_bias import (
    CASES,
    drawn_selection_biases,
    selection_biases,
    table_of_selection_biases,
)
from fsvm_cli.spec.rankings import LEAK
from tests.helpers.shipped import shipped_experiment

if TYPE_CHECKING:
    from pathlib import Path

PRINTED = {
    ("guyon-colon", "RFE by halves"): 98.0,
    ("guyon-colon", "correlation"): 86.0,
    ("guyon-leukaemia", "RFE by halves"): 100.0,
    ("guyon-leukaemia", "correlation"): pytest.approx(100 * 37 / 38, abs=0.01),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make results of which 95 % is by the leak, and 80 % is honest."""
    for name in dict.fromkeys(case.experiment for case in CASES):
        config = shipped_experiment(name).config
        (tmp_path / name).mkdir()
        run = {"config": config.model_dump(mode="json"), "overrides": {}, "data": {}, "packages": {}}
        (tmp_path / name / "run.json").write_text(json.dumps(run), encoding="utf-8")
        rows = [
            (ranking.label, 50, size, "accuracy", "test", mean, 0.1, mean - 0.07, mean + 0.07, 20, 0)
            for ranking in config.rankings
            for size in config.subsets
            for mean in [0.95 if ranking.label.endswith(LEAK) else 0.8]
        ]
        columns = ["ranking", "train_size", "n_features", "metric", "part", "mean", "std", "ci_low", "ci_high"]
        pd.DataFrame(rows, columns=[*columns, "n_trials", "n_unconverged"]).to_csv(
            tmp_path / name / "curves.csv", index=False
        )
    return tmp_path


def test_each_case_has_what_is_printed_and_both_accuracies(root: Path) -> None:
    found = selection_biases(Results(results_folders(root)))
    assert [each.case for each in found] == list(CASES)
    for each in found:
        assert (each.leaky.mean, each.honest.mean) == pytest.approx((95, 80))
        printed = PRINTED.get((each.case.experiment, each.case.ranking))
        assert each.printed == printed
        assert ("too optimistic" in each.erratum) == (printed is not None)
        assert (each.printed_in_words == "negligible error") == each.case.experiment.startswith("ambroise")


def test_the_table_says_so_and_a_bound_is_no_more_than_all(root: Path) -> None:
    table = table_of_selection_biases(selection_biases(Results(results_folders(root))))
    first = dict(zip(table.columns, table.rows[0], strict=True))
    assert first["printed"] == "98"
    assert first["chosen on all rows"] == "95.0 [88.0, 100.0]"
    assert first["chosen within the training rows"] == "80.0 [73.0, 87.0]"
    assert first["experiment"] == "guyon-colon"


def test_it_heads_the_findings_with_a_figure_that_is_the_same_each_time(root: Path) -> None:
    folders = results_folders(root)
    assert {path.name for path in write_findings(root, folders)} >= {"findings.md", "selection-bias.svg"}
    section = read_selection_bias(root)
    assert section[0].endswith("(selection-bias.svg)")
    assert sum(line.count("](guyon-colon/)") for line in section) == 2
    assert len([line for line in section if line.startswith("| ")]) == 2 + len(CASES)  # the heading and its line
    biases = selection_biases(Results(folders))
    assert (root / "selection-bias.svg").read_bytes() == drawn_selection_biases(biases)


def test_what_was_not_run_is_left_out(root: Path, tmp_path: Path) -> None:
    shutil.rmtree(root / "guyon-colon")
    found = selection_biases(Results(results_folders(root)))
    assert {each.case.experiment for each in found} == {case.experiment for case in CASES} - {"guyon-colon"}
    assert selection_biases(Results([])) == []
    assert read_selection_bias(tmp_path / "none") == []
