"""A few inputs of the campaign for each method, and that the campaign itself finds, keeps and survives faults."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.fuzz.campaign import Campaign, fault_of, run
from tests.fuzz.documents import document_subjects, fault_in
from tests.fuzz.faulty import faulty
from tests.fuzz.subjects import subjects
from tests.helpers.calling import Answer

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


@pytest.mark.parametrize("name", document_subjects())
def test_mutated_documents_are_taken_or_refused_in_plain_words(name: str, tmp_path: Path) -> None:
    subject, path = subjects()[name], tmp_path / "file"
    counts = Counter[str]()
    for seed in range(12):
        path.write_bytes(subject.draw(random.Random(f"sample {seed}")))
        outcome, raised = fault_of(subject, path)
        assert outcome in {"taken", "refused"}, f"{raised}\n{path.read_text(errors='replace')}"
        counts[outcome] += 1
    assert counts["refused"] > 0


def test_what_is_wrong_with_a_message_is_a_fault() -> None:
    sound = "fsvm: a.yaml:1:2: C is 0; it should be more than 0\n"
    assert not fault_in(Answer(2, "", sound))
    assert not fault_in(Answer(0, "a.yaml: correct\n", ""))
    for answer in (
        *(Answer(code, "", sound) for code in (0, 1)),
        Answer(2, "", ""),
        Answer(2, "", "fsvm: C is 0; it should be more than 0\n"),
        Answer(2, "", "fsvm: a.yaml:1:2: C is 0\n"),
        Answer(2, "", f"{sound}\x1b[31m{sound}"),
        Answer(2, "", sound.replace("C is", "Input should be")),
        Answer(2, "", sound.replace("C", "C" * 5000)),
        Answer(0, "\x1b]0;x\x07", ""),
    ):
        assert fault_in(answer), answer


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
