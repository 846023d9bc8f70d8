"""A ranking that sees the test part: it gets it, alone, and its label says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from fsvm_cli.config_io import model_from_json
from fsvm_cli.evaluation.splits import Parts
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.ranking.infoprop import Infoprop
from fsvm_cli.spec.rankings import LEAK
from fsvm_cli.spec.schema import Config

if TYPE_CHECKING:
    from collections.abc import Callable

    Planned = Callable[..., Experiment]

FIRST = Trial(n_train=12, split=0)
LEAKING = {"method": "infoprop", "credit_on": "test"}


def test_the_test_part_reaches_the_method_that_credits_on_it(planned: Planned) -> None:
    experiment = planned(rankings=[LEAKING, {"method": "infoprop"}])
    found = run_trial(experiment, FIRST, dict.fromkeys(experiment.numbers(), experiment.sizes))
    parts = draw_parts(experiment, FIRST)
    tolerance = experiment.config.classifier.tolerance
    direct = Infoprop(C=1, credit_on="test", tolerance=tolerance).fit(
        parts.X_train, parts.y_train, X_test=parts.X_test, y_test=parts.y_test
    )
    assert not found.errors
    np.testing.assert_array_equal(found.outcomes[0].scores, direct.scores_)
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
    assert not run_trial(experiment, FIRST, dict.fromkeys(experiment.numbers(), experiment.sizes)).errors
    assert seen == [(None, {}), (None, {})]


def test_a_ranking_on_all_rows_sees_both_parts_and_the_others_do_not(planned: Planned) -> None:
    rankings = [{"method": "fisher"}, {"method": "fisher", "ranked_on": "all rows"}]
    experiment = planned(rankings=rankings)
    found = run_trial(experiment, FIRST, dict.fromkeys(experiment.numbers(), experiment.sizes))
    parts = draw_parts(experiment, FIRST)
    everything = np.vstack([parts.X_train, parts.X_test]), np.concatenate([parts.y_train, parts.y_test])
    np.testing.assert_array_equal(found.outcomes[0].scores, Fisher().fit(parts.X_train, parts.y_train).scores_)
    np.testing.assert_array_equal(found.outcomes[1].scores, Fisher().fit(*everything).scores_)
    assert found.outcomes[0].scores != found.outcomes[1].scores
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
