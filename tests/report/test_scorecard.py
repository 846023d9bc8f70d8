"""The scorecard: one row for each published claim, and one experiment that decides it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from fsvm_cli.experiment.run_file import FILE_NAME
from fsvm_cli.report.comparison import read_comparison
from fsvm_cli.report.folder import SCORECARD_NAME, VERDICTS_NAME, results_folders, write_table
from fsvm_cli.report.numbers import as_csv
from fsvm_cli.report.scorecard import GRAVEST_FIRST, count_table, counts_of, scorecard_of
from fsvm_cli.report.verdicts import VERDICT_COLUMNS
from fsvm_cli.resources import resource_names
from fsvm_cli.spec.config import LoadedConfig
from tests.helpers.calling import fsvm_here
from tests.helpers.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import Mapping

RESULTS = Path(__file__).parents[2] / "results"


def write_results(
    root: Path, name: str, claims: dict[str, str], natures: Mapping[str, str] = MappingProxyType({}), **config: Any
) -> None:
    """Write results of an experiment that judges claims, by verdict; an id 'x>y' is that of a part of 'x'."""
    folder = root / name
    folder.mkdir()
    expected = [{"id": claim.replace(">", "."), "part_of": claim.partition(">")[0]} for claim in claims]
    paper = {"key": "doc2000", "where": "Table 1"}
    content = {"config": {"title": name, "paper": paper, "expected": expected} | config}
    (folder / FILE_NAME).write_text(json.dumps(content))
    rows = [
        {"id": claim.replace(">", "."), "published": 1, "reproduced": 2.0, "rule": "r", "verdict": verdict}
        | {"what": "test accuracy (%)", "n": 9, "fixed": config.get("fixed"), "nature": natures.get(claim)}
        for claim, verdict in claims.items()
    ]
    write_table(pd.DataFrame(rows, columns=VERDICT_COLUMNS), folder / VERDICTS_NAME)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_results(tmp_path, "a-literal", {"t1": "differs", "t3": "inconclusive"}, variant_of="b")
    write_results(tmp_path, "b", {"t1": "reproduced", "t2>x": "reproduced", "t2>y": "differs"})
    write_results(tmp_path, "c", {"t2>z": "fact"})
    return tmp_path


def test_each_claim_has_one_row_that_its_main_experiment_decides(results: Path) -> None:
    rows = scorecard_of(results_folders(results)).set_index("id")
    assert rows["document"].tolist() == ["doc2000"] * 3
    assert rows["verdict"].to_dict() == {"t1": "reproduced", "t2": "differs", "t3": "inconclusive"}
    assert rows["config"].to_dict() == {"t1": "b", "t2": "b; c", "t3": "a-literal"}
    assert rows.loc["t1", "elsewhere"] == "differs in a-literal (2)"
    assert rows.loc["t2", "obtained"] == "2; 2; 2"


def test_experiments_that_ask_why_a_claim_was_missed_are_named_beside_it(results: Path) -> None:
    write_results(results, "why-1", {"own": "reproduced"}, why="Why?", explains=["t1", "t2.y"])
    write_results(results, "why-2", {}, why="Why?", explains=["t2"])
    elsewhere = scorecard_of(results_folders(results)).set_index("id")["elsewhere"]
    assert elsewhere["t1"] == "differs in a-literal (2); why, in why-1"
    assert elsewhere["t2"] == "why, in why-1; why, in why-2"
    assert elsewhere["t3"] == ""


def test_a_claim_in_parts_is_as_good_as_its_worst_part(tmp_path: Path) -> None:
    for number, gravest in enumerate(GRAVEST_FIRST):
        rest = GRAVEST_FIRST[number:]
        root = tmp_path / str(number)
        root.mkdir()
        write_results(root, "e", {f"t>{place}": verdict for place, verdict in enumerate(reversed(rest))})
        assert scorecard_of(results_folders(root))["verdict"].tolist() == [gravest]


def test_a_claim_in_parts_is_about_the_first_of_what_its_parts_are_about(tmp_path: Path) -> None:
    write_results(tmp_path, "old", {"t1": "reproduced"})
    assert "nature" not in scorecard_of(results_folders(tmp_path))
    parts = {"t2>x": "reproduced", "t2>y": "reproduced", "t3": "fact"}
    write_results(tmp_path, "e", parts, {"t2>x": "order", "t2>y": "finding", "t3": "fact"})
    natures = scorecard_of(results_folders(tmp_path)).set_index("id")["nature"].to_dict()
    assert natures == {"t1": "", "t2": "finding", "t3": "fact"}


def test_the_command_writes_what_it_prints(results: Path) -> None:
    answer = fsvm_here("compare", results, "--scorecard", "--format", "csv")
    assert answer.code == 0, answer.err
    assert answer.out == (results / SCORECARD_NAME).read_text()
    assert answer.out == as_csv(scorecard_of(results_folders(results)))
    table = fsvm_here("compare", results, "--scorecard")
    assert table.code == 0, table.err
    assert f"Written to {results / SCORECARD_NAME}" in table.out
    (column,) = (
        column for column in count_table(scorecard_of(results_folders(results))).columns if column.header == "in all"
    )
    assert list(column.cells) == ["3"]


def test_verdicts_by_rules_that_were_fixed_after_the_figure_are_counted_apart(tmp_path: Path) -> None:
    write_results(tmp_path, "early", {"t1": "reproduced", "t2>x": "reproduced"}, fixed="before")
    write_results(tmp_path, "late", {"t2>y": "reproduced", "t3": "differs"}, fixed="after")
    write_results(tmp_path, "other", {"u1": "differs"}, fixed="before", paper={"key": "doc2001"})
    rows = scorecard_of(results_folders(tmp_path))
    # A claim in parts is as late as its latest part.
    assert rows.set_index("id")["fixed"].to_dict() == {"t1": "before", "t2": "after", "t3": "after", "u1": "before"}
    counts = counts_of(rows)
    assert counts.columns.tolist() == ["document", "fixed", "reproduced", "differs", "in all"]
    assert list(counts.itertuples(index=False, name=None)) == [
        ("doc2000", "before", 1, 0, 1),
        ("doc2000", "after", 1, 1, 2),
        ("doc2001", "before", 0, 1, 1),
        ("all", "before", 1, 1, 2),
        ("all", "after", 1, 1, 2),
    ]
    shown = fsvm_here("compare", tmp_path / "late")
    assert "fixed after the figure was known" in " ".join(shown.out.replace("│", " ").split())


def test_every_claim_of_the_shipped_configs_says_when_its_rule_was_fixed() -> None:
    for name in resource_names("configs"):
        loaded = shipped(name)
        config = loaded.config if isinstance(loaded, LoadedConfig) else loaded.collection
        silent = [claim.id for claim in config.expected if (claim.fixed or config.fixed) is None]
        assert not silent, f"{name}: write 'fixed: before' or 'fixed: after'"


def test_what_was_first_judged_when_the_figure_was_known_is_not_said_to_be_fixed_before() -> None:
    for name in resource_names("configs"):
        loaded = shipped(name)
        config = loaded.config if isinstance(loaded, LoadedConfig) else loaded.collection
        known = [claim for claim in config.expected if re.search("when .* (was|were) known", claim.note or "")]
        wrong = [claim.id for claim in known if (claim.fixed or config.fixed) != "after"]
        assert not wrong, f"{name}: its note says that the figure was known"


@pytest.mark.parametrize("options", [("a-literal",), (".", "--claims", "t1")], ids=["one", "some"])
def test_a_scorecard_of_a_part_is_refused(results: Path, options: tuple[str, ...]) -> None:
    answer = fsvm_here("compare", results / options[0], "--scorecard", *options[1:])
    assert answer.code == 2
    assert "a scorecard is of all claims" in answer.err
    assert not list(results.rglob(SCORECARD_NAME))


def test_every_claim_of_the_shipped_configs_is_decided_by_one_of_them() -> None:
    deciding: dict[str, list[str]] = defaultdict(list)
    known = set(resource_names("configs"))
    for name in sorted(known):
        loaded = shipped(name)
        config = loaded.config if isinstance(loaded, LoadedConfig) else loaded.collection
        main = getattr(config, "variant_of", None)
        assert main is None or main in known - {name}, f"{name} is a variant of what is not there"
        if main is None:
            for claim in config.expected:
                deciding[claim.id].append(name)
    several = {claim: names for claim, names in deciding.items() if len(names) > 1}
    assert not several, "write 'variant_of' in all but one"


def test_the_scorecard_in_results_is_that_of_its_tables() -> None:
    made_again = as_csv(scorecard_of(results_folders(RESULTS)))
    assert (RESULTS / SCORECARD_NAME).read_text() == made_again, "run 'fsvm compare results --scorecard'"


def test_verdicts_without_a_row_are_no_verdicts(results: Path) -> None:
    before = read_comparison(results_folders(results))
    write_results(results, "d", {})
    pd.testing.assert_frame_equal(read_comparison(results_folders(results)), before)
    assert read_comparison([results / "d"]).columns.tolist()[:2] == ["experiment", "id"]
    for command in ("compare", "report"):
        answer = fsvm_here(command, results)
        assert "KeyError" not in answer.err, answer.err
