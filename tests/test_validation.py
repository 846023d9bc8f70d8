"""What estimators are fitted on; the oracle is scikit-learn's own check, which plain arrays go past."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from fsvm_cli.validation import validated

VALUES = np.arange(12.0).reshape(6, 2)
CODES = np.array([0, 1, 2, 0, 1, 1])


def with_value(value: float) -> np.ndarray:
    X = VALUES.copy()
    X[2, 1] = value
    return X


PAIRS: dict[str, tuple[Any, Any]] = {
    "plain": (VALUES, CODES),
    "column by column": (np.asfortranarray(VALUES), CODES),
    "every other row": (np.repeat(VALUES, 2, axis=0)[::2], CODES),
    "small codes": (VALUES, CODES.astype(np.uint8)),
    "single precision": (VALUES.astype(np.float32), CODES),
    "foreign byte order": (VALUES.astype(VALUES.dtype.newbyteorder()), CODES),
    "whole numbers": (VALUES.astype(int), CODES),
    "lists": (VALUES.tolist(), CODES.tolist()),
    "a frame": (pd.DataFrame(VALUES, columns=["a", "b"]), CODES),
    "words": (VALUES, np.array(list("abcaab"))),
    "truth": (VALUES, CODES > 0),
    "whole floats": (VALUES, CODES.astype(float)),
    "a target to regress on": (VALUES, CODES + 0.5),
    "classes in a column": (VALUES, CODES[:, None]),
    "not a number": (with_value(np.nan), CODES),
    "infinity": (with_value(-np.inf), CODES),
    "large numbers of both signs": (VALUES / 11 * np.array([1e308, -1e308]), CODES),
    "one dimension": (VALUES[:, 0], CODES),
    "three dimensions": (VALUES[:, :, None], CODES),
    "no rows": (VALUES[:0], CODES[:0]),
    "no columns": (VALUES[:, :0], CODES),
    "one row": (VALUES[:1], CODES[:1]),
    "too few classes": (VALUES, CODES[:-1]),
    "sparse": (csr_array(VALUES), CODES),
}


def by_scikit_learn(estimator: BaseEstimator, X: Any, y: Any, min_samples: int) -> tuple[Any, Any]:
    with np.errstate(invalid="ignore"):
        X, y = validate_data(estimator, X, y, dtype=np.float64, ensure_min_samples=min_samples)
    check_classification_targets(y)
    return X, y


def by_us(estimator: BaseEstimator, X: Any, y: Any, min_samples: int) -> tuple[Any, Any]:
    return validated(estimator, X, y, min_samples=min_samples)


def attempt(check: Any, *arguments: Any) -> Any:
    try:
        return check(*arguments)
    except (TypeError, ValueError) as error:
        return error


@pytest.mark.parametrize("min_samples", [1, 2])
@pytest.mark.parametrize("kind", PAIRS)
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_it_takes_and_refuses_what_scikit_learn_does(kind: str, min_samples: int) -> None:
    ours, theirs = BaseEstimator(), BaseEstimator()
    expected = attempt(by_scikit_learn, theirs, *PAIRS[kind], min_samples)
    found = attempt(by_us, ours, *PAIRS[kind], min_samples)
    assert str(found) == str(expected)
    if not isinstance(expected, Exception):
        assert [part.dtype for part in found] == [part.dtype for part in expected]
        assert str(vars(ours)) == str(vars(theirs))


def test_names_of_an_earlier_fit_are_forgotten() -> None:
    estimator = BaseEstimator()
    validated(estimator, pd.DataFrame(VALUES, columns=["a", "b"]), CODES)
    assert list(estimator.feature_names_in_) == ["a", "b"]
    validated(estimator, VALUES, CODES)
    assert not hasattr(estimator, "feature_names_in_")
