"""What the competitors of a trial share, and what each of them is told of the others: nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.experiment import trial as trials
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.ranking.registry import ranking_methods

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from fsvm_cli.learners.machine import Machine

    Planned = Callable[..., Experiment]

FIRST = Trial(n_train=12, split=0)
TUNED = {"kernel": "linear", "C": 1, "tolerance": 0.01, "tune": {"C": [0.1, 1], "folds": 2}}


def test_both_ends_of_a_ranking_share_one_fit(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    fisher = ranking_methods()["fisher"]
    fits: list[tuple[int, ...]] = []
    scores = fisher._scores

    def counted(self: Any, X: np.ndarray, *others: Any) -> np.ndarray:
        fits.append(X.shape)
        return scores(self, X, *others)

    monkeypatch.setattr(fisher, "_scores", counted)
    ends = [{"method": "fisher", "order": order} for order in ("best-first", "worst-first")]
    experiment = planned(rankings=ends)
    best, worst = run_trial(experiment, FIRST, dict.fromkeys(experiment.numbers(), experiment.sizes)).outcomes.values()
    assert fits == [(12, 20)]
    assert best.scores == worst.scores
    assert not np.array_equal(best.test[0], worst.test[0])
    np.testing.assert_array_equal(best.test[-1], worst.test[-1])


def test_a_classifier_is_tuned_once_and_a_search_that_missed_its_gap_is_told_of_all_its_curves(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, n_searches = trials.tuned, 0

    def missing_its_gap(*positional: Any, **named: Any) -> Machine:
        nonlocal n_searches
        n_searches += 1
        return replace(search(*positional, **named), converged=False)

    monkeypatch.setattr(trials, "tuned", missing_its_gap)
    experiment = planned(
        classifier=TUNED, rankings=[{"method": "fisher"}, {"method": "random"}], extractors=[{"method": "pca"}]
    )
    outcomes = run_trial(experiment, FIRST, dict.fromkeys(experiment.numbers(), experiment.sizes)).outcomes
    assert n_searches == 1
    assert [outcome.ranking_converged for outcome in outcomes.values()] == [False, False, False]
    assert len({outcome.chosen["C"] for outcome in outcomes.values()}) == 1


def test_competitors_with_other_sizes_are_evaluated_as_if_alone(planned: Planned) -> None:
    experiment = planned(extractors=[{"method": "lda"}])
    apart = {number: run_trial(experiment, FIRST, {number: (1, 5)}).outcomes[number] for number in experiment.numbers()}
    assert run_trial(experiment, FIRST, {0: (1, 5), 1: (1, 5), 2: (1, 5)}).outcomes == apart
    mixed = run_trial(experiment, FIRST, {0: (1, 5), 1: (20,)}).outcomes
    assert mixed[0] == apart[0]
    assert mixed[1].sizes == (20,)
