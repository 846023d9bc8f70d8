"""What a run refuses before its first trial is what every trial of it would fail with, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fsvm_cli.errors import UsageError
from fsvm_cli.ranking.machine_ranker import MachineRanker
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.svm import KERNELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.experiment.experiment import Experiment

    Planned = Callable[..., Experiment]

KPD: dict[str, Any] = {"rankings": [{"method": "kpd"}, {"method": "fisher"}]}
TRAINS_MACHINES = [name for name, method in ranking_methods().items() if issubclass(method, MachineRanker)]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("method", TRAINS_MACHINES)
def test_a_kernel_is_refused_where_and_only_where_the_method_is_not_defined(
    planned: Planned, method: str, kernel: str
) -> None:
    """The oracle is the method itself, on rows on which every kernel separates the classes."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 8)
    X = rng.normal(size=(16, 2)) * 0.1 + np.where(y == 1, 1.0, -1.0)[:, None]
    refused = checked = ""
    try:
        ranking_methods()[method](kernel=KERNELS[kernel]()).fit(X, y)
    except ValueError as error:
        refused = str(error)
    try:
        planned(classifier={"kernel": kernel, "C": 1}, rankings=[{"method": method}])
    except UsageError as error:
        checked = str(error)
    assert bool(refused) == bool(checked)
    assert refused in checked


def test_kpd_is_refused_for_the_linear_kernel_alone(planned: Planned) -> None:
    with pytest.raises(UsageError, match=r"not for the linear one; choose another method, or kernel"):
        planned(**KPD)
    planned(**KPD, classifier={"kernel": "gaussian", "theta": 1, "C": 1})
    own = {"method": "kpd", "classifier": {"kernel": "gaussian", "theta": 1, "C": 1}}
    planned(rankings=[own, {"method": "fisher"}])


def test_of_kernels_to_choose_from_one_is_enough(planned: Planned) -> None:
    def tuned(*kernels: dict[str, Any]) -> dict[str, Any]:
        return {"kernel": "linear", "C": 1, "tune": [{"kernels": list(kernels), "folds": 3}]}

    planned(**KPD, classifier=tuned({"kernel": "linear"}, {"kernel": "gaussian", "theta": [1, 2]}))
    with pytest.raises(UsageError, match="kpd is defined for"):
        planned(**KPD, classifier=tuned({"kernel": "linear"}, {"kernel": "tanh"}))
