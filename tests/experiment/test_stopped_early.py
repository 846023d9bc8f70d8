"""Machines that are stopped short of their optimum: what they are, what experiments keep of them, and what is drawn."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from fsvm_cli import SVM, load_dataset
from fsvm_cli.config_io import parse_document, validate
from fsvm_cli.errors import UsageError
from fsvm_cli.learners.base import DUALITY_GAP
from fsvm_cli.report.comparison import read_comparison
from fsvm_cli.report.curve_table import read_measures
from fsvm_cli.report.folder import results_folders
from fsvm_cli.report.scorecard import scorecard_of, with_decisions
from fsvm_cli.report.style import steps_of, styles_of
from fsvm_cli.spec.schema import Config
from fsvm_cli.svm.solvers.dual import DualProblem
from fsvm_cli.svm.solvers.solve import StoppedLibsvm, solve
from tests.helpers.calling import AS_SVG, fsvm_here, write_config

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

STOPS = (1, 3, 10, 100, 10**6)


@pytest.fixture(scope="module")
def wdbc() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    data = load_dataset("wdbc")
    return data.X[:150], data.y[:150]  # raw: features of very different sizes, on which libsvm is slow


@pytest.mark.parametrize("n_steps", STOPS)
def test_a_stopped_machine_decides_as_libsvm_does_when_it_is_stopped(
    n_steps: int, wdbc: tuple[NDArray[np.float64], NDArray[np.intp]]
) -> None:
    X, y = wdbc
    ours = SVM("linear", C=1e-3, solver=StoppedLibsvm(n_steps)).fit(X, y)
    peer = SVC(kernel="precomputed", C=1e-3, max_iter=n_steps, shrinking=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer.fit(X @ X.T, y)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X @ X.T), rtol=1e-9, atol=1e-9)
    assert ours.converged_.all()
    assert ours.n_iter_.max() <= n_steps


def test_the_gap_says_how_far_from_the_optimum_it_stopped(wdbc: tuple[NDArray[np.float64], NDArray[np.intp]]) -> None:
    X, y = wdbc
    problem = DualProblem(X @ X.T, np.where(y == 1, 1.0, -1.0), 1e-3)
    best = solve(problem)
    stopped = [solve(problem, solver=StoppedLibsvm(n_steps)) for n_steps in STOPS]
    for each in stopped:
        # The dual objective of any feasible point is below the optimum, by no more than the gap says.
        assert each.objective <= best.objective * (1 + 1e-9)
        missing = best.objective - each.objective
        assert missing <= each.duality_gap * max(each.objective / (1 - min(each.duality_gap, 0.999)), 0) + 1e-9
    assert stopped[0].duality_gap > 0.5 > 1e-2 > stopped[-1].duality_gap
    assert np.all(np.diff([each.objective for each in stopped]) >= 0)
    with pytest.raises(ValueError, match="max_iterations must be >= 1, not 0"):
        solve(problem, solver=StoppedLibsvm(0))


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        ("{kernel: linear, C: 1, stop_after: 5}", "'stop_after' is for libsvm"),
        ("{kernel: linear, C: 1, solver: libsvm, stop_after: 0}", "stop_after is 0"),
        (
            "{kernel: linear, C: 1, solver: libsvm, stop_after: 5, tune: [{C: [1, 2], folds: 3}]}",
            "'tune' looks for the best machine",
        ),
    ],
)
def test_what_cannot_be_stopped_is_refused(classifier: str, message: str) -> None:
    text = f"title: t\ndataset: wine\nscaling: none\nclassifier: {classifier}\n"
    with pytest.raises(UsageError, match=message):
        validate(parse_document(f"{text}protocol: {{splits: 2, train: 1/2, seed: 0}}\n", "c.yaml"), Config)


def stopped_at(n_steps: int | None) -> dict[str, Any]:
    stop = {} if n_steps is None else {"solver": "libsvm", "stop_after": n_steps}
    return {"method": "random", "label": f"{n_steps} steps", "classifier": {"kernel": "linear", "C": 1} | stop}


def test_an_experiment_shows_the_path_to_the_optimum_and_its_own_claims_are_none_of_the_document(
    tmp_path: Path,
) -> None:
    claims = [
        {"kind": "within-range", "id": "doc.n1", "features": "all", "published": 200.0, "tolerance": 1},
        {"kind": "within-range", "id": "why.n2", "features": 3, "published": 80.0, "tolerance": 50},
    ]
    labels = ["1 steps", "10 steps", "None steps"]
    paper = "{key: doc2000, where: Table 1}"
    path = write_config(
        tmp_path,
        "why",
        paper=paper,
        why="Did the solver stop early?",
        dataset="wdbc",
        scaling="none",
        rankings=json.dumps([stopped_at(n_steps) for n_steps in (1, 10, None)]),
        subsets="[3]",
        fixed="before",
        expected=json.dumps([{"claim": "c", "where": "w", "labels": labels} | claim for claim in claims]),
    )
    claim = "{kind: statement, id: doc.n1, claim: c, where: w, note: n}"
    main = write_config(tmp_path, "main", paper=paper, dataset="wine", fixed="before", expected=f"[{claim}]")
    answer = fsvm_here("run", path, main, "--jobs", "1", *AS_SVG, "--out", tmp_path)
    assert answer.code == 0, answer.err
    gaps = read_measures(tmp_path / "why").query(f"measure == '{DUALITY_GAP}'")
    assert set(gaps["ranking"]) == {"1 steps", "10 steps"}
    assert gaps.groupby("ranking")["mean"].min().loc["10 steps"] > 0
    assert (tmp_path / "why" / "accuracy-vs-gap.svg").exists()
    assert not (tmp_path / "main" / "accuracy-vs-gap.svg").exists()
    folders = results_folders(tmp_path)
    rows = scorecard_of(folders)
    assert rows["id"].tolist() == ["doc.n1"], "a claim of the experiment's own has no row"
    assert "differs in why" in rows.loc[0, "elsewhere"]
    decided = with_decisions(read_comparison(folders), folders).set_index(["experiment", "id"])
    assert decided.loc[("why", "why.n2"), ["document", "verdict"]].tolist() == ["why", "inconclusive"]


def test_figures_order_stopped_machines_by_their_steps_from_light_to_dark() -> None:
    n_steps = (100, None, 10, 1000)
    rankings = json.dumps([stopped_at(each) for each in n_steps])
    text = "title: t\ndataset: wine\nscaling: none\nclassifier: {kernel: linear, C: 1}\n"
    text += f"protocol: {{splits: 2, train: 1/2, seed: 0}}\nrankings: {rankings}\nsubsets: [3]\n"
    config = validate(parse_document(text, "c.yaml"), Config)
    assert list(steps_of(config)) == ["10 steps", "100 steps", "1000 steps", "None steps"]
    colours = [styles_of(config)[label].colour for label in steps_of(config)]
    lightness = [sum(int(colour[at : at + 2], 16) for at in (1, 3, 5)) for colour in colours]
    assert lightness == sorted(lightness, reverse=True)
    assert len({*lightness}) == len(n_steps)
    without = config.model_copy(update={"rankings": config.rankings[1:2]})
    assert steps_of(without) == {}
    assert len(styles_of(without)) == 1
