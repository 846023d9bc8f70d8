"""The configs and cards that come with fsvm, each read at most once in a process, and none before a test needs it."""

from __future__ import annotations

import functools
import re

from fsvm_cli.data.cards import Card, read_card
from fsvm_cli.resources import resource_folder, resource_names
from fsvm_cli.spec.collection import EXPERIMENTS_KEY, LoadedCollection
from fsvm_cli.spec.config import LoadedConfig
from fsvm_cli.spec.load import load_any


@functools.cache
def shipped(name: str) -> LoadedConfig | LoadedCollection:
    """Load a shipped config, of an experiment or of a collection."""
    return load_any(name)


@functools.cache
def shipped_card(name: str) -> Card:
    """Read the card of a data set."""
    return read_card(name)


@functools.cache
def shipped_experiments() -> tuple[str, ...]:
    """Name the shipped configs that are no collections, as a glance at their texts tells."""
    texts = {
        name: (resource_folder("configs") / f"{name}.yaml").read_text("utf-8") for name in resource_names("configs")
    }
    return tuple(name for name, text in texts.items() if not re.search(rf"^{EXPERIMENTS_KEY}:", text, re.MULTILINE))


def shipped_experiment(name: str) -> LoadedConfig:
    """Load a shipped config of an experiment."""
    loaded = shipped(name)
    assert isinstance(loaded, LoadedConfig)
    return loaded
