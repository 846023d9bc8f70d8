"""The recommendation of an experiment on a user's data, in words: what is found, how sure that is, and what next."""

from __future__ import annotations

import json
import math
import shlex
from typing import TYPE_CHECKING, Any

import pandas as pd

from fsvm_cli.console import brief
from fsvm_cli.data.messages import shown
from fsvm_cli.data.source_spec import FileSpec, TestFileSplit
from fsvm_cli.evaluation.metrics import direction, metric_title, unit_of
from fsvm_cli.experiment.chance import SIGNIFICANCE_LEVEL
from fsvm_cli.experiment.compared_methods import RANDOM_ORDERS
from fsvm_cli.own_data.request import DEFAULT_CLASSIFIER, machine_keys
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.recommendation import (
    ALL,
    MAJORITY,
    MIN_ROWS_PER_CLASS,
    NOT_FINISHED,
    NOT_FOUND,
    NOT_TESTED,
    STEADY,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from fsvm_cli.spec.schema import Config

FEATURES_SHOWN = 20
HELD_OUT = (("mean", ""), ("ci_low", "_ci_low"), ("ci_high", "_ci_high"))


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
        yield from _held_out_in_words(row, title)
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


def _held_out_in_words(row: Mapping[Any, Any], title: str) -> Iterator[str]:
    """Tell how the recommended subset does on the rows that took no part in its choice."""
    if not _has_held_out_rows(row):
        return
    value = _value({name: row[f"held_out{end}"] for name, end in HELD_OUT} | {"metric": row["metric"]})
    yield (
        f"That is of {int(row['n_trials'])} random splits of the training rows, which alone decided. On the "
        f"{int(row['n_held_out'])} test rows that the config gives: {title} {value} {unit_of(row['metric']).symbol}."
    )


def _has_held_out_rows(row: Mapping[Any, Any]) -> bool:
    """Whether the config has a given split; tables of earlier versions do not say."""
    return not pd.isna(row.get("held_out", math.nan))


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
    interval = "too few splits for an interval" if math.isnan(low) else f"{low:.1f}, {high:.1f}"
    return f"{100 * row[name]:.1f} [{interval}]"


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
        "the cause. Method and size were chosen on these test parts, so that the accuracy is somewhat too high; "
        f"held-out rows {'' if _has_held_out_rows(row) else 'would '}show by how much. Intervals are of 95 %, for "
        "other rows of the same kind: they allow for the rows that splits share, and for how few rows a class has."
    )
    command = _command(config, config.dataset, folder, row) if isinstance(config.dataset, FileSpec) else None
    if command is not None:
        yield f"The columns themselves: {command}"
    rows = "the training rows" if _has_held_out_rows(row) else "all rows"
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
    words += [
        word for option in ("drop", "words", "na") for value in getattr(data, option) for word in (f"--{option}", value)
    ]
    words += ["--dense"] * data.dense + ["--no-header"] * data.no_header
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
