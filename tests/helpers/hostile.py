"""Tables of numbers that break arithmetic, and what a method makes of them in a process of its own."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.ranking.registry import ranking_methods

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Table:
    """Samples of two or three classes.

    Attributes
    ----------
    X : ndarray, shape (n_samples, n_features)
    y : ndarray of int, shape (n_samples,)
    refused : str
        The feature that every method must name and refuse; empty where every method must score the table.
    """

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    refused: str = ""


CLASSES = np.arange(18) % 3
X = np.random.default_rng(12).normal(size=(18, 4))
X[:, 0] += CLASSES
LEAST = 5e-324

TABLES = {
    "huge": Table(X * 1e300, CLASSES, "feature 1"),
    "tiny": Table(X * 1e-300, CLASSES, "feature 1"),
    "one column huge": Table(X * [1, 1, 1e200, 1], CLASSES, "feature 3"),
    "one column tiny": Table(X * [1, 1e-200, 1, 1], CLASSES, "feature 2"),
    "one value huge": Table(np.where(np.arange(72).reshape(18, 4) == 6, -1e308, X), CLASSES, "feature 3"),
    "largest of both signs": Table(
        np.where(X > 0, 1.0, -1.0) * [1, np.finfo(np.float64).max, 1, 1], CLASSES, "feature 2"
    ),
    "subnormals": Table(np.where(X > 0, LEAST, 0.0), CLASSES, "feature 1"),
    "subnormals among others": Table(np.where(X > 0.5, LEAST, np.where(X < 0, X, 0.0)), CLASSES),
    "large": Table(X * 1e74, CLASSES),
    "small": Table(X * 1e-74, CLASSES),
    "mixed": Table(X * [1e-74, 1e74, 1, 1e-20], CLASSES),
    "mixed, two classes": Table(X * [1e-20, 1, 1e74, 1e-74], CLASSES % 2),
    "constant, and large": Table(X * [1, 0, 1, 1] + [0, 1e74, 0, 0], CLASSES),
    "constant but for an ulp": Table(np.where(X > 0, 1.0, np.nextafter(1.0, 2.0)), CLASSES),
    "small beside its mean": Table(X * 1e-9 + [1e6, -1e6, 0, 1], CLASSES),
    "duplicated columns": Table(np.repeat(X[:, :2], 2, axis=1), CLASSES),
    "duplicated rows": Table(np.repeat(X[:3], 6, axis=0), np.repeat(np.arange(3), 6)),
    "alike rows of other classes": Table(np.repeat(X[:6], 3, axis=0), CLASSES),
    "separated by one column": Table(np.column_stack([CLASSES, X]).astype(np.float64), CLASSES),
    "integers beyond 2^53": Table(np.rint(X * 2.0**53) + 2.0**60, CLASSES),
    "0 and 1": Table((X > 0).astype(np.float64), CLASSES),
    "one class of one row": Table(X, (np.arange(18) == 7).astype(np.intp)),
}
"""By what is odd about them."""

REFUSALS = {
    **{
        ("ard", table): "in units of the length scales that the ascent begins with, each sample is so far"
        for table in ("large", "mixed", "mixed, two classes", "integers beyond 2^53")
    },
    ("permutation-importance", "one class of one row"): "permutation-importance: folds is 5; ",
    ("stability-selection", "one class of one row"): "stability-selection: folds is 2; ",
    ("wrapper", "one class of one row"): "wrapper: folds is 5; ",
}
"""By method and table: what only this method must refuse, and the beginning of what it says."""

POOR_TABLES = {
    "all constant": Table(np.full_like(X, 0.1), CLASSES),
    "all zero": Table(np.zeros_like(X), CLASSES),
    **{f"{n} classes of one row": Table(X[:n], np.arange(n)) for n in (2, 3)},
}
"""Which some methods must refuse, since nothing varies, or there is nothing to hold out."""


MODEST: dict[str, dict[str, Any]] = {
    "ard": {"max_steps": 2, "n_eigenvectors": 10, "n_permutations": 1},
    "boruta": {"rounds": 1, "n_trees": 3},
    "forest": {"n_trees": 3},
    "l1-logistic": {"n_steps": 5},
    "l1-svm": {"n_steps": 5},
    "shap": {"n_trees": 3},
}
"""By method, parameters with which it does less of what it does: what breaks arithmetic does so in the first steps."""

BRIEF = MODEST | {"kpd": {"relative_change": 0.1}, "wrapper": {"max_evaluations": 50}}
"""Where each method is tried many times; `make fuzz` lets these two search to their end."""


def attempt(method: str, table: str) -> str | list[float]:
    """Fit a ranking method or an extractor with its defaults, or modest parameters, with every warning an error.

    Returns
    -------
    str or list of float
        The words of a ValueError, or the scores; of an extractor, the components of all samples. Whatever else is
        raised, is raised.
    """
    chosen = (TABLES | POOR_TABLES)[table]
    kinds: dict[str, type[Any]] = {**ranking_methods(), **extraction_methods()}
    fixed = {"random_state": 0} if "random_state" in kinds[method].passed_down else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            fitted = kinds[method](**fixed, **BRIEF.get(method, {})).fit(chosen.X, chosen.y)
            found = fitted.scores_ if method in ranking_methods() else fitted.transform(chosen.X).ravel()
        except ValueError as error:
            return str(error)
    scores: list[float] = found.tolist()
    return scores
