"""Claims on a difference of printed numbers, on the order of cells, and on several readings in one experiment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.plan import plan
from fsvm_cli.report.verdicts import judge, table_of_verdicts
from fsvm_cli.spec.claims.base import Place
from fsvm_cli.spec.claims.kinds.numbers import GainClaim, GainWithinRangeClaim, ValueClaim
from fsvm_cli.spec.claims.kinds.orders import PatternClaim
from fsvm_cli.spec.config import load_config
from tests.report.test_verdicts import TEXTS, noisy, samples_of, trials_of

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment


@pytest.fixture(scope="module")
def wine() -> Experiment:
    return plan(load_config("wine", ["protocol.splits=40"]), lambda _: None)


def gain(published: float, **more: Any) -> GainClaim:
    places = {"higher": Place(ranking="a", features=2), "lower": Place(ranking="a", features=1)}
    settings = {"tolerance": 1.0} | more
    return GainClaim(kind="gain", published=published, **places, **settings, **TEXTS)


@pytest.mark.parametrize(
    ("published", "more", "expected"),
    [
        (5.0, {}, "reproduced"),
        (20.0, {}, "differs"),
        (-5.0, {}, "differs"),
        (5.5, {"published_n": 20}, "reproduced"),
        (7.0, {"published_n": 20}, "differs"),
    ],
)
def test_a_printed_gain(wine: Experiment, published: float, more: dict[str, Any], expected: str) -> None:
    # The curve rises by 5 points, with a standard deviation of .3 point; each end varies by 10 points.
    ends = noisy([0.7, 0.0], sd=0.1)[:, :1]
    rise = noisy([0.05], sd=0.003)
    trials = trials_of(wine, a=samples_of(np.hstack([ends, ends + rise])))
    judged = judge(gain(published, **more), trials, overridden=False)
    assert judged.verdict == expected
    assert judged.reproduced == pytest.approx(5.0)
    assert (judged.accepts_low <= published <= judged.accepts_high) == (expected == "reproduced")


def test_a_gain_may_be_outside_of_all_settings_where_both_of_its_numbers_are_within(wine: Experiment) -> None:
    means = {"a": [0.5, 0.5], "b": [0.7, 0.7], "c": [0.6, 0.58]}
    trials = trials_of(wine, **{label: samples_of(noisy(each, sd=0.001)) for label, each in means.items()})

    def verdict(published: float) -> str:
        content = {"kind": "gain-within-range", "labels": tuple(means), "features": 2, "over": 1}
        claim = GainWithinRangeClaim(published=published, tolerance=1.0, **content, **TEXTS)
        return judge(claim, trials, overridden=False).verdict

    # 70 minus 50 is printed: each is found under a setting, and no setting gains more than nothing.
    assert [verdict(published) for published in (20.0, 0.0, -1.0, -20.0)] == [
        *("differs", "inconclusive", "inconclusive", "differs")
    ]


@pytest.mark.parametrize(
    ("means", "sd", "expected"),
    [
        ([0.5, 0.6, 0.7], 0.01, "reproduced"),
        ([0.6, 0.5, 0.7], 0.01, "differs"),
        ([0.5, 0.5005, 0.7], 0.05, "inconclusive"),
        ([0.5, 0.5, 0.7], 0.0, "inconclusive"),
    ],
)
def test_an_order_of_cells_holds_if_each_is_above_the_next(
    wine: Experiment, means: list[float], sd: float, expected: str
) -> None:
    trials = trials_of(wine, a=samples_of(noisy(means, sd=sd)))
    cells = tuple(Place(ranking="a", features=size) for size in (3, 2, 1))
    judged = judge(PatternClaim(kind="pattern", cells=cells, **TEXTS), trials, overridden=False)
    assert judged.verdict == expected


def open_claim(**more: Any) -> dict[str, Any]:
    content = {"id": "p.1", "claim": "c", "where": "w", "kind": "value", "published": 90.0, "tolerance": 2.0}
    return content | {"at": {"ranking": "a", "features": 13}, "unstated": "C", "readings": {"a": ["b"]}} | more


CONFIG = """
extends: wine
reading: as it is
rankings:
  - {{method: fisher, label: a}}
  - {{method: random, label: b}}
expected:
  - {claim}
"""


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [(0.9, 0.9, "reproduced"), (0.9, 0.5, "undecided by the source"), (0.5, 0.9, "undecided by the source"),
     (0.5, 0.5, "differs")],
)  # fmt: skip
@pytest.mark.parametrize("words", ["as it is", "of the claim"])
def test_an_experiment_decides_over_its_own_readings(
    tmp_path: Path, words: str, own: float, other: float, expected: str
) -> None:
    own_words = {} if words == "as it is" else {"reading": words}
    (tmp_path / "several.yaml").write_text(CONFIG.format(claim=json.dumps(open_claim(**own_words))))
    experiment = plan(load_config(str(tmp_path / "several.yaml"), ["protocol.splits=40"]), lambda _: None)
    found = {label: samples_of(noisy([mean] * 13, sd=0.001)) for label, mean in (("a", own), ("b", other))}
    trials = trials_of(experiment, **found)
    (row,) = table_of_verdicts(trials, overridden=False).to_dict("records")
    assert row["verdict"] == expected
    readings = json.loads(row["readings"])
    assert [(each["reading"], round(each["reproduced"])) for each in readings] == [
        *((words, round(100 * own)), ("b", round(100 * other)))
    ]
    assert row["rule"].startswith(f"agrees in {(own == 0.9) + (other == 0.9)} of 2 readings")
    (row,) = table_of_verdicts(trials, overridden=True).to_dict("records")
    assert row["verdict"] == "not comparable"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unstated": ""}, "write under its key 'unstated' what the source leaves open"),
        ({"readings": {"c": ["b"]}}, "does not speak of 'c'"),
        ({"readings": {"a": ["c"]}}, "speaks of 'c', which no ranking is called"),
    ],
)
def test_readings_of_nothing_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    (tmp_path / "several.yaml").write_text(CONFIG.format(claim=json.dumps(open_claim(**changes))))
    with pytest.raises(UsageError, match=message):
        load_config(str(tmp_path / "several.yaml"))


def test_readings_of_the_experiment_put_several_labels_in_place_at_once(tmp_path: Path) -> None:
    content = (
        "extends: wine\nreading: as it is\nreadings: {turned: {a: b, b: a}, above: {a: c}}\n"
        "rankings: [{method: fisher, label: a}, {method: random, label: b}, {method: random, label: c}]\nexpected:\n"
    )
    places = {"higher": {"ranking": "a", "features": 3}, "lower": {"ranking": "b", "features": 3}}
    claim = {"id": "p.1", "claim": "c", "where": "w", "kind": "difference", "unstated": "u"} | places
    of_c = claim | {"id": "p.2", "higher": places["lower"], "lower": {"ranking": "c", "features": 3}}
    stated = {key: value for key, value in claim.items() if key != "unstated"} | {"id": "p.3"}
    claims = "".join(f"  - {json.dumps(each)}\n" for each in (claim, of_c, stated))
    (tmp_path / "joint.yaml").write_text(content + claims)
    experiment = plan(load_config(str(tmp_path / "joint.yaml"), ["protocol.splits=40"]), lambda _: None)
    found = {label: samples_of(noisy([mean] * 13, sd=0.001)) for label, mean in (("a", 0.9), ("b", 0.5), ("c", 0.6))}
    rows = table_of_verdicts(trials_of(experiment, **found), overridden=False).set_index("id")
    assert rows["verdict"].tolist() == ["undecided by the source", "undecided by the source", "reproduced"]
    first, second = (
        [(each["reading"], each["answer"]) for each in json.loads(rows["readings"][f"p.{n}"])] for n in "12"
    )
    assert first == [("as it is", "reproduced"), ("turned", "differs"), ("above", "reproduced")]
    # A reading that a claim does not speak of is none of it.
    assert second == [("as it is", "differs"), ("turned", "reproduced")]


def test_a_reading_of_a_label_that_no_open_claim_speaks_of_is_refused(tmp_path: Path) -> None:
    text = CONFIG.format(claim=json.dumps(open_claim()))
    (tmp_path / "several.yaml").write_text(f"{text}readings: {{other: {{c: b}}}}\n")
    with pytest.raises(UsageError, match="no claim with 'unstated' speaks of 'c'"):
        load_config(str(tmp_path / "several.yaml"))


def test_a_subset_of_a_ranking_is_read_as_that_of_the_other() -> None:
    at = Place(ranking="a, most relevant 0.8")
    claim = ValueClaim(
        kind="value", published=1.0, tolerance=1.0, at=at, unstated="u", readings={"a": ("b", "c")}, **TEXTS
    )
    assert [read.at.ranking for _, read in claim.other_readings()] == ["b, most relevant 0.8", "c, most relevant 0.8"]
