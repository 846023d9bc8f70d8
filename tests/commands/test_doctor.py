"""`fsvm doctor`: what a report of trouble needs, and the problems that it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import threadpoolctl

import fsvm_cli
from fsvm_cli.data.cards import data_cards
from fsvm_cli.data.inventory import stored_files
from tests.helpers.calling import fsvm_here

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FSVM_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FSVM_MIRROR", raising=False)
    return tmp_path / "cache"


def test_versions_libraries_caches_and_data_are_named(cache: Path) -> None:
    answer = fsvm_here("doctor")
    assert answer.code == 0, answer.err
    lines = [line.strip() for line in answer.out.splitlines()]
    assert f"fsvm {fsvm_cli.__version__}" in lines
    assert f"numpy {np.__version__}" in lines
    for library in threadpoolctl.threadpool_info():
        assert any(line.startswith(f"{library['internal_api']} {library['version']}") for line in lines)
    assert "data: ~/cache (not there yet)" in lines
    assert str(cache) not in answer.out
    named = {name for line in lines for name in line.partition(": ")[2].split(", ")}
    assert set(data_cards()) <= named
    assert lines[-1] == "No problems found."


def test_a_file_that_was_altered_is_a_problem_with_its_remedy(cache: Path) -> None:
    path = stored_files(["sonar"])[0].path
    path.parent.mkdir(parents=True)
    path.write_text("other bytes")
    answer = fsvm_here("doctor")
    assert answer.code == 3
    assert answer.err.startswith("fsvm: ~/cache/")
    assert "differs from the file on its data card; remove it, or fetch it again" in answer.err
