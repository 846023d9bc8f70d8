"""What one experiment compares, tested against each other at each number of features and over the whole curve.

Where a trial has no machine, its figures of merit are NaN: a curve is summed up over the trials that have one, and a
pair is compared on the splits where both have.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from fsvm_cli.data.source import FixedSource
from fsvm_cli.evaluation.metrics import direction, range_of
from fsvm_cli.evaluation.statistics import difference_interval, holm, p_value, practical_equivalence, standard_error
from fsvm_cli.learners.base import MACHINE_FOUND
from fsvm_cli.spec.schema import ORACLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials

WHOLE_CURVE = 0
"""Stands for the number of features where the area under the curve is compared."""
MIN_TRIALS = 2
"""A curve needs a spread between trials."""
MARGIN = 0.01
"""Accuracies that differ by a point or less are the same in practice, as Benavoli et al. have it; so are log losses
that differ by a hundredth of a nat."""

SUMMARY_COLUMNS = [
    "ranking",
    "train_size",
    "metric",
    "area",
    "area_ci_low",
    "area_ci_high",
    "best_n_features",
    "smallest_n_features",
    "smallest_mean",
    "n_trials",
]
PAIR_COLUMNS = [
    "first",
    "second",
    "train_size",
    "metric",
    "n_features",
    "difference",
    "ci_low",
    "ci_high",
    "p",
    "p_holm",
    "first_worse",
    "equivalent",
    "first_better",
    "n_trials",
]


class _PairedCurves(NamedTuple):
    """Curves of the rankings at one training size, on the splits that all of them have.

    `reached` has a row for each ranking: the sizes before the end of its curve on every split, and all features.
    """

    n_train: int
    ratio: float
    row: float
    labels: list[str]
    sizes: NDArray[np.int64]
    values: NDArray[np.float64]
    reached: NDArray[np.bool_]


class _Compared(NamedTuple):
    """A pair of rankings: the mean difference with its interval, p-value, chances, and number of trials."""

    difference: float
    low: float
    high: float
    p: float
    chances: tuple[float, float, float]
    n: int


def area_under_curve(values: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean height of curves over the number of features, by the trapezoidal rule.

    Parameters
    ----------
    values : ndarray, shape (..., n_sizes)
    sizes : ndarray of int, shape (n_sizes,)
        Ascending.

    Returns
    -------
    ndarray, shape (...)
        Of the unit of the values; of a single size, its value.
    """
    if len(sizes) == 1:
        return values[..., 0]
    area: NDArray[np.float64] = np.trapezoid(values, sizes, axis=-1) / (sizes[-1] - sizes[0])
    return area


def summarise_rankings(
    experiment: Experiment, collected: Mapping[tuple[str, int], CompleteTrials], metric: str
) -> pd.DataFrame:
    """Sum up each ranking's curve on the test part.

    Returns
    -------
    DataFrame
        One row per ranking and training size: the area under its curve with a 95 % interval for new data; at how many
        features it is best, and the smallest number within one standard error of that, with the mean there.
    """
    rows = []
    for curves in _curves(experiment, collected, metric):
        for label, all_values, reached in zip(curves.labels, curves.values, curves.reached, strict=True):
            values, sizes = all_values[:, reached], curves.sizes[reached]
            values = values[np.isfinite(values).all(axis=1)]
            if len(values) < MIN_TRIALS:
                rows.append((label, curves.n_train, metric, *[np.nan] * 3, pd.NA, pd.NA, np.nan, len(values)))
                continue
            area = difference_interval(area_under_curve(values, sizes), curves.ratio, curves.row)
            limits = np.clip([area.low, area.high], *range_of(metric))
            smallest, best = smallest_near_best(direction(metric) * values, curves.ratio)
            numbers = (area.mean, *limits, sizes[best], sizes[smallest])
            rows.append((label, curves.n_train, metric, *numbers, values[:, smallest].mean(), len(values)))
    table = pd.DataFrame(rows, columns=SUMMARY_COLUMNS)
    return table.astype(dict.fromkeys(("best_n_features", "smallest_n_features"), "Int64"))


def compare_rankings(
    experiment: Experiment,
    collected: Mapping[tuple[str, int], CompleteTrials],
    metric: str,
    *,
    at_each_size: bool = True,
) -> pd.DataFrame:
    """Test each pair of rankings, on the whole curve and, if asked, at each number of features.

    Returns
    -------
    DataFrame
        One row per pair, training size and number of features (0: the area under the curve): the difference of the
        means with Nadeau and Bengio's interval and p-value, the p-value by Holm among the pairs of the same row, and
        the probabilities that the first is worse, the same in practice (within a point), or better.
    """
    rows = []
    for curves in _curves(experiment, collected, metric):
        pairs = list(itertools.combinations(range(len(curves.labels)), 2))
        for index, size in enumerate((WHOLE_CURVE, *(curves.sizes.tolist() if at_each_size else ()))):
            if size == WHOLE_CURVE:
                differences = [_difference_of_areas(curves, i, j) for i, j in pairs]
            else:
                differences = [curves.values[i, :, index - 1] - curves.values[j, :, index - 1] for i, j in pairs]
            compared = [_compared(each, curves, direction(metric)) for each in differences]
            adjusted = holm(np.array([each.p for each in compared]))
            for (i, j), each, p_holm in zip(pairs, compared, adjusted, strict=True):
                numbers = (each.difference, each.low, each.high, each.p, p_holm, *each.chances, each.n)
                rows.append((curves.labels[i], curves.labels[j], curves.n_train, metric, size, *numbers))
    return pd.DataFrame(rows, columns=PAIR_COLUMNS)


def _difference_of_areas(curves: _PairedCurves, first: int, second: int) -> NDArray[np.float64]:
    """Subtract the areas of two curves over the sizes that both reach."""
    both = curves.reached[first] & curves.reached[second]
    areas = [area_under_curve(curves.values[each][:, both], curves.sizes[both]) for each in (first, second)]
    return areas[0] - areas[1]


def _compared(differences: NDArray[np.float64], curves: _PairedCurves, sign: float) -> _Compared:
    """Test the differences of a pair on the splits where both have a machine."""
    known = differences[np.isfinite(differences)]
    found = difference_interval(known, curves.ratio, curves.row)
    if np.isnan(found.low):
        return _Compared(found.mean, np.nan, np.nan, np.nan, (np.nan, np.nan, np.nan), len(known))
    chances = practical_equivalence(sign * known, curves.ratio, MARGIN, curves.row)
    return _Compared(found.mean, found.low, found.high, p_value(found), chances, len(known))


def smallest_near_best(values: NDArray[np.float64], ratio: float) -> tuple[int, int]:
    """Give the indices of the smallest subset within one standard error of the best, and of the best.

    A subset is near the best one where its mean lies behind by at most one standard error of that very difference,
    over the same splits.

    Parameters
    ----------
    values : ndarray, shape (n_trials, n_sizes)
    ratio : float
        Rows of the test part over rows of the training part; 0 where every trial draws new data.

    Notes
    -----
    Breiman, Friedman, Olshen and Stone (Classification and Regression Trees, 1984, section 3.4.3) take the standard
    error of the best accuracy itself, σ / sqrt(n) with σ the standard deviation of a single row's result and n the
    number of rows, each tested once. Most of that error is not in question here: test rows that are hard for one subset
    are hard for the other, and the difference of two accuracies on the same rows does not have it. So the error is that
    of the paired difference.

    It allows for the rows that splits share (Nadeau and Bengio, 2003), which makes it Breiman's: with the sizes
    n_train and n_test of the parts, the variance of the means of random splits of n rows is S² = σ² n_train / (n_test
    n), and the corrected variance for many splits, S² n_test / n_train, is σ² / n. Without the correction the error
    would fall to 0 with the number of splits, and patience would turn the rule into the best mean, however few rows
    there are to tell sizes apart. Where a method is unstable, what varies with the training rows is in S², too, and the
    rule is somewhat looser.
    """
    best = int(np.argmax(values.mean(axis=0)))
    return int(np.argmax(is_near(values[:, [best]] - values, ratio))), best


def is_near(behind: NDArray[np.float64], ratio: float) -> NDArray[np.bool_]:
    """Find which of several are within one standard error of the best, from their losses on each split; shape (...)."""
    # Means that are equal but for rounding are equal.
    near: NDArray[np.bool_] = behind.mean(axis=0) <= standard_error(behind, ratio) + 1e-12
    return near


def common_splits(trials: Sequence[CompleteTrials]) -> NDArray[np.intp]:
    """Give the splits that all of several compared methods have, ascending."""
    splits = [each.splits for each in trials]
    common = splits[0] if splits else np.empty(0, dtype=np.intp)
    for others in splits[1:]:
        common = np.intersect1d(common, others)
    return common


def _curves(
    experiment: Experiment, collected: Mapping[tuple[str, int], CompleteTrials], metric: str
) -> Iterator[_PairedCurves]:
    # What is known to matter is no method.
    labels = [each.label for each in experiment.compared_methods if each.label != ORACLE]
    for n_train, n_test in experiment.n_test.items():
        found = {label: collected[label, n_train] for label in labels if (label, n_train) in collected}
        splits = common_splits(list(found.values()))
        if len(splits) < MIN_TRIALS:
            continue
        sizes = np.array(next(iter(found.values())).sizes, dtype=np.int64)
        values = [each.values[metric, "test"][np.isin(each.splits, splits)] for each in found.values()]
        reached = [
            np.isfinite(of_one[np.isfinite(of_one[:, -1])]).all(axis=0) | (MACHINE_FOUND in each.measures)
            for each, of_one in zip(found.values(), values, strict=True)
        ]
        ratio = n_test / n_train if isinstance(experiment.source, FixedSource) else 0.0
        yield _PairedCurves(n_train, ratio, 1 / n_test, list(found), sizes, np.array(values), np.array(reached))
