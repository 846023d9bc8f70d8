"""Why trials must run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.runner.missing import Explanation, explain, missing_tasks
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment

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


def test_the_code_that_was_edited_is_named(planned: Planned, tmp_path: Path, edit_code: Callable[[str], None]) -> None:
    run_job(planned(), tmp_path)
    edit_code("fsvm_cli.ranking.random_order.RandomOrder")
    assert explained(planned(), tmp_path) == [
        Explanation(1, 3, ("changed since it was run: the code of fsvm_cli.ranking.random_order.RandomOrder",))
    ]
    run_job(planned(), tmp_path)
    assert explained(planned(), tmp_path) == []
    edit_code("fsvm_cli.svm.solvers.solve.solve")
    edit_code("fsvm_cli.svm.paths.nested.nested_curves")
    assert explained(planned(classifier=CLASSIFIER), tmp_path)[1] == Explanation(
        1,
        3,
        (
            "changed since it was run: classifier.C 1.0 -> 2.0, "
            "the code of fsvm_cli.svm.paths.nested.nested_curves, fsvm_cli.svm.solvers.solve.solve",
        ),
    )


def test_a_store_that_knows_no_functions_is_told(planned: Planned, tmp_path: Path) -> None:
    """As versions of fsvm wrote them that noted the code by its modules."""
    experiment = planned()
    with Store(tmp_path, writable=True) as store:
        for place in experiment.numbers():
            key_parts = {name: value for name, value in experiment.key_parts(place).items() if name != "code"}
            store.add_group(json.dumps(key_parts | {"sources": {"fsvm_cli.svm": "0"}}, sort_keys=True))
    assert explained(experiment, tmp_path) == [
        Explanation(place, 3, ("changed since it was run: the code, of which an older fsvm noted no functions",))
        for place in (0, 1)
    ]


def test_what_failed_before_is_told_with_its_error(
    planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = planned(rankings=[{"method": "average-separation"}])
    with monkeypatch.context() as broken:
        broken.setattr(ranking_methods()["average-separation"], "_scores", _raise)
        run_job(experiment, tmp_path)
    (explanation,) = explained(experiment, tmp_path)
    assert explanation.n_missing == 3
    assert explanation.reasons == ("3 failed before (ZeroDivisionError: by design)",)


def _raise(*args: object) -> None:
    raise ZeroDivisionError("by design")
