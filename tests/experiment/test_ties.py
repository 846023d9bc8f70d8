"""Features that tie, and the places of relevant columns in drawn data, which must tell no method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.experiment.columns import tie_priority_of
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.ranking.pearson import Pearson
from fsvm_cli.ranking.ranks import ranks_of
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.tables import summarise, summarise_selection
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Planned = Callable[..., Experiment]

N_SPLITS = 30


def on_drawn_data(planned: Planned, **changes: Any) -> Experiment:
    return planned(
        dataset={"name": "weston-nonlinear", "samples": 24},
        protocol={"splits": N_SPLITS, "train": "1/2", "seed": 7},
        rankings=[{"method": "fisher"}, {"method": "pearson"}],
        subsets=[2],
        **changes,
    )


@pytest.mark.parametrize("scores", [np.zeros(52), np.ones(52), np.arange(52.0)[::-1]], ids=["none", "tied", "by place"])
def test_what_knows_nothing_of_the_data_finds_no_relevant_feature(
    planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scores: np.ndarray
) -> None:
    for method in (Fisher, Pearson):
        monkeypatch.setattr(method, "_scores", lambda *_: scores.copy())
    experiment = on_drawn_data(planned)
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        collected = collect(experiment, store)
    selection = summarise_selection(experiment, collected).set_index("ranking")["recovered"]
    assert selection["fisher"] < 0.2  # 2 of 52 columns by chance
    assert selection["pearson"] == selection["fisher"]  # ties break alike


def test_the_order_of_a_trial_is_that_of_its_ranks(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fisher, "_scores", lambda _, X, *rest: np.floor(3 * np.abs(X[0])))
    experiment, trial = on_drawn_data(planned), Trial(12, 3)
    drawn = DrawnTrial(experiment, trial, draw_parts(experiment, trial))
    ordering = experiment.compared_methods[0].order(drawn)
    ranks = ranks_of(np.array([ordering.scores]), tie_priority_of(experiment, 3)[None])[0]
    np.testing.assert_array_equal(drawn.columns[ordering.columns], np.argsort(ranks))


def test_names_move_with_the_columns(planned: Planned) -> None:
    experiment, trial = on_drawn_data(planned, oracle="relevant", scaling="none"), Trial(12, 3)
    drawn = DrawnTrial(experiment, trial, draw_parts(experiment, trial))
    assert sorted(drawn.feature_names) == sorted(experiment.source.feature_names) != drawn.feature_names
    named = {name: drawn.parts.X_train[:, place] for place, name in enumerate(drawn.feature_names)}
    known = experiment.compared_methods[-1].order(drawn).parts.X_train
    first, second = experiment.source.feature_names[:2]
    np.testing.assert_array_equal(known, np.column_stack([named[first], named[second]]))
    assert known.std() < 8 < np.delete(drawn.parts.X_train, drawn.columns.argsort()[:2], axis=1).std()


def test_a_curve_ends_with_the_columns_that_have_a_score(
    planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = np.isin(np.arange(20), [3, 5, 7])
    monkeypatch.setattr(Fisher, "_scores", lambda _, X, y, n_classes: known[: X.shape[1]].astype(float))
    experiment = planned(dataset={"name": "noise20", "samples": 24}, rankings=[{"method": "fisher"}], subsets=[1, 3, 5])
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        collected = collect(experiment, store)
    curves, _ = summarise(experiment, collected)
    test = curves[curves["part"] == "test"].set_index("n_features")
    assert test["n_trials"].to_dict() == {1: 3, 3: 3, 5: 0, 20: 3}
    assert test["mean"].isna().to_dict() == {1: False, 3: False, 5: True, 20: False}
    ((_, trials),) = collected.items()
    assert trials.chosen == ({"columns of 20 with a score": 3},) * 3


def test_a_column_that_is_constant_in_the_training_part_is_the_last(planned: Planned, tmp_path: Path) -> None:
    rng, y = np.random.default_rng(0), np.arange(40) % 2
    table = pd.DataFrame(rng.normal(size=(40, 3)) + y[:, None], columns=["a", "b", "c"])
    table.insert(0, "constant", 3.0)
    table.assign(y=y).to_csv(tmp_path / "mine.csv", index=False)
    methods = ["fisher", "mrmr", "mifs", "pearson-redundancy", "koller-sahami", "relief-f", "knockoffs", "random"]
    experiment = planned(
        dataset={"file": str(tmp_path / "mine.csv"), "target": "y"},
        rankings=[{"method": method} for method in methods],
        subsets="all",
    )
    run_job(experiment, tmp_path / "out")
    with Store(tmp_path / "out", writable=False) as store:
        collected = collect(experiment, store)
    for trials in collected.values():
        assert (ranks_of(trials.scores, trials.priorities)[:, 0] == 4).all()
