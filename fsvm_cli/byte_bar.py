"""A bar for bytes that come from a disk or a server: on a terminal alone, and not where a command is to be quiet."""

from __future__ import annotations

import sys
from typing import Any

import click

from fsvm_cli.terminal import behind_gate, visible

QUIET = "fsvm.quiet"
"""Under which a command notes, in click's context, that it was asked to be quiet."""


def is_quiet() -> bool:
    """Whether the command that runs was asked to be quiet."""
    context = click.get_current_context(silent=True)
    return bool(context is not None and context.meta.get(QUIET))


def byte_bar(name: str, total: int | None, done: int = 0) -> Any:
    """Open a bar, a context manager whose ``update`` is told of bytes that have come.

    Parameters
    ----------
    name : str
        Of the file.
    total : int or None
        Bytes of all of it; None where nobody knows.
    done : int
        Bytes that are there already.
    """
    import tqdm  # noqa: PLC0415 - most commands show no bar

    return tqdm.tqdm(
        total=total,
        initial=done,
        unit="B",
        unit_scale=True,
        desc=visible(name),
        disable=True if is_quiet() else None,
        file=behind_gate(sys.stderr),
    )
