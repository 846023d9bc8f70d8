"""Records: what an experiment stores of its first split in addition to figures of merit.

A record is a subclass of :class:`~fsvm_cli.experiment.records.base.Record`; a config names it in `record`, by the
`name` of the class, and `fsvm_cli.spec` lists the names. `fsvm_cli.report.diagnostics` draws it.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import TYPE_CHECKING

from fsvm_cli.experiment.records.base import Record
from fsvm_cli.spec import RECORD_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@functools.cache
def record_kinds() -> Mapping[str, Record]:
    """Find every kind of record that a config can name, in the order of the names."""
    kinds = {kind.name: kind() for kind in _kinds()}
    assert sorted(kinds) == list(RECORD_NAMES), f"configs name {RECORD_NAMES}, and there are {sorted(kinds)}"
    return {name: kinds[name] for name in RECORD_NAMES}


def _kinds() -> Iterator[type[Record]]:
    """Yield the classes with a name for configs, which base classes lack."""
    for found in pkgutil.iter_modules(__path__, f"{__name__}."):
        for value in vars(importlib.import_module(found.name)).values():
            is_kind = isinstance(value, type) and issubclass(value, Record) and "name" in vars(value)
            if is_kind and value.__module__ == found.name:
                yield value
