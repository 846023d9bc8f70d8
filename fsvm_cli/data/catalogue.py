"""The data sets by name: the cards that come with fsvm, and those that other packages add."""

from __future__ import annotations

import functools
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fsvm_cli.plugins import joined, load_plugins
from fsvm_cli.resources import resource_folder, resource_names

if TYPE_CHECKING:
    from collections.abc import Mapping


@functools.cache
def data_cards() -> Mapping[str, Path]:
    """Find every card, in the order of the names.

    Returns
    -------
    mapping of str to Path
        The file of each card.

    Raises
    ------
    UsageError
        If two packages have a data set of the same name.
    """
    own = {name: resource_folder("datasets") / f"{name}.yaml" for name in resource_names("datasets")}
    return joined("fsvm.datasets", own, load_plugins("fsvm.datasets", _cards_from_outside))


def _cards_from_outside(_: str, loaded: Any) -> dict[str, Path]:
    """Find the cards that another package adds: in the folder of a module, in a folder, or a single one."""
    where = Path(str(loaded.__file__)).parent if isinstance(loaded, ModuleType) else Path(loaded)
    paths = [where] if where.is_file() else sorted(where.glob("*.yaml"))
    if not paths:
        raise FileNotFoundError(f"{where}: no card (NAME.yaml) here")
    return {path.stem: path for path in paths}
