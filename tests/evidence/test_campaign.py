"""A few problems of the campaign: the rest are run by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fsvm_cli import BayesianSVM
from fsvm_cli.evidence.parameters import CAVEATS, NOTHING_FOUND
from fsvm_cli.own_data.rank import rank
from tests.evidence.campaign import PAPER, Problem, drawn, error_and_caveats, error_by_folds, stands_out, table
from tests.evidence.campaign import PROBLEMS as ALL


@pytest.mark.parametrize("problem", [Problem("banana", 60, 0), Problem("linear", 60, 0)])
def test_the_defaults_are_no_worse_than_folds_by_more_than_noise_without_a_caveat(problem: Problem) -> None:
    number = ALL.index(problem)
    error, told = error_and_caveats(number, n_permutations=1)
    assert error <= error_by_folds(number) + 0.04 or "not converged" in told


def test_an_ascent_that_ends_on_a_plateau_is_not_converged_and_the_default_goes_beyond_it() -> None:
    X, y, X_test, y_test = drawn(ALL.index(Problem("xor", 200, 10)))
    blind = BayesianSVM(random_state=0, **PAPER).fit(X, y)
    assert blind.path_[0].stopped
    assert not blind.converged_.any()
    assert blind.chosen_["ascents that ended blind"] == 1
    machine = BayesianSVM(random_state=0, max_steps=30, n_permutations=0).fit(X, y)
    assert machine.converged_.all()
    assert machine.score(X_test, y_test) > 0.9 > 0.6 > blind.score(X_test, y_test)


def test_noise_does_not_stand_out_and_rank_says_so() -> None:
    for seed in range(3):
        assert not stands_out(*table("noise", 60, 5, seed))
    X, y = table("noise", 60, 5, 0)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(kind=np.where(y > 0, "p", "q"))
    with pytest.warns(UserWarning, match="|".join(CAVEATS[name].split(":")[0] for name in sorted(NOTHING_FOUND))):
        rank(frame, "kind", method="ard")


def test_a_signal_stands_out_from_permuted_labels() -> None:
    X, y = table("linear", 60, 2, 0)
    machine = BayesianSVM(random_state=0, n_permutations=5).fit(X, y)
    control = machine.diagnostics_["control"]
    assert control["permutation"].tolist() == list(range(len(control["gain"])))
    assert len(control["gain"]) > 3
    assert control["gain"][0] > control["gain"][1:].max() + 1.0
    assert "relevance of x0" in control
