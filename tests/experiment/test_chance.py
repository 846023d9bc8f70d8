"""The test whether anything is better than chance: its permutations, its end, and its independence of workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.chance import ChanceTest, chance_test, permute_labels, permuted_experiment
from fsvm_cli.store.store import Store
from tests.helpers.small import run_job
from tests.recommendation.campaign import NOISE, Problem, experiment_on

if TYPE_CHECKING:
    from pathlib import Path


def test_labels_of_whole_groups_are_permuted_and_those_that_vary_within_them_stay_there(
    rng: np.random.Generator,
) -> None:
    y = np.array([0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0])
    groups = np.array([5, 5, 2, 2, 7, 7, 9, 9, 4, 4, 4, 4])
    seen = set()
    for _ in range(50):
        permuted = permute_labels(y, groups, rng)
        assert (permuted[:8].reshape(4, 2) == permuted[:8:2, None]).all()
        assert permuted[:8:2].sum() == 2
        assert permuted[8:].sum() == 2
        seen.add(tuple(permuted.tolist()))
    assert len(seen) > 10
    assert sorted(permute_labels(y, None, rng)) == sorted(y)


def _drawn_test(rng: np.random.Generator) -> ChanceTest:
    """Make a test on statistics that are exchangeable, read one by one as from a store."""
    test = ChanceTest(experiment_on(NOISE[0], random_stream(1, "any"), 5))
    test.observed = float(rng.integers(20))  # with ties
    while not test.is_decided:
        test.permuted.append(float(rng.integers(20)))
    return test


def test_it_finds_something_in_at_most_one_of_twenty_exchangeable_cases(rng: np.random.Generator) -> None:
    tests = [_drawn_test(rng) for _ in range(400)]
    assert sum(test.is_found for test in tests) <= 32  # of 20 expected at most
    assert np.mean([len(test.permuted) for test in tests]) < 15
    for test in tests:
        assert test.is_found == (test.n_at_least <= 1)
        assert len(test.permuted) == 39 if test.is_found else test.p > 0.05
    values = np.array([test.p for test in tests])
    assert all((values <= level).mean() <= level + 0.05 for level in (0.1, 0.2, 0.5))


@pytest.mark.parametrize("problem", [NOISE[1], Problem((30, 30), 4, (2.0,))])
def test_its_end_depends_neither_on_workers_nor_on_an_interruption(problem: Problem, tmp_path: Path) -> None:
    experiment = experiment_on(problem, random_stream(3, "table"), 3, permutations=19)
    results = []
    for n_processes, name in ((1, "a"), (2, "b")):
        job = run_job(experiment, tmp_path / name, n_processes=n_processes)
        assert job.error is None
        test = chance_test(experiment)
        assert test is not None
        with Store(tmp_path / name, writable=False) as store:
            test.read(store)
        results.append((test.observed, test.permuted))
        assert run_job(experiment, tmp_path / name).n_to_run == 0
    assert results[0] == results[1]
    assert chance_test(experiment).is_decided is False  # type: ignore[union-attr]
    assert bool(problem.differences) == (max(results[0][1]) < results[0][0] - 1e-9)


def test_a_permuted_table_has_other_keys_and_the_labels_as_they_are_have_those_of_the_run() -> None:
    experiment = experiment_on(NOISE[0], random_stream(4, "table"), 5)
    trial = next(experiment.trials())
    plain, one, two = (permuted_experiment(experiment, permutation) for permutation in (0, 1, 2))
    assert [plain.key(number, trial) for number in plain.numbers()] == [
        experiment.key(number, trial) for number in range(2)
    ]
    assert len({each.key(0, trial) for each in (plain, one, two)}) == 3
    assert {each.label for each in one.compared_methods} == {"fisher", "mutual-information"}
    assert [each.label for each in experiment.compared_methods][3:] == ["random, order 2", "random, order 3"]
