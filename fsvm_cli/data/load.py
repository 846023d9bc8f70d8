"""From a card's version to a verified data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fsvm_cli.data.card import BundledCopy, ExpressionCopy, SequencesCopy, TextCopy
from fsvm_cli.data.dataset import Dataset, hash_values
from fsvm_cli.data.fetch import cache_folder, fetch_files, is_intact
from fsvm_cli.data.readers.bundled import read_bundled
from fsvm_cli.data.readers.expression import read_expression
from fsvm_cli.data.readers.libsvm import read_libsvm
from fsvm_cli.data.readers.rows import Rows
from fsvm_cli.data.readers.sequences import read_sequences
from fsvm_cli.data.readers.text import read_text
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.data.card import Card, Copy, Expected, FixedVersion, LibsvmCopy


def load_version(name: str, card: Card, version: FixedVersion, announce: Callable[[str], None]) -> Dataset:
    """Read the first copy whose values are the expected ones.

    Copies that lie in the cache come first, then what scikit-learn carries, then what must be fetched.

    Raises
    ------
    DataError
        If no copy can be had; with what was wrong with each.
    """
    failures = []
    for copy in sorted(version.copies, key=lambda copy: _distance(card, copy)):
        try:
            return _assemble(name, version, _read_copy(card, version, copy, announce))
        except DataError as error:
            failures.append(str(error))
    raise DataError("\n".join([f"data set '{name}' cannot be had:", *failures]))


def _distance(card: Card, copy: Copy) -> int:
    if isinstance(copy, BundledCopy):
        return 1
    files = [card.file(path) for path in (*copy.files, *copy.test_files)]
    return 0 if all(is_intact(cache_folder() / file.path, file) for file in files) else 2


def _read_copy(card: Card, version: FixedVersion, copy: Copy, announce: Callable[[str], None]) -> list[Rows]:
    """Read the training (or only) part, and the test part where the copy has one."""
    if isinstance(copy, BundledCopy):
        return [read_bundled(copy.loader)]
    paths = fetch_files([card.file(name) for name in (*copy.files, *copy.test_files)], announce)
    if isinstance(copy, ExpressionCopy):
        return [read_expression(*paths)]
    rows = [_read_file(path, copy, version.expected.features) for path in paths]
    parts = [rows[: len(copy.files)], rows[len(copy.files) :]]
    return [_stack(part) for part in parts if part]


def _read_file(path: Path, copy: TextCopy | SequencesCopy | LibsvmCopy, n_features: int) -> Rows:
    if isinstance(copy, TextCopy):
        return read_text(path, separator=copy.separator, target=copy.target, drop=copy.drop, missing=copy.missing)
    if isinstance(copy, SequencesCopy):
        return read_sequences(path, coding=copy.coding)
    return read_libsvm(path, n_features=n_features, dense=copy.dense)


def _stack(parts: list[Rows]) -> Rows:
    if len(parts) == 1:
        return parts[0]
    X = (sp.vstack if sp.issparse(parts[0].X) else np.vstack)([part.X for part in parts])
    return Rows(X, [label for part in parts for label in part.labels], parts[0].feature_names)


def _assemble(name: str, version: FixedVersion, parts: list[Rows]) -> Dataset:
    """Build the data set from its parts, or say how it differs from what the card expects."""
    rows = _stack(parts)
    unknown = sorted(set(rows.labels) - set(version.classes))
    if unknown:
        raise DataError(f"labels that the card does not know: {', '.join(unknown)}")
    class_names = tuple(dict.fromkeys(version.classes.values()))
    code = {label: class_names.index(class_name) for label, class_name in version.classes.items()}
    y = np.array([code[label] for label in rows.labels], dtype=np.int64)
    train, test = np.split(np.arange(len(y)), [len(parts[0].labels)])
    split = (train, test) if len(parts) == 2 else None
    dataset = Dataset(
        name=name,
        X=rows.X,
        y=y,
        feature_names=version.features or rows.feature_names or numbered(rows.X.shape[1]),
        class_names=class_names,
        sha256=hash_values(rows.X, y, split),
        train_indices=split[0] if split else None,
        test_indices=split[1] if split else None,
    )
    _compare(dataset, version.expected)
    return dataset


def numbered(n_features: int) -> tuple[str, ...]:
    """Names for features that have none: x1, x2, ..."""
    return tuple(f"x{number}" for number in range(1, n_features + 1))


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
