"""`extends`: a config that states only what differs from another one."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, Any

from fsvm_cli.data.phrases import nearest
from fsvm_cli.documents import Document, read_document
from fsvm_cli.errors import UsageError
from fsvm_cli.files import is_file
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.mistakes import Location

EXTENDS = "extends"
"""The key that names the config that a config begins with."""
CLAIMS = "expected"
"""The key of the list of claims."""
MAX_CONFIGS = 3
"""So many configs may stand in a chain; a longer one could not be read by a person."""


def read_with_bases(path: Path, find: Callable[[str], Path]) -> Document:
    """Read a config and complete it with the configs that it extends.

    Mappings are merged key by key; any other value replaces the one that it extends; a key that is empty (or null)
    takes it away. In the list of claims, a text stands for the claims of the base whose ids match it as a pattern.
    Every value keeps the position at which it is written.

    Parameters
    ----------
    path : Path
    find : callable
        Finds a config by its name, where no file of the name lies beside the one that extends it.

    Raises
    ------
    UsageError
        If a config cannot be read, is named in its own chain, or the chain is too long.
    """
    document = read_document(path)
    folder = path.parent
    documents, folders, chain = [document], [folder], [path.resolve()]
    while EXTENDS in document.content:
        name = document.content[EXTENDS]
        if not isinstance(name, str) or not name:
            raise document.error((EXTENDS,), f"{EXTENDS} names no config; write one, as in '{EXTENDS}: wine.yaml'")
        base_path = _found(document, folder, name, find)
        if base_path.resolve() in chain:
            raise document.error((EXTENDS,), f"{name} extends itself in the end; leave out one '{EXTENDS}'")
        chain.append(base_path.resolve())
        if len(chain) > MAX_CONFIGS:
            raise document.error(
                (EXTENDS,), f"{name} is config number {len(chain)} of a chain; {MAX_CONFIGS} may extend one another"
            )
        document, folder = read_document(base_path), base_path.parent
        documents.append(document)
        folders.append(folder)
    # From the last base on, so that what a config takes away is not found again in the base of its base.
    completed = documents.pop()
    base_folder = folders.pop().resolve()
    for document, folder in zip(reversed(documents), reversed(folders), strict=True):
        _refuse_foreign_file(document, completed, moved=base_folder != folder.resolve())
        completed, base_folder = _completed(document, completed), folder.resolve()
    return completed


def _found(document: Document, folder: Path, name: str, find: Callable[[str], Path]) -> Path:
    beside = folder / name
    if is_file(beside):
        return beside
    try:
        return find(name.removesuffix(".yaml"))
    except UsageError as error:
        raise document.error((EXTENDS,), str(error)) from error


def _refuse_foreign_file(document: Document, base: Document, *, moved: bool) -> None:
    """Refuse a file of data that is named relative to the folder of another config."""
    dataset = base.content.get("dataset")
    if moved and "dataset" not in document.content and isinstance(dataset, dict) and "file" in dataset:
        raise document.error(
            (EXTENDS,), f"the data of {base.name} are a file beside it; say here where it is, in 'dataset'"
        )


def _completed(document: Document, base: Document) -> Document:
    """Complete a document with what its base says, which is complete itself."""
    own = {key: value for key, value in document.content.items() if key != EXTENDS}
    replaced: set[Location] = set()
    content = _merged(own, base.content, (), replaced)
    inherited = {
        location: position
        for location, position in base.positions.items()
        if not any(location[:length] in replaced for length in range(1, len(location) + 1))
    }
    completed = Document(document.name, content, {**inherited, **document.positions})
    return _with_named_claims(completed, base) if isinstance(own.get(CLAIMS), tuple) else completed


def _with_named_claims(document: Document, base: Document) -> Document:
    """Put the claims of the base in the places where a text names them by their ids."""
    known = base.content.get(CLAIMS)
    ids = [claim.get("id") if isinstance(claim, dict) else None for claim in known or ()]
    claims: list[Any] = []
    positions = {location: where for location, where in document.positions.items() if location[:1] != (CLAIMS,)}
    positions[CLAIMS,] = document.where((CLAIMS,))

    def take(source: Document, index: int) -> None:
        for location, where in source.positions.items():
            if location[:2] == (CLAIMS, index):
                positions[CLAIMS, len(claims), *location[2:]] = where
        claims.append(source.content[CLAIMS][index])

    for index, claim in enumerate(document.content[CLAIMS]):
        if not isinstance(claim, str):
            take(document, index)
            continue
        named = [number for number, known_id in enumerate(ids) if known_id and fnmatch.fnmatchcase(known_id, claim)]
        if not named:
            known_ids = [str(known_id) for known_id in ids if known_id]
            message = f"no claim of {base.name} has an id like '{brief(claim)}'; {nearest(claim, known_ids)}"
            raise document.error((CLAIMS, index), message)
        for number in named:
            take(base, number)
    return Document(document.name, document.content | {CLAIMS: tuple(claims)}, positions)


def _merged(own: dict[str, Any], base: dict[str, Any], location: Location, replaced: set[Location]) -> dict[str, Any]:
    result = dict(base)
    for key, value in own.items():
        here = (*location, key)
        if value is None:
            result.pop(key, None)
            replaced.add(here)
        elif isinstance(value, dict) and isinstance(base.get(key), dict):
            result[key] = _merged(value, base[key], here, replaced)
        else:
            result[key] = value
            replaced.add(here)
    return result
