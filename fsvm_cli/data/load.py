"""From a card's version to a verified data set."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from fsvm_cli.data import parsed
from fsvm_cli.data.assemble import assemble, stacked
from fsvm_cli.data.copies import BundledCopy, ExpressionCopy, ReutersCopy, SequencesCopy, TextCopy
from fsvm_cli.data.fetch import cache_folder, fetch_files, is_intact
from fsvm_cli.data.given_splits import read_splits
from fsvm_cli.data.phrases import shown
from fsvm_cli.data.readers.bundled import read_bundled
from fsvm_cli.data.readers.expression import read_expression
from fsvm_cli.data.readers.libsvm import read_libsvm
from fsvm_cli.data.readers.reuters import read_reuters
from fsvm_cli.data.readers.sequences import read_sequences
from fsvm_cli.data.readers.text import read_text
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.data.card import Card, Expected, FixedVersion
    from fsvm_cli.data.copies import Copy, LibsvmCopy
    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.given_splits import GivenSplit
    from fsvm_cli.data.readers.rows import Rows


def load_version(name: str, card: Card, version: FixedVersion, announce: Callable[[str], None]) -> Dataset:
    """Read the first copy whose values are the expected ones.

    What was parsed and kept comes first, then copies that lie in the cache, what scikit-learn carries, and what must
    be fetched.

    Raises
    ------
    DataError
        If no copy can be had; with what was wrong with each.
    """
    failures = []
    kept = parsed.recall(version.expected.sha256)
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
            parsed.keep(dataset.sha256, parts)
        return dataset
    raise DataError("\n".join([f"data set '{name}' cannot be had:", *failures]))


def load_splits(
    card: Card, version: FixedVersion, dataset: Dataset, announce: Callable[[str], None]
) -> tuple[GivenSplit, ...]:
    """Read the splits that a card lists for a version; none where it lists none.

    Raises
    ------
    DataError
        If the file cannot be had, or does not list as many splits of these rows as the card says.
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
        said = {key: value for key, value in copy if key not in {"reader", "files", "test_files"}}
        return read_reuters(paths, **said)
    if isinstance(copy, ExpressionCopy):
        return [read_expression(*paths)]
    rows = [_read_file(path, copy, version.expected.features) for path in paths]
    n_first = len(rows) - len(copy.test_files)
    parts = [rows[:n_first], rows[n_first:]]
    return [stacked(part) for part in parts if part]


def _read_file(path: Path, copy: TextCopy | SequencesCopy | LibsvmCopy, n_features: int) -> Rows:
    if isinstance(copy, TextCopy):
        return read_text(path, separator=copy.separator, target=copy.target, drop=copy.drop, missing=copy.missing)
    if isinstance(copy, SequencesCopy):
        return read_sequences(path, coding=copy.coding)
    return read_libsvm(path, n_features=n_features, dense=copy.dense)


def _from_version(name: str, version: FixedVersion, parts: list[Rows]) -> Dataset:
    """Build what the card describes from its parts, or say how they differ from it."""
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
