"""A ranking that sees the test part: it gets it, alone, and its label says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from fsvm_cli.config_io import model_from_json
from fsvm_cli.data.scaling import fit_scaling
from fsvm_cli.data.source import FixedSource
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.splits import Parts
from fsvm_cli.experiment.columns import columns_of
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.infoprop import Infoprop
from fsvm_cli.ranking.random_order import RandomOrder
from fsvm_cli.spec.rankings import LEAK
from fsvm_cli.spec.schema import Config

if TYPE_CHECKING:
    from collections.abc import Callable

    Planned = Callable[..., Experiment]

FIRST = Trial(n_train=12, split=0)
LEAKING = {"method": "infoprop", "credit_on": "test"}
WINE = {"dataset": "wine", "protocol": {"splits": 2, "train": 60, "seed": 7}}


def everything(experiment: Experiment) -> dict[int, tuple[int, ...]]:
    """Ask for all compared methods on all subsets."""
    return dict.fromkeys(experiment.numbers(), experiment.sizes)


def test_the_test_part_reaches_the_method_that_credits_on_it(planned: Planned) -> None:
    experiment = planned(rankings=[LEAKING, {"method": "infoprop"}])
    found = run_trial(experiment, FIRST, everything(experiment))
    parts = draw_parts(experiment, FIRST)
    tolerance = experiment.config.classifier.tolerance
    direct = Infoprop(C=1, credit_on="test", tolerance=tolerance).fit(
        parts.X_train, parts.y_train, X_test=parts.X_test, y_test=parts.y_test
    )
    assert not found.errors
    np.testing.assert_array_equal(np.array(found.outcomes[0].scores)[columns_of(experiment, 0)], direct.scores_)
    assert found.outcomes[1].scores != found.outcomes[0].scores


def test_test_labels_do_not_reach_the_others(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, dict[str, Any]]] = []
    fit = Infoprop.fit

    def watched(self: Infoprop, X: Any, y: Any, groups: Any, **test_part: Any) -> Infoprop:
        seen.append((groups, test_part))
        return fit(self, X, y, groups, **test_part)

    monkeypatch.setattr(Infoprop, "fit", watched)
    experiment = planned(
        rankings=[
            {"method": "infoprop"},
            {"method": "infoprop", "credit_on": "cross-validation", "folds": 2, "label": "by folds"},
        ]
    )
    assert not run_trial(experiment, FIRST, everything(experiment)).errors
    assert seen == [(None, {}), (None, {})]


def test_a_ranking_on_all_rows_is_one_for_all_splits_and_the_others_are_not(planned: Planned) -> None:
    rankings = [{"method": "forest", "n_trees": 5}, {"method": "forest", "n_trees": 5, "ranked_on": "all rows"}]

    def scores(experiment: Experiment, trial: Trial) -> list[tuple[float, ...]]:
        outcomes = run_trial(experiment, trial, everything(experiment)).outcomes
        return [outcomes[number].scores for number in (0, 1)]

    experiment = planned(rankings=rankings, **WINE)
    first, second, *_ = experiment.trials()
    (of_first, whole), (of_second, again) = scores(experiment, first), scores(experiment, second)
    assert of_first != of_second
    assert whole == again
    # Another process may begin with another split.
    assert scores(planned(rankings=rankings, **WINE), second)[1] == whole


def test_a_ranking_on_all_rows_sees_them_scaled_together(planned: Planned) -> None:
    experiment = planned(rankings=[{"method": "gradient-angle", "ranked_on": "all rows"}, {"method": "fisher"}], **WINE)
    first = next(experiment.trials())
    found = run_trial(experiment, first, everything(experiment)).outcomes
    assert isinstance(experiment.source, FixedSource)
    dataset, parts = experiment.source.dataset, draw_parts(experiment, first)
    X = fit_scaling("standard", dataset.X).transform(dataset.X)
    direct = GradientAngle(C=1, tolerance=0.01).fit(X, dataset.y)
    np.testing.assert_array_equal(found[0].scores, direct.scores_)
    np.testing.assert_array_equal(found[1].scores, Fisher().fit(parts.X_train, parts.y_train).scores_)


def test_permuted_labels_are_ranked_anew_in_each_split(planned: Planned) -> None:
    rankings = [{"method": "fisher", "ranked_on": "all rows"}]
    experiment = planned(rankings=rankings, control="permute-labels", **WINE)
    assert isinstance(experiment.source, FixedSource)
    X, y = experiment.source.dataset.X, experiment.source.dataset.y
    X = fit_scaling("standard", X).transform(X)
    for trial in experiment.trials():
        permuted = random_stream(experiment.config.protocol.seed, "control", trial.split).permutation(y)
        (outcome,) = run_trial(experiment, trial, everything(experiment)).outcomes.values()
        np.testing.assert_array_equal(outcome.scores, Fisher().fit(X, permuted).scores_)


def test_data_that_are_drawn_anew_are_ranked_anew(planned: Planned) -> None:
    experiment = planned(rankings=[{"method": "fisher", "ranked_on": "all rows"}])
    first, second, *_ = experiment.trials()
    found = [run_trial(experiment, trial, everything(experiment)).outcomes[0].scores for trial in (first, second)]
    assert found[0] != found[1]


def test_the_mean_rank_of_several_runs_orders_the_features(planned: Planned) -> None:
    several, one = ({"method": "random", "mean_rank_of": number, "label": str(number)} for number in (3, 1))
    experiment = planned(rankings=[several, one])
    seeds = random_stream(experiment.config.protocol.seed, "ranking", "random", 0).integers(2**31, size=3).tolist()
    parts, columns = draw_parts(experiment, FIRST), columns_of(experiment, 0)
    runs = [RandomOrder(random_state=seed).fit(parts.X_train, parts.y_train).ranking_ for seed in seeds]
    found = run_trial(experiment, FIRST, everything(experiment)).outcomes
    np.testing.assert_allclose(np.array(found[0].scores)[columns], len(runs[0]) - np.mean(runs, axis=0))
    np.testing.assert_array_equal(np.argsort(-np.array(found[1].scores)[columns]), np.argsort(runs[0]))
    assert experiment.key(0, FIRST) != experiment.key(1, FIRST)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_all_rows_are_those_of_both_parts_in_the_form_that_they_have(form: Callable[[Any], Any]) -> None:
    train, test = np.eye(3), np.array([[0.0, 2.0, 0.0]])
    X, y, groups = Parts(form(train), np.arange(3), form(test), np.array([1])).all_rows()
    assert type(X) is type(form(train))
    assert issparse(X) == (form is csr_array)
    np.testing.assert_array_equal(X.toarray() if issparse(X) else X, np.vstack([train, test]))
    assert y.tolist() == [0, 1, 2, 1]
    assert groups is None


def test_groups_of_all_rows_are_those_of_both_parts() -> None:
    X, y = np.eye(3), np.arange(3)
    rows = Parts(X, y, X[:1], y[:1], groups_train=np.array([5, 5, 7]), groups_test=np.array([6])).all_rows()
    assert rows.groups is not None
    assert rows.groups.tolist() == [5, 5, 7, 6]


def test_the_other_keys_do_not_know_of_the_word(planned: Planned) -> None:
    said = planned(rankings=[{"method": "fisher", "ranked_on": "training rows"}]).key_parts(0)["ranking"]
    assert said == planned(rankings=[{"method": "fisher"}]).key_parts(0)["ranking"]
    assert "ranked_on" not in said


@pytest.mark.parametrize(
    ("ranking", "label"),
    [
        (LEAKING, f"infoprop{LEAK}"),
        (LEAKING | {"order": "worst-first"}, f"infoprop, worst first{LEAK}"),
        (LEAKING | {"label": "as printed"}, f"as printed{LEAK}"),
        (LEAKING | {"label": f"as printed{LEAK}"}, f"as printed{LEAK}"),
        ({"method": "fisher", "ranked_on": "all rows"}, f"fisher{LEAK}"),
        ({"method": "infoprop"}, "infoprop"),
        ({"method": "random"}, "random"),
    ],
)
def test_the_label_tells_of_the_leak(planned: Planned, ranking: dict[str, Any], label: str) -> None:
    config = planned(rankings=[ranking]).config
    assert config.rankings[0].label == label
    # A config travels to the workers as JSON: the label stays as it is.
    assert model_from_json(Config, config.model_dump_json()).rankings[0].label == label
