from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from fsvm_cli.data.opening import open_source
from fsvm_cli.data.source_spec import DatasetSpec
from fsvm_cli.errors import UsageError

if TYPE_CHECKING:
    from fsvm_cli.data.source import DataSource

pytestmark = pytest.mark.usefixtures("_offline")


def opened(written: Any) -> DataSource:
    spec = TypeAdapter(DatasetSpec).validate_python(written)
    return open_source(spec, base_folder=Path(), announce=lambda line: None)


@pytest.mark.parametrize(
    ("name", "shape", "counts", "first"),
    [
        ("wine", (178, 13), [59, 71, 48], [14.23, 1.71, 2.43]),
        ("wdbc", (569, 30), [357, 212], [17.99, 10.38, 122.8]),
    ],
)
def test_bundled_sets_need_neither_cache_nor_network(
    name: str, shape: tuple[int, int], counts: list[int], first: list[float]
) -> None:
    source = opened(name)
    dataset = source.draw(np.random.default_rng(0))
    assert dataset.X.shape == shape == (source.n_samples, source.n_features)
    assert list(dataset.class_counts().values()) == counts
    assert dataset.X[0, :3].tolist() == first
    assert source.identity == dataset.sha256


def test_a_fixed_set_is_the_same_for_every_split() -> None:
    source = opened("wine")
    assert source.draw(np.random.default_rng(1)) is source.draw(np.random.default_rng(2))


def test_a_distribution_depends_on_the_generator_alone() -> None:
    source = opened({"name": "noise20", "samples": 30})
    again: DataSource = pickle.loads(pickle.dumps(source))
    first = source.draw(np.random.default_rng(1))
    np.testing.assert_array_equal(first.X, again.draw(np.random.default_rng(1)).X)
    assert not np.array_equal(first.X, source.draw(np.random.default_rng(2)).X)
    assert first.X.shape == (30, 20)


def test_identity_follows_what_is_drawn() -> None:
    written = ["noise20", {"name": "noise20", "samples": 30}, "plane", "wine"]
    assert len({opened(spec).identity for spec in written}) == 4
    assert opened("noise20").identity == opened({"name": "noise20", "samples": 500}).identity


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("wien", "there is no data set 'wien'; did you mean 'wine'"),
        ({"name": "wine", "version": "ucl"}, "no version 'ucl'; did you mean 'uci'"),
        ({"name": "wine", "samples": 20}, "'samples' is for synthetic sets; 'wine' has 178 rows"),
        ({"name": "wine", "dense": True}, "'dense' is for sparse matrices"),
        ({"name": "noise20", "dense": True}, "'dense' is for sparse matrices"),
        ({"name": "reuters", "version": "reuters-1-random", "dense": True}, "leave it out"),
    ],
)
def test_wrong_names_and_options_are_mended_by_the_message(written: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        opened(written)
