"""Features that stay: first in every ranking, in configs, on the command line and in exported models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from fsvm_cli import Fisher, rank
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts
from fsvm_cli.ranking.always_keep import AlwaysKeep, with_kept_first
from tests.helpers.calling import fsvm_here

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment

    Planned = Callable[..., Experiment]


def write_table(folder: Path) -> dict[str, Any]:
    """Write a table of which 'd' alone tells the class, and give the keys of its experiment."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd")).assign(word=["u", "v", "w"] * 20)
    frame["d"] += 3 * y
    frame.assign(y=np.array(["ill", "well"])[y]).to_csv(folder / "mine.csv", index=False)
    return {
        "title": "mine",
        "dataset": {"file": "mine.csv", "target": "y", "categorical": "one-hot"},
        "scaling": "standard",
        "classifier": {"kernel": "linear", "C": 1},
        "protocol": {"splits": 3, "train": "2/3", "seed": 1},
        "rankings": [{"method": "fisher"}, {"method": "random"}],
        "subsets": [2, 3],
        "recommendation": {"permutations": 0, "margin": 10},
    }


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_kept_features_come_first_in_their_order_and_the_others_as_ranked(scale: float) -> None:
    scores = scale * np.array([0.3, -2.0, 0.9, 0.0, 0.5])
    raised = with_kept_first(scores, (3, 1))
    assert np.argsort(-raised).tolist() == [3, 1, 2, 4, 0]
    np.testing.assert_array_equal(raised[[0, 2, 4]], scores[[0, 2, 4]])
    np.testing.assert_array_equal(with_kept_first(scores, ()), scores)


def test_the_estimator_selects_them(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(40, 6)), np.arange(40) % 2
    plain = Fisher().fit(X, y)
    worst = int(np.argmax(plain.ranking_))
    found = AlwaysKeep(Fisher(), [worst], 3).fit(X, y)
    others = np.delete(np.arange(6), worst)
    assert found.ranking_[worst] == 1
    np.testing.assert_array_equal(np.argsort(found.ranking_[others]), np.argsort(plain.ranking_[others]))
    assert set(found.get_support(indices=True)) == {worst, *np.argsort(plain.ranking_)[:2]}
    assert found.transform(X).shape == (40, 3)
    for kept, n, message in (([6], 3, "by its index below 6"), ([1, 1], 3, "each feature once"), ([0, 1], 1, "2 are")):
        with pytest.raises(ValueError, match=message):
            AlwaysKeep(Fisher(), kept, n).fit(X, y)


def test_every_subset_of_an_experiment_holds_them(planned: Planned, tmp_path: Path) -> None:
    keys = write_table(tmp_path)
    experiment = planned(**keys, always_keep=["a"])
    plain = planned(**keys)
    drawn = DrawnTrial(experiment, Trial(40, 0), draw_parts(experiment, Trial(40, 0)))
    for number in experiment.numbers():  # random orders, too
        ordering = experiment.compared_methods[number].order(drawn)
        other = plain.compared_methods[number].order(DrawnTrial(plain, Trial(40, 0), drawn.parts))
        assert ordering.columns[0] == 0
        assert [*ordering.columns[1:]] == [column for column in other.columns if column != 0]
    assert not set(experiment.groups) & set(plain.groups)
    assert planned(**keys, always_keep=[]).groups == plain.groups
    words = planned(**keys | {"subsets": [3, 5]}, always_keep=["word"])
    assert words.always_kept == (4, 5, 6)
    assert planned(**keys | {"subsets": "all"}, always_keep=["word"]).sizes == (3, 4, 5, 6, 7)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"always_keep": ["e"]}, "mine.csv has no feature 'e'; "),
        ({"always_keep": ["word"]}, "3 features are always kept, and 2 are fewer; write 3 or more"),
        ({"always_keep": ["a"], "rankings": [{"method": "fisher", "order": "worst-first"}]}, "that keep the best"),
        ({"always_keep": ["a"], "rankings": []}, "list rankings, no extractors, and numbers of features"),
    ],
)
def test_what_cannot_stay_is_refused(planned: Planned, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        planned(**write_table(tmp_path) | changes)


def test_the_command_and_the_function_put_them_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path)
    options = {"target": "y", "method": "fisher", "categorical": "one-hot"}
    plain, kept = rank("mine.csv", **options), rank("mine.csv", **options, always_keep=["word", "a"])
    assert kept["feature"][:2].tolist() == ["word", "a"]
    assert kept["feature"][2:].tolist() == [name for name in plain["feature"] if name not in {"word", "a"}]
    told = fsvm_here(
        *["rank", "mine.csv", "--target", "y", "--categorical", "one-hot", "--always-keep", "b", "--format", "csv"]
    )
    assert told.out.splitlines()[1].startswith("1,b,"), told.err
    told = fsvm_here("rank", "mine.csv", "--target", "y", "--method", "fisher", "--drop", "word", "--always-keep", "e")
    assert (told.code, "has no feature 'e'" in told.err) == (2, True)
