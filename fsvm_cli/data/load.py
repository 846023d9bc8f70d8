"""From a card's version to a verified data set."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fsvm_cli.data import parsed
from fsvm_cli.data.copies import BundledCopy, ExpressionCopy, ReutersCopy, SequencesCopy, TextCopy
from fsvm_cli.data.dataset import Dataset, hash_values
from fsvm_cli.data.fetch import cache_folder, fetch_files, is_intact
from fsvm_cli.data.given_splits import read_splits
from fsvm_cli.data.phrases import numbered, shown
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
    return replace(parts[0], X=X, labels=[label for part in parts for label in part.labels])


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


def assemble(
    name: str, parts: list[Rows], class_names: tuple[str, ...] = (), feature_names: tuple[str, ...] = ()
) -> Dataset:
    """Build a data set from its rows.

    Parameters
    ----------
    name : str
        For the data set.
    parts : list of Rows
        All rows, or the training and the test part of a fixed split.
    class_names : tuple of str
        The labels in the order of the codes; by default in the order of their numbers, or else of the alphabet.
    feature_names : tuple of str
        By default those that the rows bring, or x1, x2, ...
    """
    rows = _stack(parts)
    class_names = class_names or _in_order(set(rows.labels))
    code = {label: code for code, label in enumerate(class_names)}
    y = np.array([code[label] for label in rows.labels], dtype=np.int64)
    train, test = np.split(np.arange(len(y)), [len(parts[0].labels)])
    split = (train, test) if len(parts) == 2 else None
    return Dataset(
        name=name,
        X=rows.X,
        y=y,
        feature_names=feature_names or rows.feature_names or numbered(rows.X.shape[1]),
        class_names=class_names,
        sha256=hash_values(rows.X, y, split, rows.least_occurrences),
        train_indices=split[0] if split else None,
        test_indices=split[1] if split else None,
        least_occurrences=rows.least_occurrences,
    )


def _in_order(labels: set[str]) -> tuple[str, ...]:
    try:
        return tuple(sorted(labels, key=float))
    except ValueError:
        return tuple(sorted(labels))


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
