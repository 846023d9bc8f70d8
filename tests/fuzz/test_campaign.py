"""A few inputs of the campaign for each method, and that the campaign itself finds, keeps and survives faults."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.fuzz.campaign import Campaign, fault_of, run
from tests.fuzz.faulty import faulty
from tests.fuzz.subjects import subjects

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

METHODS = [name for name in subjects() if name.startswith("method")]


@pytest.mark.parametrize("name", METHODS)
def test_odd_tables_are_scored_or_refused(name: str, tmp_path: Path) -> None:
    subject, path = subjects()[name], tmp_path / "file"
    for seed in range(6):
        path.write_bytes(subject.draw(random.Random(f"sample {seed}")))
        outcome, raised = fault_of(subject, path)
        assert outcome in {"taken", "refused"}, f"{raised}\n{path.read_text()}"


def test_what_leads_to_faults_is_kept_and_the_rest_goes_on(tmp_path: Path) -> None:
    campaign = Campaign(faulty, 4, seed=3, folder=tmp_path, n_processes=1)
    inputs = [campaign.input(index) for index in range(4)]
    odd = {name: [i for i, (of, _, drawn) in enumerate(inputs) if (of, drawn) == (name, b"odd")] for name in faulty()}
    assert all(odd.values())
    counts = run(campaign, lambda _: None)
    kept = {path.name: path.read_text().splitlines() for path in tmp_path.glob("*.txt")}
    assert kept.keys() == {f"{name}-3-{index}.txt" for name, places in odd.items() for index in places}
    assert {name: counts[name, "fault"] for name in odd} == {name: len(places) for name, places in odd.items()}
    first = f"fails-3-{odd['fails'][0]}"
    raised, command = kept[f"{first}.txt"]
    assert raised == "KeyError: 'odd'"
    assert command == f".venv/bin/python -m tests.fuzz --repeat 'fails' {tmp_path / first}"
