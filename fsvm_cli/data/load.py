"""A cache of rows that were slow to parse, beside the files that they came from.

From rows that were read to a data set.

The copies of data sets that scikit-learn carries.

From a card's version to a verified data set.
"""

from __future__ import annotations

import contextlib
import io
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fsvm_cli.data.cards import BundledCopy, ExpressionCopy, ReutersCopy, SequencesCopy, TextCopy
from fsvm_cli.data.dataset import Dataset, hash_values
from fsvm_cli.data.fetch import cache_folder, fetch_files, is_intact
from fsvm_cli.data.given_splits import read_splits
from fsvm_cli.data.messages import numbered, shown
from fsvm_cli.data.readers.libsvm import read_libsvm
from fsvm_cli.data.readers.reuters import read_reuters
from fsvm_cli.data.readers.rows import Rows
from fsvm_cli.data.readers.text import read_expression, read_sequences, read_text
from fsvm_cli.errors import DataError
from fsvm_cli.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.data.cards import Card, Copy, Expected, FixedVersion, LibsvmCopy
    from fsvm_cli.data.given_splits import GivenSplit


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
    rows = stacked(parts)
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


def stacked(parts: list[Rows]) -> Rows:
    """Put parts below each other."""
    if len(parts) == 1:
        return parts[0]
    X = (sp.vstack if sp.issparse(parts[0].X) else np.vstack)([part.X for part in parts])
    return replace(parts[0], X=X, labels=[label for part in parts for label in part.labels])


def _in_order(labels: set[str]) -> tuple[str, ...]:
    try:
        return tuple(sorted(labels, key=float))
    except ValueError:
        return tuple(sorted(labels))


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
        If no copy can be had; with what was wrong with each.
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
