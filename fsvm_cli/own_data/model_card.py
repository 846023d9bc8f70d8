"""The card of an exported model: what it takes, what it was made of, how well it does, and when not to use it."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

import fsvm_cli
from fsvm_cli.console import brief
from fsvm_cli.data.messages import shown
from fsvm_cli.data.readers.words import look_of
from fsvm_cli.data.source_spec import FileSpec
from fsvm_cli.data.user_file import find_file
from fsvm_cli.errors import DataError
from fsvm_cli.evaluation.metrics import metric_title, unit_of
from fsvm_cli.files import special_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.own_data.export import Export
    from fsvm_cli.own_data.held_out import Importance
    from fsvm_cli.own_data.standalone import Standalone
    from fsvm_cli.spec.rankings import Ranking

FORMAT = 1
READING_KEYS = {"format", "separator", "encoding", "decimal", "na", "words", "no_header", "header_rows", "dense"}
"""Keys of `FileSpec` that say how a file is read, whichever its columns."""
FEW_PER_CLASS = 30
"""Rows of a class below which the card says that its recall is hardly known."""


def card_path(model: Path) -> Path:
    """Return where the card of a model lies: beside it."""
    return model.with_name(f"{model.name}.card.json")


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, 64 hex digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def model_card(
    exported: Export,
    found: Standalone,
    experiment: Experiment,
    ranking: Ranking,
    *,
    model_sha256: str,
    folder: Path,
    tried: Sequence[Mapping[str, Any]],
    importance: Importance | None,
    refitted: str = "",
) -> dict[str, Any]:
    """Put together the card of a model, as it is written in JSON.

    Parameters
    ----------
    exported : Export
    found : Standalone
        The model of `exported`.
    experiment : Experiment
    ranking : Ranking
        That selects.
    model_sha256 : str
        Of the file of the model.
    folder : Path
        Of the config: paths in it begin there.
    tried : sequence of mapping of str to value
        Rows of the recommendation's table: the rankings, the references, and how well they do.
    importance : Importance or None
        Of the columns, on rows that were left out.
    refitted : str
        In what the data differ from those of the run that chose ranking and number of features; empty where they don't.
    """
    dataset, config = exported.dataset, experiment.config
    spec = config.dataset
    of_file = spec if isinstance(spec, FileSpec) else None
    fitted = found.model[-1]
    counts = {str(label): int(n) for label, n in zip(*np.unique(exported.labels(), return_counts=True), strict=True)}
    own = [row for row in tried if row["ranking"] == ranking.label and row["n_features"] == len(found.features)]
    accuracy: dict[str, Any] | None = None
    if own:
        accuracy = {key: own[0].get(key) for key in ("metric", "mean", "ci_low", "ci_high", "n_trials")}
        accuracy["trials"] = "origins in time" if config.protocol.is_ordered else "random splits"
        accuracy["trials"] += " of its training rows" * config.protocol.is_given
    classifier = config.classifier_of(ranking).model_dump(mode="json", exclude_defaults=True)
    card = {
        "card": FORMAT,
        "title": config.title,
        "model": {
            "sha256": model_sha256,
            "steps": [f"{name}: {type(step).__name__}" for name, step in found.model.steps],
            "needs_fsvm": found.reason or False,
            "checked_rows": len(exported.rows),
            "largest_difference": found.largest_difference,
            "undecided_rows": found.n_ties,
            "probabilities": hasattr(fitted, "calibrated_classifiers_"),
        },
        "target": None if of_file is None else of_file.target,
        "classes": counts,
        "columns": _columns(exported, found),
        "features": list(found.features),
        "reading": {}
        if of_file is None
        else of_file.model_dump(mode="json", exclude_defaults=True, include=READING_KEYS),
        "fitted_on": {
            "data": dataset.name,
            "data_sha256": dataset.sha256,
            "file_sha256": None if of_file is None else file_hash(find_file(of_file, folder)[0]),
            "rows": len(exported.rows),
            "rows_of_the_data": dataset.n_samples,
            "features_of_the_data": dataset.n_features,
            "remarks": list(experiment.source.caveats),
            "refitted": refitted,
        },
        "selection": {
            "ranking": ranking.label,
            "method": ranking.method,
            "parameters": ranking.parameters(),
            "scaling": ranking.scaling or config.scaling,
            "classifier": classifier,
            "seed": config.protocol.seed,
        },
        "accuracy": accuracy,
        "metrics": list(config.metrics),
        "positive": experiment.source.class_names[experiment.positive] if experiment.source.n_classes == 2 else None,
        "tried": [{k: v for k, v in row.items() if k in _TRIED} for row in tried],
        "importance": None if importance is None else importance.content(),
        "versions": {
            "fsvm": fsvm_cli.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("scikit-learn", "numpy", "scipy", "joblib")},
        },
    }
    card["not_for"] = [*_limits(card)]
    plain: dict[str, Any] = _plain(card)
    return plain


_TRIED = ("ranking", "metric", "n_features", "mean", "ci_low", "ci_high", "behind_best", "recommended")


def _plain(value: Any) -> Any:
    """Turn numbers of libraries into Python's own, and NaN into None, as JSON takes them."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    value = value.item() if isinstance(value, np.generic) else value
    is_nothing = value is not None and not isinstance(value, str | bool | int) and value != value  # noqa: PLR0124 - NaN
    return None if is_nothing or type(value).__name__ == "NAType" else value


def _columns(exported: Export, found: Standalone) -> list[dict[str, Any]]:
    """Describe the columns that the model takes, as its rows show them."""
    if sp.issparse(exported.dataset.X):
        return []
    samples, columns = exported.samples(), []
    for name in found.columns:
        values = samples[name]
        content: dict[str, Any] = {"name": name}
        if values.dtype.kind not in "fiub":
            content |= {"kind": "words", "words": sorted(values.dropna().unique().tolist())}
        else:
            content |= {"kind": "numbers", "smallest": float(values.min()), "largest": float(values.max())}
        gaps = int(values.isna().sum())
        columns.append(content | {"missing": gaps, "missing_codes": list(found.missing_codes.get(name, ()))})
    return columns


def _limits(card: Mapping[str, Any]) -> Iterator[str]:
    """Say when not to use a model, by what is known of it."""
    yield "Rows of another time, place or instrument than those that it was fitted on: how it does there is not known."
    yield f"Rows of other classes than {', '.join(card['classes'])}: it answers with one of these in any case."
    if any(column["kind"] == "numbers" for column in card["columns"]):
        yield "Values outside the ranges of the columns, or in other units: it extrapolates."
    if any(column["kind"] == "words" for column in card["columns"]):
        yield "Words that the columns did not hold: they count as none of the known words, or as missing."
    if few := [f"{label} ({n})" for label, n in card["classes"].items() if n < FEW_PER_CLASS]:
        yield f"Decisions that hang on how often a small class is recognised: few rows of {', '.join(few)}."
    if card["accuracy"] is None:
        yield "Anything, before 'fsvm evaluate' has scored it on held-out rows: its accuracy is not known."
    else:
        yield (
            "A promise of exactly the stated accuracy: ranking and number of features were chosen on the same splits, "
            "so that it is somewhat too high; 'fsvm evaluate' on held-out rows shows by how much."
        )
    yield "Statements about causes: of several columns that say the same it keeps one."


def read_card(model: Path) -> dict[str, Any]:
    """Read the card beside a model, and check that it is that of the model.

    Raises
    ------
    DataError
        If there is no model, no card, or the card is damaged or that of another model; if one is a pipe or a device.
    """
    path = card_path(model)
    for each in (model, path):
        if kind := special_kind(each):
            raise DataError(f"{brief(str(each))}: is {kind}, not a file; 'fsvm export' writes models with their cards")
    try:
        digest = file_hash(model)
    except OSError as error:
        raise DataError(
            f"{brief(str(model))}: cannot be read ({error.strerror}); 'fsvm export' writes models"
        ) from error
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        known = card["model"]["sha256"], card["card"]
        _ = card["columns"], card["classes"], card["reading"], card["fitted_on"]["file_sha256"]
    except FileNotFoundError:
        raise DataError(f"{brief(str(path))}: there is no card beside the model; 'fsvm export' writes both") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"{brief(str(path))}: damaged, or no card of a model; export the model again") from error
    if known != (digest, FORMAT):
        raise DataError(f"{brief(str(path))}: is the card of another model, or of another version; export it again")
    return card


def unfamiliar(samples: pd.DataFrame, card: Mapping[str, Any]) -> tuple[str, ...]:
    """Tell in a line which words the model does not know, and how many values lie outside the ranges of its card."""
    words, outside = [], []
    for column in card["columns"]:
        values, name = samples[column["name"]], brief(column["name"])
        if column["kind"] == "words":
            known = {look_of(word): word for word in column["words"]}
            unknown = values[~values.isin(column["words"])]
            gaps = int(unknown.isna().sum()) * (not column["missing_codes"])
            for word, n_rows in unknown.value_counts().items():
                hint = f" (it knows '{brief(known[look_of(word)])}')" if look_of(word) in known else ""
                words.append(f"'{brief(word)}' in {_rows(n_rows)} of '{name}'{hint}")
            words += [f"an empty field in {_rows(gaps)} of '{name}'"] * (gaps > 0)
        elif column["smallest"] is not None and (
            n := int(values.lt(column["smallest"]).sum() + values.gt(column["largest"]).sum())
        ):
            outside.append(f"{_rows(n)} of '{name}'")
    found = [f"no word that the model knows: {shown(words)}"] if words else []
    found += [f"outside the ranges of the card: {shown(outside)}"] if outside else []
    return ("; ".join(found),) if found else ()


def _rows(n: int) -> str:
    return f"{n} row{'s' * (n != 1)}"


def card_as_json(card: Mapping[str, Any]) -> bytes:
    """Write a card for programs."""
    return (json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode()


def card_as_markdown(card: Mapping[str, Any], model_name: str) -> bytes:
    """Write a card for people."""
    return ("\n".join(_lines(card, model_name)) + "\n").encode()


def _lines(card: Mapping[str, Any], model_name: str) -> Iterator[str]:
    model, fitted_on, selection = card["model"], card["fitted_on"], card["selection"]
    yield f"# Model card: {_cell(card['title'])}"
    yield ""
    yield f"`{model_name}` tells {' from '.join(card['classes'])} by {len(card['features'])} features."
    if model["needs_fsvm"]:
        yield f"It needs the package fsvm-cli where it is loaded: {model['needs_fsvm']}."
    else:
        yield "It is a pipeline of scikit-learn's own classes, and loads without fsvm."
    yield f"Written with {', '.join(f'{name} {number}' for name, number in card['versions'].items())}."
    yield from ["", "## Columns", ""]
    yield "Units are those of the file that it was fitted on: a table names none."
    yield from ["", "| column | holds | missing there | taken as missing |", "|---|---|---|---|"]
    for column in card["columns"]:
        is_words = column["kind"] == "words"
        content = ", ".join(column["words"]) if is_words else f"{column['smallest']:g} to {column['largest']:g}"
        codes = ", ".join(repr(code) for code in column["missing_codes"]) or "nothing: refused"
        yield f"| {_cell(column['name'])} | {_cell(content)} | {column['missing']} | {_cell(codes)} |"
    yield ""
    yield f"Features that the machine sees: {', '.join(map(_cell, card['features']))}."
    yield from ["", "## How well it does", ""]
    if fitted_on.get("refitted"):
        yield (
            "Not known: ranking and number of features were chosen by a run on other data "
            f"({_cell(fitted_on['refitted'])}), whose figures are not those of this model. 'fsvm evaluate' on held-out "
            "rows shows how well it does."
        )
    else:
        yield from _accuracy_in_words(card["accuracy"])
    if model["probabilities"]:
        yield "It has calibrated probabilities, and answers with the likeliest class."
    yield from _importance_in_words(card["importance"])
    yield from ["", "## What it was fitted on", ""]
    yield (
        f"{fitted_on['data']}: {fitted_on['rows']} of {fitted_on['rows_of_the_data']} rows "
        f"({', '.join(f'{label} {n}' for label, n in card['classes'].items())}), "
        f"{fitted_on['features_of_the_data']} features to choose from."
    )
    yield f"SHA-256 of the values: `{fitted_on['data_sha256']}`."
    if fitted_on["file_sha256"]:
        yield f"SHA-256 of the file: `{fitted_on['file_sha256']}`."
    yield from (f"- {_cell(remark)}" for remark in fitted_on["remarks"])
    yield from ["", "## What was tried", ""]
    yield (
        f"Features as {_cell(selection['ranking'])} ranks them, scaling {selection['scaling']}, machine "
        f"{_cell(json.dumps(selection['classifier']))}, seed {selection['seed']}."
    )
    if card["tried"]:
        unit = unit_of(card["tried"][0]["metric"])
        yield from ["", f"| | features | mean, {unit.symbol} | 95 % interval |", "|---|---|---|---|"]
        yield from (
            f"| {_cell(row['ranking'])} | {row['n_features'] or ''} | {unit.written(row['mean'])} | {_interval(row)} |"
            for row in card["tried"]
            if row.get("mean") is not None
        )
    yield from ["", "## When not to use it", ""]
    yield from (f"- {limit}" for limit in card["not_for"])
    yield from ["", "## How it is checked", ""]
    yield (
        f"On the {model['checked_rows']} rows that it was fitted on its decision values are those of the run's own "
        f"machine to {model['largest_difference']:.0e} of the largest; {model['undecided_rows']} rows lie so near the "
        "border that the two answer differently."
    )


def _accuracy_in_words(accuracy: Mapping[str, Any] | None) -> Iterator[str]:
    if accuracy is None:
        yield "Not known for this number of features: the run's `curves.csv` has what other splits show."
        return
    title, unit = metric_title(accuracy["metric"]), unit_of(accuracy["metric"])
    mean = f"{unit.written(accuracy['mean'])} {unit.symbol}"
    yield (
        f"Test {title} {mean} {_interval(accuracy)} over {accuracy['n_trials']} {accuracy['trials']}; "
        "the interval is of 95 %, and allows for the rows that splits share."
    )


def _importance_in_words(importance: Mapping[str, Any] | None) -> Iterator[str]:
    if importance is None:
        return
    yield from ["", f"Permutation importance, {_cell(importance['about'])}:"]
    yield from [
        "",
        f"| column | loss of {importance['metric']}, points | 95 % interval | rank | score |",
        "|---|---|---|---|---|",
    ]
    for row in importance["columns"]:
        interval = f"{100 * row['ci_low']:.1f} to {100 * row['ci_high']:.1f}" if row["ci_low"] is not None else ""
        score = "" if row.get("score") is None else f"{row['score']:.4g}"
        yield f"| {_cell(row['column'])} | {100 * row['mean']:.1f} | {interval} | {row.get('rank') or ''} | {score} |"


def _interval(row: Mapping[str, Any]) -> str:
    low, high = row.get("ci_low"), row.get("ci_high")
    unit = unit_of(row["metric"])
    return "" if low is None or high is None or math.isnan(low) else f"[{unit.written(low)}, {unit.written(high)}]"


def _cell(text: object) -> str:
    """Keep a text from changing the Markdown around it."""
    return brief(str(text)).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
