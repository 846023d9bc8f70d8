"""The list of claims that are not decided: made results whose reasons are known, and the committed list."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from fsvm_cli.experiment.run_file import FILE_NAME
from fsvm_cli.report.folder import SCORECARD_NAME, VERDICTS_NAME, results_folders, write_table
from fsvm_cli.report.open_claims import (
    DECIDERS,
    ENDED_MACHINES,
    MORE_SPLITS,
    NOTHING,
    OPEN,
    OTHER_ROWS,
    SOURCE,
    open_claims,
)
from fsvm_cli.report.verdicts import VERDICT_COLUMNS
from tests.helpers.calling import CHECKOUT

sys.path.insert(0, str(CHECKOUT / "docs"))
import generate

if TYPE_CHECKING:
    from pathlib import Path

RANDOM = {"train": ["2/3"]}


def write_claim(root: Path, name: str, claim: dict[str, Any], row: dict[str, Any], **config: Any) -> None:
    """Write results of an experiment that judges one claim."""
    folder = root / name
    folder.mkdir()
    expected = [{"id": name, "kind": "difference"} | claim]
    content = {"title": name, "paper": {"key": "doc2000", "where": "Table 1"}, "expected": expected, "protocol": RANDOM}
    (folder / FILE_NAME).write_text(json.dumps({"config": content | config}))
    of_row = {"id": name, "published": 1, "what": "test accuracy (%)", "n": 20, "fixed": "after", "rule": "the rule"}
    rows = pd.DataFrame([of_row | {"nature": "order", "reproduced": 2.0} | row], columns=VERDICT_COLUMNS)
    write_table(rows, folder / VERDICTS_NAME)


def noted(*answers: str) -> str:
    return json.dumps([{"reading": f"r{place}", "answer": answer} for place, answer in enumerate(answers)])


def over_readings(root: Path, verdict: str, *answers: str, **config: Any) -> tuple[str, str]:
    """Give what could decide a claim that readings decide, and why nothing has."""
    row = {"verdict": verdict, "readings": noted(*answers)}
    write_claim(root, "c", {"unstated": "U"}, row, reading="r0", **config)
    (found,) = open_claims([root / "c"]).itertuples(index=False)
    return found.decider, found.why


@pytest.mark.parametrize(
    ("claim", "row", "protocol", "decider", "why"),
    [
        ({"kind": "statement"}, {"verdict": "not comparable", "note": "A time."}, RANDOM, NOTHING, "A time."),
        ({"unstated": "U"}, {"verdict": "not comparable"}, RANDOM, SOURCE, "U."),
        ({}, {"verdict": "not comparable", "rule": "missed"}, RANDOM, ENDED_MACHINES, "missed."),
        (
            *({}, {"verdict": "inconclusive"}, {"train": ["given"]}, OTHER_ROWS),
            "Neither shown nor refuted with the split of the source: the rule.",
        ),
        (
            *({}, {"verdict": "inconclusive"}, {"train": ["leave-one-out"]}, OTHER_ROWS),
            "Neither shown nor refuted with every row left out once: the rule.",
        ),
        ({}, {"verdict": "inconclusive"}, RANDOM, MORE_SPLITS, "Neither shown nor refuted with 20 trials: the rule."),
        # A collection has no splits of its own.
        ({}, {"verdict": "inconclusive"}, None, MORE_SPLITS, "Neither shown nor refuted with 20 trials: the rule."),
    ],
)
def test_what_one_experiment_leaves_open_has_its_reason(
    tmp_path: Path, claim: dict[str, Any], row: dict[str, Any], protocol: Any, decider: str, why: str
) -> None:
    write_claim(tmp_path, "c", claim, row, protocol=protocol)
    (found,) = open_claims([tmp_path / "c"]).itertuples(index=False)
    assert (found.document, found.id, found.nature) == ("doc2000", "c", "order")
    assert (found.decider, found.why) == (decider, why)


@pytest.mark.parametrize(
    ("verdict", "answers", "decider"),
    [
        ("undecided by the source", ["reproduced", "differs"], SOURCE),
        ("inconclusive", ["reproduced", "inconclusive"], MORE_SPLITS),
        ("inconclusive", ["inconclusive", "not comparable"], MORE_SPLITS),
        ("inconclusive", ["reproduced", "not comparable"], ENDED_MACHINES),
        ("not comparable", ["not comparable", "not comparable"], SOURCE),
    ],
)
def test_readings_that_disagree_are_the_source_s_and_others_ours(
    tmp_path: Path, verdict: str, answers: list[str], decider: str
) -> None:
    found, why = over_readings(tmp_path, verdict, *answers)
    assert found == decider
    assert why.startswith("U: of 2 readings 1 " if len(set(answers)) > 1 else "U: of 2 readings 2 ")


def test_between_readings_of_a_given_split_no_further_split_decides(tmp_path: Path) -> None:
    found, _ = over_readings(tmp_path, "inconclusive", "inconclusive", "differs", protocol={"train": ["given"]})
    assert found == SOURCE


def test_what_is_decided_or_repeated_or_asks_why_is_not_listed(tmp_path: Path) -> None:
    write_claim(tmp_path, "a", {}, {"verdict": "reproduced"})
    write_claim(tmp_path, "b", {}, {"verdict": "differs"})
    write_claim(tmp_path, "c", {"repeats": "a"}, {"verdict": "inconclusive", "nature": "repeat"})
    write_claim(tmp_path, "d", {}, {"verdict": "inconclusive"}, why="Why?")
    assert open_claims(results_folders(tmp_path)).empty


def test_a_claim_in_parts_has_one_row_with_what_its_open_parts_lack(tmp_path: Path) -> None:
    for name, verdict, protocol in (
        ("p.1", "inconclusive", RANDOM),
        ("p.2", "inconclusive", {"train": ["given"]}),
        ("p.3", "reproduced", RANDOM),
    ):
        write_claim(tmp_path, name, {"part_of": "p"}, {"verdict": verdict}, protocol=protocol)
    (found,) = open_claims(results_folders(tmp_path)).itertuples(index=False)
    assert (found.id, found.decider) == ("p", OTHER_ROWS)
    assert found.why == (
        "Neither shown nor refuted with 20 trials: the rule. "
        "Neither shown nor refuted with the split of the source: the rule."
    )


def test_a_claim_with_a_part_that_differs_is_decided(tmp_path: Path) -> None:
    for name, verdict in (("p.1", "inconclusive"), ("p.2", "differs")):
        write_claim(tmp_path, name, {"part_of": "p"}, {"verdict": verdict})
    assert open_claims(results_folders(tmp_path)).empty


def test_the_committed_list_holds_every_claim_of_the_scorecard_that_is_open() -> None:
    found = open_claims(results_folders(CHECKOUT / "results"))
    scorecard = pd.read_csv(CHECKOUT / "results" / SCORECARD_NAME, keep_default_na=False)
    expected = scorecard[scorecard["verdict"].isin(OPEN) & (scorecard["nature"] != "repeat")]
    assert dict(zip(found["id"], found["verdict"], strict=True)) == dict(
        zip(expected["id"], expected["verdict"], strict=True)
    )
    assert set(found["decider"]) <= set(DECIDERS)
    assert (found["why"].str.len() > len("U.")).all()
    page = (CHECKOUT / "docs" / "open-claims.md").read_text(encoding="utf-8")
    written = generate.undecided(CHECKOUT / "results")
    assert f"{generate.OPEN_BEGIN}{written}{generate.OPEN_END}" in page, "run: python docs/generate.py"
    assert "(open-claims.md)" in (CHECKOUT / "docs" / "results.md").read_text(encoding="utf-8")
