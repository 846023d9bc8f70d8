"""The result of one compared method on one split, and its form in the store."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fsvm_cli.store.store import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.store.store import Store

Chosen = dict[str, float | int | str]
"""Selected hyperparameters on a training part, by their names in configs."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of one compared method on one split: the classifiers on each subset of the features.

    Attributes
    ----------
    scores : tuple of float
        Score of each feature; empty where nothing was ranked.
    ranking_converged : bool
        Whether every machine that was trained before the subsets', by the method or by a search, reached its duality
        gap.
    sizes : tuple of int
        Numbers of retained features, ascending.
    train, test : ndarray of int, shape (n_sizes, n_classes, n_classes)
        Confusion matrices of the two parts: rows are true classes, columns assigned ones.
    n_unconverged : ndarray of int, shape (n_sizes,)
        Binary machines that missed the duality gap.
    duality_gap : ndarray, shape (n_sizes,)
        The largest relative duality gap of a subset's machines.
    chosen : dict of str to value
        Selected hyperparameters of the classifier and of the method on the training part, by their names in configs.
    predictions : ndarray of int, shape (1 + n_sizes, n_test)
        The classes of the test rows, and those assigned on each subset, for the bootstrap over the test rows of a
        single given split. Else without columns.
    measures : tuple of dict of str to float
        What the classifier of each size measured on the training part, by name; empty where none measures anything.
        Where there is no classifier, its confusion matrices are zero.

    Raises
    ------
    ValueError
        If a score or a duality gap is not finite: neither can be ordered, averaged or stored. If the sizes do not
        ascend, or an array does not have a row for each.
    """

    scores: tuple[float, ...]
    ranking_converged: bool
    sizes: tuple[int, ...]
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    n_unconverged: NDArray[np.intp]
    duality_gap: NDArray[np.float64]
    chosen: Chosen = field(default_factory=dict)
    predictions: NDArray[np.intp] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.intp))
    measures: tuple[dict[str, float], ...] = ()

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, self.scores)):
            raise ValueError("the ranking gave scores that are not finite")
        if not np.isfinite(self.duality_gap).all():
            raise ValueError("a machine ended with a duality gap that is not finite")
        n_sizes, n_classes = len(self.sizes), self.train.shape[-1]
        if list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError(f"the sizes {self.sizes} do not ascend")
        if self.train.shape != (n_sizes, n_classes, n_classes) or self.test.shape != self.train.shape:
            raise ValueError(f"there are {n_sizes} sizes, and confusion matrices {self.train.shape}, {self.test.shape}")
        if not all(math.isfinite(value) for of_size in self.measures for value in of_size.values()):
            raise ValueError("a classifier measured what is not finite")
        if self.n_unconverged.shape != (n_sizes,) or self.duality_gap.shape != (n_sizes,):
            raise ValueError(f"there are {n_sizes} sizes, and another number of certificates")
        if self.predictions.size and len(self.predictions) != 1 + n_sizes:
            raise ValueError(f"there are {n_sizes} sizes, and predictions of {len(self.predictions) - 1}")

    def __eq__(self, other: object) -> bool:
        """Compare what would be stored."""
        return isinstance(other, Outcome) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def covers(self, sizes: Sequence[int]) -> bool:
        """Whether there is a classifier for each of some numbers of features."""
        return set(sizes) <= set(self.sizes)

    def rows(self, sizes: Sequence[int]) -> NDArray[np.intp]:
        """Rows of the arrays for some of the sizes that the outcome covers."""
        return np.searchsorted(self.sizes, sizes)

    def confusions(self, part: Literal["train", "test"], sizes: Sequence[int]) -> NDArray[np.intp]:
        """Confusion matrices of a part for some of the sizes, shape (n_sizes, n_classes, n_classes)."""
        return (self.train if part == "train" else self.test)[self.rows(sizes)]

    def merged_with(self, later: Outcome) -> Outcome:
        """Add subsets that were computed later, for the same split and compared method."""
        converged = self.ranking_converged and later.ranking_converged
        subsets = self._subsets() | later._subsets()
        predictions = (
            self._predictions() | later._predictions() if self.predictions.size and later.predictions.size else {}
        )
        return _outcome(self.scores, converged=converged, subsets=subsets, chosen=self.chosen, predictions=predictions)

    def predictions_at(self, sizes: Sequence[int]) -> NDArray[np.intp]:
        """Classes of the test rows, and those assigned on some of the subsets, shape (1 + n_sizes, n_test)."""
        return self.predictions[[0, *(1 + self.rows(sizes))]] if self.predictions.size else self.predictions

    def _predictions(self) -> dict[int, list[int]]:
        """Rows of the predictions by size, in the form in which they are stored; the true classes at 0."""
        return dict(zip((0, *self.sizes), self.predictions.tolist(), strict=True)) if self.predictions.size else {}

    def _subsets(self) -> dict[int, list[Any]]:
        """Rows of the arrays by size, in the form in which they are stored."""
        columns = (self.train, self.test, self.n_unconverged, self.duality_gap)
        rows = zip(*(column.tolist() for column in columns), *([self.measures] if self.measures else []), strict=True)
        return {size: list(row) for size, row in zip(self.sizes, rows, strict=True)}

    def to_json(self) -> str:
        """Write as JSON, from which `from_json` makes an equal outcome."""
        content = {"scores": self.scores, "ranking_converged": self.ranking_converged, "subsets": self._subsets()}
        if self.chosen:
            content["chosen"] = self.chosen
        if self.predictions.size:
            content["answers"] = self._predictions()
        return json.dumps(content, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Outcome:
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError
            If the text is anything else.
        """
        try:
            content: dict[str, Any] = json.loads(text)
            subsets = {int(size): row for size, row in content["subsets"].items()}
            scores = tuple(map(float, content["scores"]))
            return _outcome(
                scores,
                converged=bool(content["ranking_converged"]),
                subsets=subsets,
                chosen=dict(content.get("chosen", {})),
                predictions={int(size): row for size, row in content.get("answers", {}).items()},
            )
        except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(f"not an outcome: {error!r}") from error

    def packed(self) -> Entry:
        """Serialise for the transfer from a worker and for the store."""
        return Entry(" ".join(map(str, self.sizes)), self.to_json())

    @classmethod
    def unpacked(cls, entry: Entry) -> Outcome:
        """Read what `packed` wrote; a text that is no outcome raises a ValueError."""
        return cls.from_json(entry.text)


def _outcome(
    scores: tuple[float, ...],
    *,
    converged: bool,
    subsets: dict[int, list[Any]],
    chosen: Chosen,
    predictions: dict[int, list[int]],
) -> Outcome:
    """Make an outcome from rows by size: confusion matrices of both parts, missed gaps, largest gap, any measures."""
    sizes = tuple(sorted(subsets))
    columns = zip(*(subsets[size][:4] for size in sizes), strict=True) if sizes else ((),) * 4
    train, test, n_unconverged, gaps = columns
    measures = tuple(dict(*subsets[size][4:]) for size in sizes)
    return Outcome(
        scores,
        converged,
        sizes,
        _square_matrices(train),
        _square_matrices(test),
        np.array(n_unconverged, dtype=np.intp),
        np.array(gaps, dtype=np.float64),
        chosen,
        np.array([predictions[size] for size in sorted(predictions)], dtype=np.intp).reshape(len(predictions), -1)
        if predictions
        else np.zeros((0, 0), dtype=np.intp),
        measures if any(len(row) > 4 for row in subsets.values()) else (),
    )


def _square_matrices(matrices: Sequence[list[list[int]]]) -> NDArray[np.intp]:
    n_classes = len(matrices[0]) if matrices else 0
    return np.array(matrices, dtype=np.intp).reshape(len(matrices), n_classes, n_classes)


def stored_outcome(store: Store, key: str) -> Outcome | None:
    """Read one outcome, None where there is none.

    Raises
    ------
    DataError
        If it is damaged.
    """
    entry = store.entry(key)
    if entry is None:
        return None
    try:
        return Outcome.unpacked(entry)
    except ValueError as error:
        raise store.damaged(key) from error


def keep_outcome(store: Store, key: str, entry: Entry) -> None:
    """Store an outcome that a worker has packed, together with the subsets that the key already has.

    Raises
    ------
    DataError
        If what the key has is damaged, or the store cannot be written.
    """
    known = stored_outcome(store, key)
    store.put(key, entry if known is None else known.merged_with(Outcome.unpacked(entry)).packed())
