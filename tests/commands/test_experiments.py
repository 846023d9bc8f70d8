"""`fsvm experiments`: what comes with fsvm, and copies of it that run elsewhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.resources import resource_names
from fsvm_cli.spec.config import read_config
from fsvm_cli.spec.load import load_any
from tests.helpers.calling import fsvm_here

if TYPE_CHECKING:
    from pathlib import Path


def test_every_built_in_experiment_is_listed_with_its_document() -> None:
    answer = fsvm_here("experiments", "list", "--format", "json")
    assert answer.code == 0, answer.err
    rows = {row["name"]: row for row in json.loads(answer.out)}
    assert list(rows) == resource_names("configs")
    assert all(row["title"] for row in rows.values())
    assert (rows["wine"]["document"], rows["wine"]["where"]) == ("hermes2000", "Figure 3(a)")
    assert rows["beyond-gaussian-wine"]["document"] == ""


def test_an_experiment_is_shown_with_its_source_settings_and_deviations() -> None:
    answer = fsvm_here("experiments", "show", "wine")
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert "classifier: {kernel: linear, C: 10}" in lines
    assert "protocol: {splits: 500, train: 2/3, seed: 2000}" in lines
    assert "rankings: gradient-angle, average-separation, random, least important" in lines
    assert any(line.startswith("Source: L. Hermes and J. M. Buhmann") and "Figure 3(a)" in line for line in lines)
    content = read_config("wine")[1].content
    assert f"claims: {len(content['expected'])}" in lines
    assert [f"Deviation: {each}" for each in content["deviations"]] == [
        line for line in lines if line.startswith("Deviation")
    ]
    assert "experiments: wine, noise20" in fsvm_here("experiments", "show", "hermes-advantage").out


def test_an_unknown_name_is_told_where_the_names_are() -> None:
    answer = fsvm_here("experiments", "show", "nonsense")
    assert answer.code == 2
    assert "fsvm experiments list" in answer.err
    assert "did you mean 'wine'" in fsvm_here("experiments", "show", "winee").err


@pytest.mark.parametrize("name", ["wine", "beyond-gaussian-wine", "hermes-advantage", "kpd-sonar-leak"])
def test_a_copy_elsewhere_loads_as_the_same_experiment(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Configs that extend another, and collections, name others that do not lie beside the copy."""
    monkeypatch.chdir(tmp_path)
    answer = fsvm_here("experiments", "copy", name, "mine.yaml")
    assert answer.code == 0, answer.err
    assert "$schema" not in (tmp_path / "mine.yaml").read_text()
    copied, original = load_any("mine.yaml"), load_any(name)
    assert copied.name == "mine"
    for attribute in ("config", "collection"):
        assert getattr(copied, attribute, None) == getattr(original, attribute, None)
    again = fsvm_here("experiments", "copy", name, "mine.yaml")
    assert (again.code, again.err) == (2, "fsvm: mine.yaml: exists already; name another file\n")
    assert fsvm_here("experiments", "copy", name, "none/mine.yaml").code == 3
