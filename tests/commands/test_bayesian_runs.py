"""Bayesian machines on odd tables that a person brings: what a run and a ranking say of them, and what they count."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.evidence import tuning
from fsvm_cli.evidence.hybrid_monte_carlo import PAPER_SETTINGS
from fsvm_cli.own_data.rank import rank
from tests.helpers.calling import AS_SVG, Answer, fsvm_here

if TYPE_CHECKING:
    from pathlib import Path


def run(folder: Path, table: pd.DataFrame, **keys: str) -> tuple[Answer, Path]:
    """Run an experiment on a table with the target `kind`."""
    table.to_csv(folder / "odd.csv", index=False)
    config = {
        "title": "An odd table",
        "dataset": "{file: odd.csv, target: kind}",
        "scaling": "standard",
        "classifier": "{type: bayesian, max_steps: 1}",
        "metrics": "[accuracy]",
    }
    (folder / "odd.yaml").write_text("".join(f"{key}: {value}\n" for key, value in (config | keys).items()))
    answer = fsvm_here("run", folder / "odd.yaml", "--jobs", "1", "--out", folder / "results", *AS_SVG)
    return answer, folder / "results" / "odd"


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def ring(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """A table whose column b tells the classes by its size, and d by its sign."""
    X = rng.standard_normal((n, 4))
    kind = np.where(X[:, 1] ** 2 + X[:, 3] > 1.0, "in", "out")
    return pd.DataFrame(X, columns=list("abcd")).assign(kind=kind)


def test_a_chain_that_never_moves_fails_its_trials_and_no_others(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of both classes in the same places: the posterior is a ridge too narrow for the paper's steps of 0.05."""
    monkeypatch.setitem(tuning.SAMPLERS, "paper", (replace(PAPER_SETTINGS, n_warm_up=20, n_draws=40),))
    where = rng.integers(0, 2, 800)
    kind = np.where(rng.random(800) < 0.6, where, 1 - where)
    table = pd.DataFrame({"a": where, "b": rng.integers(0, 2, 800), "kind": np.where(kind == 1, "p", "q")})
    answer, results = run(
        tmp_path,
        table,
        alternatives='[{label: "the chain of the paper", '
        "classifier: {type: bayesian, rule: magnitude, approximation: exact, max_steps: 1, sampler: paper}}]",
        protocol="{splits: 2, train: 1/2, seed: 1}",
        record="[ascent]",
    )
    assert answer.code == 4
    stuck = "SamplingError: 1 of 1 chains accepted none of 40 trajectories of 10 steps of 0.05"
    assert f"odd: 2 of 2 trials failed: {stuck}" in answer.err
    assert f"odd: 1 of 2 trials failed: ascent: {stuck}" in answer.err
    assert "the rest is kept" in answer.err
    curves = pd.read_csv(results / "curves.csv")
    assert set(curves["ranking"]) == {"all features"}
    assert (curves["n_trials"] == 2).all()
    assert "test accuracy in %" in answer.out
    assert (results / "index.html").exists()
    assert not (results / "ascent.csv").exists()


def test_a_training_part_of_one_class_fails_and_is_not_averaged(tmp_path: Path, rng: np.random.Generator) -> None:
    table = pd.DataFrame(rng.standard_normal((40, 3)), columns=list("abc")).assign(kind=["rare"] * 3 + ["usual"] * 37)
    claim = (
        "[{id: mine.accuracy, kind: value, where: here, claim: It is right on 92 %., at: {metric: accuracy}, "
        "published: 92, decimals: 0, published_sd: 1, published_n: 6, tolerance: 5}]"
    )
    answer, results = run(tmp_path, table, protocol="{splits: 6, train: 1/4, seed: 1}", expected=claim)
    assert answer.code == 4
    (n_failed,) = re.findall(r"odd: (\d) of 6 trials failed: ValueError: y holds 1 class only", answer.err)
    n_complete = 6 - int(n_failed)
    assert 0 < n_complete < 6
    assert set(pd.read_csv(results / "curves.csv")["n_trials"]) == {n_complete}
    assert f"INCOMPLETE: {n_complete} of 6 splits" in in_one_line(answer.out)
    (verdict,) = pd.read_csv(results / "published.csv")["verdict"]
    assert verdict == "not comparable"


RUNAWAY = {"rule": "magnitude", "n_permutations": 0, "step": 6, "decay": 1000, "stop": 1e-9, "max_steps": 6}
"""Steps by which hyperparameters leave their start by factors of e^6."""


def test_hyperparameters_that_were_kept_from_running_away_are_told_by_a_run(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    settings = ", ".join(f"{key}: {value}" for key, value in RUNAWAY.items())
    answer, results = run(
        tmp_path,
        ring(rng, 90),
        alternatives=f"[{{label: too far, classifier: {{type: bayesian, {settings}}}}}]",
        protocol="{splits: 3, train: 1/2, seed: 1}",
        record="[ascent, length-scales]",
    )
    assert answer.code == 0
    chosen = pd.read_csv(results / "chosen.csv").set_index("parameter")
    n_trials = chosen.loc[["hyperparameters at bounds"], "n_chosen"].sum()
    assert n_trials > 0
    told = (
        f"too far, 45 rows: in {n_trials} of 3 trials hyperparameters ran a factor of e^10 from where the ascent began"
    )
    assert told in in_one_line(answer.out)
    assert told in in_one_line((results / "index.html").read_text())
    ascent = pd.read_csv(results / "ascent.csv")
    steps = ascent[ascent["ranking"] == "too far"]
    assert np.isfinite(steps[["C", "k0", "k_off"]].to_numpy()).all()
    assert np.abs(np.log(steps[["C", "k0", "k_off"]])).max(axis=None) <= 10 + 1e-9


def test_hyperparameters_that_were_kept_from_running_away_are_told_by_a_ranking(rng: np.random.Generator) -> None:
    runaway = pytest.warns(UserWarning, match=r"hyperparameters ran a factor of e\^10 from where .* there \([1-7]\)")
    with runaway, pytest.warns(UserWarning, match="no better than that of a machine that looks at no feature"):
        rank(ring(rng, 60), target="kind", method="ard", **RUNAWAY)


def test_copies_and_sums_of_features_share_the_relevance_and_are_named(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    table = ring(rng, 90).assign(constant=3.0)
    table.insert(0, "copy", table["d"])
    table.insert(1, "sum", table["a"] + table["d"])
    table.to_csv(tmp_path / "odd.csv", index=False)
    answer = fsvm_here("rank", tmp_path / "odd.csv", "--target", "kind", "--method", "ard", "--format", "csv")
    assert answer.code == 0
    assert "columns that repeat another: 'd' is 'copy'" in answer.err
    assert "constant, and so without information: constant" in answer.err
    (tmp_path / "ranking.csv").write_text(answer.out)
    scores = pd.read_csv(tmp_path / "ranking.csv").set_index("feature")["score"]
    assert np.isfinite(scores).all()
    assert scores.sum() == pytest.approx(1.0)
    assert scores["copy"] == pytest.approx(scores["d"], rel=1e-9)
    assert scores["constant"] == 0.0
    assert scores.index[0] == "b"
