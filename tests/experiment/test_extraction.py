"""Extractors in an experiment: their curves, their keys, and what they cannot be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sklearn.metrics
from sklearn.decomposition import PCA
from sklearn.naive_bayes import GaussianNB

from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.tables import summarise
from fsvm_cli.report.verdicts import Trials
from fsvm_cli.spec.schema import Config
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Planned = Callable[..., Experiment]

FIRST = Trial(n_train=12, split=0)
EVERY = [{"method": method} for method in extraction_methods()]


def test_a_curve_keeps_the_first_components_of_the_training_part(planned: Planned) -> None:
    classifier = {"type": "naive-bayes", "likelihood": "gaussian"}
    experiment = planned(classifier=classifier, rankings=[{"method": "random"}], extractors=[{"method": "pca"}])
    outcome = run_trial(experiment, FIRST, {1: (1, 5, 20)}).outcomes[1]
    parts = draw_parts(experiment, FIRST)
    pca = PCA().fit(parts.X_train)
    for size, found in zip(outcome.sizes, outcome.test, strict=True):
        # Twelve centred rows have eleven directions, and a twelfth of rounding.
        train, test = (pca.transform(X)[:, :size] for X in (parts.X_train, parts.X_test))
        expected = GaussianNB().fit(train, parts.y_train).predict(test)
        if size < 12:
            np.testing.assert_array_equal(found, sklearn.metrics.confusion_matrix(parts.y_test, expected))
    assert outcome.sizes == (1, 5, 20)
    assert outcome.scores == ()


def test_a_curve_is_level_where_there_are_no_more_components(planned: Planned) -> None:
    experiment = planned(extractors=[{"method": "lda"}])
    outcome = run_trial(experiment, FIRST, {2: experiment.sizes}).outcomes[2]
    for values in (outcome.train, outcome.test, outcome.n_unconverged, outcome.duality_gap):
        np.testing.assert_array_equal(values, np.broadcast_to(values[:1], values.shape))


def test_a_test_label_changes_no_component(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for method in extraction_methods().values():
        fit = method.fit
        monkeypatch.setattr(method, "fit", lambda self, X, y, fit=fit: (seen.append(len(X)), fit(self, X, y))[1])
    experiment = planned(extractors=EVERY)
    run_trial(experiment, FIRST, dict.fromkeys(experiment.numbers(), (5,)))
    # One of them begins at the directions of another.
    assert set(seen) == {12}
    assert len(seen) >= len(EVERY)


def test_all_features_are_those_of_a_ranking_and_scores_those_of_rankings(planned: Planned, tmp_path: Path) -> None:
    claim = {"id": "c", "claim": "c", "where": "w", "kind": "value", "at": {}, "published": 90, "tolerance": 1}
    experiment = planned(extractors=EVERY, expected=[claim])
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=False) as store:
        collected = collect(experiment, store)
    curves, scores = summarise(experiment, collected)
    assert set(curves["ranking"]) == {"average-separation", "random", *extraction_methods()}
    assert set(scores["ranking"]) == {"average-separation", "random"}
    lda = {key: trials for key, trials in collected.items() if key[0] == "lda"}
    assert not Trials(experiment, lda).cover(experiment.config.expected[0])


def test_an_extractor_is_part_of_the_key_by_its_parameters(planned: Planned) -> None:
    def key(**parameters: Any) -> str:
        return planned(extractors=[{"method": "mmip"} | parameters]).key(2, FIRST)

    assert len({key(), key(n_bins=5), key(n_starts=1)}) == 3
    assert key() == key(label="projections")


def test_a_config_with_extractors_travels_as_json(planned: Planned) -> None:
    config = planned(extractors=EVERY).config
    assert Config.model_validate_json(config.model_dump_json()) == config


TOP = {"id": "c", "claim": "c", "where": "w", "kind": "top-features", "features": ["x1"], "at_least": 0.5}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extractors": [{"method": "pcs"}]}, "'pcs' is no method; allowed: lda, mmip, pca, smife; did you mean 'pca'"),
        ({"extractors": [{"method": "pca", "n_components": 3}]}, "unknown key 'n_components'"),
        ({"extractors": [{"method": "mmip", "n_bins": 1}]}, "n_bins"),
        ({"extractors": [{"method": "pca"}], "rankings": None}, "list at least one under 'rankings'"),
        ({"extractors": [{"method": "pca"}, {"method": "pca"}]}, "two rankings are called 'pca'"),
        (
            {"extractors": [{"method": "pca"}], "expected": [TOP | {"ranking": "pca"}]},
            "speaks of 'pca', which no ranking",
        ),
    ],
)
def test_mistakes_are_named(planned: Planned, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        planned(**changes)
