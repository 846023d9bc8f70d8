"""The selection within the training rows of a given split: what is recommended has not seen the held-out rows.

An experiment on a file of one's own with one given split is repeated on random splits of its training rows; these end
in the recommendation, and the machines that the experiment itself trains and tests say how it does on the others.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.source import FixedSource
from fsvm_cli.data.source_spec import NamedSpec
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.splits import count_rows, drawn_split
from fsvm_cli.spec.rankings import can_be_recommended

if TYPE_CHECKING:
    from fsvm_cli.experiment.experiment import Experiment

TRAINING_SHARE = Fraction(2, 3)
"""Of the training rows, on which a split within them trains."""


def selection_experiment(experiment: Experiment) -> Experiment | None:
    """Return the experiment on splits of the training rows; None where no single split is given, or nothing to choose.

    Parameters
    ----------
    experiment : Experiment

    Returns
    -------
    Experiment or None
        With `recommendation.splits` of the config as its splits, each a training part of two thirds of the training
        rows, and the others of these for testing; groups stay together.
    """
    config, source = experiment.config, experiment.source
    if (
        isinstance(config.dataset, NamedSpec)
        or config.paper is not None
        or config.control is not None
        or not config.protocol.is_single_given
        or not isinstance(source, FixedSource)
        or source.dataset.train_indices is None
        or not any(map(can_be_recommended, config.rankings))
    ):
        return None
    rows, data = source.dataset.train_indices, source.dataset
    n_train = count_rows(TRAINING_SHARE, len(rows))
    splits = []
    for number in range(config.recommendation.splits):
        rng = random_stream(config.protocol.seed, "split within training rows", number)
        groups = None if data.groups is None else data.groups[rows]
        split = drawn_split(data.y[rows], groups, n_train, len(rows) - n_train, rng)
        splits.append((rows[split.train], rows[split.test]))
    identity = hashlib.sha256(f"{source.identity} within training rows".encode()).hexdigest()
    protocol = config.protocol.model_copy(update={"splits": len(splits)})
    kept = {"protocol": protocol, "extractors": (), "oracle": None, "record": (), "expected": ()}
    return replace(
        experiment,
        config=config.model_copy(update=kept),
        source=replace(source, splits=tuple(splits), identity=identity),
        n_test={n_train: len(rows) - n_train},
        within=tuple(np.sort(rows).tolist()),
    )
