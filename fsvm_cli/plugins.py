"""Plug-ins of other packages: ranking methods, feature extractors and data cards, found by entry points.

A package lists them in its ``pyproject.toml``, in the groups ``fsvm.rankings``, ``fsvm.extractors`` and
``fsvm.datasets``. A group is read at its first use. An entry point that cannot be loaded is left out with a warning.
A ranking method that no package lists, such as one that is being written, is named by `ENTRY_POINTS_VARIABLE`.
"""

from __future__ import annotations

import functools
import logging
import multiprocessing
import os
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import TYPE_CHECKING, Any, Literal

from fsvm_cli.errors import UsageError, contained, quiet_in_place

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

Group = Literal["fsvm.rankings", "fsvm.extractors", "fsvm.datasets"]

THIS_PACKAGE = "fsvm"
"""The owner of the methods and data sets of fsvm itself."""

GROUP_NOUNS: Mapping[Group, str] = {
    "fsvm.rankings": "ranking method",
    "fsvm.extractors": "feature extractor",
    "fsvm.datasets": "data set",
}

ENTRY_POINTS_VARIABLE = "FSVM_RANKINGS"
"""Environment variable that lists further ranking methods, as name=module:Class, separated by spaces.

Processes that are started inherit it, so that workers know what their parent knows.
"""

logger = logging.getLogger(__name__)


def load_plugins(group: Group, read: Callable[[str, Any], Mapping[str, Any]]) -> dict[str, tuple[str, Any]]:
    """Load the plug-ins of a group.

    Parameters
    ----------
    group : str
    read : callable
        Called with the name of an entry point and the loaded object; returns the plug-ins, by name. An exception means
        that the entry point cannot be used, and its text is the reason in the warning.

    Returns
    -------
    dict of str to tuple
        For each name, the owner, as of `owner_of`, and the plug-in.

    Raises
    ------
    UsageError
        If two packages have a plug-in of the same name.
    """
    found: dict[str, tuple[str, Any]] = {}
    for entry in _entry_points(group):
        owner = owner_of(entry)
        try:
            with contained(entry.value), quiet_in_place():
                added = read(entry.name, entry.load())
        except Exception as failure:  # noqa: BLE001 - an error in one plug-in must not prevent the others
            _warn(f"{owner}: the {GROUP_NOUNS[group]} '{entry.name}' cannot be used: {_reason(failure)}")
            continue
        for name, value in added.items():
            if name in found:
                raise _clash(group, name, found[name][0], owner)
            found[name] = (owner, value)
    return found


def joined(group: Group, own: Mapping[str, Any], added: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
    """Join the entries of fsvm itself with those of other packages, in the order of the names.

    Raises
    ------
    UsageError
        If a package has an entry of a name that is taken.
    """
    for name in sorted(own.keys() & added.keys()):
        raise _clash(group, name, THIS_PACKAGE, added[name][0])
    return dict(sorted({**own, **{name: value for name, (_, value) in added.items()}}.items()))


def owner_of(entry: EntryPoint) -> str:
    """Name the package, with its version, that an entry point belongs to."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value


def packages_of(group: Group, names: Collection[str]) -> dict[str, str]:
    """Return the versions of the packages that have entry points of some names, by the packages' names."""
    return {entry.dist.name: entry.dist.version for entry in _entry_points(group) if entry.name in names and entry.dist}


@functools.cache
def _installed(group: Group) -> EntryPoints:
    # Cached because it reads the metadata of every installed package.
    return entry_points(group=group)


def _entry_points(group: Group) -> list[EntryPoint]:
    # A package that is on the path twice has its entry points twice.
    distinct = {(entry.name, entry.value, owner_of(entry)): entry for entry in (*_installed(group), *_listed(group))}
    return [distinct[each] for each in sorted(distinct)]


def _listed(group: Group) -> list[EntryPoint]:
    """Return the entry points that the environment lists, which belong to no package."""
    listed = os.environ.get(ENTRY_POINTS_VARIABLE, "").split() if group == "fsvm.rankings" else ()
    return [EntryPoint(name, value, group) for name, _, value in (each.partition("=") for each in listed)]


def _clash(group: Group, name: str, *owners: str) -> UsageError:
    both = " and ".join(sorted(owners, key=lambda owner: owner != THIS_PACKAGE))
    return UsageError(f"{both} both have a {GROUP_NOUNS[group]} called '{name}'; uninstall one, or rename it there")


def _reason(failure: Exception) -> str:
    first_line, *_ = str(failure).splitlines() or [""]
    return f"{type(failure).__name__}: {first_line}"


def _warn(message: str) -> None:
    # Only in the main process: each worker process would repeat the same warning.
    if multiprocessing.parent_process() is None:
        logger.warning("fsvm: %s", message)
