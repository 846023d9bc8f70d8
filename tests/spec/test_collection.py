"""Configs that collect the claims of several experiments: what is accepted, what is refused, what each one needs."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
import scipy.stats

from fsvm_cli.errors import UsageError
from fsvm_cli.spec.collection import LargestClaim, LoadedCollection, SimilarMeansClaim
from fsvm_cli.spec.load import load_all, load_any

if TYPE_CHECKING:
    from pathlib import Path

EXPERIMENT = """\
title: t
dataset: plane
scaling: none
classifier: {kernel: linear, C: 1}
protocol: {splits: 2, train: 1/2, seed: 0}
expected:
  - {id: doc.t5.size, kind: problem, where: T, claim: c, fact: n_features, published: 2, decimals: 0, tolerance: 1}
"""
COLLECTION = "title: t\nexperiments: [a, b]\nclaims: doc.t5.*\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(EXPERIMENT)
    (tmp_path / "all.yaml").write_text(COLLECTION)
    return tmp_path


def test_its_experiments_are_those_beside_it_with_what_options_change(folder: Path) -> None:
    loaded = load_any(str(folder / "all.yaml"), ["classifier.C=3"], n_splits=7)
    assert isinstance(loaded, LoadedCollection)
    assert [member.name for member in loaded.members] == ["a", "b"]
    assert {member.config.classifier.C for member in loaded.members} == {3}
    assert {member.config.protocol.splits for member in loaded.members} == {7}
    assert loaded.overrides == {"classifier.C": 3, "protocol.splits": 7}


def test_a_shipped_collection_finds_its_experiments_anywhere(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("title: t\nexperiments: [infoprop-dna]\n")
    loaded = load_any(str(tmp_path / "mine.yaml"))
    assert isinstance(loaded, LoadedCollection)
    assert [member.config.dataset.name for member in loaded.members] == ["dna"]


def test_another_number_of_splits_leaves_a_given_split_alone(folder: Path) -> None:
    given = EXPERIMENT.replace("{splits: 2, train: 1/2, seed: 0}", "{splits: 1, train: given, seed: 0}")
    (folder / "a.yaml").write_text(given.replace("plane", "dna"))
    (a, b), _ = load_all([str(folder / "all.yaml")], (), n_splits=9)
    assert (a.config.protocol.splits, b.config.protocol.splits) == (1, 9)


def test_an_experiment_that_is_named_and_collected_runs_once(folder: Path) -> None:
    experiments, collections = load_all([str(folder / "all.yaml"), str(folder / "b.yaml")])
    assert [loaded.name for loaded in experiments] == ["b", "a"]
    assert [loaded.name for loaded in collections] == ["all"]


def test_two_experiments_that_would_share_a_folder_are_refused(folder: Path) -> None:
    (folder / "else").mkdir()
    (folder / "else" / "b.yaml").write_text(EXPERIMENT)
    with pytest.raises(UsageError, match="2 configs are called 'b'"):
        load_all([str(folder / "all.yaml"), str(folder / "else" / "b.yaml")])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[a, b]", "[a, c]", "all.yaml:2:18: c: no such file, and no built-in experiment has this name"),
        ("[a, b]", "[a, all]", "all.yaml:2:18: all is a collection itself; list its experiments here"),
        ("[a, b]", "[a, a]", "the experiment 'a' is listed twice"),
        ("[a, b]", "[]", "all.yaml:2:14: experiments: there is none; list at least one experiment"),
        ("doc.t5", "doc.t6", "all.yaml:2:15: no claim of a has an id like 'doc.t6.*'"),
        (
            "claims",
            "claim",
            "all.yaml:3:1: unknown key 'claim'; allowed: claims, deviations, expected, experiments, fixed, paper, "
            "title",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place(folder: Path, old: str, new: str, message: str) -> None:
    (folder / "all.yaml").write_text(COLLECTION.replace(old, new))
    with pytest.raises(UsageError) as caught:
        load_any(str(folder / "all.yaml"))
    assert message in str(caught.value)


def test_a_mistake_in_an_experiment_is_told_with_its_place_there(folder: Path) -> None:
    (folder / "b.yaml").write_text(EXPERIMENT.replace("none", "standart"))
    with pytest.raises(UsageError, match=r"b\.yaml:3:10: 'standart' is no scaling"):
        load_any(str(folder / "all.yaml"))


OWN_CLAIM = """\
expected:
  - id: doc.smaller
    kind: smaller-difference
    where: T
    claim: c
    smaller: {experiment: a, claim: doc.t5.size}
    larger: {experiment: b, claim: doc.t5.size}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("experiment: a", "experiment: c", "all.yaml:9:14: c is none of the experiments; "),
        ("claim: doc.t5.size}\n", "claim: doc.t5.rows}\n", "no collected claim of a has the id 'doc.t5.rows'; "),
    ],
)
def test_a_claim_about_what_is_not_collected_is_told_with_its_place(
    folder: Path, old: str, new: str, message: str
) -> None:
    (folder / "all.yaml").write_text(COLLECTION + OWN_CLAIM)
    assert isinstance(load_any(str(folder / "all.yaml")), LoadedCollection)
    (folder / "all.yaml").write_text(COLLECTION + OWN_CLAIM.replace(old, new, 1))
    with pytest.raises(UsageError) as caught:
        load_any(str(folder / "all.yaml"))
    assert message in str(caught.value)


def row_with(mean: float, sd: float, n: int, verdict: str = "reproduced") -> SimpleNamespace:
    half_width = 10 * scipy.stats.t.ppf(0.975, n - 1)
    bounds = {"new_data_low": mean - half_width, "new_data_high": mean + half_width}
    return SimpleNamespace(reproduced=mean, sd=sd, n=n, verdict=verdict, **bounds)


@pytest.mark.parametrize(
    ("larger", "verdict", "new_data"),
    [(5.0, "reproduced", "inconclusive"), (60.0, "reproduced", "reproduced"), (-3.0, "differs", "inconclusive")],
)
def test_a_difference_is_smaller_than_that_of_another_experiment(
    folder: Path, larger: float, verdict: str, new_data: str
) -> None:
    (folder / "all.yaml").write_text(COLLECTION + OWN_CLAIM)
    loaded = load_any(str(folder / "all.yaml"))
    assert isinstance(loaded, LoadedCollection)
    (claim,) = loaded.collection.expected
    judged = claim.judge_rows([row_with(1.0, 2.0, 50), row_with(larger, 3.0, 20)])
    assert (judged.verdict, judged.new_data, judged.reproduced) == (verdict, new_data, larger - 1)
    withheld = claim.judge_rows([row_with(1.0, 2.0, 50), row_with(larger, 3.0, 20, "not comparable")])
    assert withheld.verdict == "not comparable"


@pytest.mark.parametrize(
    ("others", "verdict"),
    [
        ([(1.0, 0.5, 1.5), (2.0, 1.5, 2.9)], "reproduced"),
        ([(1.0, 0.5, 1.5), (2.0, 1.5, 3.1)], "inconclusive"),
        ([(1.0, 0.5, 1.5), (5.0, 4.4, 5.5)], "differs"),
        ([(2.5, float("nan"), float("nan"))], "reproduced"),  # a number that does not vary
        ([(float("nan"), float("nan"), float("nan"))], "not comparable"),
    ],
)
def test_numbers_are_the_largest_where_their_intervals_lie_above_all_others(
    others: list[tuple[float, float, float]], verdict: str
) -> None:
    named = [{"experiment": "e", "claim": "t"}] * len(others)
    content = {"id": "i", "claim": "c", "where": "w", "kind": "largest", "largest": named[:1] * 2, "others": named}
    claim = LargestClaim.model_validate(content, strict=False)
    rows = [
        SimpleNamespace(reproduced=mean, ci_low=low, ci_high=high, verdict="not comparable")
        for mean, low, high in [(4.0, 3.0, 4.2), (3.5, 3.2, 3.8), *others]
    ]
    assert claim.judge_rows(rows).verdict == verdict


@pytest.mark.parametrize(
    ("other", "verdict"), [(1.2, "reproduced"), (2.0, "inconclusive"), (9.0, "differs"), (-9.0, "differs")]
)
def test_means_of_two_experiments_are_similar_by_the_whole_interval(other: float, verdict: str) -> None:
    named = {"experiment": "e", "claim": "t"}
    content = {"id": "i", "claim": "c", "where": "w", "kind": "similar-means", "one": named, "other": named}
    claim = SimilarMeansClaim.model_validate(content | {"within": 1.5}, strict=False)
    rows = [row_with(1.0, 2.0, 50), row_with(other, 3.0, 50)]
    assert claim.judge_rows(rows).verdict == verdict
    test = scipy.stats.ttest_ind_from_stats(1.0, 2.0, 50, other, 3.0, 50, equal_var=False)
    half_width = abs(1.0 - other) / abs(test.statistic) * scipy.stats.t.ppf(0.975, welch_df(2.0, 3.0, 50))
    assert claim.judge_rows(rows).ci_high == pytest.approx(1.0 - other + half_width)
    assert claim.judge_rows([rows[0], row_with(other, 3.0, 50, "not comparable")]).verdict == "not comparable"


def welch_df(one: float, other: float, n: int) -> float:
    return float((one**2 + other**2) ** 2 * (n - 1) / (one**4 + other**4))


@pytest.mark.parametrize(
    ("answer", "expected"), [("reproduced", "differs"), ("differs", "differs"), ("not comparable", "not comparable")]
)
def test_what_a_source_leaves_open_of_one_result_does_not_keep_it_from_comparison(answer: str, expected: str) -> None:
    """Where flagged trials could turn what its rule alone says, it does."""
    named = {"experiment": "e", "claim": "i"}
    content = {"id": "i", "claim": "c", "where": "w", "kind": "similar-means", "one": named, "other": named}
    claim = SimilarMeansClaim.model_validate(content | {"within": 1})
    open_row = row_with(80, 1, 20, "not comparable")
    open_row.readings = json.dumps([{"reading": "r", "answer": answer}])
    assert claim.judge_rows([open_row, row_with(90, 1, 20)]).verdict == expected
