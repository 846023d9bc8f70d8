"""What is known of a data set before any of it is fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsvm_cli.data.card import Files, FixedVersion
from fsvm_cli.data.source import find_version, open_source
from fsvm_cli.data.spec import NamedSpec, OpenmlSpec
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.data.card import GeneratedVersion
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.data.spec import Spec


@dataclass(frozen=True)
class Outline:
    """The size of a data set.

    Attributes
    ----------
    name : str
        What it is called in tables.
    n_samples, n_features : int
    class_names : tuple of str
        In any order.
    has_split : bool
        Whether the source fixes a training and a test part.
    """

    name: str
    n_samples: int
    n_features: int
    class_names: tuple[str, ...]
    has_split: bool


def outline_of(source: DataSource) -> Outline:
    """Outline a data set that has been opened."""
    has_split = source.given_split is not None
    return Outline(source.name, source.n_samples, source.n_features, source.class_names, has_split)


def outline(spec: Spec, *, base_folder: Path) -> Outline | None:
    """Outline what a config names: by its card, or by reading a file of the user's own; nothing is fetched.

    Parameters
    ----------
    spec, base_folder
        As in `fsvm_cli.data.source.open_source`.

    Returns
    -------
    Outline or None
        None for a set of OpenML, of which nothing is known before it is fetched.

    Raises
    ------
    UsageError
        If there is no such data set or version, or an option does not belong to it.
    DataError
        If a file of the user's own is missing or is not usable as it is.
    """
    if isinstance(spec, OpenmlSpec):
        return None
    if not isinstance(spec, NamedSpec):
        return outline_of(open_source(spec, base_folder=base_folder, announce=lambda _: None))
    card, version_name, version = find_version(spec)
    name = spec.name if len(card.versions) == 1 else f"{spec.name} ({version_name})"
    return _fixed(name, version) if isinstance(version, FixedVersion) else _drawn(name, version, spec.samples)


def _fixed(name: str, version: FixedVersion) -> Outline:
    expected = version.expected
    has_split = any(isinstance(copy, Files) and copy.test_files for copy in version.copies)
    # Reuters' own split stands in its stories.
    has_split |= any(getattr(copy, "split", "any") != "any" for copy in version.copies)
    return Outline(name, expected.rows, expected.features, tuple(expected.classes), has_split)


def _drawn(name: str, version: GeneratedVersion, n_samples: int | None) -> Outline:
    if version.generator not in GENERATORS:
        raise UsageError(f"there is no generator '{version.generator}'")
    generator = GENERATORS[version.generator]
    return Outline(name, n_samples or version.samples, generator.n_features, generator.class_names, has_split=False)
