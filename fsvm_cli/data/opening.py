"""Data sets as configs and callers name them: by a card, a file, or a number at OpenML."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.config_io import Document, StrictModel, as_in_documents, validate
from fsvm_cli.data.source import fixed_source, metadata_of
from fsvm_cli.data.source_spec import DatasetSpec, FileSpec, NamedSpec, OpenmlSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.source import DatasetMetadata, DataSource
    from fsvm_cli.data.source_spec import Spec


def open_source(spec: Spec, *, base_folder: Path, announce: Callable[[str], None]) -> DataSource:
    """Find, fetch and verify what a config names.

    Parameters
    ----------
    spec : DatasetSpec
        The config's ``dataset:``.
    base_folder : Path
        Folder that relative paths of files start from.
    announce : callable
        Called with a line about each step that takes time.

    Raises
    ------
    UsageError, DataError
        As `load_dataset`.
    """
    if isinstance(spec, NamedSpec):
        from fsvm_cli.data.load import open_named  # noqa: PLC0415 - a table of the user's own needs no cards

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
    content = as_in_documents(dataset if isinstance(dataset, str) else dict(dataset))
    spec = validate(Document("load_dataset", {"dataset": content}, {}), _Named).dataset
    return open_source(spec, base_folder=Path(), announce=lambda _: None).draw(np.random.default_rng(seed))


def metadata(spec: Spec, *, base_folder: Path) -> DatasetMetadata | None:
    """Describe what a config names, by its card or by reading a file of the user's own; nothing is fetched.

    Parameters
    ----------
    spec, base_folder
        As in `fsvm_cli.data.opening.open_source`.

    Returns
    -------
    DatasetMetadata or None
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
    from fsvm_cli.data.load import metadata_of_card  # noqa: PLC0415 - as in `open_source`

    return metadata_of_card(spec)
