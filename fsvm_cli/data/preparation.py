"""Missing values and words of a table, filled and coded by what the training rows show, as scaling is.

The features must not depend on the split. So each word of the file has a feature, named after it; on a split whose
training rows lack the word the feature is 0 everywhere, as scikit-learn's encoder codes an unknown word.
"""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from fsvm_cli.numerics import binary_exponents, row_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.data.source_spec import CategoricalRule, MissingRule

    Strategy = Literal["mean", "median", "most_frequent"]

IMPUTER_STRATEGIES: dict[MissingRule, Strategy] = {
    "mean": "mean",
    "median": "median",
    "most-frequent": "most_frequent",
    "indicator": "mean",
}
"""Strategy of scikit-learn's `SimpleImputer` for columns of numbers, by the rule of the config."""
MISSING_SUFFIX = "missing"


class Feature(NamedTuple):
    """One feature of a column.

    Attributes
    ----------
    name : str
    column : int
    word : int or None
        Code of the word whose presence it indicates.
    is_indicator : bool
        Whether it indicates a missing value.
    """

    name: str
    column: int
    word: int | None = None
    is_indicator: bool = False


@dataclass(frozen=True, eq=False)
class Preparation:
    """Columns of a table as they stand, and how they become features.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    words : tuple of tuple of str, or None
        For each column the words that its codes stand for, in the order of the alphabet, or of their categories where
        these have one and words are numbered; None for a column of numbers.
    columns : ndarray, shape (n_samples, n_columns)
        Numbers and codes of words; NaN where a value is missing.
    missing : str
        As in `TableSpec`. Of a column of words the most frequent one fills the gaps, whichever value does so among
        numbers.
    categorical : str
        As in `TableSpec`.
    """

    names: tuple[str, ...]
    words: tuple[tuple[str, ...] | None, ...]
    columns: NDArray[np.float64]
    missing: MissingRule
    categorical: CategoricalRule

    @functools.cached_property
    def has_to_learn(self) -> bool:
        """Whether the features of a row depend on other rows: there are words, or gaps."""
        if any(words is not None for words in self.words):
            return True
        return any(np.isnan(self.columns[rows]).any() for rows in row_blocks(*self.columns.shape))

    @functools.cached_property
    def layout(self) -> tuple[Feature, ...]:
        """The features, column by column."""
        gaps = np.flatnonzero(np.isnan(self.columns).any(axis=0)).tolist() if self.missing == "indicator" else []
        with_gaps = frozenset(gaps)
        features = []
        for column, (name, words) in enumerate(zip(self.names, self.words, strict=True)):
            if words is None or self.categorical == "ordinal":
                features.append(Feature(name, column))
            else:
                features += [Feature(f"{name}={word}", column, code) for code, word in enumerate(words)]
            if column in with_gaps:
                features.append(Feature(f"{name}={MISSING_SUFFIX}", column, is_indicator=True))
        return tuple(features)

    def features(self, training: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the features of all rows, with imputation and coding fitted on the training rows.

        Parameters
        ----------
        training : ndarray of int
            Training rows.

        Returns
        -------
        ndarray, shape (n_samples, n_features)
            A word, or the missing of a value, that no training row has is 0 everywhere; where words are numbered, it
            counts as missing.
        """
        if not self.has_to_learn:
            return self.columns
        X = np.zeros((len(self.columns), len(self.layout)))
        column_of = {feature[1:]: number for number, feature in enumerate(self.layout)}
        is_word = np.array([words is not None for words in self.words])
        numbers, words = np.flatnonzero(~is_word), np.flatnonzero(is_word)
        if len(numbers):
            filled = _filled(self.columns[:, numbers], training, IMPUTER_STRATEGIES.get(self.missing, "mean"))
            X[:, [column_of[column, None, False] for column in numbers.tolist()]] = filled
        if len(words) and self.categorical == "ordinal":
            X[:, [column_of[column, None, False] for column in words.tolist()]] = self._numbered(words, training)
        elif len(words):
            codes = _filled(self.columns[:, words], training, "most_frequent")
            for column, code, values in _one_hot(words.tolist(), codes, training):
                X[:, column_of[column, code, False]] = values
        if self.missing == "indicator":
            gaps = np.isnan(self.columns)
            for column in np.flatnonzero(gaps[training].any(axis=0)).tolist():
                X[:, column_of[column, None, True]] = gaps[:, column]
        return X

    def _numbered(self, words: NDArray[np.intp], training: NDArray[np.integer]) -> NDArray[np.float64]:
        """Code the words of the training rows by 0, 1, ..., in the order of their codes; fill missing ones."""
        from sklearn.preprocessing import OrdinalEncoder  # noqa: PLC0415 - as below

        codes = self.columns[:, words]
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
        return _filled(encoder.fit(codes[training]).transform(codes), training, "most_frequent")

    def encoder(self, column: int) -> Any:
        """Build scikit-learn's encoder, not fitted, that numbers the words of a column; an unknown one is NaN."""
        from sklearn.preprocessing import OrdinalEncoder  # noqa: PLC0415 - as below

        words = list(self.words[column] or ())
        own_order = "auto" if words == sorted(words) else [np.array(words, dtype=object)]
        return OrdinalEncoder(categories=own_order, handle_unknown="use_encoded_value", unknown_value=np.nan)

    def values(self) -> dict[str, NDArray[Any]]:
        """Return the columns by their names, with words in place of codes."""
        values: dict[str, NDArray[Any]] = {}
        for name, words, column in zip(self.names, self.words, self.columns.T, strict=True):
            values[name] = column
            if words is not None:
                known = ~np.isnan(column)
                values[name] = np.full(len(column), np.nan, dtype=object)
                values[name][known] = np.array(words, dtype=object)[column[known].astype(np.intp)]
        return values

    def digest(self) -> str:
        """Hash what `features` depends on: 64 hex digits, the same on every platform."""
        rules = [self.missing, self.categorical, [words is not None for words in self.words], self.columns.shape]
        digest = hashlib.sha256(json.dumps(rules).encode())
        for rows in row_blocks(*self.columns.shape):
            block = self.columns[rows]
            known = np.where(np.isnan(block), np.nan, block + 0.0)  # one kind of NaN, and one of 0
            digest.update(np.ascontiguousarray(known, dtype="<f8").tobytes())
        return digest.hexdigest()


def _filled(columns: NDArray[np.float64], training: NDArray[np.integer], strategy: Strategy) -> NDArray[np.float64]:
    """Fill the gaps of columns; one that has no value in the training rows is filled with 0."""
    if not np.isnan(columns).any():
        return columns
    from sklearn.impute import SimpleImputer  # noqa: PLC0415 - slow to import, and seldom needed

    # Scaled by powers of two, so that sums do not overflow.
    exponents = binary_exponents(np.max(np.abs(columns), axis=0, initial=0.0, where=~np.isnan(columns)))
    in_units = np.ldexp(columns, exponents)
    imputer = SimpleImputer(strategy=strategy, keep_empty_features=True).fit(in_units[training])
    filled: NDArray[np.float64] = np.ldexp(imputer.transform(in_units), -exponents)
    return filled


def _one_hot(
    columns: list[int], codes: NDArray[np.float64], training: NDArray[np.integer]
) -> list[tuple[int, int, NDArray[np.float64]]]:
    """List the words of the training rows: column, code, and where the word stands."""
    from sklearn.preprocessing import OneHotEncoder  # noqa: PLC0415 - as above

    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(codes[training])
    known = [(column, int(code)) for column, of in zip(columns, encoder.categories_, strict=True) for code in of]
    return [(column, code, values) for (column, code), values in zip(known, encoder.transform(codes).T, strict=True)]
