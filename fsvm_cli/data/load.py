"""Data sets that have a card: the copy that can be had first, read and verified, or a distribution to draw from.

Rows that are slow to parse are kept in the cache folder, under the hash of their values.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fsvm_cli.data.cards import (
    BundledCopy,
    ExpressionCopy,
    Files,
    FixedVersion,
    GeneTableCopy,
    LibsvmCopy,
    ReutersCopy,
    SequencesCopy,
    TextCopy,
    read_card,
)
from fsvm_cli.data.dataset import hash_values
from fsvm_cli.data.fetch import cache_folder, fetch_files, is_intact
from fsvm_cli.data.given_splits import read_splits
from fsvm_cli.data.messages import numbered, shown
from fsvm_cli.data.readers.libsvm import read_libsvm
from fsvm_cli.data.readers.reuters import read_reuters
from fsvm_cli.data.readers.rows import Rows, assemble, stacked
from fsvm_cli.data.readers.text import read_expression, read_gene_table, read_sequences, read_text
from fsvm_cli.data.source import DatasetMetadata, GeneratedSource, fixed_source
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.data.cards import Card, Copy, Expected, GeneratedVersion
    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.given_splits import GivenSplit
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.data.source_spec import NamedSpec


def keep(sha256: str, parts: list[Rows]) -> None:
    """Keep sparse rows under the hash of their values; where the cache cannot be written, nothing is kept."""
    stored: dict[str, Any] = {
        "feature_names": np.array(parts[0].feature_names),
        "least_occurrences": np.array([] if parts[0].least_occurrences is None else [parts[0].least_occurrences]),
    }
    for number, part in enumerate(parts):
        X = sp.csr_array(part.X)
        stored |= {
            f"data{number}": X.data,
            f"indices{number}": X.indices,
            f"indptr{number}": X.indptr,
            f"labels{number}": np.array(part.labels),
        }
    stream = io.BytesIO()
    np.savez(stream, **stored)
    with contextlib.suppress(DataError):
        write_atomically(_path(sha256), stream.getvalue())


def recall(sha256: str) -> list[Rows] | None:
    """Find rows that were kept, or None; the caller verifies their hash."""
    try:
        with _path(sha256).open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            feature_names = tuple(stored["feature_names"].tolist())
            least_occurrences = next(iter(stored["least_occurrences"].tolist()), None)
            n_parts = sum(name.startswith("data") for name in stored)
            return [
                Rows(
                    sp.csr_array(
                        tuple(stored[f"{name}{number}"] for name in ("data", "indices", "indptr")),
                        shape=(len(stored[f"labels{number}"]), len(feature_names)),
                    ),
                    stored[f"labels{number}"].tolist(),
                    feature_names,
                    least_occurrences,
                )
                for number in range(n_parts)
            ]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError):
        return None


def _path(sha256: str) -> Path:
    return cache_folder() / "parsed" / f"{sha256}.npz"


def read_bundled(loader: str) -> Rows:
    """Read what ``sklearn.datasets.<loader>()`` returns; labels are scikit-learn's class names."""
    import sklearn.datasets  # noqa: PLC0415 - slow to import, and seldom needed

    bunch = getattr(sklearn.datasets, loader)()
    labels = np.asarray(bunch.target_names)[bunch.target].tolist()
    return Rows(np.asarray(bunch.data, dtype=np.float64), labels, tuple(map(str, bunch.feature_names)))


def load_version(name: str, card: Card, version: FixedVersion, announce: Callable[[str], None]) -> Dataset:
    """Read the first copy whose values are the expected ones.

    What was parsed and kept comes first, then copies that lie in the cache, what scikit-learn carries, and what must
    be fetched.

    Raises
    ------
    DataError
        If no copy is available, with the error of each.
    """
    failures = []
    kept = recall(version.expected.sha256)
    if kept is not None:
        with contextlib.suppress(DataError):
            return _from_version(name, version, kept)
    for copy in sorted(version.copies, key=lambda copy: _distance(card, copy)):
        try:
            parts = _read_copy(card, version, copy, announce)
            dataset = _from_version(name, version, parts)
        except DataError as error:
            failures.append(str(error))
            continue
        if isinstance(copy, ReutersCopy):
            keep(dataset.sha256, parts)
        return dataset
    raise DataError("\n".join([f"data set '{name}' is not available:", *failures]))


def load_splits(
    card: Card, version: FixedVersion, dataset: Dataset, announce: Callable[[str], None]
) -> tuple[GivenSplit, ...]:
    """Read the splits that a card lists for a version; none where it lists none.

    Raises
    ------
    DataError
        If the file is not available, or does not list as many splits of these rows as the card says.
    """
    if version.splits is None:
        return ()
    (path,) = fetch_files([file for file in card.files if file.path == version.splits.file], announce)
    splits = read_splits(path, dataset, version.splits.first_row)
    if len(splits) != version.splits.number:
        raise DataError(f"{path}: {len(splits)} splits, where the card expects {version.splits.number}")
    return splits


def _distance(card: Card, copy: Copy) -> int:
    if isinstance(copy, BundledCopy):
        return 1
    return 0 if all(is_intact(cache_folder() / file.path, file) for file in card.files_of(copy)) else 2


def _read_copy(card: Card, version: FixedVersion, copy: Copy, announce: Callable[[str], None]) -> list[Rows]:
    """Read the training (or only) part, and the test part where the copy has one."""
    if isinstance(copy, BundledCopy):
        return [read_bundled(copy.loader)]
    paths = fetch_files(card.files_of(copy), announce)
    if isinstance(copy, ReutersCopy):
        options = {key: value for key, value in copy if key not in {"reader", "files", "test_files"}}
        return read_reuters(paths, **options)
    if isinstance(copy, ExpressionCopy):
        samples = read_expression(*paths)
        return [samples if copy.groups else replace(samples, groups=None)]
    if isinstance(copy, GeneTableCopy):
        table, classes, *tests = paths
        return [read_gene_table(each, classes) for each in (table, *tests)]
    rows = [_read_file(path, copy, version.expected.features) for path in paths]
    n_first = len(rows) - len(copy.test_files)
    parts = [rows[:n_first], rows[n_first:]]
    return [stacked(part) for part in parts if part]


def _read_file(path: Path, copy: TextCopy | SequencesCopy | LibsvmCopy, n_features: int) -> Rows:
    if isinstance(copy, TextCopy):
        return read_text(
            path,
            separator=copy.separator,
            target=copy.target,
            drop=copy.drop,
            missing=copy.missing,
            missing_as=copy.missing_as,
        )
    if isinstance(copy, SequencesCopy):
        return read_sequences(path, coding=copy.coding)
    return read_libsvm(path, n_features=n_features, dense=copy.dense)


def _from_version(name: str, version: FixedVersion, parts: list[Rows]) -> Dataset:
    """Assemble the data set that the card describes; a DataError states how the parts differ from it."""
    labels = {label for part in parts for label in part.labels}
    unknown = sorted(labels - version.classes.keys())
    if unknown:
        raise DataError(f"labels that the card does not know: {shown(unknown)}")
    named = [replace(part, labels=[version.classes[label] for label in part.labels]) for part in parts]
    dataset = assemble(name, named, tuple(dict.fromkeys(version.classes.values())), version.features)
    _compare(dataset, version.expected)
    return dataset


def _compare(dataset: Dataset, expected: Expected) -> None:
    found = {
        "rows": (dataset.n_samples, expected.rows),
        "features": (dataset.n_features, expected.features),
        "rows by class": (dataset.class_counts(), expected.classes),
        "hash of the values": (dataset.sha256, expected.sha256),
    }
    for what, (have, wanted) in found.items():
        if have != wanted:
            raise DataError(f"{what}: {have}, where the card expects {wanted}")


def open_named(spec: NamedSpec, announce: Callable[[str], None]) -> DataSource:
    """Find, fetch and verify a data set that has a card.

    Parameters
    ----------
    spec : NamedSpec
    announce : callable
        Called with a line about each step that takes time.

    Raises
    ------
    UsageError
        If there is no such data set or version, or 'samples' does not belong to it.
    DataError
        If no copy is available.
    """
    card, version_name, version = find_version(spec)
    name = spec.name if len(card.versions) == 1 else f"{spec.name} ({version_name})"
    if isinstance(version, FixedVersion):
        dataset = load_version(name, card, version, announce)
        if spec.dense:
            full = sp.csr_array(dataset.X).toarray()
            train, test = dataset.train_indices, dataset.test_indices
            split = None if train is None or test is None else (train, test)
            dataset = replace(dataset, X=full, sha256=hash_values(full, dataset.y, split))
        return fixed_source(dataset, version.caveats, load_splits(card, version, dataset, announce))
    return _generated_source(name, version, spec.samples or version.samples)


def find_version(spec: NamedSpec) -> tuple[Card, str, FixedVersion | GeneratedVersion]:
    """Find the card that a config names, and the name and content of its version.

    Raises
    ------
    UsageError
        If there is no such data set or version, or 'samples' or 'dense' does not belong to it.
    """
    card = read_card(spec.name)
    version_name, version = card.version(spec.name, spec.version)
    if isinstance(version, FixedVersion) and spec.samples is not None:
        raise UsageError(
            f"'samples' is for synthetic sets; '{spec.name}' has {version.expected.rows} rows; leave it out"
        )
    if spec.dense and not _can_be_filled(version):
        raise UsageError(
            f"'dense' is for sparse matrices that do not count words anew in each training part; '{spec.name}' "
            f"({version_name}) is none; leave it out"
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


def metadata_of_card(spec: NamedSpec) -> DatasetMetadata:
    """Describe a data set that has a card, without fetching it.

    Raises
    ------
    UsageError
        As `find_version`.
    """
    card, version_name, version = find_version(spec)
    name = spec.name if len(card.versions) == 1 else f"{spec.name} ({version_name})"
    if not isinstance(version, FixedVersion):
        return _drawn(name, version, spec.samples)
    found = _fixed(name, version)
    return replace(found, is_sparse=False) if spec.dense else found


def _fixed(name: str, version: FixedVersion) -> DatasetMetadata:
    expected = version.expected
    has_split = any(isinstance(copy, Files) and copy.test_files for copy in version.copies)
    # The split of Reuters is marked in its stories.
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


def _can_be_filled(version: FixedVersion | GeneratedVersion) -> bool:
    """Whether a version is a sparse matrix whose values no split changes."""
    return isinstance(version, FixedVersion) and any(
        _is_sparse(copy) and getattr(copy, "vocabulary", "") != "training" for copy in version.copies
    )


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
