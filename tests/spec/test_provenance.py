"""That a config says `fixed: before` only where the history of rules and results does."""

from __future__ import annotations

import os
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[2]
script = runpy.run_path(str(CHECKOUT / ".ci" / "provenance.py"))

CLAIM = "{id: t, kind: value, claim: c, where: w, at: {ranking: fisher, features: 3}, tolerance: 1, published: 7}"
ROW = "id,verdict\nt,differs\n"
CURVE = "ranking,n_features,mean\nfisher,3,0.5\n"


class Repository:
    """A checkout whose commits are a day apart."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.day = 0
        self.git("init", "--quiet")

    def git(self, *arguments: str) -> None:
        date = f"2020-01-{self.day + 1:02}T12:00:00Z"
        variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        variables |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": "2030-01-01T00:00:00Z"}
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *arguments], cwd=self.root, env=variables, check=True, capture_output=True)

    def commit(self, **files: str) -> None:
        """Write files, '/' as '__' and '.' as '_' in their names, and commit them on the next day."""
        self.day += 1
        for name, text in files.items():
            path = self.root / name.replace("__", "/")
            path = path.with_name(path.name.replace("_", "."))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "m")

    def derived(self, experiment: str = "e") -> Any:
        script["code_history"].cache_clear()
        return script["provenance_of"](self.root)[experiment, "t"]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "rule-changes.yaml").write_text("changes: []\nrenamed: {}\n")
    made.commit(configs__e_yaml=f"fixed: before\nexpected: [{CLAIM}]\n")
    return made


def test_a_rule_that_stood_before_the_first_results_was_fixed_before(repository: Repository) -> None:
    assert repository.derived().is_before, "nothing is known yet"
    repository.commit(results__e__published_csv=ROW)
    assert repository.derived().is_before
    repository.commit(configs__e_yaml=f"expected: [{CLAIM.replace('where: w', 'where: page 3, note: a word')}]\n")
    assert repository.derived().is_before, "words are no part of the rule"


@pytest.mark.parametrize("changed", ["tolerance: 2", "tolerance: 1, published_n: 3"])
def test_a_rule_that_changed_when_results_were_there_was_not(repository: Repository, changed: str) -> None:
    repository.commit(results__e__published_csv=ROW)
    repository.commit(configs__e_yaml=f"expected: [{CLAIM.replace('tolerance: 1', changed)}]\n")
    assert not repository.derived().is_before
    repository.commit(configs__e_yaml=f"expected: [{CLAIM}]\n")
    assert not repository.derived().is_before, "changed back, by somebody who knew"


def test_a_rule_that_came_with_its_results_was_not(repository: Repository) -> None:
    changed = f"expected: [{CLAIM.replace('tolerance: 1', 'tolerance: 2')}]\n"
    repository.commit(configs__e_yaml=changed, results__e__published_csv=ROW)
    assert not repository.derived().is_before


def test_curves_tell_the_figure_of_a_claim_that_is_made_later(repository: Repository) -> None:
    repository.commit(configs__f_yaml="expected: []\n", results__f__curves_csv=CURVE.replace("fisher", "random"))
    repository.commit(configs__f_yaml=f"expected: [{CLAIM.replace('tolerance: 1', 'tolerance: 2')}]\n")
    assert repository.derived("f").is_before, "of another ranking"
    repository.commit(configs__g_yaml="expected: []\n", results__g__curves_csv=CURVE)
    repository.commit(configs__g_yaml=f"expected: [{CLAIM.replace('tolerance: 1', 'tolerance: 3')}]\n")
    assert not repository.derived("g").is_before


def test_a_variant_has_the_rules_of_its_base(repository: Repository) -> None:
    repository.commit(results__e__published_csv=ROW)
    repository.commit(configs__v_yaml="extends: e.yaml\nexpected: ['t*']\n")
    variant = repository.derived("v")
    assert variant == repository.derived("e")
    assert script["claims_now"](repository.root)["v", "t"]["fixed"] == "before"


def test_a_claim_of_a_collection_is_known_when_all_that_it_compares_is(repository: Repository) -> None:
    compared = "smaller: {experiment: e, claim: t}, larger: {experiment: f, claim: u}"
    claim = f"{{id: t, kind: smaller-difference, claim: c, where: w, {compared}}}"
    repository.commit(results__e__published_csv=ROW.replace("t,", "v,"))
    repository.commit(configs__c_yaml=f"experiments: [e, f]\nexpected: [{claim}]\n")
    assert repository.derived("c").is_before
    repository.commit(results__f__published_csv="id,verdict\nu,differs\n", results__e__published_csv=ROW)
    repository.commit(configs__c_yaml=f"experiments: [e, f]\nexpected: [{claim.replace('larger', 'larger ')}]\n")
    assert repository.derived("c").is_before
    repository.commit(configs__c_yaml=f"experiments: [e, f]\nexpected: [{claim.replace('smaller-', 'larger-')}]\n")
    assert not repository.derived("c").is_before


def test_parallel_branches_change_nothing(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit(README_md="r")
    repository.git("checkout", "--quiet", "-")
    repository.commit(results__e__published_csv=ROW)
    repository.git("merge", "--quiet", "--no-edit", "other")
    assert repository.derived().is_before


def test_a_change_of_the_code_changes_the_rules_of_its_kinds(repository: Repository) -> None:
    repository.commit(results__e__published_csv=ROW)
    changes = repository.root / "docs" / "rule-changes.yaml"
    entry = "{at: '2020-01-09T00:00:00+00:00', kinds: [value], why: w%s}"
    for more, is_before in (("", False), (", except: [t*]", True)):
        changes.write_text(f"changes: [{entry % more}]\nrenamed: {{}}\n")
        assert repository.derived().is_before is is_before


def test_another_name_for_the_same_is_no_other_rule(repository: Repository) -> None:
    repository.commit(results__e__published_csv=ROW)
    repository.commit(configs__e_yaml=f"expected: [{CLAIM.replace('fisher', 'Fisher score')}]\n")
    assert not repository.derived().is_before
    (repository.root / "docs" / "rule-changes.yaml").write_text("changes: []\nrenamed: {fisher: Fisher score}\n")
    assert repository.derived().is_before


def test_what_a_config_says_against_the_history_is_named(repository: Repository) -> None:
    rows = script["rows_of"](repository.root)
    assert script["complaints_about"](repository.root, rows) == []
    assert "not in docs/provenance.csv" in script["complaints_about"](repository.root, [])[0]
    repository.commit(results__e__published_csv=ROW)
    repository.commit(configs__e_yaml=f"fixed: before\nexpected: [{CLAIM.replace('tolerance: 1', 'tolerance: 2')}]\n")
    (complaint,) = script["complaints_about"](repository.root, script["rows_of"](repository.root))
    assert complaint.startswith("e: t: its rule dates from 2020-01-04T12:00:00Z, its figure from 2020-01-03T12:00:00Z")


def test_no_shipped_config_says_before_where_the_history_says_after() -> None:
    """By the table that the history gave, which is derived again where the history is there, and not in an export."""
    rows = script["read_rows"](CHECKOUT)
    assert rows
    assert script["complaints_about"](CHECKOUT, rows) == []
    if script["has_history"](CHECKOUT):
        assert script["rows_of"](CHECKOUT) == rows, "run: make provenance"


def test_an_export_has_no_history(tmp_path: Path) -> None:
    assert not script["has_history"](tmp_path)
