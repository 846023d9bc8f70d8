"""A ranking with a scaling of its own, where the experiment has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.running import run_trial

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.experiment.outcome import Outcome

    Planned = Callable[..., Experiment]

WINE: dict[str, Any] = {"dataset": "wine", "subsets": [2, 13]}
RANKING: dict[str, Any] = {"method": "gradient-angle"}
TUNED = {"kernel": "linear", "C": 1, "tune": [{"C": [0.01, 1], "folds": 3}]}


def outcomes(experiment: Experiment) -> list[Outcome]:
    wanted = dict.fromkeys(range(len(experiment.compared_methods)), experiment.sizes)
    found = run_trial(experiment, Trial(n_train=max(experiment.n_test), split=0), wanted)
    assert not found.errors
    return [found.outcomes[number] for number in wanted]


@pytest.mark.parametrize("classifier", [{"kernel": "linear", "C": 1}, TUNED], ids=["plain", "tuned"])
def test_it_ranks_classifies_and_is_tuned_as_if_the_experiment_were_scaled_so(
    planned: Planned, classifier: dict[str, Any]
) -> None:
    own = [RANKING | {"label": scaling, "scaling": scaling} for scaling in ("standard", "minmax")]
    raw = RANKING | {"label": "raw"}
    together = planned(**WINE, scaling="none", classifier=classifier, rankings=[raw, *own])
    alone = [
        planned(**WINE, scaling=scaling, classifier=classifier, rankings=[RANKING])
        for scaling in ("none", "standard", "minmax")
    ]
    found = outcomes(together)
    assert found == [outcomes(each)[0] for each in alone]
    assert len(set(found)) == len(found), "scaling makes no difference"
    trial = Trial(n_train=max(together.n_test), split=0)
    assert len({together.key(number, trial) for number in range(3)}) == 3


@pytest.mark.parametrize("changes", [{"scaling": "standard"}, {"subsets": {"relevance": [0.5]}}])
def test_two_scalings_one_after_the_other_are_refused(planned: Planned, changes: dict[str, Any]) -> None:
    ranking = {"method": "infoprop", "scaling": "minmax"}
    with pytest.raises(UsageError, match="a ranking with a scaling of its own is for experiments with 'scaling: none'"):
        planned(**(WINE | {"scaling": "none", "rankings": [ranking]} | changes))
