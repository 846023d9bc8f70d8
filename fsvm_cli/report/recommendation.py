"""The recommendation of an experiment on a user's data: the number of features and the method, with the evidence.

The smallest subset of a method is the smallest that lies within one standard error of the method's best, the rule of
L. Breiman et al., "Classification and Regression Trees", 1984, section 3.4.3, for trees;
`fsvm_cli.report.ranking_statistics.smallest_near_best` defines the error. Of these subsets, the one with the fewest
features is recommended that is as near the best of all: a test at the level .05 would admit a method that is two
standard errors worse. Tests allow for the rows that random splits share (Nadeau and Bengio, 2003).
"""

from __future__ import annotations

import json
import math
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fsvm_cli.data.messages import shown
from fsvm_cli.data.source import FixedSource
from fsvm_cli.data.source_spec import FileSpec, NamedSpec
from fsvm_cli.evaluation.metrics import METRIC_TITLES
from fsvm_cli.evaluation.statistics import difference_interval
from fsvm_cli.own_data.request import DEFAULT_CLASSIFIER, machine_keys
from fsvm_cli.ranking.random_order import RandomOrder
from fsvm_cli.ranking.ranks import ranks_of
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.ranking_statistics import common_splits, is_near, smallest_near_best

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.report.complete_trials import CompleteTrials
    from fsvm_cli.spec.schema import Config

ALL = "all features"
MAJORITY = "most frequent class"
STEADY = 0.8
"""Share of the splits in which a feature is kept to be called steady."""
RECOMMENDATION_COLUMNS = [
    "ranking",
    "method",
    "metric",
    "n_features",
    "mean",
    "ci_low",
    "ci_high",
    "best_n_features",
    "best_mean",
    "behind_best",
    "behind_best_ci_low",
    "behind_best_ci_high",
    "tied",
    "recommended",
    "steady_features",
    "best_steady_features",
    "n_trials",
]


def _can_recommend(experiment: Experiment) -> bool:
    """Whether an experiment is on the user's own data, with rankings and several splits of one size."""
    config = experiment.config
    return (
        not isinstance(config.dataset, NamedSpec)
        and config.paper is None
        and config.control is None
        and not config.protocol.is_given
        and len(experiment.n_test) == 1
        and any(ranking.order == "best-first" and not ranking.sees_test_part() for ranking in config.rankings)
    )


def recommendation(experiment: Experiment, collected: Mapping[tuple[str, int], CompleteTrials]) -> pd.DataFrame:
    """Set each ranking's smallest subset beside the others', all features and the most frequent class.

    Parameters
    ----------
    experiment : Experiment
        On data of the user's own, no reproduction of a paper, with random splits of one size.
    collected : mapping of (label, n_train) to CompleteTrials

    Returns
    -------
    DataFrame
        One row per ranking, the two references last; empty where there is nothing to recommend, or fewer than two
        splits are complete. `behind_best` is by how much a ranking at its smallest subset is worse than the best of
        all means, on the same splits; `tied` says that its 95 % interval holds 0. Of those that are behind by at most
        one standard error the one with the fewest features is recommended.
    """
    if not _can_recommend(experiment):
        return pd.DataFrame(columns=RECOMMENDATION_COLUMNS)
    ((n_train, n_test),) = experiment.n_test.items()
    config, metric = experiment.config, experiment.config.metrics[0]
    found = [
        (ranking, collected[ranking.label, n_train])
        for ranking in config.rankings
        if (ranking.label, n_train) in collected and ranking.order == "best-first" and not ranking.sees_test_part()
    ]
    splits = common_splits([trials for _, trials in found])
    if len(splits) < 2:
        return pd.DataFrame(columns=RECOMMENDATION_COLUMNS)
    ratio = n_test / n_train if isinstance(experiment.source, FixedSource) else 0.0
    rows, at_choice, at_best = [], [], []
    for ranking, trials in found:
        own = np.isin(trials.splits, splits)
        values = trials.values[metric, "test"][own]
        chosen, best = smallest_near_best(values, ratio)
        at_choice.append(values[:, chosen])
        at_best.append(values[:, best])
        size = trials.sizes[chosen]
        ranks = ranks_of(trials.scores[own])
        interval = difference_interval(values[:, chosen], ratio)
        rows.append(
            {
                "ranking": ranking.label,
                "method": ranking.method,
                "n_features": size,
                "mean": interval.mean,
                "ci_low": max(interval.low, 0.0),
                "ci_high": min(interval.high, 1.0),
                "best_n_features": trials.sizes[best],
                "best_mean": values[:, best].mean(),
                "steady_features": _steady(ranks, size, experiment.source.feature_names),
                "best_steady_features": _steady(ranks, trials.sizes[best], experiment.source.feature_names),
            }
        )
    table = _compared(pd.DataFrame(rows), np.stack(at_choice, axis=1), np.stack(at_best, axis=1), ratio)
    references = [_all_features(found[0][1], splits, metric, ratio)] if config.shares_classifier else []
    references += [_majority(experiment, metric)] if metric in {"accuracy", "balanced-accuracy"} else []
    table = pd.concat([table, pd.DataFrame(references)], ignore_index=True)
    table = table.astype({"n_features": "Int64", "best_n_features": "Int64"})  # whole, also where there is none
    return table.assign(metric=metric, n_trials=len(splits)).reindex(columns=RECOMMENDATION_COLUMNS)


def _steady(ranks: NDArray[np.intp], size: int, names: Sequence[str]) -> str:
    """Name the features that are among the best of most splits."""
    kept = (ranks <= size).mean(axis=0)
    return "; ".join(names[feature] for feature in np.flatnonzero(kept >= STEADY).tolist())


def _compared(
    table: pd.DataFrame, at_choice: NDArray[np.float64], at_best: NDArray[np.float64], ratio: float
) -> pd.DataFrame:
    """Test every ranking against the best of all means, and mark the one that is recommended.

    The values, shape (n_splits, n_rankings), are those at the rankings' smallest subsets and at their best ones.
    """
    is_control = np.array(table["method"] == RandomOrder.method)
    is_control &= not is_control.all()
    best = np.argmax(np.where(is_control, -np.inf, at_best.mean(axis=0)))
    differences = at_best[:, [best]] - at_choice
    behind = [difference_interval(each, ratio) for each in differences.T]
    tied = pd.Series([each.low <= 0 for each in behind])
    candidates = table[is_near(differences, ratio) & ~is_control]
    candidates = candidates.sort_values(["n_features", "mean"], ascending=[True, False])
    return table.assign(
        behind_best=[each.mean for each in behind],
        behind_best_ci_low=[each.low for each in behind],
        behind_best_ci_high=[each.high for each in behind],
        tied=tied,
        recommended=table.index == candidates.index[0],
    )


def _all_features(trials: CompleteTrials, splits: NDArray[np.intp], metric: str, ratio: float) -> dict[str, object]:
    values = trials.values[metric, "test"][np.isin(trials.splits, splits), -1]
    interval = difference_interval(values, ratio)
    return {
        "ranking": ALL,
        "n_features": trials.sizes[-1],
        "mean": interval.mean,
        "ci_low": max(interval.low, 0.0),
        "ci_high": min(interval.high, 1.0),
        "tied": False,
        "recommended": False,
    }


def _majority(experiment: Experiment, metric: str) -> dict[str, object]:
    source = experiment.source
    counts = np.bincount(source.dataset.y) if isinstance(source, FixedSource) else np.ones(source.n_classes)
    return {
        "ranking": MAJORITY,
        "n_features": 0,
        "mean": counts.max() / counts.sum() if metric == "accuracy" else 1 / source.n_classes,
        "tied": False,
        "recommended": False,
    }


FEATURES_SHOWN = 20


def describe_recommendation(table: pd.DataFrame, config: Config, folder: Path, results: Path) -> Iterator[str]:
    """Describe which features to keep, the confidence in them, and the limits of the estimate.

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
    references = table[table["ranking"].isin([ALL, MAJORITY])]
    rankings = table.drop(references.index)
    (row,) = rankings[rankings["recommended"]].to_dict("records")
    beside = [f"{each['ranking']}: {_value(each)}" for each in references.to_dict("records")]
    title = METRIC_TITLES[row["metric"]]
    references_in_words = f" ({', '.join(beside)})" if beside else ""
    yield (
        f"Recommended: {_features(row)}, as {row['ranking']} ranks them: test {title} {_value(row)} %"
        f"{references_in_words}."
    )
    yield _steady_in_words(row["steady_features"], "them")
    if row["best_n_features"] > row["n_features"]:
        yield _larger(row)
    tied = rankings[rankings["tied"] & ~rankings["recommended"]].to_dict("records")
    if tied:
        others = "; ".join(f"{each['ranking']} ({_features(each)}, {_value(each)})" for each in tied)
        yield f"Not told apart from the best of all means by the corrected test: {others}."
    worse = rankings[~rankings["tied"]].to_dict("records")
    if worse:
        others = "; ".join(
            f"{each['ranking']} (by {100 * each['behind_best']:.1f}, {_features(each)})" for each in worse
        )
        yield f"Worse than the best of all means by the corrected test: {others}."
    yield (
        "Not known: how rows of another time or place would fare, and which of several features that say the same is "
        "the cause. Method and size were chosen on these test parts, so that the accuracy is somewhat too high; rows "
        "that were kept aside would tell. Intervals are of 95 %, and allow for the rows that splits share."
    )
    command = _command(config, config.dataset, folder, row) if isinstance(config.dataset, FileSpec) else None
    if command is not None:
        yield f"The columns themselves: {command}"
    yield f"The model, fitted on all rows: {shlex.join(['fsvm', 'export', str(results), '--model', 'model.joblib'])}"


def _features(row: Mapping[Any, Any]) -> str:
    size = int(row["n_features"])  # which a table that was read again may have as 6.0
    return f"{size} feature{'s' if size != 1 else ''}"


def _value(row: Mapping[Any, Any]) -> str:
    interval = "" if math.isnan(row["ci_low"]) else f" [{100 * row['ci_low']:.1f}, {100 * row['ci_high']:.1f}]"
    return f"{100 * row['mean']:.1f}{interval}"


def _steady_in_words(features: object, they: str) -> str:
    names = features.split("; ") if isinstance(features, str) and features else []
    if not names:
        return f"No feature is among {they} in {100 * STEADY:.0f} % of the splits: the choice is not stable."
    return f"Among {they} in at least {100 * STEADY:.0f} % of the splits: {shown(names, FEATURES_SHOWN)}."


def _larger(row: Mapping[Any, Any]) -> str:
    """Describe the features that the rule omits: it favours small sets, and omitted features may be useful."""
    n_best = int(row["best_n_features"])
    return (
        f"The rule takes the smallest set within one standard error. The mean is highest with {n_best} features "
        f"({100 * row['best_mean']:.1f} %): keep {n_best} if losing a feature is worse than "
        "keeping one too many. "
        f"{_steady_in_words(row['best_steady_features'], f'these {n_best}')}"
    )


def _command(config: Config, data: FileSpec, folder: Path, row: Mapping[Any, Any]) -> str | None:
    """Write the command that ranks all rows as recommended, and writes the best columns; None where none can."""
    settings = _settings(config, str(row["ranking"]))
    if settings is None:
        return None
    own = {ranking.label: ranking.scaling for ranking in config.rankings}
    scaling = own.get(str(row["ranking"])) or config.scaling
    words = ["fsvm", "rank", str(folder / data.file), "--method", str(row["method"]), "--scaling", scaling]
    said = data.model_dump(mode="json", exclude_defaults=True)
    for option in ("target", "missing", "categorical", "groups", "separator", "encoding", "decimal"):
        words += [f"--{option}", str(said[option])] if option in said else []
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
