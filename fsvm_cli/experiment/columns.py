"""The order in which a trial has the columns, and how ties among them break."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.source import FixedSource
from fsvm_cli.evaluation.seeds import random_stream, tie_seed
from fsvm_cli.ranking.base import tie_priority

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.experiment.experiment import Experiment


def columns_of(experiment: Experiment, split: int) -> NDArray[np.intp]:
    """Return which feature each column of a split is, shape (n_features,).

    Generators have the relevant features in front, which must tell no method: each split of drawn data has an order of
    its own.
    """
    n_features = experiment.source.n_features
    if isinstance(experiment.source, FixedSource):
        return np.arange(n_features)
    return random_stream(experiment.config.protocol.seed, "columns", split).permutation(n_features)


def tie_priority_of(experiment: Experiment, split: int) -> NDArray[np.intp]:
    """Return which of the features that tie on a split comes first: the one with the least number here."""
    priority = np.empty(experiment.source.n_features, dtype=np.intp)
    seed = tie_seed(experiment.config.protocol.seed, split)
    priority[columns_of(experiment, split)] = tie_priority(seed, len(priority))
    return priority
