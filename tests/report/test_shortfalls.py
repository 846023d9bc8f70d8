"""What a run says where an ascent on the evidence, and no machine, did not come to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.experiment.plan import plan
from fsvm_cli.experiment.records.ascents import LengthScales
from fsvm_cli.own_data.rank import rank
from fsvm_cli.report.complete_trials import ASCENT, MACHINE, convergence_warnings
from fsvm_cli.report.curve_table import read_measures
from fsvm_cli.report.folder import read_table
from fsvm_cli.report.numbers import as_csv, briefly
from fsvm_cli.report.summary import print_summary
from fsvm_cli.report.tables import write_tables
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.spec.config import LoadedConfig

BAYESIAN = {"type": "bayesian", "max_steps": 1, "n_eigenvectors": 5}
SMALL: dict[str, Any] = {
    "dataset": {"name": "plane", "samples": 80},
    "scaling": "standard",
    "protocol": {"splits": 2, "train": 30, "test": 20, "seed": 0},
}
WITHOUT_RANKINGS: dict[str, Any] = {"rankings": None, "subsets": None, "record": None}


@pytest.mark.parametrize(
    ("changes", "ascending"),
    [
        (WITHOUT_RANKINGS | {"alternatives": [{"label": "Bayes", "classifier": BAYESIAN}]}, {"Bayes"}),
        (WITHOUT_RANKINGS | {"classifier": BAYESIAN}, {"all features"}),
        ({"rankings": [{"method": "ard"}, {"method": "fisher"}], "subsets": [1], "record": None}, {"ard"}),
    ],
)
def test_competitors_that_ascend_are_told_apart(
    load: Callable[..., LoadedConfig], changes: dict[str, Any], ascending: set[str]
) -> None:
    words = convergence_warnings(load(**SMALL | changes).config)
    assert {label for label, told in words.items() if told == ASCENT} == ascending
    assert {words[label] for label in words.keys() - ascending} <= {MACHINE}


def test_an_ascent_that_ran_out_of_steps_is_no_missed_duality_gap(
    load: Callable[..., LoadedConfig], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = load(**SMALL | WITHOUT_RANKINGS | {"alternatives": [{"label": "Bayes", "classifier": BAYESIAN}]})
    experiment = plan(loaded, print)
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        curves = write_tables(loaded, experiment, store, tmp_path)
    print_summary(loaded, curves, tmp_path, figures=(), caveats=())
    printed = " ".join(capsys.readouterr().out.split())
    assert f"of 4 points, in 2 {ASCENT}." in printed


def test_a_ranking_whose_ascent_ran_out_of_steps_says_so() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    table["kind"] = np.where(table["a"] + 0.3 * table["b"] > 0.0, "p", "q")
    with pytest.warns(UserWarning, match="an ascent on the evidence did not end by its rule"):
        rank(table, target="kind", method="ard", max_steps=1, n_permutations=0)


def test_machines_that_were_stopped_are_counted_and_told(
    load: Callable[..., LoadedConfig], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped, to_the_end = (
        {"kernel": "linear", "C": 1, "solver": "libsvm", "stop_after": n_steps} for n_steps in (1, 10**6)
    )
    alternatives = [{"label": "1 step", "classifier": stopped}, {"label": "to the end", "classifier": to_the_end}]
    loaded = load(**WITHOUT_RANKINGS | {"alternatives": alternatives})
    experiment = plan(loaded, print)
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        curves = write_tables(loaded, experiment, store, tmp_path)
    print_summary(loaded, curves, tmp_path, figures=(), caveats=())
    printed = " ".join(capsys.readouterr().out.split())
    gaps = read_measures(tmp_path).set_index("ranking")["mean"]
    n_stopped = int((gaps > 1e-6).sum())
    assert gaps["1 step"] > 0.1
    assert f"{n_stopped} of the 3 means are of machines that were stopped before they reached their duality" in printed
    assert f"at gaps of up to {briefly(gaps.max())}." in printed
    assert "every machine reached" not in printed


def test_a_length_scale_far_below_the_others_is_not_0(tmp_path: Path) -> None:
    lengths = [88123.456, 0.0012345678, 5.74]
    table = pd.DataFrame({"ranking": "Bayes", "machine": 0, "length_scale": lengths, "relevance": [0.0, 1.0, 0.0]})
    (tmp_path / "table.csv").write_text(as_csv(table, 5, LengthScales().ratios(table), LengthScales.scales))
    assert read_table(tmp_path / "table.csv")["length_scale"].tolist() == [88123.0, 0.0012346, 5.74]
