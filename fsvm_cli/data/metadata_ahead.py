"""What is known of a data set before any of it is fetched."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fsvm_cli.data.cards import Files, FixedVersion, LibsvmCopy, ReutersCopy
from fsvm_cli.data.messages import numbered
from fsvm_cli.data.named_source import find_version
from fsvm_cli.data.opening import open_source
from fsvm_cli.data.source import DatasetMetadata, metadata_of
from fsvm_cli.data.source_spec import NamedSpec, OpenmlSpec
from fsvm_cli.data.synthetic import GENERATORS

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.data.cards import Copy, GeneratedVersion
    from fsvm_cli.data.source_spec import Spec


def metadata(spec: Spec, *, base_folder: Path) -> DatasetMetadata | None:
    """Outline what a config names: by its card, or by reading a file of the user's own; nothing is fetched.

    Parameters
    ----------
    spec, base_folder
        As in `fsvm_cli.data.opening.open_source`.

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
        opened = metadata_of(open_source(spec, base_folder=base_folder, announce=lambda _: None))
        return replace(opened, is_own=True)
    card, version_name, version = find_version(spec)
    name = spec.name if len(card.versions) == 1 else f"{spec.name} ({version_name})"
    return _fixed(name, version) if isinstance(version, FixedVersion) else _drawn(name, version, spec.samples)


def _fixed(name: str, version: FixedVersion) -> DatasetMetadata:
    expected = version.expected
    has_split = any(isinstance(copy, Files) and copy.test_files for copy in version.copies)
    # Reuters' own split stands in its stories.
    has_split |= any(getattr(copy, "split", "any") != "any" for copy in version.copies)
    n_splits = version.splits.number if version.splits else int(has_split)
    size = expected.rows, expected.features
    # All copies of a version hold the same matrix, full or sparse.
    is_sparse = any(map(_is_sparse, version.copies))
    classes, names = tuple(expected.classes), version.features or None
    return DatasetMetadata(name, *size, classes, n_splits, is_sparse, names, knows_relevant_features=False)


def _is_sparse(copy: Copy) -> bool:
    """Whether a copy is read into a sparse matrix; that of Reuters holds numbers of words."""
    return isinstance(copy, ReutersCopy) or (isinstance(copy, LibsvmCopy) and not copy.dense)


def _drawn(name: str, version: GeneratedVersion, n_samples: int | None) -> DatasetMetadata:
    generator = GENERATORS[version.generator]
    size = n_samples or version.samples, generator.n_features
    names = numbered(generator.n_features)
    return DatasetMetadata(
        name,
        *size,
        generator.class_names,
        n_splits=0,
        is_sparse=False,
        feature_names=names,
        knows_relevant_features=True,
    )
