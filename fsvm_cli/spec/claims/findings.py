"""What an experiment found, as claims ask for it: plain numbers, wherever they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fsvm_cli.spec.claims.base import Place

Fact = Literal[
    "n_features", "n_classes", "n_train", "n_test", "major-class", "class-uncertainty", "classifier-information"
]


class Curve(NamedTuple):
    """A figure of merit by number of retained features.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of retained features, ascending.
    values : ndarray, shape (n_trials, n_sizes)
        As fractions.
    """

    sizes: tuple[int, ...]
    values: NDArray[np.float64]


class Findings(Protocol):
    """What the complete trials of an experiment found, those of the largest training part where no size is named."""

    @property
    def feature_names(self) -> Sequence[str]:
        """Names of the features."""

    def at(self, place: Place) -> NDArray[np.float64]:
        """Value at a place in each trial, in per cent; the mean over a stretch. Shape (n_trials,)."""

    def curve(self, ranking: str, metric: str, part: str) -> Curve:
        """Curve of a ranking in each trial."""

    def scores(self, ranking: str) -> NDArray[np.float64]:
        """Scores of the features in each trial, shape (n_trials, n_features)."""

    def chosen(self, ranking: str, name: str) -> NDArray[np.float64]:
        """Return a number that was chosen on the training part of each trial where one was, shape (n_chosen,)."""

    def fact(self, fact: Fact) -> NDArray[np.float64]:
        """Value of a fact of the problem: one, or one of each trial."""

    def test_to_train(self, place: Place) -> float:
        """Rows of the test part over rows of the training part; 0 where every trial draws new data."""

    def stream(self, *purpose: str) -> np.random.Generator:
        """Random stream of the experiment for a purpose."""
