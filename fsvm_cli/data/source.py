"""Data sets as experiments see them: a source of samples, fixed or drawn from a distribution, and its metadata."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fsvm_cli.console import brief
from fsvm_cli.data.dataset import Dataset
from fsvm_cli.data.messages import nearest
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fsvm_cli.data.given_splits import GivenSplit


@dataclass(frozen=True, eq=False, kw_only=True)
class DataSource(ABC):
    """A data set, or a distribution that gives a fresh one for every split; picklable.

    Attributes
    ----------
    name : str
        What it is called in tables.
    identity : str
        64 hex digits that change whenever what `draw` yields changes.
    n_samples : int
        Rows of what `draw` yields.
    feature_names, class_names : tuple of str
        As in `Dataset`.
    caveats : tuple of str
        What every report on it must say.
    """

    name: str
    identity: str
    n_samples: int
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    caveats: tuple[str, ...] = ()

    @property
    def n_features(self) -> int:
        """Columns of what `draw` yields."""
        return len(self.feature_names)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def is_sparse(self) -> bool:
        """Whether `draw` yields a sparse matrix."""
        return False

    @property
    def relevant_features(self) -> tuple[int, ...] | None:
        """Columns that carry signal, None where this is unknown."""
        return None

    @property
    def given_splits(self) -> tuple[GivenSplit, ...]:
        """Training and test rows of `draw`, for each split that the source fixes."""
        return ()

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Dataset:
        """Yield the data for one split; only a distribution uses `rng`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FixedSource(DataSource):
    """A data set that is always the same; `splits` are those that a list beside it gives."""

    dataset: Dataset
    splits: tuple[GivenSplit, ...] = ()

    @property
    def is_sparse(self) -> bool:
        """Whether the data set is a sparse matrix."""
        return bool(sp.issparse(self.dataset.X))

    @property
    def given_splits(self) -> tuple[GivenSplit, ...]:
        """Rows of the splits that are listed, or of the one that the data set itself has."""
        train, test = self.dataset.train_indices, self.dataset.test_indices
        own = () if train is None or test is None else ((train, test),)
        return self.splits or own

    def draw(self, rng: np.random.Generator) -> Dataset:  # noqa: ARG002 - the contract of DataSource
        """Yield the data set itself."""
        return self.dataset


@dataclass(frozen=True, eq=False, kw_only=True)
class GeneratedSource(DataSource):
    """A distribution, by the name of its generator and its parameters."""

    generator: str
    parameters: dict[str, Any]

    @property
    def relevant_features(self) -> tuple[int, ...]:
        """Columns that carry signal."""
        return tuple(GENERATORS[self.generator].relevant_features)

    def draw(self, rng: np.random.Generator) -> Dataset:
        """Draw `n_samples` rows."""
        generator = GENERATORS[self.generator]
        X, y = generator.draw(rng, self.n_samples, **self.parameters)
        return Dataset(
            name=self.name,
            X=X,
            y=y,
            feature_names=self.feature_names,
            class_names=self.class_names,
            sha256=self.identity,
            relevant_features=np.array(generator.relevant_features, dtype=np.int64),
        )


def fixed_source(dataset: Dataset, caveats: tuple[str, ...] = (), splits: tuple[GivenSplit, ...] = ()) -> FixedSource:
    """Wrap a data set that has been read, with the splits that a list beside it gives."""
    digest = hashlib.sha256(dataset.sha256.encode())
    for train, test in splits:
        digest.update(f"{train.tolist()} {test.tolist()}".encode())
    return FixedSource(
        name=dataset.name,
        identity=digest.hexdigest() if splits else dataset.sha256,
        n_samples=dataset.n_samples,
        feature_names=dataset.feature_names,
        class_names=dataset.class_names,
        caveats=(*dataset.remarks, *caveats),
        dataset=dataset,
        splits=splits,
    )


def features_called(names: Iterable[str], source: DataSource) -> tuple[int, ...]:
    """Return the indices of features by their names, of a column of words those of all of its words.

    Raises
    ------
    UsageError
        Naming the first name that no feature and no column has.
    """
    columns = source.feature_names
    if isinstance(source, FixedSource) and source.dataset.source_columns is not None:
        columns = source.dataset.source_columns
    found: dict[int, None] = {}
    for name in names:
        features = [j for j, both in enumerate(zip(source.feature_names, columns, strict=True)) if name in both]
        if not features:
            known = list(dict.fromkeys((*columns, *source.feature_names)))
            raise UsageError(f"{source.name} has no feature '{brief(name)}'; {nearest(name, known)}")
        found |= dict.fromkeys(features)
    return tuple(found)


@dataclass(frozen=True)
class DatasetMetadata:
    """The size of a data set, and the names in it.

    Attributes
    ----------
    name : str
        What it is called in tables.
    n_samples, n_features : int
    class_names : tuple of str
        In any order.
    n_splits : int
        Splits that the source fixes.
    is_sparse : bool
        Whether its samples are the rows of a sparse matrix.
    feature_names : tuple of str or None
        In the order of the columns; None where only its files name them.
    knows_relevant_features : bool
        Whether it is drawn from a distribution, of which is known what the class depends on.
    is_own : bool
        Whether it is a file of the user's own, whose config may name its split.
    n_groups : int or None
        Groups of rows that stay together; None where each row stands for itself.
    has_order : bool
        Whether a column orders the rows.
    """

    name: str
    n_samples: int
    n_features: int
    class_names: tuple[str, ...]
    n_splits: int
    is_sparse: bool
    feature_names: tuple[str, ...] | None
    knows_relevant_features: bool
    is_own: bool = False
    n_groups: int | None = None
    has_order: bool = False
    has_weights: bool = False


def metadata_of(source: DataSource) -> DatasetMetadata:
    """Return the metadata of a data set that has been opened."""
    size = source.n_samples, source.n_features
    is_known = source.relevant_features is not None
    n_splits = len(source.given_splits)
    groups = source.dataset.groups if isinstance(source, FixedSource) else None
    return DatasetMetadata(
        source.name,
        *size,
        source.class_names,
        n_splits,
        source.is_sparse,
        source.feature_names,
        is_known,
        n_groups=None if groups is None else len(np.unique(groups)),
        has_order=isinstance(source, FixedSource) and source.dataset.order is not None,
        has_weights=isinstance(source, FixedSource) and source.dataset.sample_weight is not None,
    )
