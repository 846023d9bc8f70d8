"""Attacks on configs, assignments to them and data cards, through what `fsvm check` and `fsvm datasets show` do."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ruamel.yaml import YAML

from fsvm_cli.data.cards import GeneratedVersion, read_card
from fsvm_cli.data.load import find_version
from fsvm_cli.data.opening import open_source
from fsvm_cli.data.source_spec import NamedSpec
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.plan import plan
from fsvm_cli.resources import resource_folder, resource_names
from fsvm_cli.spec.config import LoadedConfig
from fsvm_cli.spec.load import load_any
from tests.fuzz.campaign import Subject
from tests.helpers.calling import CONFIG, Answer, fsvm_here, write_config
from tests.helpers.mutations import mutated_assignment, mutated_document
from tests.helpers.plain_words import REMEDY, controls, unplain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

LOCATED = re.compile(r"(fsvm: )?(?!fsvm: )(--set .*|[^ ]+(:\d+:\d+)?): ")
"""How a line begins that says where the mistake is."""

AT_HAND = {"wine", "wdbc"}
"""Data sets that scikit-learn carries."""

LITTLE = 10_000
"""Rows that are drawn in no time."""


def fault_in(answer: Answer) -> str:
    """Say what is wrong with an answer, '' where it is sound."""
    if answer.code not in {0, 2, 3} or (answer.code == 0) != (not answer.err):
        return f"exit {answer.code}"
    if found := controls(answer.out):
        return f"control characters: {found}"
    for line in answer.err.splitlines():
        if reason := unplain(line):
            return f"{reason}: {line}"
        if not LOCATED.match(line):
            return f"no place: {line}"
        if not REMEDY.search(line):
            return f"no remedy: {line}"
    return ""


def judge(answer: Answer, content: str) -> None:
    """Raise what a campaign counts: a fault, or that an input was refused as it should be."""
    fault = fault_in(answer)
    assert not fault, fault
    assert answer.code != 3 or "file" in content, "exit 3, and no file is named"
    if answer.code:
        raise UsageError(answer.err.splitlines()[0])


def refuse_none_that_is_correct(path: Path, assignments: tuple[str, ...] = ()) -> None:
    """Begin a run with what `fsvm check` calls correct, as far as nothing is to be fetched."""
    loaded = load_any(str(path), assignments)
    if isinstance(loaded, LoadedConfig) and isinstance(spec := loaded.config.dataset, NamedSpec):
        _, _, version = find_version(spec)
        if isinstance(version, GeneratedVersion) or spec.name in AT_HAND:
            try:
                plan(loaded, lambda _: None)
            except UsageError as error:
                raise AssertionError(f"fsvm check calls it correct, and a run refuses it: {error}") from error


@functools.cache
def shipped_texts(kind: str) -> list[str]:
    """Read what is mutated."""
    paths = [resource_folder(kind) / f"{name}.yaml" for name in resource_names(kind)]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    if kind == "configs":
        # The quickest to read as often as all others.
        texts += ["".join(f"{key}: {value}\n" for key, value in CONFIG.items())] * len(texts)
    return texts


@functools.cache
def values_in(text: str) -> dict[str, Any]:
    """Parse what is mutated, when it is drawn: to parse all takes seconds."""
    values: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return values


def mutated_shipped(rng: Random, kind: str) -> bytes:
    """Mutate one of the documents of a kind that come with fsvm."""
    text = rng.choice(shipped_texts(kind))
    return mutated_document(rng, text, values_in(text)).encode("utf-8", "surrogatepass")


def config_subject() -> Subject:
    """Attack the reading of configs."""

    def draw(rng: Random) -> bytes:
        return mutated_shipped(rng, "configs")

    def take(path: Path) -> None:
        judge(fsvm_here("check", path), path.read_bytes().decode(errors="replace"))
        refuse_none_that_is_correct(path)

    return Subject(draw, take)


def assignment_subject() -> Subject:
    """Attack `--set`."""

    def draw(rng: Random) -> bytes:
        content = values_in(shipped_texts("configs")[-1])
        return json.dumps([mutated_assignment(rng, content) for _ in range(rng.randint(1, 2))]).encode()

    def take(path: Path) -> None:
        assignments = tuple(json.loads(path.read_bytes()))
        options = [option for each in assignments for option in ("--set", each)]
        config = write_config(path.parent)
        judge(fsvm_here("check", config, *options), str(assignments))
        refuse_none_that_is_correct(config, assignments)

    return Subject(draw, take)


@contextlib.contextmanager
def only_card(path: Path) -> Iterator[None]:
    """Let a card be the only one that fsvm knows; it is called 'mutated'."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("cards", "load", "inventory"):
            patch.setattr(f"fsvm_cli.data.{module}.data_cards", lambda: {"mutated": path}, raising=False)
        yield


def card_subject() -> Subject:
    """Attack the reading of data cards; what is drawn from a distribution is drawn."""

    def draw(rng: Random) -> bytes:
        return mutated_shipped(rng, "datasets")

    def take(path: Path) -> None:
        card = path.with_name("mutated.yaml")
        shutil.copyfile(path, card)
        config = write_config(path.parent, dataset="{name: mutated}", subsets="all")
        with only_card(card):
            predictions = [fsvm_here("check", config), fsvm_here("datasets", "show", "mutated")]
            for answer in predictions:
                assert not fault_in(answer), fault_in(answer)
            judge(predictions[0], "")
            version = next(iter(read_card("mutated").versions.values()))
            if isinstance(version, GeneratedVersion) and version.samples <= LITTLE:
                source = open_source(NamedSpec(name="mutated"), base_folder=path.parent, announce=lambda _: None)
                source.draw(np.random.default_rng(0))

    return Subject(draw, take)


def document_subjects() -> dict[str, Subject]:
    """List the attacks by name."""
    return {"config": config_subject(), "assignment": assignment_subject(), "card": card_subject()}
