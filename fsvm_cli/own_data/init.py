"""A first config for data of one's own: every method that fits their size, with comments on each choice."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.data.source import metadata_of
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.own_data.request import SEED
from fsvm_cli.ranking.registry import ranking_methods, reason_against_sparse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fsvm_cli.data.source import DataSource

MAX_SUBSET_SIZES = 20
"""Subset sizes in a config; with more features than this they are geometrically spaced."""
MAX_CELLS_FOR_100_SPLITS = 200_000
"""Rows times features; the config of a larger table has 20 splits."""
TUNING_FOLDS = 5
MAX_CLASS_RATIO = 3
"""Rows of the largest class per row of the smallest; beyond it, balanced accuracy is the first metric."""


@dataclass(frozen=True)
class _Offer:
    """A method that a first comparison may hold.

    Attributes
    ----------
    method : str
    why : str
        The question that it asks of a feature.
    most_rows, most_features : float
        Beyond which it takes too long for a first look.
    """

    method: str
    why: str
    most_rows: float = math.inf
    most_features: float = math.inf


OFFERED_METHODS = (
    _Offer("fisher", "are the means of the classes far apart, each feature alone?"),
    _Offer("kolmogorov-smirnov", "do the distributions of the classes differ, each feature alone?", 50_000),
    _Offer("mutual-information", "what does a feature tell of the class, each alone, in any way?", 20_000, 5_000),
    _Offer(
        "pearson-redundancy", "is a feature correlated with the class, and not with those before it?", 50_000, 2_000
    ),
    _Offer("relief-f", "does a feature differ between near rows of different classes?", 3_000, 5_000),
    _Offer("gradient-angle", "in which direction does a machine decide?", 3_000, 20_000),
    _Offer("rfe", "without which feature does a machine lose least, step by step?", 3_000, 5_000),
    _Offer("infoprop", "which features do a machine's decisions go by?", 3_000, 20_000),
    _Offer("random", "the control: what is not clearly better than this has found nothing"),
)
SPARSE_ONLY_METHODS = frozenset({"infoprop"})
"""Methods that are offered for sparse data only: for dense data there are faster ones."""


def first_config(source: DataSource, dataset: Mapping[str, Any], title: str, command: str) -> str:
    """Write a config that `fsvm check` passes.

    Parameters
    ----------
    source : DataSource
        The data.
    dataset : mapping of str to value
        Its section `dataset`, with paths relative to the config.
    title : str
    command : str
        What was called, for the first line.

    Returns
    -------
    str
        YAML with comments.
    """
    data = source.draw(random_stream(SEED, "data"))
    counts = data.class_counts()
    smallest = min(counts.values())
    several = ", ".join(f"{_comment(name)} ({count})" for name, count in list(counts.items())[:MAX_SUBSET_SIZES])
    n_splits = 100 if data.n_samples * data.n_features <= MAX_CELLS_FOR_100_SPLITS else 20
    is_imbalanced = max(counts.values()) > MAX_CLASS_RATIO * smallest
    metric = "balanced-accuracy" if is_imbalanced else "accuracy"
    scaling = "none" if source.is_sparse else "standard"
    lines = [
        f"# Written by: {_comment(command)}",
        f"# {data.n_samples:,} rows, {data.n_features:,} features, {data.n_classes} classes: {several}.",
        *(f"# Note: {_comment(caveat)}" for caveat in source.caveats),
        "# 'fsvm check' tells mistakes in this file; 'fsvm run' compares the methods, and ends in a recommendation.",
        f"title: {_text(title)}",
        "dataset:",
        *(f"  {key}: {_text(value)}" for key, value in dataset.items()),
        *_grouping(dataset),
        f"scaling: {scaling}  # fitted on the training part of each split",
        "classifier:",
        "  kernel: linear  # or gaussian, with theta: its width; then rfe and gradient-angle rank by that machine",
        "  C: 1  # price of a margin violation",
        *_weights(is_imbalanced),
        *_tuning(smallest),
        "protocol:",
        f"  splits: {n_splits}  # random ones; more make the intervals narrower, and only new ones are computed",
        "  train: 2/3  # of the rows; the others test",
        "  seed: 1",
        "rankings:",
        *_rankings(source),
        f"subsets: {_sizes(data.n_features)}  # numbers of features that are kept",
        f"metrics: [{', '.join(dict.fromkeys([metric, 'accuracy', 'balanced-accuracy']))}]  # the first decides",
        "recommendation:",
        "  margin: 1  # percentage points that may be given away for fewer features",
        "  permutations: 39  # of the labels at most, to test whether anything is better than chance; 0: no test",
        f"  permuted_splits: {5 if n_splits == 100 else 2}  # the first, on which that is tested",
        "expected: []  # claims to be judged by a rule that stands here before the run",
    ]
    return "\n".join(lines) + "\n"


def _grouping(dataset: Mapping[str, Any]) -> Iterator[str]:
    """Yield a commented key `groups`, for a table with named columns."""
    if "target" in dataset and "groups" not in dataset:
        yield "  # groups: COLUMN  # whose rows of one value, such as one patient, stay on one side of every split"


def _weights(is_imbalanced: bool) -> Iterator[str]:
    """Yield balanced class weights for imbalanced classes."""
    if is_imbalanced:
        yield "  class_weight: balanced  # C is larger for the rows of rare classes, so that all classes weigh the same"


def _tuning(smallest: int) -> Iterator[str]:
    """Yield a commented key `tune`, if every training part has enough rows of each class."""
    if smallest * 2 // 3 > TUNING_FOLDS:
        yield "  # Chosen inside each training part, at some 25 times the time:"
        yield f"  # tune: {{C: [0.01, 0.1, 1, 10, 100], folds: {TUNING_FOLDS}}}"


def _rankings(source: DataSource) -> Iterator[str]:
    data = metadata_of(source)
    for offer in OFFERED_METHODS:
        method = ranking_methods()[offer.method]
        if reason_against_sparse(data, method) or (offer.method in SPARSE_ONLY_METHODS and not data.is_sparse):
            continue
        fits = data.n_samples <= offer.most_rows and data.n_features <= offer.most_features
        step = ", step: 0.1" if offer.method == "rfe" and data.n_features > 100 else ""
        yield f"  {'' if fits else '# takes long: '}- {{method: {offer.method}{step}}}  # {offer.why}"


def _sizes(n_features: int) -> str:
    if n_features <= MAX_SUBSET_SIZES:
        return "all"
    steps = np.geomspace(1, n_features, MAX_SUBSET_SIZES).round().astype(int)
    return f"[{', '.join(map(str, np.unique(steps)))}]"


def _text(value: object) -> str:
    """Write a value as YAML: JSON is a part of it."""
    return json.dumps(value, ensure_ascii=False)


def _comment(text: str) -> str:
    """Keep a text on the line of its comment."""
    return " ".join(text.split())
