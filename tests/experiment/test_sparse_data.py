"""Sparse data in experiments and rankings: refused, with advice, where they would be filled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from fsvm_cli.data.dataset import Dataset, hash_values
from fsvm_cli.data.source import FixedSource, fixed_source
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.experiment import Experiment, Trial
from fsvm_cli.experiment.plan import plan
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.own_data.rank import rank_features
from fsvm_cli.own_data.request import ranking_request
from fsvm_cli.ranking.registry import ranking_methods

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.spec.config import LoadedConfig

N_COLUMNS = 100_000


def words() -> Dataset:
    """Make few samples of very many columns: as a full matrix a tenth of a gigabyte, for a hundred of its values."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    columns = np.column_stack([y, rng.integers(2, N_COLUMNS, size=(120, 3))])
    X = sp.csr_array((np.ones(480), (np.repeat(np.arange(120), 4), columns.ravel())), (120, N_COLUMNS))
    names = tuple(map(str, range(N_COLUMNS)))
    return Dataset("words", X, y, names, ("a", "b"), hash_values(X, y))


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return words()


@pytest.fixture
def planned_on_words(
    dataset: Dataset, load: Callable[..., LoadedConfig], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Experiment]:
    source = FixedSource(
        name="words",
        identity=dataset.sha256,
        n_samples=120,
        feature_names=dataset.feature_names,
        class_names=dataset.class_names,
        dataset=dataset,
    )
    monkeypatch.setattr("fsvm_cli.experiment.plan.open_source", lambda *_, **__: source)
    usual = {"scaling": "none", "rankings": [{"method": "mutual-information"}], "subsets": [2]}
    return lambda **changes: plan(load(**usual | changes), lambda _: None)


def test_what_stays_sparse_is_done(planned_on_words: Callable[..., Experiment]) -> None:
    experiment = planned_on_words(rankings=[{"method": "infoprop"}, {"method": "mutual-information"}])
    found = run_trial(experiment, Trial(60, 0), dict.fromkeys((0, 1), (2,)))
    assert not found.errors
    assert all(outcome.n_unconverged[outcome.rows([2])] == 0 for outcome in found.outcomes.values())


FILLED = r"small\.yaml:\d+:\d+: {} no sparse matrix, and words, 120 x 100,000, would take 0\.1 GB as a full one"


@pytest.mark.parametrize("method", [name for name, each in ranking_methods().items() if not each.accepts_sparse])
def test_a_method_that_would_fill_them_is_refused(planned_on_words: Callable[..., Experiment], method: str) -> None:
    with pytest.raises(UsageError, match=FILLED.format(f"{method} takes") + ".*: .*infoprop.*mutual-information.*rfe"):
        planned_on_words(rankings=[{"method": method}])


@pytest.mark.parametrize("method", extraction_methods())
def test_an_extractor_is_refused(planned_on_words: Callable[..., Experiment], method: str) -> None:
    with pytest.raises(UsageError, match=FILLED.format(f"{method} takes")):
        planned_on_words(extractors=[{"method": method}])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classifier": {"kernel": "gaussian", "C": 1}}, FILLED.format("the gaussian kernel takes") + ".*linear, poly"),
        (
            {"rankings": [{"method": "mutual-information", "classifier": {"kernel": "laplace", "C": 1}}]},
            FILLED.format("the laplace kernel takes"),
        ),
        ({"scaling": "standard"}, r"small\.yaml:\d+:\d+: scaling 'standard' would fill a sparse matrix; use 'none'"),
    ],
)
def test_other_ways_to_fill_them_are_refused(
    planned_on_words: Callable[..., Experiment], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        planned_on_words(**changes)


def test_elimination_stays_sparse_with_the_linear_kernel_alone(planned_on_words: Callable[..., Experiment]) -> None:
    rankings = [{"method": "rfe", "step": 0.5}]
    experiment = planned_on_words(rankings=rankings)
    found = run_trial(experiment, Trial(60, 0), {0: (2,)})
    assert not found.errors
    assert found.outcomes[0].n_unconverged.max() == 0
    curved = {"kernel": "polynomial", "degree": 2, "C": 1}
    searched = {"kernel": "linear", "C": 1, "tune": {"kernels": [{"kernel": "polynomial", "degree": [2]}], "folds": 3}}
    for classifier in (curved, searched):
        with pytest.raises(
            UsageError, match=r"rfe takes a sparse matrix with the linear kernel only; .* than polynomial"
        ):
            planned_on_words(rankings=rankings, classifier=classifier)


def test_a_ranking_of_a_file_is_refused_in_the_same_way(dataset: Dataset) -> None:
    with pytest.raises(UsageError, match="relief-f takes no sparse matrix, and words"):
        rank_features(fixed_source(dataset), ranking_request("relief-f", "none", []))
    assert set(rank_features(fixed_source(dataset), ranking_request("mutual-information", "none", [])).order[:2]) == {
        0,
        1,
    }
