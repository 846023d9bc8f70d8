"""How a table becomes features, as a transformer of scikit-learn that takes data frames."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from fsvm_cli.data.preparation import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.preparation import Preparation


def table_transformer(dataset: Dataset) -> ColumnTransformer:
    """Build the transformer, not fitted, that makes of `Dataset.frame` what `Dataset.X` holds, column by column.

    It takes other columns of a frame for what they are: none of its business.
    """
    prepared = dataset.preparation
    if prepared is None:
        steps: list[Any] = [("numbers", "passthrough", list(dataset.feature_names))]
    else:
        steps = [*_steps(prepared)]
    return ColumnTransformer(steps)


def _steps(prepared: Preparation) -> Iterator[tuple[str, Any, list[str]]]:
    """Yield what is done with the columns, those of numbers that are alike together."""
    indicated = {feature.column for feature in prepared.layout if feature.is_indicator}
    alone = [words is not None or column in indicated for column, words in enumerate(prepared.words)]
    kinds = [is_alone and column + 1 for column, is_alone in enumerate(alone)]
    for _, run in itertools.groupby(range(len(kinds)), key=lambda column: kinds[column]):
        columns = list(run)
        names = [prepared.names[column] for column in columns]
        # A column may have a name that scikit-learn does not take for that of a step.
        yield f"columns from {columns[0] + 1}", _transformer(prepared, columns), names
        if columns[0] in indicated:
            yield f"gaps of {columns[0] + 1}", MissingIndicator(features="all"), names


def _transformer(prepared: Preparation, columns: Sequence[int]) -> Any:
    fills = prepared.missing in STRATEGIES
    if prepared.words[columns[0]] is None:
        return SimpleImputer(strategy=STRATEGIES[prepared.missing]) if fills else "passthrough"
    most_frequent = SimpleImputer(strategy="most_frequent")
    if prepared.categorical == "ordinal":
        # A word that is not known counts as missing.
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
        return make_pipeline(encoder, most_frequent)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(most_frequent, encoder) if fills else encoder
