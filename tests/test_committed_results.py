"""Committed results: what full runs write on any processor, and collections what their experiments lead to."""

from __future__ import annotations

import json
import platform
import sys
from typing import TYPE_CHECKING

import pytest

from tests.helpers.calling import CHECKOUT, fsvm_here, hashes

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() != "x86_64",
        reason="results are the same bytes on Linux and x86-64; docs/scaling.md says what is promised",
    ),
]
VERSIONS = "packages"
"""In run.json; Python's own may differ."""

COLLECTIONS = sorted(
    path.stem for path in (CHECKOUT / "configs").glob("*.yaml") if "\nexperiments:" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", ["plane", "wdbc", "ks-example", "infoprop-vehicle-raw"])
def test_a_full_run_writes_what_is_committed(
    name: str, mirror_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FSVM_MIRROR", str(mirror_folder))
    answer = fsvm_here("run", name, "--jobs", "1", "--format", "svg", "--out", tmp_path)
    assert answer.code == 0, answer.err
    committed, found = CHECKOUT / "results" / name, tmp_path / name
    expected, written = hashes(committed), hashes(found)
    for of_folder, folder in ((expected, committed), (written, found)):
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        of_folder["run.json"] = json.dumps(run | {VERSIONS: None})
    assert written == expected


@pytest.mark.parametrize("name", COLLECTIONS)
def test_a_collection_is_what_the_committed_results_of_its_experiments_lead_to(name: str) -> None:
    answer = fsvm_here("verify", CHECKOUT / "results" / name)
    assert answer.code == 0, answer.err
