"""Data sets as experiments see them: something to draw a sample from."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fsvm_cli.data.dataset import Dataset
from fsvm_cli.data.spec import DatasetSpec, FileSpec, NamedSpec
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.documents import Document, StrictModel, as_in_documents, validate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fsvm_cli.data.given_splits import GivenSplit
    from fsvm_cli.data.spec import Spec


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
        from fsvm_cli.data import named_source  # noqa: PLC0415 - brings cards, which a file does without

        return named_source.open_named(spec, announce)
    if isinstance(spec, FileSpec):
        from fsvm_cli.data import user_file  # noqa: PLC0415 - brings pyarrow, which is slow to import

        dataset = user_file.load_file(spec, base_folder)
        return fixed_source(dataset, (), user_file.load_splits(spec, base_folder, dataset))
    from fsvm_cli.data.openml import load_openml  # noqa: PLC0415 - brings pyarrow and scikit-learn's readers

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
