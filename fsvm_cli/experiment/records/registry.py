"""The kinds of records by name: whatever file stands in this folder."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING

from fsvm_cli.experiment.records.base import Record
from fsvm_cli.spec.records import RECORD_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping


@functools.cache
def record_kinds() -> Mapping[str, Record]:
    """Find every kind of record that a config can name, in the order of the names."""
    return {name: _kind_in_file_of(name) for name in RECORD_NAMES}


def _kind_in_file_of(name: str) -> Record:
    module = importlib.import_module(f"{__package__}.{name.replace('-', '_')}")
    (kind,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Record) and value.__module__ == module.__name__
    )
    assert kind.name == name, f"{module.__name__} calls its record '{kind.name}'"
    return kind()
