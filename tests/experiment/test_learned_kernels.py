"""Experiments with learned kernels: alternatives on the same splits, measures, and a dash where there is no machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from fsvm_cli import LearnedKernelSVM, Linear, Polynomial
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.outcome import stored_outcome
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.report.complete_trials import collect
from fsvm_cli.report.curve_table import complete_trials_of, describe_measures, summarise_measures
from fsvm_cli.report.tables import summarise
from fsvm_cli.report.verdicts import Trials
from fsvm_cli.runner.verify import repeat
from fsvm_cli.spec.claims.kinds.numbers import ErrorCountClaim, MeasureClaim
from fsvm_cli.store.store import Store
from tests.helpers.calling import AS_SVG, fsvm_here, write_config
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Planned = Callable[..., Experiment]

KERNELS = [{"kernel": "linear"}, {"kernel": "polynomial", "degree": 2}]
LEARNED: dict[str, Any] = {"kernels": KERNELS, "combine": "sdp", "C": 1, "margin": "1-norm", "transductive": True}
# No line separates classes that are drawn by lot.
PLANE: dict[str, Any] = {
    "dataset": {"name": "plane", "samples": 60},
    "control": "permute-labels",
    "rankings": None,
    "subsets": None,
    "classifier": {"kernels": [{"kernel": "gaussian", "theta": 0.1}], "margin": "hard"},
    "alternatives": [{"label": "straight", "classifier": {"kernels": [{"kernel": "linear"}], "margin": "hard"}}],
}


def test_a_trial_trains_the_machine_of_the_config(planned: Planned) -> None:
    experiment = planned(classifier=LEARNED, rankings=None, subsets=None)
    trial = Trial(n_train=12, split=1)
    outcome = run_trial(experiment, trial, {0: experiment.sizes}).outcomes[0]
    parts = draw_parts(experiment, trial)
    machine = LearnedKernelSVM([Linear(), Polynomial(2)], "sdp").fit(parts.X_train, parts.y_train, parts.X_test)
    assert np.trace(outcome.test[-1]) == np.count_nonzero(machine.predict(parts.X_test) == parts.y_test)
    measures = outcome.measures[-1]
    assert measures["margin"] == pytest.approx(machine.margin_[0])
    assert measures["weight 2 (polynomial)"] == pytest.approx(machine.weights_[0, 1])


def test_the_test_part_takes_part_only_where_the_config_says_so(planned: Planned) -> None:
    weights = []
    for transductive in (True, False):
        experiment = planned(classifier=LEARNED | {"transductive": transductive}, rankings=None, subsets=None)
        outcome = run_trial(experiment, Trial(n_train=12, split=0), {0: experiment.sizes}).outcomes[0]
        weights.append(outcome.measures[-1]["weight 1 (linear)"])
    assert weights[0] != pytest.approx(weights[1], rel=1e-3)


def test_subsets_of_rankings_are_measured_too(planned: Planned) -> None:
    experiment = planned(classifier=LEARNED, rankings=[{"method": "average-separation"}])
    outcome = run_trial(experiment, Trial(n_train=12, split=0), {0: experiment.sizes}).outcomes[0]
    assert len(outcome.measures) == len(experiment.sizes) == 3
    assert len({measures["margin"] for measures in outcome.measures}) == 3


@pytest.fixture
def found(planned: Planned, tmp_path: Path) -> tuple[Experiment, Any]:
    experiment = planned(**PLANE)
    run_job(experiment, tmp_path / "out")
    with Store(tmp_path / "out", writable=False) as store:
        return experiment, collect(experiment, store)


def test_where_there_is_no_hard_margin_there_is_no_number(found: tuple[Experiment, Any]) -> None:
    experiment, collected = found
    curves, _ = summarise(experiment, collected)
    by_label = curves[curves["part"] == "test"].set_index("ranking")
    assert np.isnan(by_label.loc["straight", "mean"])
    assert by_label.loc["straight", "n_trials"] == 0
    assert by_label.loc["all features", "n_trials"] == 3
    measures = summarise_measures(collected)
    assert complete_trials_of(measures) == {"all features": 3, "straight": 3}
    of_straight = measures[measures["ranking"] == "straight"]
    assert of_straight[["measure", "mean", "n_trials"]].to_numpy().tolist() == [["machine found", 0.0, 3]]
    assert describe_measures(measures)[1] == "straight, 30 rows: no machine in 3 of 3 trials, which do not count."


def test_trials_without_a_machine_do_not_count_in_a_mean(found: tuple[Experiment, Any]) -> None:
    experiment, collected = found
    trials = collected["all features", 30]
    trials.values["accuracy", "test"][1] = np.nan
    curves, _ = summarise(experiment, collected)
    row = curves[(curves["part"] == "test") & (curves["ranking"] == "all features")].iloc[0]
    assert row["n_trials"] == 2
    assert row["mean"] == pytest.approx(np.nanmean(trials.values["accuracy", "test"]))


def claim(model: type, **content: Any) -> Any:
    base = {"id": "x", "claim": "c", "where": "w", "published_n": 30, "decimals": 3}
    return model.model_validate(base | content)


def test_margins_and_errors_are_claims(found: tuple[Experiment, Any]) -> None:
    experiment, collected = found
    trials = Trials(experiment, collected)
    margin = collected["all features", 30].measures["margin"][:, -1]
    near = claim(
        MeasureClaim, kind="measure", at={}, measure="margin", published=round(float(margin.mean()), 3), tolerance=0.9
    )
    assert near.judge(trials).verdict == "reproduced"
    assert near.model_copy(update={"published": 9.0}).judge(trials).verdict == "differs"
    dash = {"kind": "measure", "measure": "machine found", "published": 0, "decimals": 2, "tolerance": 0.05}
    assert claim(MeasureClaim, at={"ranking": "straight"}, **dash).judge(trials).verdict == "reproduced"
    assert claim(MeasureClaim, at={}, **dash).judge(trials).verdict == "differs"
    n_wrong = 30 * (1 - collected["all features", 30].values["accuracy", "test"][:, -1])
    errors = claim(ErrorCountClaim, kind="error-count", at={}, published=float(n_wrong.mean()), tolerance=20)
    assert errors.judge(trials).reproduced == pytest.approx(n_wrong.mean())
    assert errors.judge(trials).verdict == "reproduced"
    missing = errors.model_copy(update={"at": errors.at.model_copy(update={"ranking": "straight"})})
    assert missing.judge(trials).verdict == "inconclusive"
    assert (
        claim(MeasureClaim, kind="measure", at={"ranking": "straight"}, measure="margin", published=1, tolerance=1)
        .judge(trials)
        .verdict
        == "inconclusive"
    )


def test_a_run_shows_a_dash_and_ends_well(tmp_path: Path) -> None:
    straight = "{kernels: [{kernel: linear}], margin: hard}"
    path = write_config(
        tmp_path,
        dataset="{name: plane, samples: 60}",
        control="permute-labels",
        classifier="{kernels: [{kernel: gaussian, theta: 0.1}], margin: hard}",
        alternatives=f"[{{label: straight, classifier: {straight}}}]",
        rankings="[]",
        subsets="all",
    )
    answer = fsvm_here("run", path, "--jobs", "1", *AS_SVG, "--out", tmp_path / "out")
    assert answer.code == 0, answer.err
    assert "–" in answer.out
    assert "INCOMPLETE" not in answer.out
    assert "straight, 30 rows: no machine in 4 of 4 trials" in answer.out
    table = pd.read_csv(tmp_path / "out" / "small" / "measures.csv")
    assert set(table["ranking"]) == {"all features", "straight"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classifier": {"kernels": []}}, "classifier.kernels"),
        ({"classifier": {"kernels": KERNELS}}, "the key 'C' is missing"),
        ({"classifier": {"kernels": KERNELS, "margin": "hard", "C": 1}}, "a hard margin has no C"),
        ({"classifier": {"kernels": KERNELS, "combine": "sdpp", "C": 1}}, "did you mean 'sdp'"),
        ({"classifier": {"kernels": [{"kernel": "rbf"}], "C": 1}}, "gaussian"),
        (
            {"classifier": {"kernels": KERNELS, "margin": "learned-2-norm", "combine": "sdp"}},
            "a ridge is learned by the qcqp only",
        ),
        ({"classifier": LEARNED, "rankings": [{"method": "gradient-angle"}]}, "rank by another method"),
        (
            {"alternatives": [{"label": "a", "classifier": {"kernel": "linear", "C": 1}}]},
            "alternatives are compared on all features",
        ),
        (
            {
                "rankings": None,
                "alternatives": [{"label": "all features", "classifier": {"kernel": "linear", "C": 1}}],
            },
            "two classifiers are called 'all features'",
        ),
    ],
)
def test_what_a_config_cannot_ask_for_is_refused_with_its_place(
    load: Callable[..., Any], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=r"small\.yaml:\d+:\d+: ") as caught:
        load(**changes)
    assert message in str(caught.value)


def test_an_indefinite_kernel_is_told_as_the_failure_of_the_trial(planned: Planned) -> None:
    classifier = {"kernels": [{"kernel": "linear"}, {"kernel": "tanh"}], "C": 1}
    experiment = planned(classifier=classifier, rankings=None, subsets=None)
    result = run_trial(experiment, Trial(n_train=12, split=0), {0: experiment.sizes})
    assert "Gram matrix of base kernel 2 is indefinite" in result.errors[0]


def test_a_trial_that_is_repeated_measures_the_same(planned: Planned, tmp_path: Path) -> None:
    experiment = planned(
        classifier=LEARNED, rankings=None, subsets=None, protocol={"splits": 1, "train": 12, "seed": 1}
    )
    run_job(experiment, tmp_path)
    with Store(tmp_path, writable=True) as store:
        assert repeat(experiment, store, 1, np.random.default_rng(0)).n_identical == 1
        (trial,) = experiment.trials()
        key = experiment.key(0, trial)
        outcome = stored_outcome(store, key)
        assert outcome is not None
        other = replace(outcome, measures=({**outcome.measures[0], "margin": 2.0},))
        store.put(key, other.packed())
        assert repeat(experiment, store, 1, np.random.default_rng(0)).differing == (trial,)
