"""Why trials must run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from small import run_job

from fsvm_cli.experiment.explain import Explanation, explain
from fsvm_cli.experiment.missing import missing_tasks
from fsvm_cli.experiment.store import Store
from fsvm_cli.ranking.registry import ranking_methods

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.plan import Experiment

    Planned = Callable[..., Experiment]

PROTOCOL = {"splits": 3, "train": "1/2", "seed": 7}
CLASSIFIER = {"kernel": "linear", "C": 2, "tolerance": 0.01}


def explained(experiment: Experiment, folder: Path) -> list[Explanation]:
    with Store(folder, writable=False) as store:
        return explain(experiment, store, missing_tasks(experiment, store))


def test_without_a_store_everything_is_new(planned: Planned) -> None:
    experiment = planned()
    assert explain(experiment, None, missing_tasks(experiment, None)) == [
        Explanation(place, 3, ("never run here",)) for place in (0, 1)
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"subsets": [5]}, []),
        (
            {"protocol": PROTOCOL | {"splits": 5}},
            [Explanation(place, 2, ("2 new, or not finished before",)) for place in (0, 1)],
        ),
        ({"subsets": [5, 7]}, [Explanation(place, 3, ("3 new subset sizes",)) for place in (0, 1)]),
        (
            {"classifier": CLASSIFIER},
            [Explanation(place, 3, ("changed since it was run: classifier.C 1.0 -> 2.0",)) for place in (0, 1)],
        ),
        (
            {"dataset": {"name": "noise20", "samples": 25}, "protocol": PROTOCOL | {"seed": 8}},
            [Explanation(place, 3, ("changed since it was run: data, seed 7 -> 8",)) for place in (0, 1)],
        ),
        (
            {"rankings": [{"method": "random"}, {"method": "gradient-angle", "epsilon": 0.1}]},
            [Explanation(1, 3, ("never run here",))],
        ),
    ],
)
def test_what_is_missing_is_explained(
    planned: Planned, tmp_path: Path, changes: dict[str, Any], expected: list[Explanation]
) -> None:
    run_job(planned(), tmp_path)
    assert explained(planned(**changes), tmp_path) == expected


def test_a_new_version_of_a_method_is_named(planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_job(planned(), tmp_path)
    monkeypatch.setattr(ranking_methods()["random"], "version", 1000)
    assert explained(planned(), tmp_path) == [
        Explanation(1, 3, ("changed since it was run: ranking.version 1 -> 1000",))
    ]


def test_what_failed_before_is_told_with_its_error(planned: Planned, tmp_path: Path) -> None:
    experiment = planned(protocol=PROTOCOL | {"train": 1}, rankings=[{"method": "average-separation"}])
    run_job(experiment, tmp_path)
    ((explanation),) = explained(experiment, tmp_path)
    assert explanation.n_missing == 3
    (reason,) = explanation.reasons
    assert reason.startswith("3 failed before (ValueError: average-separation needs samples of at least two classes")
