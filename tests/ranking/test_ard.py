"""Automatic relevance determination: what is particular to it; the contract of every method is tested elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fsvm_cli.evidence import tuning
from fsvm_cli.evidence.hybrid_monte_carlo import PAPER_SETTINGS
from fsvm_cli.evidence.tuning import relevance
from fsvm_cli.ranking.ard import AutomaticRelevance

X = np.random.default_rng(33).standard_normal((100, 5))
Y = np.where(X[:, 1] ** 2 + X[:, 3] > 1.0, "in", "out")
"""What the second feature tells, no linear method sees."""


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "trigonometric"])
@pytest.mark.parametrize("approximation", ["mixed", "exact"])
def test_it_finds_features_that_matter_in_any_shape(loss: str, approximation: str) -> None:
    ranker = AutomaticRelevance(
        loss=loss, rule="magnitude", approximation=approximation, random_state=0, n_features_to_select=2
    ).fit(X, Y)
    np.testing.assert_array_equal(np.flatnonzero(ranker.support_), [1, 3])
    assert ranker.scores_.sum() == pytest.approx(1.0)
    assert ranker.converged_


def test_climbing_the_bound_finds_them_too() -> None:
    ranker = AutomaticRelevance(approximation="bound", rule="evidence", random_state=0, n_features_to_select=2)
    np.testing.assert_array_equal(np.flatnonzero(ranker.fit(X, Y).support_), [1, 3])
    assert ranker.converged_
    assert ranker.chosen_["steps"] == len(ranker.path_[0].magnitude) - 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"approximation": "bound", "loss": "trigonometric"}, "which the trigonometric loss, infinite below -1"),
        ({"approximation": "exact"}, "needs approximation 'bound' and sampler 'weighted'"),
        ({"rule": "evidence", "approximation": "bound", "sampler": "chains"}, "needs approximation 'bound'"),
        ({"rule": "magnitude", "sampler": "chains"}, "chains amplify rounding"),
        ({"rule": "magnitude", "sampler": "paper"}, "choose sampler 'weighted', or approximation 'exact' or 'mixed'"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AutomaticRelevance(**parameters).fit(X, Y)


def test_chains_find_the_same_as_weighted_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tuning.SAMPLERS, "paper", (replace(PAPER_SETTINGS, n_warm_up=300, n_draws=300),))
    settings: dict[str, Any] = {"rule": "magnitude", "approximation": "exact", "max_steps": 3, "random_state": 0}
    scores = [
        AutomaticRelevance(sampler=sampler, **settings).fit(X, Y).scores_ for sampler in ("weighted", "chains", "paper")
    ]
    np.testing.assert_allclose(scores[1], scores[0], atol=0.03)
    np.testing.assert_allclose(scores[2], scores[0], atol=0.06)


def test_relevances_are_shares_of_inverse_squares() -> None:
    varies = np.array([True, True, False, True])
    np.testing.assert_allclose(relevance(np.array([1.0, 2.0, 0.1, 2.0]), varies), [2 / 3, 1 / 6, 0.0, 1 / 6])
    np.testing.assert_array_equal(relevance(np.ones(2), np.zeros(2, dtype=bool)), [0.0, 0.0])


def test_a_constant_feature_has_no_relevance() -> None:
    constant = np.column_stack([X[:, :4], np.full(100, 7.0)])
    assert AutomaticRelevance(max_steps=2, random_state=0).fit(constant, Y).scores_[4] == 0.0


@pytest.mark.parametrize("settings", [{"rule": "magnitude"}, {"rule": "magnitude", "approximation": "exact"}, {}])
def test_copies_of_a_feature_share_its_relevance(settings: dict[str, str]) -> None:
    twice = np.column_stack([X, X[:, 3]])
    ranker = AutomaticRelevance(random_state=0, n_features_to_select=3, **settings).fit(twice, Y)
    assert np.isfinite(ranker.scores_).all()
    assert ranker.scores_[5] == pytest.approx(ranker.scores_[3], rel=1e-6)
    np.testing.assert_array_equal(np.flatnonzero(ranker.support_), [1, 3, 5])
    assert np.flatnonzero(ranker.tied_).tolist() == [3, 5]


def test_a_sum_of_features_leaves_the_others_finite_scores() -> None:
    collinear = np.column_stack([X, X @ [1.0, 2.0, -1.0, 0.5, 3.0]])
    ranker = AutomaticRelevance(random_state=0).fit(collinear, Y)
    assert np.isfinite(ranker.path_[0].gradient).all()
    assert ranker.scores_.sum() == pytest.approx(1.0)
    assert ranker.ranking_[1] == 1


def test_fewer_samples_than_landmarks_and_eigenvectors_will_do() -> None:
    ranker = AutomaticRelevance(max_steps=3, random_state=0).fit(X[:9], Y[:9])
    assert (ranker.n_landmarks, ranker.n_eigenvectors) == (200, 40)
    assert np.isfinite(ranker.scores_).all()
    assert ranker.scores_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("sampler", ["weighted", "chains"])
def test_the_ascent_is_shown_with_its_gradients_errors_and_sampler(sampler: str) -> None:
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    y = np.repeat(["k", "l", "m"], [30, 30, 40])
    settings: dict[str, Any] = {"rule": "magnitude", "approximation": "exact", "max_steps": 2, "stop": 1e-3}
    ranker = AutomaticRelevance(sampler=sampler, random_state=0, **settings).fit(frame, y)
    table = pd.DataFrame(ranker.diagnostics_["ascent"])
    assert table["machine"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert table["step"].tolist() == [0, 1, 2] * 3
    assert not ranker.converged_
    assert (table.loc[table["step"] == 0, ["C", "k0", "k_off", "magnitude"]] == 1.0).all(axis=None)
    assert table.loc[0, "length scale of b"] == pytest.approx(np.sqrt(3))
    assert (table[["error of a", "effective_size"]] > 0).all(axis=None)
    assert table["resolved"].between(0, 1).all()
    ends = table.loc[table["step"] == 2, [f"length scale of {name}" for name in "abc"]].to_numpy()
    shares = ends**-2.0 / (ends**-2.0).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ranker.scores_, shares.mean(axis=0))
    of_chains = ["acceptance", "leapfrog_step", "r_hat"]
    assert table[of_chains].isna().all(axis=None) == (sampler == "weighted")
    assert table["log_evidence"].isna().all() == (sampler == "chains")
