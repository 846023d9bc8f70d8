"""Finding and loading the configs of experiments, and `extends`: a config that states only its differences."""

from __future__ import annotations

import difflib
import fnmatch
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsvm_cli.config_io import Document, read_document, validate, with_override
from fsvm_cli.console import brief
from fsvm_cli.data.messages import nearest
from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.folds import LEAVE_ONE_OUT
from fsvm_cli.files import is_file, is_folder, names_a_folder_everywhere, special_kind
from fsvm_cli.resources import resource_folder, resource_names
from fsvm_cli.spec.protocol import GIVEN
from fsvm_cli.spec.schema import Config

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fsvm_cli.validation_errors import Location

EXTENDS_KEY = "extends"
"""Key that names the config to extend."""

READING_KEY = "reading"
"""The key that no config takes over from another: what an experiment reads into its source, it says itself."""
CLAIMS_KEY = "expected"
"""Key of the list of claims."""

MAX_EXTENDS_CHAIN_LENGTH = 3
"""Configs in a chain of `extends`, the last base included; longer chains are hard to read."""


def read_with_bases(path: Path, find: Callable[[str], Path]) -> Document:
    """Read a config and complete it with the configs that it extends.

    Mappings are merged key by key; any other value replaces that of the base; an empty key (null) removes it. In the
    list of claims, a text is a pattern for ids of the base, and stands for the claims that match. Every value keeps its
    position in the file where it is written.

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
    while EXTENDS_KEY in document.content:
        name = document.content[EXTENDS_KEY]
        if not isinstance(name, str) or not name:
            raise document.error(
                (EXTENDS_KEY,), f"{EXTENDS_KEY} names no config; write one, as in '{EXTENDS_KEY}: wine.yaml'"
            )
        base_path = _found(document, folder, name, find)
        if base_path.resolve() in chain:
            raise document.error((EXTENDS_KEY,), f"{name} extends itself in the end; leave out one '{EXTENDS_KEY}'")
        chain.append(base_path.resolve())
        if len(chain) > MAX_EXTENDS_CHAIN_LENGTH:
            raise document.error(
                (EXTENDS_KEY,),
                f"{name} is config number {len(chain)} of a chain; {MAX_EXTENDS_CHAIN_LENGTH} may extend one another",
            )
        document, folder = read_document(base_path), base_path.parent
        documents.append(document)
        folders.append(folder)
    # From the last base on, so that a key that a config removes does not return from the base of its base.
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
        raise document.error((EXTENDS_KEY,), str(error)) from error


def _refuse_foreign_file(document: Document, base: Document, *, moved: bool) -> None:
    """Refuse a file of data that is named relative to the folder of another config."""
    dataset = base.content.get("dataset")
    if moved and "dataset" not in document.content and isinstance(dataset, dict) and "file" in dataset:
        raise document.error(
            (EXTENDS_KEY,), f"the data of {base.name} are a file beside it; write its path here, in 'dataset'"
        )


def _completed(document: Document, base: Document) -> Document:
    """Complete a document with its base, which is complete itself."""
    own = {key: value for key, value in document.content.items() if key != EXTENDS_KEY}
    replaced: set[Location] = {(READING_KEY,)}
    taken_over = {key: value for key, value in base.content.items() if key != READING_KEY}
    content = _merged(own, taken_over, (), replaced)
    inherited = {
        location: position
        for location, position in base.positions.items()
        if not any(location[:length] in replaced for length in range(1, len(location) + 1))
    }
    completed = Document(document.name, content, {**inherited, **document.positions})
    return _with_named_claims(completed, base) if isinstance(own.get(CLAIMS_KEY), tuple) else completed


def _with_named_claims(document: Document, base: Document) -> Document:
    """Replace each text in the list of claims by the claims of the base whose ids it matches."""
    known = base.content.get(CLAIMS_KEY)
    ids = [claim.get("id") if isinstance(claim, dict) else None for claim in known or ()]
    claims: list[Any] = []
    positions = {location: where for location, where in document.positions.items() if location[:1] != (CLAIMS_KEY,)}
    positions[CLAIMS_KEY,] = document.where((CLAIMS_KEY,))

    def take(source: Document, index: int) -> None:
        for location, where in source.positions.items():
            if location[:2] == (CLAIMS_KEY, index):
                positions[CLAIMS_KEY, len(claims), *location[2:]] = where
        claims.append(source.content[CLAIMS_KEY][index])

    for index, claim in enumerate(document.content[CLAIMS_KEY]):
        if not isinstance(claim, str):
            take(document, index)
            continue
        named = [number for number, known_id in enumerate(ids) if known_id and fnmatch.fnmatchcase(known_id, claim)]
        if not named:
            known_ids = [str(known_id) for known_id in ids if known_id]
            message = f"no claim of {base.name} has an id like '{brief(claim)}'; {nearest(claim, known_ids)}"
            raise document.error((CLAIMS_KEY, index), message)
        for number in named:
            take(base, number)
    return Document(document.name, document.content | {CLAIMS_KEY: tuple(claims)}, positions)


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


@dataclass(frozen=True)
class LoadedConfig:
    """A config with its source.

    Attributes
    ----------
    name : str
        The file's name without ending; names the folder of the results.
    folder : Path
        Where the config lies; paths in it are relative to this.
    config : Config
    document : Document
        The text's positions, for errors that are found later.
    """

    name: str
    folder: Path
    config: Config
    document: Document


def find_config(name_or_path: str) -> Path:
    """Find a config by its path or, where there is no such file, by the name of a built-in one.

    Raises
    ------
    UsageError
        If there is neither.
    """
    path = Path(name_or_path)
    if is_file(path) or special_kind(path):  # reading refuses a pipe with a message of its own
        return path
    names = resource_names("configs")
    if name_or_path in names:
        return resource_folder("configs") / f"{name_or_path}.yaml"
    kind = "is a folder" if is_folder(path) else "no such file"
    raise UsageError(
        f"{brief(name_or_path)}: {kind}, and no built-in experiment has this name; {_nearest_name(path.stem, names)}"
    )


def _nearest_name(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean '{near[0]}'?" if near else "name one that 'fsvm experiments list' shows"


def read_config(name_or_path: str) -> tuple[Path, Document]:
    """Read the text of one config, of an experiment or a collection, completed by those that it extends.

    Raises
    ------
    UsageError
        If there is no such config, its name cannot name a folder, or it is no YAML mapping.
    """
    path = find_config(name_or_path)
    if not re.fullmatch(r"\w[\w.-]*", path.stem):
        raise UsageError(
            f"{path}: the name of a config may hold letters, digits, '.', '-' and '_' only: it names a folder"
        )
    if not names_a_folder_everywhere(path.stem):
        raise UsageError(f"{path}: Windows has no folders called '{path.stem}', as the results' would be; rename it")
    return path, read_with_bases(path, find_config)


def load_config(name_or_path: str, overrides: Sequence[str] = (), n_splits: int | None = None) -> LoadedConfig:
    """Load and validate the config of one experiment.

    Parameters
    ----------
    name_or_path : str
        Path of a YAML file, or name of a built-in config.
    overrides : sequence of str
        ``KEY=VALUE`` with dotted keys, applied in order.
    n_splits : int, optional
        Another number of splits; of those that the source of the data fixes, no more than the config asks for.

    Raises
    ------
    UsageError
        Listing all mistakes of the file with their positions.
    """
    return config_in(*read_config(name_or_path), overrides, n_splits)


def config_in(path: Path, document: Document, overrides: Sequence[str], n_splits: int | None) -> LoadedConfig:
    """Validate a document that has been read; see `load_config`."""
    for assignment in overrides:
        document = with_override(document, assignment)
    if n_splits is not None and n_splits < _n_splits_limit(document):
        document = with_override(document, f"protocol.splits={n_splits}")
    config = validate(document, Config)
    _refuse_claims_that_share_an_id(config, document)
    return LoadedConfig(path.stem, path.parent, config, document)


def _n_splits_limit(document: Document) -> float:
    """Return the exclusive upper limit of another number of splits: that of the data's, infinite for random ones."""
    protocol = document.content.get("protocol")
    is_limited = isinstance(protocol, dict) and protocol.get("train") in {GIVEN, LEAVE_ONE_OUT}
    planned = protocol.get("splits") if isinstance(protocol, dict) and is_limited else None
    return planned if isinstance(planned, int) else math.inf


def _refuse_claims_that_share_an_id(config: Config, document: Document) -> None:
    first: dict[str, str] = {}
    for index, claim in enumerate(config.expected):
        here = ("expected", index, "id")
        if claim.id in first:
            before = first[claim.id].removeprefix(f"{document.name}:")
            raise document.error(here, f"two claims have the id '{claim.id}' (first at {before}); rename one")
        first[claim.id] = document.where(here)
