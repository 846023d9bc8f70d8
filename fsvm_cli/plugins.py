"""What other packages add: ranking methods, feature extractors and data cards, by their entry points.

A package names them in its ``pyproject.toml``, in the groups ``fsvm.rankings``, ``fsvm.extractors`` and
``fsvm.datasets``. Nothing is looked for before it is asked for. What cannot be loaded is told in one line and left out.
"""

from __future__ import annotations

import functools
import logging
import multiprocessing
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import TYPE_CHECKING, Any, Literal

from fsvm_cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

Group = Literal["fsvm.rankings", "fsvm.extractors", "fsvm.datasets"]

THIS_PACKAGE = "fsvm"
"""The owner of what comes with fsvm itself."""

WHAT: Mapping[Group, str] = {
    "fsvm.rankings": "ranking method",
    "fsvm.extractors": "feature extractor",
    "fsvm.datasets": "data set",
}

logger = logging.getLogger(__name__)


def load_plugins(group: Group, read: Callable[[str, Any], Mapping[str, Any]]) -> dict[str, tuple[str, Any]]:
    """Load what other packages add to a group.

    Parameters
    ----------
    group : str
    read : callable
        Is given the name of an entry point and the object that it leads to; returns what that adds, by name. Whatever
        it raises is taken as the reason why the entry point is of no use.

    Returns
    -------
    dict of str to tuple
        For each name, the package that adds it, and what is added.

    Raises
    ------
    UsageError
        If two packages add something of the same name.
    """
    found: dict[str, tuple[str, Any]] = {}
    for entry in _entry_points(group):
        owner = owner_of(entry)
        try:
            added = read(entry.name, entry.load())
        except Exception as failure:  # noqa: BLE001 - what other people's code raises must not end the rest
            _tell(f"{owner}: the {WHAT[group]} '{entry.name}' cannot be used: {_reason(failure)}")
            continue
        for name, value in added.items():
            if name in found:
                raise _clash(group, name, found[name][0], owner)
            found[name] = (owner, value)
    return found


def joined(group: Group, own: Mapping[str, Any], added: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
    """Put what comes with fsvm and what other packages add together, in the order of the names.

    Raises
    ------
    UsageError
        If a package adds something of a name that is taken.
    """
    for name in sorted(own.keys() & added.keys()):
        raise _clash(group, name, THIS_PACKAGE, added[name][0])
    return dict(sorted({**own, **{name: value for name, (_, value) in added.items()}}.items()))


def owner_of(entry: EntryPoint) -> str:
    """Name the package, with its version, that an entry point belongs to."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value


def packages_of(group: Group, names: Collection[str]) -> dict[str, str]:
    """Give the versions of the packages that have entry points of some names, by the packages' names."""
    return {entry.dist.name: entry.dist.version for entry in _entry_points(group) if entry.name in names and entry.dist}


@functools.cache
def _installed(group: Group) -> EntryPoints:
    # It takes a look at every package that is installed.
    return entry_points(group=group)


def _entry_points(group: Group) -> list[EntryPoint]:
    # A package that can be found in two places of the path has its entry points twice.
    distinct = {(entry.name, entry.value, owner_of(entry)): entry for entry in _installed(group)}
    return [distinct[each] for each in sorted(distinct)]


def _clash(group: Group, name: str, *owners: str) -> UsageError:
    both = " and ".join(sorted(owners, key=lambda owner: owner != THIS_PACKAGE))
    return UsageError(f"{both} both have a {WHAT[group]} called '{name}'; uninstall one, or rename it there")


def _reason(failure: Exception) -> str:
    first_line, *_ = str(failure).splitlines() or [""]
    return f"{type(failure).__name__}: {first_line}"


def _tell(message: str) -> None:
    # A worker process is not where a person reads, and the process that started it has told the same.
    if multiprocessing.parent_process() is None:
        logger.warning("fsvm: %s", message)
