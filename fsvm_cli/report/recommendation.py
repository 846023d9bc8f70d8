"""The recommendation of an experiment on a user's data: whether anything is found, which features, with the evidence.

Nothing is recommended where the best of all rankings and sizes is no better than chance (`fsvm_cli.experiment.chance`),
or where a class has few rows. Else of all subsets whose mean lies within a margin behind the best mean that with the
fewest features is recommended. Tests allow for the rows that random splits share (Nadeau and Bengio, 2003).
"""

from __future__ import annotations

import json
import math
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fsvm_cli.console import brief
from fsvm_cli.data.messages import shown
from fsvm_cli.data.source import FixedSource, features_called
from fsvm_cli.data.source_spec import FileSpec, TestFileSplit
from fsvm_cli.evaluation.bootstrap import bootstrap_interval
from fsvm_cli.evaluation.metrics import (
    direction,
    has_positive_class,
    metric_of_counts,
    metric_title,
    needs_scores,
    range_of,
    unit_of,
)
from fsvm_cli.evaluation.score_metrics import limits_for_other_samples
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.statistics import (
    MeanInterval,
    difference_interval,
    exact_limits,
    excess_over_random,
    holm,
    limits_of_mean,
)
from fsvm_cli.experiment.chance import SIGNIFICANCE_LEVEL
from fsvm_cli.experiment.compared_methods import RANDOM_ORDERS, further_random_orders
from fsvm_cli.own_data.request import DEFAULT_CLASSIFIER, machine_keys
from fsvm_cli.ranking.ranks import ranks_of
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.ranking_statistics import common_splits
from fsvm_cli.spec.classifiers import Classifier, TunedMachineSpec
from fsvm_cli.spec.rankings import can_be_recommended, is_control

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fsvm_cli.experiment.chance import ChanceTest
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials
    from fsvm_cli.spec.classifiers import ExperimentClassifier
    from fsvm_cli.spec.rankings import Ranking
    from fsvm_cli.spec.schema import Config

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
    "kept_aside",
    "kept_aside_ci_low",
    "kept_aside_ci_high",
    "n_kept_aside",
]


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


def _rows_of_classes(experiment: Experiment) -> NDArray[np.intp]:
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
    return share * np.maximum(_rows_of_classes(experiment), 1), share * n_all


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
    rows: list[dict[str, Any]] = []
    for (ranking, trials), values, mean in zip(found, curves, means, strict=True):
        is_near = mean >= means[reference].max() - margin
        chosen, best = int(np.argmax(is_near if is_near.any() else mean >= mean.max() - margin)), int(np.argmax(mean))
        is_used = np.isin(trials.splits, splits)
        ranks = ranks_of(trials.scores[is_used])
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
        behind = difference_interval(best_values - values[:, chosen], ratio)
        above = difference_interval(values[:, chosen] - values[:, -1], ratio)
        rows.append(
            {
                "ranking": ranking.label,
                "method": ranking.method,
                "machine": machine_in_words(config.classifier_of(ranking)),
                "suspects": _suspects(experiment, ranks, trials.sizes[chosen]),
                "at_edge": _at_edge(config.classifier_of(ranking), trials),
                "n_features": trials.sizes[chosen],
                **_interval(there),
                "best_n_features": trials.sizes[best],
                **_interval(at_best, "best_", "best_mean"),
                **_interval(behind, "behind_best_", "behind_best"),
                **_interval(above, "above_all_", "above_all"),
                "tied": behind.low <= 0,
                "cost": _mean_cost(experiment, ranks, trials.sizes[chosen]),
                "steady_features": _steady(ranks, trials.sizes[chosen], experiment.source.feature_names),
                "best_steady_features": _steady(ranks, trials.sizes[best], experiment.source.feature_names),
            }
        )
    table = pd.DataFrame(rows).assign(
        recommended=False,
        **_above_random(experiment, collected, [ranking for ranking, _ in found], curves, splits, ratio),
    )
    chance = _chance(test)
    counts = _rows_of_classes(experiment) if isinstance(experiment.source, FixedSource) else None
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


def with_rows_kept_aside(
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
    return table.assign(kept_aside=means, kept_aside_ci_low=lows, kept_aside_ci_high=highs, n_kept_aside=n_test)


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
    """Test the rankings' means over all subsets against those of random orders, one-sided, with Holm's p-values."""
    ((n_train, _),) = experiment.n_test.items()
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
    orders = np.stack(
        [sign * each.values[metric, "test"][np.isin(each.splits, shared), :-1].mean(axis=1) for each in there], axis=1
    )
    found = []
    machine = further[0].classifier
    are_controls = [is_control(each) or experiment.config.classifier_of(each) != machine for each in rankings]
    for values, control in zip(curves, are_controls, strict=True):
        own = values[np.isin(splits, shared), :-1].mean(axis=1)
        interval, p = excess_over_random(own, orders, ratio)
        found.append([math.nan] * 4 if control else [interval.mean, interval.low, interval.high, p])
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
    behind = difference_interval(best - values, test_to_train(experiment, n_train, n_test))
    there = interval_for_new_rows(
        experiment, direction(metric) * values, trials.test_confusion[-1], metric, trials.spread_of(metric, -1)
    )
    return {
        "ranking": ALL,
        "machine": machine_in_words(experiment.config.classifier_of(ranking)),
        "n_features": trials.sizes[-1],
        **_interval(there),
        **_interval(behind, "behind_best_", "behind_best"),
        "tied": behind.low <= 0,
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


FEATURES_SHOWN = 20


def describe_recommendation(table: pd.DataFrame, config: Config, folder: Path, results: Path) -> Iterator[str]:
    """Describe whether anything is found, which features to keep, the confidence in them, and the limits.

    Parameters
    ----------
    table : DataFrame
        As `fsvm_cli.report.recommendation.recommendation` makes it, with a row at least.
    config : Config
    folder : Path
        Of the config: paths in it begin there.
    results : Path
        Of the tables.
    """
    if "chance" not in table:
        yield "The recommendation is of an earlier version, without a test against chance: run again."
        return
    references = table[table["ranking"].isin([ALL, MAJORITY])]
    rankings = table.drop(references.index)
    general = table.iloc[0].to_dict()
    title, unit = metric_title(general["metric"]), unit_of(general["metric"])
    beside = [f"{each['ranking']}: {_value(each)}" for each in references.to_dict("records")]
    beside_in_words = f" ({', '.join(beside)})" if beside else ""
    chance = _chance_in_words(general, config)
    recommended = rankings[rankings["recommended"]].to_dict("records")
    if recommended:
        row = recommended[0]
        yield (
            f"Recommended: {_features(row)}, as {row['ranking']} ranks them: test {title} {_value(row)} "
            f"{unit.symbol}{beside_in_words}."
        )
        yield from _positive_in_words(general, config)
        yield from _kept_aside_in_words(row, title)
        yield chance
        if not pd.isna(row.get("cost", math.nan)):
            yield f"The columns cost {row['cost']:g}, the mean over the splits; one that 'costs' does not name is free."
        yield _steady_in_words(row["steady_features"], "them")
        if isinstance(row["suspects"], str):
            yield from (f"Among them, too: {line}." for line in row["suspects"].splitlines())
        yield from _beside(rankings, references, row, config)
        yield from _machines_in_words(rankings)
        yield from _against_others(rankings, row)
        yield from _what_next(row, config, folder, results)
        return
    if not pd.isna(general["n_rarest"]) and general["n_rarest"] < MIN_ROWS_PER_CLASS:
        yield _few_in_words(general, config)
        yield chance
        if general["chance"] != NOT_FOUND:
            yield f"The highest mean is that of {_best_in_words(_best(rankings), title)}{beside_in_words}."
    else:
        yield chance
    if general["chance"] == NOT_FOUND:
        yield (
            "That does not show that there is nothing to find: more rows, or machines and rankings of another kind, "
            "may find something."
        )


def _chance_in_words(general: Mapping[Any, Any], config: Config) -> str:
    """Tell the result of the test whether the best ranking is better than chance."""
    n_planned = config.recommendation.splits if config.protocol.is_single_given else config.protocol.splits
    n_splits = min(config.recommendation.permuted_splits, n_planned)
    if general["chance"] == NOT_FINISHED:
        return "Whether any ranking is better than chance is not tested to the end: nothing is recommended; run again."
    if general["chance"] == NOT_TESTED:
        return "Whether any ranking is better than chance was not tested."
    tested = (
        f"p = {general['p_chance']:.2g} by {int(general['n_permutations'])} permutations of the labels, for the best "
        f"of all rankings and sizes by balanced accuracy on {n_splits} split{'' if n_splits == 1 else 's'}, "
        f"seed {config.protocol.seed}"
    )
    if general["chance"] == NOT_FOUND:
        return f"No ranking is better than chance on these data: nothing is recommended ({tested})."
    in_time = "; rows that are like those before them in time find too much" if config.protocol.is_ordered else ""
    return (
        f"Better than chance ({tested}{in_time}): labels and features are related, which does not say that this very "
        "subset is good."
    )


def _positive_in_words(general: Mapping[Any, Any], config: Config) -> Iterator[str]:
    """Name the positive class, where the figure of merit has one."""
    name = general.get("positive")
    if isinstance(name, str | int) and not pd.isna(name):
        how = "" if config.positive is not None else ", the rarer one; the key 'positive' names another"
        yield f"The positive class is '{brief(str(name))}'{how}."


def _kept_aside_in_words(row: Mapping[Any, Any], title: str) -> Iterator[str]:
    """Tell how the recommended subset does on the rows that took no part in its choice."""
    if not _has_rows_kept_aside(row):
        return
    value = _value({name: row[f"kept_aside{end}"] for name, end in KEPT_ASIDE} | {"metric": row["metric"]})
    yield (
        f"That is of {int(row['n_trials'])} random splits of the training rows, which alone decided. On the "
        f"{int(row['n_kept_aside'])} test rows that the config gives: {title} {value} {unit_of(row['metric']).symbol}."
    )


KEPT_ASIDE = (("mean", ""), ("ci_low", "_ci_low"), ("ci_high", "_ci_high"))


def _has_rows_kept_aside(row: Mapping[Any, Any]) -> bool:
    """Whether the config has a given split; tables of earlier versions do not say."""
    return not pd.isna(row.get("kept_aside", math.nan))


def _few_in_words(general: Mapping[Any, Any], config: Config) -> str:
    """Name the class of which there are too few rows."""
    units = "groups" if isinstance(config.dataset, FileSpec) and config.dataset.groups is not None else "rows"
    n = int(general["n_rarest"])
    return (
        f"No subset is recommended: of class '{brief(str(general['rarest_class']))}' there "
        f"{'are' if n != 1 else 'is'} {n} {units if n != 1 else units[:-1]}, fewer than {MIN_ROWS_PER_CLASS}, which "
        "tell neither subsets apart nor how often this class is found."
    )


def _without_controls(rankings: pd.DataFrame) -> pd.DataFrame:
    """Leave out random orders, unless there is nothing else."""
    others: pd.DataFrame = rankings[[not ranking_methods()[method].is_control for method in rankings["method"]]]
    return rankings if others.empty else others


def _best(rankings: pd.DataFrame) -> dict[Any, Any]:
    """Return the row of the best of all means."""
    return max(_without_controls(rankings).to_dict("records"), key=_merit)


def _merit(row: Mapping[Any, Any]) -> float:
    """Return the best mean of a ranking, larger is better."""
    return direction(row["metric"]) * float(row["best_mean"])


def _best_in_words(row: Mapping[Any, Any], title: str) -> str:
    features = _features({"n_features": row["best_n_features"]})
    value = _value({name: row[f"best_{name}"] for name in ("mean", "ci_low", "ci_high")} | {"metric": row["metric"]})
    return f"{row['ranking']} with {features}: test {title} {value} {unit_of(row['metric']).symbol}"


def _beside(rankings: pd.DataFrame, references: pd.DataFrame, row: Mapping[Any, Any], config: Config) -> Iterator[str]:
    """Set the best mean and all features beside what is recommended, on the same splits."""
    title, point = metric_title(row["metric"]), unit_of(row["metric"]).point
    best = _best(rankings)
    better = "highest" if direction(row["metric"]) > 0 else "lowest"
    more = "more" if direction(row["metric"]) > 0 else "less"
    if (best["ranking"], int(best["best_n_features"])) != (row["ranking"], int(row["n_features"])):
        steady = _steady_in_words(best["best_steady_features"], "these")
        rule = "the cheapest columns" if config.recommendation.costs is not None else "the fewest features"
        yield (
            f"The rule takes {rule} within {_margin_in_words(config)} of the best mean. The mean is "
            f"{better} for {_best_in_words(best, title)}, {_points(row, 'behind_best')} {point} {more} on the same "
            f"splits; "
            f"take these if losing a feature is worse than keeping one too many. {steady}"
        )
    if (references["ranking"] == ALL).any():
        yield f"Against all features with the same machine, on the same splits: {_points(row, 'above_all')} {point}."


def _margin_in_words(config: Config) -> str:
    margin, point = config.recommendation.margin, unit_of(config.metrics[0]).point
    one = {"points": "point", "hundredths of a nat": "hundredth of a nat"}[point]
    return f"{margin:g} {one if margin == 1 else point}"


def _machines_in_words(rankings: pd.DataFrame) -> Iterator[str]:
    """Set the best means of the machines side by side, and name what was chosen at the end of its grid."""
    others = _without_controls(rankings)
    bests = [_best(others[others["machine"] == machine]) for machine in dict.fromkeys(others["machine"])]
    if len(bests) > 1:
        bests.sort(key=lambda each: -_merit(each))
        compared = "; ".join(
            f"{each['machine']} {unit_of(each['metric']).written(each['best_mean'])} ({each['ranking']}, "
            f"{_features({'n_features': each['best_n_features']})})"
            for each in bests
        )
        yield f"Machines, by their best mean: {compared}."
    for machine, row in rankings.drop_duplicates("machine").set_index("machine").iterrows():
        if isinstance(row["at_edge"], str) and row["at_edge"]:
            yield f"The grid of the {machine} machine may be too narrow: {row['at_edge']}; widen it, and run again."


def _points(row: Mapping[Any, Any], name: str) -> str:
    """Write a difference with its interval in points, or hundredths of a nat."""
    low, high = 100 * row[f"{name}_ci_low"], 100 * row[f"{name}_ci_high"]
    return f"{100 * row[name]:.1f} [{low:.1f}, {high:.1f}]"


def _against_others(rankings: pd.DataFrame, row: Mapping[Any, Any]) -> Iterator[str]:
    """Tell which rankings are worse than the best, and which are better than random orders of the features."""
    others_ranked = _without_controls(rankings)
    tied = others_ranked[others_ranked["tied"] & ~others_ranked["recommended"]].to_dict("records")
    if tied:
        others = "; ".join(f"{each['ranking']} ({_features(each)}, {_value(each)})" for each in tied)
        yield f"Not told apart from the best of all means by the corrected test: {others}."
    worse = others_ranked[~others_ranked["tied"]].to_dict("records")
    if worse:
        others = "; ".join(
            f"{each['ranking']} (by {100 * each['behind_best']:.1f}, {_features(each)})" for each in worse
        )
        yield f"Worse than the best of all means by the corrected test: {others}."
    tested = rankings[rankings["p_random"].notna()]
    if tested.empty:
        return
    is_better = tested["p_random"] <= SIGNIFICANCE_LEVEL
    better = [
        f"{each['ranking']} (by {_points(each, 'above_random')})" for each in tested[is_better].to_dict("records")
    ]
    not_better = [str(label) for label in tested.loc[~is_better, "ranking"]]
    by = f"{RANDOM_ORDERS} on each split, over all numbers of features, one-sided, by Holm"
    if better:
        point = unit_of(row["metric"]).point
        yield f"Better than random orders of the features ({by}), in {point}: {'; '.join(better)}."
    if not_better:
        own = " What is recommended is among them: other features may do as well."
        yield (
            f"Not shown to be better than random orders{'' if better else f' ({by})'}: {', '.join(not_better)}."
            f"{own if row['ranking'] in not_better else ''}"
        )


def _what_next(row: Mapping[Any, Any], config: Config, folder: Path, results: Path) -> Iterator[str]:
    """Tell what is not known, and the commands for the columns and the model."""
    yield (
        "Not known: how rows of another time or place would fare, and which of several features that say the same is "
        "the cause. Method and size were chosen on these test parts, so that the accuracy is somewhat too high; rows "
        f"that were kept aside {'' if _has_rows_kept_aside(row) else 'would '}tell. Intervals are of 95 %, for other "
        "rows of the same kind: they allow for the rows that splits share, and for how few rows a class has."
    )
    command = _command(config, config.dataset, folder, row) if isinstance(config.dataset, FileSpec) else None
    if command is not None:
        yield f"The columns themselves: {command}"
    rows = "the training rows" if _has_rows_kept_aside(row) else "all rows"
    yield f"The model, fitted on {rows}: {shlex.join(['fsvm', 'export', str(results), '--model', 'model.joblib'])}"


def _features(row: Mapping[Any, Any]) -> str:
    size = int(row["n_features"])  # which a table that was read again may have as 6.0
    return f"{size} feature{'s' if size != 1 else ''}"


def _value(row: Mapping[Any, Any]) -> str:
    low, high, mean = (unit_of(row["metric"]).written(row[name]) for name in ("ci_low", "ci_high", "mean"))
    return mean if math.isnan(row["ci_low"]) else f"{mean} [{low}, {high}]"


def _steady_in_words(features: object, they: str) -> str:
    names = features.split("; ") if isinstance(features, str) and features else []
    if not names:
        return f"No feature is among {they} in {100 * STEADY:.0f} % of the splits: the choice is not stable."
    return f"Among {they} in at least {100 * STEADY:.0f} % of the splits: {shown(names, FEATURES_SHOWN)}."


def _command(config: Config, data: FileSpec, folder: Path, row: Mapping[Any, Any]) -> str | None:
    """Write the command that ranks all rows as recommended, and writes the best columns; None where none can."""
    settings = _settings(config, str(row["ranking"]))
    if settings is None or (config.protocol.is_given and not isinstance(data.split, TestFileSplit)):
        return None
    own = {ranking.label: ranking.scaling for ranking in config.rankings}
    scaling = own.get(str(row["ranking"])) or config.scaling
    words = ["fsvm", "rank", str(folder / data.file), "--method", str(row["method"]), "--scaling", scaling]
    said = data.model_dump(mode="json", exclude_defaults=True)
    for option in (
        "target",
        "missing",
        "categorical",
        "groups",
        "sample_weight",
        "separator",
        "encoding",
        "decimal",
        "sheet",
        "header_rows",
    ):
        words += [f"--{option.replace('_', '-')}", str(said[option])] if option in said else []
    words += ["--drop", data.order_by] if data.order_by else []
    words += [word for name in config.always_keep for word in ("--always-keep", name)]
    words += [word for option in ("drop", "na") for value in getattr(data, option) for word in (f"--{option}", value)]
    words += ["--dense"] * data.dense
    words += [word for key, value in settings.items() for word in ("--set", f"{key}={json.dumps(value)}")]
    return shlex.join([*words, "--keep", str(int(row["n_features"])), "--out", "selected.csv"])


def _settings(config: Config, label: str) -> dict[str, Any] | None:
    """List what a ranking and its machine have that `fsvm rank` has not by itself; None for what it cannot have."""
    ranking = next(each for each in config.rankings if each.label == label)
    method = ranking_methods()[ranking.method]
    usual = {name: field.default for name, field in method.parameters_model().model_fields.items()}
    settings = {name: value for name, value in ranking.parameters().items() if value != usual[name]}
    if method.trains_machines:
        machine = config.classifier_of(ranking).model_dump(mode="json", exclude_defaults=True)
        if machine.keys() & {"tune", "class_kernels", "output_scaling", "type", "kernels"}:
            return None
        taken = machine_keys(method)
        settings |= {k: value for k, value in machine.items() if k in taken and DEFAULT_CLASSIFIER.get(k) != value}
    return None if "estimator" in method.passed_down else settings
