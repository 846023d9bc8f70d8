"""Outcomes in a store, which knows of texts only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.experiment.outcome import Outcome

if TYPE_CHECKING:
    from fsvm_cli.store.entry import Entry
    from fsvm_cli.store.store import Store


def stored_outcome(store: Store, key: str) -> Outcome | None:
    """Read one outcome, None where there is none.

    Raises
    ------
    DataError
        If it is damaged.
    """
    entry = store.entry(key)
    if entry is None:
        return None
    try:
        return Outcome.unpacked(entry)
    except ValueError as error:
        raise store.damaged(key) from error


def keep_outcome(store: Store, key: str, entry: Entry) -> None:
    """Store an outcome that a worker has packed, together with the subsets that the key already has.

    Raises
    ------
    DataError
        If what the key has is damaged, or the store cannot be written.
    """
    known = stored_outcome(store, key)
    store.put(key, entry if known is None else known.merged_with(Outcome.unpacked(entry)).packed())
