"""Finding configs, and loading those of experiments."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fsvm_cli.data.phrases import nearest
from fsvm_cli.documents import validate
from fsvm_cli.errors import UsageError
from fsvm_cli.files import is_file, is_folder, names_a_folder_everywhere
from fsvm_cli.overrides import with_override
from fsvm_cli.shipped import shipped_folder, shipped_names
from fsvm_cli.spec.extends import read_with_bases
from fsvm_cli.spec.protocol import GIVEN
from fsvm_cli.spec.schema import Config
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.documents import Document


@dataclass(frozen=True)
class LoadedConfig:
    """A config, and where it came from.

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
    """Find a config by its path or, where there is no such file, by the name of a shipped one.

    Raises
    ------
    UsageError
        If there is neither.
    """
    path = Path(name_or_path)
    if is_file(path):
        return path
    names = shipped_names("configs")
    if name_or_path in names:
        return shipped_folder("configs") / f"{name_or_path}.yaml"
    kind = "is a folder" if is_folder(path) else "no such file"
    raise UsageError(f"{brief(name_or_path)}: {kind}, and no shipped config has this name; {nearest(path.stem, names)}")


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
        Path of a YAML file, or name of a shipped config.
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
    """Do what `load_config` does with a text that has been read."""
    for assignment in overrides:
        document = with_override(document, assignment)
    if n_splits is not None and n_splits < _most_splits(document):
        document = with_override(document, f"protocol.splits={n_splits}")
    config = validate(document, Config)
    _refuse_claims_that_share_an_id(config, document)
    return LoadedConfig(path.stem, path.parent, config, document)


def _most_splits(document: Document) -> float:
    """Tell how many splits may be asked for beside the config, plus one: any number of random ones."""
    protocol = document.content.get("protocol")
    is_given = isinstance(protocol, dict) and protocol.get("train") == GIVEN
    planned = protocol.get("splits") if isinstance(protocol, dict) and is_given else None
    return planned if isinstance(planned, int) else math.inf


def _refuse_claims_that_share_an_id(config: Config, document: Document) -> None:
    first: dict[str, str] = {}
    for index, claim in enumerate(config.expected):
        here = ("expected", index, "id")
        if claim.id in first:
            before = first[claim.id].removeprefix(f"{document.name}:")
            raise document.error(here, f"two claims have the id '{claim.id}' (first at {before}); rename one")
        first[claim.id] = document.where(here)
