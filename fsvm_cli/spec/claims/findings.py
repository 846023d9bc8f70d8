"""What an experiment found, as claims ask for it: plain numbers, wherever they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fsvm_cli.evaluation.statistics import MeanInterval
    from fsvm_cli.spec.claims.base import Place

Fact = Literal[
    "n_features", "n_classes", "n_train", "n_test", "major-class", "class-uncertainty", "classifier-information"
]

Portion = Literal["test part", "whole set"]
"""Of which rows a fact speaks."""


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


class Comparison(NamedTuple):
    """Two places of curves on the same trials, the first minus the second, in percentage points.

    Attributes
    ----------
    found : MeanInterval
        Of the question that decides: whether the mean over the splits of these data is another, by the paired test over
        the splits; for a single given split, whether these machines differ on other rows, by the paired bootstrap.
    p : float
        Of its test, two-sided; NaN where nothing varies.
    on_new_data : MeanInterval
        Of the other question, whether it would hold on new data: Nadeau and Bengio's correction for shared rows. Bounds
        are NaN for a single split.
    test : str
        The interval that decides, in words.
    """

    found: MeanInterval
    p: float
    on_new_data: MeanInterval
    test: str


class Findings(Protocol):
    """What the complete trials of an experiment found, those of the largest training part where no size is named."""

    @property
    def feature_names(self) -> Sequence[str]:
        """Names of the features."""

    def at(self, place: Place) -> NDArray[np.float64]:
        """Value at a place in each trial, in per cent; the mean over a stretch. Shape (n_trials,)."""

    def estimate(self, place: Place) -> MeanInterval:
        """Mean at a place; of a single given split, with the bootstrap interval over its test rows."""

    def compared(self, higher: Place, lower: Place) -> Comparison:
        """Difference between two places on the same trials."""

    def curve(self, ranking: str, metric: str, part: str) -> Curve:
        """Curve of a ranking in each trial."""

    def scores(self, ranking: str) -> NDArray[np.float64]:
        """Scores of the features in each trial, shape (n_trials, n_features)."""

    def chosen(self, ranking: str, name: str) -> NDArray[np.float64]:
        """Return a number that was chosen on the training part of each trial where one was, shape (n_chosen,)."""

    def fact(self, fact: Fact, of: Portion) -> NDArray[np.float64]:
        """Value of a fact of the problem: one, or one of each trial."""

    def is_set(self, fact: Fact) -> bool:
        """Whether the config or the generator of the data decides a fact, so that nothing can be found out."""

    def measure(self, place: Place, measure: str) -> NDArray[np.float64]:
        """Measure of the classifiers at a place in each trial; NaN where there is none, or none has it."""

    def stream(self, *purpose: str) -> np.random.Generator:
        """Random stream of the experiment for a purpose."""
