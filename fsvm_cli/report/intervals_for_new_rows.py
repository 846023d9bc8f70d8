"""Intervals of means over random splits that hold for other rows of the same kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.source import FixedSource
from fsvm_cli.evaluation.bootstrap import bootstrap_interval
from fsvm_cli.evaluation.metrics import metric_of_counts, needs_scores, range_of
from fsvm_cli.evaluation.score_metrics import limits_for_other_samples
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.statistics import MeanInterval, difference_interval, exact_limits, limits_of_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.experiment.experiment import Experiment


def interval_for_new_rows(
    experiment: Experiment,
    values: NDArray[np.float64],
    confusion: NDArray[np.intp],
    metric: str,
    spread: NDArray[np.float64] | None,
) -> MeanInterval:
    """Give a 95 % interval of a mean over splits for other rows of the same kind.

    Two counts of the same uncertainty, of which each limit is the further one: what varies from split to split, and
    how few independent rows there are of each class, which all splits share. Where every row is recognised in every
    split, only the latter is not 0.

    Parameters
    ----------
    experiment : Experiment
        With one training size.
    values : ndarray, shape (n_splits,)
        A figure of merit on each split.
    confusion : ndarray of int, shape (n_classes, n_classes)
        Summed over the splits.
    metric : str
        Name of the figure of merit.
    spread : ndarray, shape (n_splits,), or None
        What a test row of each split contributes to the standard error, where that is measured.
    """
    ((n_train, n_test),) = experiment.n_test.items()
    of_splits = difference_interval(values, test_to_train(experiment, n_train, n_test))
    if of_splits.n == 0 or not confusion.any():
        return of_splits
    n_rows, n_all = _independent_rows(experiment, confusion, of_splits.n)
    n_per_class = confusion.sum(axis=-1)
    occurs = n_per_class > 0
    if metric == "accuracy":
        middle = float(np.trace(confusion) / confusion.sum())
        low, high = (float(limit) for limit in exact_limits(np.asarray(middle), np.asarray(n_all)))
    elif metric == "balanced-accuracy":
        recalls = np.diagonal(confusion)[occurs] / n_per_class[occurs]
        middle, (low, high) = float(recalls.mean()), limits_of_mean(recalls, n_rows[occurs])
    elif needs_scores(metric):
        middle = of_splits.mean
        is_known = spread is not None and not np.isnan(spread).all()
        typical = float(np.sqrt(np.nanmean(np.square(spread)))) if is_known else math.nan  # type: ignore[arg-type]
        low, high = limits_for_other_samples(metric, middle, np.where(occurs, n_rows, 0.0), typical)
    else:
        of_rows = np.rint(confusion * (n_all / confusion.sum())).astype(np.intp)
        rng = random_stream(experiment.config.protocol.seed, "bootstrap", metric)
        of_counts = metric_of_counts(metric, experiment.positive)
        middle = float(of_counts(confusion))
        low, high = bootstrap_interval(of_counts, of_rows, rng) if of_rows.any() else (middle, middle)
    mean, (lowest, highest) = of_splits.mean, range_of(metric)
    return MeanInterval(
        mean,
        of_splits.std,
        float(np.clip(np.fmin(of_splits.low, mean - (middle - low)), lowest, highest)),
        float(np.clip(np.fmax(of_splits.high, mean + (high - middle)), lowest, highest)),
        of_splits.n,
    )


def test_to_train(experiment: Experiment, n_train: int, n_test: int) -> float:
    """Return rows of the test part over rows of the training part; 0 where every trial draws new data."""
    return n_test / n_train if isinstance(experiment.source, FixedSource) else 0.0


def rows_of_classes(experiment: Experiment) -> NDArray[np.intp]:
    """Count the independent rows of each class, or where rows belong together the groups that have the class."""
    source = experiment.source
    assert isinstance(source, FixedSource)
    y, groups = source.dataset.y[experiment.rows], source.dataset.groups
    if groups is None:
        return np.bincount(y, minlength=source.n_classes)
    groups = groups[experiment.rows]
    return np.array([len(np.unique(groups[y == code])) for code in range(source.n_classes)])


def _independent_rows(
    experiment: Experiment, confusion: NDArray[np.intp], n_splits: int
) -> tuple[NDArray[np.float64], float]:
    """Count the independent rows of each class, and of all, that some splits amount to.

    With few splits some rows are in more test parts than others, or in none: the mean over test parts then varies as
    that over fewer rows, ``n J f / (1 - f + J f)`` for J splits that test each row with probability f.
    """
    source = experiment.source
    if not isinstance(source, FixedSource):
        n_per_class = confusion.sum(axis=-1).astype(float)
        return n_per_class, float(n_per_class.sum())
    ((_, n_test),) = experiment.n_test.items()
    n_rows = len(experiment.rows)
    tested = n_splits * n_test / n_rows
    share = tested / (1 - n_test / n_rows + tested)
    groups = source.dataset.groups
    n_all = n_rows if groups is None else len(np.unique(groups[experiment.rows]))
    return share * np.maximum(rows_of_classes(experiment), 1), share * n_all
