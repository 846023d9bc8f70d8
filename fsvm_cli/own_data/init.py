"""A first config for data of one's own: every method that fits their size, with comments on each choice."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.data.source import metadata_of
from fsvm_cli.data.user_file import columns_without_use
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.files import is_file
from fsvm_cli.own_data.rank import file_spec
from fsvm_cli.own_data.request import SEED
from fsvm_cli.ranking.registry import ranking_methods, reason_against_sparse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.source import DataSource

MAX_SUBSET_SIZES = 20
"""Subset sizes in a config; with more features than this they are geometrically spaced."""
SIZES = ((100_000, 50, 5), (2_000_000, 20, 2), (math.inf, 10, 1))
"""Rows times rows and features, up to which a config has so many splits, of which so many test for chance."""
N_ORIGINS = 5
"""Where a column orders the rows."""
TUNING_FOLDS = 5
LINEAR_CS = "[0.001, 0.01, 0.1, 1, 10]"
GAUSSIAN_CS = "[0.1, 1, 10, 100]"
MAX_TUNED_ROWS = 3_000
MAX_CLASS_RATIO = 3
"""Rows of the largest class per row of the smallest; beyond it, balanced accuracy is the first metric."""
MIN_ROWS_OF_CLASS = 10
"""Of fewer, a random training part may hold none."""


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
    machine : {"linear", "gaussian", "its own"}
        What is trained on its subsets; a method with a machine of its own ranks by that one.
    options : str
    """

    method: str
    why: str
    most_rows: float = math.inf
    most_features: float = math.inf
    machine: str = "linear"
    options: str = ""


OFFERED_METHODS = (
    _Offer("fisher", "are the means of the classes far apart, each feature alone?"),
    _Offer("mutual-information", "what does a feature tell of the class, each alone, in any way?", 20_000, 5_000),
    _Offer("mrmr", "the same, less what the features before it tell", 20_000, 300),
    _Offer("relief-f", "does a feature differ between near rows of different classes, also with others?", 3_000, 5_000),
    _Offer("l1-svm", "which features does a machine need that must use few?", 5_000, 5_000),
    _Offer("gradient-angle", "in which direction does a machine decide?", 1_500, 20_000, "its own"),
    _Offer("rfe", "without which feature does a machine lose least, step by step?", 3_000, 5_000, "its own"),
    _Offer("infoprop", "which features do a machine's decisions go by?", 3_000, 20_000),
    _Offer("mutual-information", "for a machine that bends", MAX_TUNED_ROWS, 5_000, "gaussian"),
    _Offer("relief-f", "for a machine that bends: features that act together", MAX_TUNED_ROWS, 5_000, "gaussian"),
    _Offer(
        "forest",
        "which features do the trees of a random forest split by? Also those that act together",
        MAX_TUNED_ROWS,
        5_000,
        "gaussian",
        ", n_trees: 50",
    ),
    _Offer("random", "the control: what is not clearly better than this has found nothing"),
)
SPARSE_ONLY_METHODS = frozenset({"infoprop"})
"""Methods that are offered for sparse data only: for dense data there are faster ones."""


def columns_left_out(file: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Find the columns of a file that cannot become features, each with the reason; see `columns_without_use`."""
    if not is_file(Path(file)):
        return {}  # which opening it tells
    return columns_without_use(file_spec(file, options), Path())


def first_config(
    source: DataSource, dataset: Mapping[str, Any], title: str, command: str, left_out: Mapping[str, str] | None = None
) -> str:
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
    left_out : mapping of str to str, optional
        The columns that are dropped for a reason in the file, and the reason.

    Returns
    -------
    str
        YAML with comments.
    """
    data = source.draw(random_stream(SEED, "data"))
    counts = data.class_counts()
    smallest = min(counts.values())
    several = ", ".join(f"{_comment(name)} ({count})" for name, count in list(counts.items())[:MAX_SUBSET_SIZES])
    n_splits, n_permuted = next(
        (splits, permuted)
        for most, splits, permuted in SIZES
        if data.n_samples * (data.n_samples + data.n_features) <= most
    )
    is_imbalanced = max(counts.values()) > MAX_CLASS_RATIO * smallest
    metric = "balanced-accuracy" if is_imbalanced else "accuracy"
    metrics = dict.fromkeys([metric, "accuracy", "balanced-accuracy"])
    scaling = "none" if source.is_sparse else "standard"
    lines = [
        f"# Written by: {_comment(command)}",
        f"# {data.n_samples:,} rows, {data.n_features:,} features, {data.n_classes} classes: {several}.",
        *(f"# Note: {_comment(caveat)}" for caveat in source.caveats),
        "# 'fsvm check' tells mistakes in this file; 'fsvm run' compares the methods, and ends in a recommendation.",
        f"title: {_text(title)}",
        "dataset:",
        *(f"  {key}: {_text(value)}" for key, value in dataset.items()),
        *(f"  # dropped: {_comment(name)}, since {_comment(why)}" for name, why in (left_out or {}).items()),
        *_grouping(dataset),
        f"scaling: {scaling}  # fitted on the training part of each split",
        "classifier:",
        *_machine(data, is_imbalanced=is_imbalanced),
        "protocol:",
        *_splits(data, n_splits),
        "  seed: 1",
        "rankings:",
        *_rankings(source, is_imbalanced=is_imbalanced),
        f"subsets: {_sizes(data.n_features)}  # numbers of features that are kept",
        f"metrics: [{', '.join(metrics)}]  # the first decides{_other_metrics(data, is_imbalanced=is_imbalanced)}",
        "recommendation:",
        "  margin: 1  # percentage points that may be given away for fewer features",
        "  permutations: 39  # of the labels at most, to test whether anything is better than chance; 0: no test",
        f"  permuted_splits: {n_permuted}  # the first, on which that is tested",
        "expected: []  # claims to be judged by a rule that stands here before the run",
    ]
    return "\n".join(lines) + "\n"


def _other_metrics(data: Dataset, *, is_imbalanced: bool) -> str:
    """Name figures of merit that a user may want, first those for rare classes where there is one."""
    if data.n_classes > 2:
        return "; there are macro-f1, mcc and, with one-vs-rest, auc and log-loss, too"
    rarer = min(data.class_counts().items(), key=lambda each: each[1])[0]
    if is_imbalanced:
        return (
            f"; to find the rare '{_comment(rarer)}': average-precision, f1, sensitivity-at-specificity-0.95 (add "
            f"positive: {_text(rarer)})"
        )
    return "; there are f1, macro-f1, mcc, auc, average-precision and log-loss, too"


def _grouping(dataset: Mapping[str, Any]) -> Iterator[str]:
    """Yield a commented key `groups`, for a table with named columns."""
    if "target" in dataset and "groups" not in dataset:
        yield "  # groups: COLUMN  # whose rows of one value, such as one patient, stay on one side of every split"


def _splits(data: Dataset, n_splits: int) -> Iterator[str]:
    """Yield the keys that divide the rows: at random, or by their order."""
    if data.order is not None:
        yield f"  splits: {N_ORIGINS}  # origins in the order of the rows: those before each train, some after it test"
        yield "  train: before"
        return
    yield f"  splits: {n_splits}  # random ones; more make the intervals narrower, and only new ones are computed"
    yield "  train: 2/3  # of the rows; the others test"
    if data.groups is None and min(data.class_counts().values()) < MIN_ROWS_OF_CLASS:
        yield "  stratified: true  # both parts have the shares of the classes; else one may lack a rare class"


def _machine(data: Dataset, *, is_imbalanced: bool) -> Iterator[str]:
    """Yield the keys of the machine of most rankings: linear, several classes by pairs, C chosen if that can be."""
    weights = "  class_weight: balanced  # C is larger for the rows of rare classes, so that all classes weigh the same"
    is_tuned = data.n_samples <= MAX_TUNED_ROWS
    if data.n_classes > 2:
        yield "  type: tuned-machine"
        yield "  kernel: linear  # or gaussian; the rankings below compare both"
        yield f"  C: {LINEAR_CS if is_tuned else [1]}  # price of a margin violation, chosen inside each training part"
        yield "  multiclass: one-vs-one  # a machine for each pair of classes; one-vs-rest: for each class"
        yield from [weights] * is_imbalanced
        return
    yield "  kernel: linear  # rfe and gradient-angle rank by it; some rankings below have a machine that bends"
    yield "  C: 1  # price of a margin violation"
    yield from [weights] * is_imbalanced
    if _fewest_of_a_class(data) * 2 // 3 > 2 * TUNING_FOLDS:
        tune = f"tune: {{C: {LINEAR_CS}, folds: {TUNING_FOLDS}}}"
        yield f"  {tune}  # chosen inside each training part" if is_tuned else f"  # takes long: {tune}"


def _fewest_of_a_class(data: Dataset) -> int:
    """Count the rows of the rarest class, or the groups that have it."""
    if data.groups is None:
        return min(data.class_counts().values())
    return min(len(np.unique(data.groups[data.y == code])) for code in range(data.n_classes))


def _rankings(source: DataSource, *, is_imbalanced: bool) -> Iterator[str]:
    data = metadata_of(source)
    has_pairs = len(data.class_names) > 2
    weights = ", class_weight: balanced" if is_imbalanced else ""
    pairs = ", multiclass: one-vs-one" if has_pairs else ""
    bends = f"{{type: tuned-machine, kernel: gaussian, C: {GAUSSIAN_CS}{pairs}{weights}}}"
    for offer in OFFERED_METHODS:
        method = ranking_methods()[offer.method]
        if reason_against_sparse(data, method) or (offer.method in SPARSE_ONLY_METHODS and not data.is_sparse):
            continue
        if data.has_weights and not method.takes_sample_weight:
            continue
        if offer.machine == "gaussian" and data.is_sparse:
            continue
        fits = data.n_samples <= offer.most_rows and data.n_features <= offer.most_features
        keys = f"method: {offer.method}{offer.options}"
        if offer.method == "rfe" and data.n_features > 100:
            keys += ", step: 0.1"
        if offer.machine == "gaussian":
            keys += f', label: "{offer.method}, gaussian", classifier: {bends}'
        if offer.machine == "its own" and has_pairs:
            keys += f", classifier: {{kernel: linear, C: 1{weights}}}"
        yield f"  {'' if fits else '# takes long: '}- {{{keys}}}  # {offer.why}"


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
