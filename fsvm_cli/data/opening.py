"""The data sets that have a card, by their names.

The data sets of OpenML.

Data sets as configs and callers name them: by a card, a file, or a number at OpenML.

What is known of a data set before any of it is fetched.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.config_io import Document, StrictModel, as_in_documents, validate
from fsvm_cli.data.cards import Files, FixedVersion, LibsvmCopy, ReutersCopy, read_card
from fsvm_cli.data.load import load_splits, load_version
from fsvm_cli.data.messages import numbered
from fsvm_cli.data.source import DatasetMetadata, GeneratedSource, fixed_source, metadata_of
from fsvm_cli.data.source_spec import DatasetSpec, FileSpec, NamedSpec, OpenmlSpec
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fsvm_cli.data.cards import Card, Copy, GeneratedVersion
    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.data.source_spec import Spec


def open_named(spec: NamedSpec, announce: Callable[[str], None]) -> DataSource:
    """Find, fetch and verify a data set that has a card.

    Parameters
    ----------
    spec : NamedSpec
    announce : callable
        Is told, line by line, what takes time.

    Raises
    ------
    UsageError
        If there is no such data set or version, or 'samples' does not belong to it.
    DataError
        If no copy can be had.
    """
    card, version_name, version = find_version(spec)
    name = spec.name if len(card.versions) == 1 else f"{spec.name} ({version_name})"
    if isinstance(version, FixedVersion):
        dataset = load_version(name, card, version, announce)
        return fixed_source(dataset, version.caveats, load_splits(card, version, dataset, announce))
    return _generated_source(name, version, spec.samples or version.samples)


def find_version(spec: NamedSpec) -> tuple[Card, str, FixedVersion | GeneratedVersion]:
    """Find the card that a config names, and the name and content of its version.

    Raises
    ------
    UsageError
        If there is no such data set or version, or 'samples' does not belong to it.
    """
    card = read_card(spec.name)
    version_name, version = card.version(spec.name, spec.version)
    if isinstance(version, FixedVersion) and spec.samples is not None:
        raise UsageError(
            f"'samples' is for synthetic sets; '{spec.name}' has {version.expected.rows} rows; leave it out"
        )
    return card, version_name, version


def _generated_source(name: str, version: GeneratedVersion, n_samples: int) -> GeneratedSource:
    generator = GENERATORS[version.generator]
    distribution = [version.generator, version.parameters, n_samples]
    return GeneratedSource(
        name=name,
        identity=hashlib.sha256(json.dumps(distribution, sort_keys=True).encode()).hexdigest(),
        n_samples=n_samples,
        feature_names=numbered(generator.n_features),
        class_names=generator.class_names,
        caveats=version.caveats,
        generator=version.generator,
        parameters=version.parameters,
    )


def open_source(spec: Spec, *, base_folder: Path, announce: Callable[[str], None]) -> DataSource:
    """Find, fetch and verify what a config names.

    Parameters
    ----------
    spec : DatasetSpec
        The config's ``dataset:``.
    base_folder : Path
        Folder that relative paths of files start from.
    announce : callable
        Is told, line by line, what takes time.

    Raises
    ------
    UsageError, DataError
        As `load_dataset`.
    """
    if isinstance(spec, NamedSpec):
        return open_named(spec, announce)
    if isinstance(spec, FileSpec):
        from fsvm_cli.data import user_file  # noqa: PLC0415 - imports pyarrow, which is slow

        dataset = user_file.load_file(spec, base_folder)
        return fixed_source(dataset, (), user_file.load_splits(spec, base_folder, dataset))
    from fsvm_cli.data.openml import load_openml  # noqa: PLC0415 - imports pyarrow and scikit-learn's data sets

    return fixed_source(load_openml(spec, announce))


class _Named(StrictModel):
    dataset: DatasetSpec


def load_dataset(dataset: str | Mapping[str, Any], seed: int = 0) -> Dataset:
    """Load a data set by its name, or by what a config may say of it.

    Parameters
    ----------
    dataset : str or mapping
        A name of ``fsvm datasets list``; or a mapping, such as ``{"name": "plane", "samples": 100}`` or
        ``{"file": "mine.csv", "target": "kind"}``, as under ``dataset:`` in a config.
    seed : int, default=0
        For what is drawn from a distribution.

    Returns
    -------
    Dataset
        With ``X``, ``y`` (codes), ``feature_names``, ``class_names``.

    Raises
    ------
    UsageError
        If there is no such data set or version, or an option does not belong to it.
    DataError
        If the data are missing, corrupt or out of reach.

    See Also
    --------
    rank : Ranks the features of a data set.

    Examples
    --------
    >>> from fsvm_cli import load_dataset
    >>> wine = load_dataset("wine")
    >>> wine.X.shape, wine.class_counts()
    ((178, 13), {'cultivar 1': 59, 'cultivar 2': 71, 'cultivar 3': 48})
    >>> load_dataset({"name": "plane", "samples": 100}).n_samples
    100
    """
    said = as_in_documents(dataset if isinstance(dataset, str) else dict(dataset))
    spec = validate(Document("load_dataset", {"dataset": said}, {}), _Named).dataset
    return open_source(spec, base_folder=Path(), announce=lambda _: None).draw(np.random.default_rng(seed))


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
