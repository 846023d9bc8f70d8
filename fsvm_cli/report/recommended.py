"""A recommendation in sentences."""

from __future__ import annotations

import json
import math
import shlex
from typing import TYPE_CHECKING, Any

from fsvm_cli.data.phrases import shown
from fsvm_cli.data.spec import FileSpec
from fsvm_cli.evaluation.metrics import METRIC_TITLES
from fsvm_cli.experiment.ranking_request import DEFAULT_CLASSIFIER, machine_keys
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.recommendation import ALL, MAJORITY, STEADY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.spec.schema import Config

FEATURES_SHOWN = 20


def describe_recommendation(table: pd.DataFrame, config: Config, folder: Path, results: Path) -> Iterator[str]:
    """Say which features to keep, how sure that is, and what is not known.

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
    yield _steady(row["steady_features"], "them")
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


def _steady(features: object, they: str) -> str:
    names = features.split("; ") if isinstance(features, str) and features else []
    if not names:
        return f"No feature is among {they} in {100 * STEADY:.0f} % of the splits: the choice is not stable."
    return f"Among {they} in at least {100 * STEADY:.0f} % of the splits: {shown(names, FEATURES_SHOWN)}."


def _larger(row: Mapping[Any, Any]) -> str:
    """Say what the rule leaves out: it favours small sets, and what it leaves out may be of use."""
    n_best = int(row["best_n_features"])
    return (
        f"The rule takes the smallest set within one standard error. The mean is highest with {n_best} features "
        f"({100 * row['best_mean']:.1f} %): who would rather keep a feature too many than lose one keeps {n_best}. "
        f"{_steady(row['best_steady_features'], f'these {n_best}')}"
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
    return None if "estimator" in method.handed_down else settings
