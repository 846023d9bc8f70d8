"""Outcomes in a store, which knows of texts only."""

from __future__ import annotations

import json
import zlib
from base64 import b85decode, b85encode
from typing import TYPE_CHECKING

from fsvm_cli.experiment.outcome import Outcome

if TYPE_CHECKING:
    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.store.entry import Entry
    from fsvm_cli.store.store import Store


PARTS = "parts of the code"
"""Subject of notes in the store, by the hash of the code."""

ADOPTED = "adopted"
"""Subject of notes in the store on outcomes of another code, by what their keys are made of."""


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


def keep_group(store: Store, experiment: Experiment, competitor: int) -> None:
    """Remember what the keys of a competitor are made of, and the parts of its code."""
    code = experiment.code(competitor)
    store.add_group(experiment.groups[competitor])
    store.add_note(PARTS, code.digest, b85encode(zlib.compress(json.dumps(code.parts).encode())).decode())


def stored_parts(store: Store) -> dict[str, dict[str, str]]:
    """Read the parts of codes that outcomes came from, by the hash of the code."""
    return {digest: json.loads(zlib.decompress(b85decode(note))) for digest, note in store.notes(PARTS).items()}


def adoptions(experiment: Experiment, store: Store) -> dict[str, dict[str, int]]:
    """Say of which competitors outcomes were computed by an earlier code, by label: `repeated` trials `of` all of them.

    See Also
    --------
    fsvm_cli.runner.adopt.adopt : Where they were adopted, by trials that `seed` drew.
    """
    notes = store.notes(ADOPTED)
    return {
        experiment.competitors[number].label: json.loads(notes[group])
        for number, group in enumerate(experiment.groups)
        if group in notes
    }
