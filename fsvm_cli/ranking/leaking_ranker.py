"""What the ranking methods that may be shown the test part have in common: how it reaches them."""

from __future__ import annotations

import functools
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fsvm_cli.ranking.base import Ranker

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray


class LeakingRanker(Ranker):
    """A ranking method that with some of its parameters needs the test part.

    That is a leak: test labels decide about the ranking, and its test accuracy is optimistic. An experiment hands over
    the test part where `sees_test_part` says so, and nowhere else; the ranking's label then tells of it.
    """

    leaks_where: ClassVar[Mapping[str, Any]]
    """Values of parameters, none of them a default, with which the method needs the test part."""

    @classmethod
    def sees_test_part(cls, parameters: Mapping[str, Any]) -> bool:
        """Whether the method, with these parameters, needs the test part."""
        return all(parameters.get(name) == value for name, value in cls.leaks_where.items())

    @abstractmethod
    def _scores_with_test_part(
        self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int, *, X_test: Any, y_test: Any
    ) -> NDArray[np.float64]:
        """Score the features as `_scores` does; the test part is as it was given, with labels in place of codes."""

    def fit(self, X: Any, y: Any, groups: Any = None, *, X_test: Any = None, y_test: Any = None) -> Self:
        """Score and rank the features.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            Class labels, at least two classes.
        groups : array-like, shape (n_samples,), optional
            As in ``Ranker.fit``.
        X_test, y_test : array-like, shapes (n_test, n_features) and (n_test,)
            Where the parameters ask for the test part, and only there.

        Raises
        ------
        ValueError
            If there is a test part where none is needed, or none where one is; and as in ``Ranker.fit``.
        """
        parameters = self.get_params(deep=False)
        needed = self.sees_test_part(parameters)
        if needed != (X_test is not None) or needed != (y_test is not None):
            what = "needs X_test and y_test" if needed else "must not see a test part"
            settings = ", ".join(f"{name}={parameters[name]!r}" for name in self.leaks_where)
            raise ValueError(f"{self.method} with {settings} {what}")
        if not needed:
            return super().fit(X, y, groups)
        return self._fit(X, y, functools.partial(self._scores_with_test_part, X_test=X_test, y_test=y_test))
