"""The recommendation of an experiment on a user's data: whether anything is found, which features, with the evidence.

Nothing is recommended where the best of all rankings and sizes is no better than chance (`fsvm_cli.experiment.chance`),
or where a class has few rows. Else of all subsets whose mean lies within a margin behind the best mean that with the
fewest features is recommended. Tests allow for the rows that random splits share (Nadeau and Bengio, 2003).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.console import brief
from fsvm_cli.data.source import FixedSource, features_called
from fsvm_cli.evaluation.metrics import (
    direction,
    has_positive_class,
)
from fsvm_cli.evaluation.statistics import (
    MeanInterval,
    difference_interval,
    excess_over_random,
    holm,
)
from fsvm_cli.experiment.compared_methods import further_random_orders
from fsvm_cli.ranking.ranks import ranks_of
from fsvm_cli.report.intervals_for_new_rows import interval_for_new_rows, rows_of_classes, test_to_train
from fsvm_cli.report.ranking_statistics import common_splits
from fsvm_cli.spec.classifiers import Classifier, TunedMachineSpec
from fsvm_cli.spec.rankings import can_be_recommended, is_control

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.experiment.chance import ChanceTest
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials
    from fsvm_cli.spec.classifiers import ExperimentClassifier
    from fsvm_cli.spec.rankings import Ranking

ALL = "all features"
MAJORITY = "most frequent class"
STEADY = 0.8
"""Share of the splits in which a feature is kept to be called steady."""
MIN_ROWS_PER_CLASS = 10
"""Independent rows of a class, or groups of rows, below which nothing is recommended."""
ROUNDING = 1e-12
FOUND, NOT_FOUND, NOT_TESTED, NOT_FINISHED = "found", "not found", "not tested", "not finished"
RECOMMENDATION_COLUMNS = [
    "ranking",
    "method",
    "machine",
    "metric",
    "positive",
    "n_features",
    "mean",
    "ci_low",
    "ci_high",
    "best_n_features",
    "best_mean",
    "best_ci_low",
    "best_ci_high",
    "behind_best",
    "behind_best_ci_low",
    "behind_best_ci_high",
    "above_all",
    "above_all_ci_low",
    "above_all_ci_high",
    "above_random",
    "above_random_ci_low",
    "above_random_ci_high",
    "p_random",
    "tied",
    "recommended",
    "cost",
    "steady_features",
    "best_steady_features",
    "at_edge",
    "suspects",
    "chance",
    "p_chance",
    "n_permutations",
    "rarest_class",
    "n_rarest",
    "n_trials",
    "held_out",
    "held_out_ci_low",
    "held_out_ci_high",
    "n_held_out",
]


def recommendation(
    experiment: Experiment, collected: Mapping[tuple[str, int], CompleteTrials], test: ChanceTest | None
) -> pd.DataFrame:
    """Set each ranking's smallest subset beside the others', all features and the most frequent class.

    Parameters
    ----------
    experiment : Experiment
    collected : mapping of (label, n_train) to CompleteTrials
        With the further random orders.
    test : ChanceTest or None
        Whether the best is better than chance, read from the store; None where that is not tested.

    Returns
    -------
    DataFrame
        One row per ranking, the two references last; empty where the experiment does not end in a recommendation, or
        fewer than two splits are complete. `n_features` is the smallest subset of the ranking whose mean is at most
        the margin of the config behind the best of all means; where it has none, behind its own. `behind_best` is by
        how much it is worse than the best of all means, `above_all` by how much better than all features, on the same
        splits, whichever direction is better; `tied` says that the 95 % interval of the first holds 0. Splits on whose
        test part the figure of merit is not defined do not count.
    """
    if not experiment.ends_in_recommendation:
        return pd.DataFrame(columns=RECOMMENDATION_COLUMNS)
    ((n_train, n_test),) = experiment.n_test.items()
    config, metric = experiment.config, experiment.config.metrics[0]
    found = [
        (ranking, collected[ranking.label, n_train])
        for ranking in config.rankings
        if (ranking.label, n_train) in collected and can_be_recommended(ranking)
    ]
    splits = common_splits([trials for _, trials in found])
    # Larger is better here, also of a loss.
    sign = direction(metric)
    curves = [sign * trials.values[metric, "test"][np.isin(trials.splits, splits)] for _, trials in found]
    is_defined = np.any([np.isfinite(values).any(axis=1) for values in curves], axis=0)
    splits, curves = splits[is_defined], [values[is_defined] for values in curves]
    if len(splits) < 2:
        return pd.DataFrame(columns=RECOMMENDATION_COLUMNS)
    ratio = test_to_train(experiment, n_train, n_test)
    margin = config.recommendation.margin / 100 + ROUNDING
    means = [np.nan_to_num(values.mean(axis=0), nan=-np.inf) for values in curves]  # there may be no classifier
    are_controls = [is_control(ranking) for ranking, _ in found]
    is_candidate = [all(are_controls) or not control for control in are_controls]
    reference = max((number for number, it_is in enumerate(is_candidate) if it_is), key=lambda each: means[each].max())
    best_values = curves[reference][:, np.argmax(means[reference])]
    rows = []
    for (ranking, trials), values, mean in zip(found, curves, means, strict=True):
        is_near = mean >= means[reference].max() - margin
        chosen = int(np.argmax(is_near if is_near.any() else mean >= mean.max() - margin))
        rows.append(_of_ranking(experiment, ranking, trials, values, splits, best_values, chosen))
    table = pd.DataFrame(rows).assign(
        recommended=False,
        **_above_random(experiment, collected, [ranking for ranking, _ in found], curves, splits, ratio),
    )
    chance = _chance(test)
    counts = rows_of_classes(experiment) if isinstance(experiment.source, FixedSource) else None
    n_rarest = None if counts is None else int(counts.min())
    if chance in {FOUND, NOT_TESTED} and (n_rarest is None or n_rarest >= MIN_ROWS_PER_CLASS):
        is_near_best = np.array([mean.max() for mean in means]) >= means[reference].max() - margin
        near = table[np.array(is_candidate) & is_near_best]
        # Sums of costs in another order may differ in their last digits.
        cheapest = near[near["cost"] <= near["cost"].min() * (1 + ROUNDING)] if config.recommendation.costs else near
        first = cheapest.sort_values(["n_features", "mean"], ascending=[True, sign < 0], kind="stable").index[0]
        table["recommended"] = table.index == first
    # Machines differ on all features, too: the best of them is the one to beat.
    on_all = max((number for number, it_is in enumerate(is_candidate) if it_is), key=lambda each: means[each][-1])
    references = [_all_features(experiment, *found[on_all], curves[on_all][:, -1], best_values)]
    references += [_majority(experiment, metric)] if metric in {"accuracy", "balanced-accuracy"} else []
    table = pd.concat([table, pd.DataFrame(references)], ignore_index=True)
    table = table.astype({"n_features": "Int64", "best_n_features": "Int64"})  # whole, also where there is none
    return table.assign(
        metric=metric,
        positive=experiment.source.class_names[experiment.positive] if has_positive_class(metric) else None,
        chance=chance,
        p_chance=math.nan if test is None else test.p,
        n_permutations=0 if test is None else len(test.permuted),
        rarest_class=None if counts is None else experiment.source.class_names[int(np.argmin(counts))],
        n_rarest=n_rarest,
        n_trials=len(splits),
    ).reindex(columns=RECOMMENDATION_COLUMNS)


def _of_ranking(  # noqa: PLR0917 - one call
    experiment: Experiment,
    ranking: Ranking,
    trials: CompleteTrials,
    values: NDArray[np.float64],
    splits: NDArray[np.intp],
    best_values: NDArray[np.float64],
    chosen: int,
) -> dict[str, object]:
    """Set the subset of a ranking that is chosen, and its best one, beside the best of all means.

    Parameters
    ----------
    experiment : Experiment
    ranking : Ranking
    trials : CompleteTrials
        Of the ranking.
    values : ndarray, shape (n_splits, n_sizes)
        The first figure of merit on the splits that count, larger is better.
    splits : ndarray of int, shape (n_splits,)
        These splits.
    best_values : ndarray, shape (n_splits,)
        Of the best of all means.
    chosen : int
        Place of the chosen size.
    """
    ((n_train, n_test),) = experiment.n_test.items()
    metric, names = experiment.config.metrics[0], experiment.source.feature_names
    sign, ratio = direction(metric), test_to_train(experiment, n_train, n_test)
    best = int(np.argmax(np.nan_to_num(values.mean(axis=0), nan=-np.inf)))
    is_used = np.isin(trials.splits, splits)
    ranks = ranks_of(trials.scores[is_used], trials.priorities[is_used])
    there, at_best = (
        interval_for_new_rows(
            experiment,
            sign * values[:, place],
            trials.test_confusion[place],
            metric,
            trials.spread_of(metric, place, is_used),
        )
        for place in (chosen, best)
    )
    behind = difference_interval(best_values - values[:, chosen], ratio, 1 / n_test)
    is_all = trials.sizes[chosen] == trials.sizes[-1]
    above = difference_interval(values[:, chosen] - values[:, -1], ratio, 0.0 if is_all else 1 / n_test)
    classifier = experiment.config.classifier_of(ranking)
    return {
        "ranking": ranking.label,
        "method": ranking.method,
        "machine": machine_in_words(classifier),
        "suspects": _suspects(experiment, ranks, trials.sizes[chosen]),
        "at_edge": _at_edge(classifier, trials),
        "n_features": trials.sizes[chosen],
        **_interval(there),
        "best_n_features": trials.sizes[best],
        **_interval(at_best, "best_", "best_mean"),
        **_interval(behind, "behind_best_", "behind_best"),
        **_interval(above, "above_all_", "above_all"),
        "tied": not behind.low > 0,
        "cost": _mean_cost(experiment, ranks, trials.sizes[chosen]),
        "steady_features": _steady(ranks, trials.sizes[chosen], names),
        "best_steady_features": _steady(ranks, trials.sizes[best], names),
    }


def _mean_cost(experiment: Experiment, ranks: NDArray[np.intp], size: int) -> float:
    """Return what the columns of a subset cost, as the mean over splits; NaN where the config has no costs.

    Parameters
    ----------
    experiment : Experiment
    ranks : ndarray of int, shape (n_splits, n_features)
        1 is best.
    size : int
    """
    costs = experiment.config.recommendation.costs
    if not isinstance(costs, dict):
        return math.nan
    # A column of words costs once, however many of its words are kept.
    kept = [(ranks[:, list(features_called([name], experiment.source))] <= size).any(axis=1) for name in costs]
    return float(np.mean(np.array([*costs.values()]) @ np.array(kept))) if costs else 0.0


def with_held_out_rows(
    table: pd.DataFrame, experiment: Experiment, collected: Mapping[tuple[str, int], CompleteTrials]
) -> pd.DataFrame:
    """Add how each subset does on the test rows of a given split, which took no part in its choice.

    Parameters
    ----------
    table : DataFrame
        The recommendation of the experiment within the training rows.
    experiment : Experiment
        That of the given split, whose machines are trained on all training rows.
    collected : mapping of (label, n_train) to CompleteTrials
        Of `experiment`.
    """
    ((n_train, n_test),) = experiment.n_test.items()
    key = experiment.config.metrics[0], "test"
    rows = []
    for label, size in zip(table["ranking"], table["n_features"], strict=True):
        trials = collected.get((label, n_train))
        if trials is None or pd.isna(size):
            rows.append((np.nan, np.nan, np.nan))
            continue
        place = trials.sizes.index(int(size))
        rows.append((float(trials.values[key][0, place]), *trials.intervals[key][place]))
    means, lows, highs = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return table.assign(held_out=means, held_out_ci_low=lows, held_out_ci_high=highs, n_held_out=n_test)


def machine_in_words(classifier: ExperimentClassifier) -> str:
    """Name the kernel of a machine, whether its C is chosen, and how it takes several classes; else its type."""
    if not isinstance(classifier, Classifier | TunedMachineSpec):
        return str(classifier.type)
    is_tuned = isinstance(classifier, TunedMachineSpec) or classifier.tune is not None
    has_pairs = isinstance(classifier, TunedMachineSpec) and classifier.multiclass == "one-vs-one"
    return classifier.kernel + ", tuned" * is_tuned + ", by pairs" * has_pairs


def _at_edge(classifier: ExperimentClassifier, trials: CompleteTrials) -> str:
    """Name the values at the end of their grid that were chosen in half of the splits or more."""
    grids: dict[str, set[float]] = {}
    if isinstance(classifier, TunedMachineSpec):
        grids["C"] = set(classifier.C)
    elif isinstance(classifier, Classifier):
        for step in classifier.tune or ():
            grids.setdefault("C", set()).update(step.C)
            for candidates in step.kernels:
                for name, values in candidates.values().items():
                    grids.setdefault(name, set()).update(v for v in values if isinstance(v, int | float))
    found = []
    for name, grid in grids.items():
        for end, words in ((min(grid, default=None), "smallest"), (max(grid, default=None), "largest")):
            n_there = sum(chosen.get(name) == end for chosen in trials.chosen)
            if len(grid) > 1 and 2 * n_there >= len(trials.chosen) > 0:
                found.append(f"{name} = {end:g}, the {words} of its grid, in {n_there} of {len(trials.chosen)} splits")
    return "; ".join(found)


def _interval(found: MeanInterval, prefix: str = "", name: str = "mean") -> dict[str, float]:
    return {name: found.mean, f"{prefix}ci_low": found.low, f"{prefix}ci_high": found.high}


def _chance(test: ChanceTest | None) -> str:
    if test is None:
        return NOT_TESTED
    if not test.is_decided:
        return NOT_FINISHED
    return FOUND if test.is_found else NOT_FOUND


def _above_random(  # noqa: PLR0917 - one call
    experiment: Experiment,
    collected: Mapping[tuple[str, int], CompleteTrials],
    rankings: Sequence[Ranking],
    curves: Sequence[NDArray[np.float64]],
    splits: NDArray[np.intp],
    ratio: float,
) -> dict[str, list[float]]:
    """Test the rankings' means over all subsets against those of random orders, one-sided, with Holm's p-values.

    A ranking counts with the sizes that its curve reaches in every split, and so do the orders beside it.
    """
    ((n_train, n_test),) = experiment.n_test.items()
    further = further_random_orders(experiment.config)
    labels = [each.label for each in further]
    labels = [*dict.fromkeys(each.ranking.label for each in further), *labels]
    metric, sizes = experiment.config.metrics[0], experiment.sizes
    there = [collected[label, n_train] for label in labels if (label, n_train) in collected]
    shared = common_splits(there) if there else np.empty(0, dtype=np.intp)
    shared = np.intersect1d(splits, shared)
    none = [math.nan] * len(curves)
    names = ("above_random", "above_random_ci_low", "above_random_ci_high", "p_random")
    if len(shared) < 2 or len(sizes) < 2:
        return dict.fromkeys(names, none)
    sign = direction(metric)
    orders = np.stack([sign * each.values[metric, "test"][np.isin(each.splits, shared), :-1] for each in there], axis=1)
    found = []
    machine = further[0].classifier
    are_controls = [is_control(each) or experiment.config.classifier_of(each) != machine for each in rankings]
    for values, control in zip(curves, are_controls, strict=True):
        own = values[np.isin(splits, shared), :-1]
        reached = np.isfinite(own).all(axis=0)  # a curve ends with the columns that have a score
        if control or not reached.any():
            found.append([math.nan] * 4)
            continue
        means_of_orders = orders[..., reached].mean(axis=2)
        interval, p = excess_over_random(own[:, reached].mean(axis=1), means_of_orders, ratio, 1 / n_test)
        found.append([interval.mean, interval.low, interval.high, p])
    means, low, high, p_values = np.array(found).T
    return dict(zip(names, (means.tolist(), low.tolist(), high.tolist(), holm(p_values).tolist()), strict=True))


def _steady(ranks: NDArray[np.intp], size: int, names: Sequence[str]) -> str:
    """Name the features that are among the best of most splits."""
    kept = (ranks <= size).mean(axis=0)
    return "; ".join(names[feature] for feature in np.flatnonzero(kept >= STEADY).tolist())


def _suspects(experiment: Experiment, ranks: NDArray[np.intp], size: int) -> str:
    """Repeat the data-quality warnings that name a feature which most splits keep."""
    source = experiment.source
    assert isinstance(source, FixedSource) or not source.caveats
    columns = source.feature_names
    if isinstance(source, FixedSource) and source.dataset.source_columns is not None:
        columns = source.dataset.source_columns
    kept = {columns[feature] for feature in np.flatnonzero((ranks <= size).mean(axis=0) > 0.5).tolist()}
    names = {f"'{brief(name)}'" for name in kept}
    warned = [line for line in source.caveats if line.startswith("suspect, ") and any(name in line for name in names)]
    return "\n".join(warned)


def _all_features(
    experiment: Experiment,
    ranking: Ranking,
    trials: CompleteTrials,
    values: NDArray[np.float64],
    best: NDArray[np.float64],
) -> dict[str, object]:
    ((n_train, n_test),) = experiment.n_test.items()
    metric = experiment.config.metrics[0]
    behind = difference_interval(best - values, test_to_train(experiment, n_train, n_test), 1 / n_test)
    there = interval_for_new_rows(
        experiment, direction(metric) * values, trials.test_confusion[-1], metric, trials.spread_of(metric, -1)
    )
    return {
        "ranking": ALL,
        "machine": machine_in_words(experiment.config.classifier_of(ranking)),
        "n_features": trials.sizes[-1],
        **_interval(there),
        **_interval(behind, "behind_best_", "behind_best"),
        "tied": not behind.low > 0,
        "recommended": False,
    }


def _majority(experiment: Experiment, metric: str) -> dict[str, object]:
    source = experiment.source
    counts = np.ones(source.n_classes, dtype=np.intp)
    if isinstance(source, FixedSource):
        counts = np.bincount(source.dataset.y[experiment.rows])
    return {
        "ranking": MAJORITY,
        "n_features": 0,
        "mean": counts.max() / counts.sum() if metric == "accuracy" else 1 / source.n_classes,
        "tied": False,
        "recommended": False,
    }
