"""An exported model on rows of another file: its answers, its scores, and what each column is worth to it."""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
import threadpoolctl
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.metrics import average_precision_score, f1_score, make_scorer
from sklearn.pipeline import Pipeline

from fsvm_cli.config_io import Document, as_in_documents, validate
from fsvm_cli.console import brief
from fsvm_cli.data.messages import issues_in_words, nearest, of_column, shown
from fsvm_cli.data.readers.libsvm import read_libsvm
from fsvm_cli.data.source import FixedSource
from fsvm_cli.data.source_spec import FileSpec, TableSpec
from fsvm_cli.data.tables import class_names_of, columns_of
from fsvm_cli.data.user_file import FORMAT_OF_SUFFIX, TEXT_FORMATS, find_file, read_columns
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.evaluation.bootstrap import bootstrap_interval
from fsvm_cli.evaluation.metrics import (
    AUC,
    AVERAGE_PRECISION,
    F1,
    LOG_LOSS,
    confusion_matrix,
    metric_of_counts,
    needs_scores,
)
from fsvm_cli.evaluation.roc import area_under_roc, limits_of_area, variance_of_area
from fsvm_cli.evaluation.score_metrics import limits_for_other_samples, score_metric
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.splits import Split, drawn_split
from fsvm_cli.evaluation.statistics import CONFIDENCE, MIN_SPLITS, difference_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.data.messages import TableIssue
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.own_data.export import Export
    from fsvm_cli.own_data.standalone import Standalone

SCORERS: Mapping[str, str] = {
    "accuracy": "accuracy",
    "balanced-accuracy": "balanced_accuracy",
    "macro-f1": "f1_macro",
    "mcc": "matthews_corrcoef",
}
"""What scikit-learn calls the metrics that a permutation may cost, but for those of two classes."""
N_SPLITS = 20
"""Splits of the run on whose test parts the importance is measured."""
N_REPEATS = 10
"""Permutations of each column on a test part, of which the mean is taken."""
N_BOOTSTRAPS = 200
"""Samples of the rows, drawn with replacement, that an interval is made of where there is one test part."""
MAX_COLUMNS = 100
"""Columns above which their importance is not measured: it takes some hundreds of predictions for each."""


TRUSTED = ("functools.partial", "re.sub", "_operator.mod", "operator.mod", "numpy.vectorize", "unicodedata.normalize")
"""What turns codes of missing values into gaps, beside the types that skops trusts by itself."""


def load_model(path: Path) -> Any:
    """Load a model that `fsvm export` has written.

    A joblib file runs code from it; of a skops file the types of scikit-learn, NumPy and fsvm are trusted alone.

    Raises
    ------
    UsageError
        If skops is needed and not installed.
    DataError
        If the file is no model, or needs what is not installed.
    """
    try:
        if path.suffix == ".skops":
            from skops import io as skops_io  # noqa: PLC0415 - an extra

            needed = skops_io.get_untrusted_types(file=path)
            known = [
                name for name in needed if name in TRUSTED or name.split(".")[0] in {"fsvm_cli", "sklearn", "numpy"}
            ]
            return skops_io.load(path, trusted=known)
        import joblib  # noqa: PLC0415 - seldom needed

        return joblib.load(path)
    except ImportError as error:
        what = "skops" if path.suffix == ".skops" else brief(str(error))
        raise UsageError(f"{brief(str(path))}: needs what is not installed ({what}); pip install it") from error
    except Exception as error:  # what is damaged may raise anything
        raise DataError(f"{brief(str(path))}: no model, or damaged ({brief(str(error))}); export it again") from error


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows of a file as a model takes them.

    Attributes
    ----------
    samples : DataFrame or csr_array
    labels : list of str or None, or None
        The class of each row, None where it is missing; None where the file has no classes.
    remarks : tuple of str
        Decisions of the reader.
    """

    samples: Any
    labels: list[str | None] | None
    remarks: tuple[str, ...]


def read_rows(file: str, card: Mapping[str, Any], options: Mapping[str, Any], target: str | None) -> HeldOutRows:
    """Read the columns of a file that a model takes, and its classes where it has them.

    Parameters
    ----------
    file : str
        CSV, Excel, Parquet, ARFF or LIBSVM.
    card : mapping of str to value
        Of the model: its columns, and how the file that it was fitted on was read.
    options : mapping of str to value
        Keys of `FileSpec` that say otherwise; None stands for what the card says.
    target : str or None
        Column of the classes; rows of LIBSVM's format have theirs in any case.

    Raises
    ------
    UsageError
        If an option is wrong.
    DataError
        If the file is missing, or lacks a column, or a value is not what the model takes.
    """
    known = FORMAT_OF_SUFFIX.get(Path(file).suffix.lower())
    reading = dict(card["reading"]) | {key: value for key, value in options.items() if value}
    file_format = known or reading.get("format")
    if known is not None or file_format is None:
        reading.pop("format", None)
    unused = {"dense"} | (set() if file_format == "csv" else {"no_header"})
    unused |= set() if file_format == "csv" else {"separator", "encoding"} - options.keys()
    unused |= set() if file_format in TEXT_FORMATS else {"decimal", "na"}
    unused |= set() if file_format == "excel" else {"header_rows"} - options.keys()
    content = as_in_documents({"file": file} | {k: v for k, v in reading.items() if k not in unused})
    spec = validate(Document("file", content, {(key,): key for key in content}), FileSpec)
    path, file_format = find_file(spec, Path())
    if file_format == "libsvm":
        return _rows_of_libsvm(path, card)
    if not card["columns"]:
        raise DataError(f"{path}: the model takes a sparse matrix; give a file in LIBSVM's format")
    found = read_columns(spec.model_copy(update={"target": target}), Path())
    names = [column["name"] for column in card["columns"]]
    table = found.table
    if missing := [name for name in (*names, *([target] if target else [])) if name not in table.column_names]:
        hint = nearest(missing[0], table.column_names)
        raise DataError(f"{path}: there is no column {shown([repr(brief(name)) for name in missing])}; {hint}")
    labels = None if target is None else class_names_of(table.column(target))
    if target is not None and labels is None:
        raise DataError(f"{path}: the target '{brief(target)}' holds no classes; name another")
    issues = [of_column(*issue) for issue in found.issues.items() if issue[0] in names]
    if issues:
        raise DataError(issues_in_words(str(path), issues))
    frame = _frame(path, table.select(names), card["columns"])
    found = found.with_remarks_on_words({*names, target})
    return HeldOutRows(frame, labels, (*found.remarks, *found.taken_as_missing))


def _rows_of_libsvm(path: Path, card: Mapping[str, Any]) -> HeldOutRows:
    n_features, columns = card["fitted_on"]["features_of_the_data"], card["columns"]
    rows = read_libsvm(path, n_features=n_features, dense=bool(columns))
    samples: Any = rows.X
    if columns:
        every = pd.DataFrame(rows.X, columns=[f"x{number}" for number in range(1, n_features + 1)])
        samples = every.reindex(columns=[column["name"] for column in columns])
    return HeldOutRows(samples, [*rows.labels], ())


def _frame(path: Path, table: pa.Table, columns: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Turn columns into numbers and words, as the card asks for them."""
    for index, column in enumerate(table.columns):
        if pa.types.is_null(column.type):
            gaps = pa.chunked_array([pa.nulls(len(column), pa.float64())])
            table = table.set_column(index, table.column_names[index], gaps)
    issues: list[TableIssue] = []
    prepared = columns_of(table, TableSpec(categorical="one-hot"), issues)
    if issues:
        raise DataError(issues_in_words(str(path), issues))
    values = prepared.values()
    for asked, words in zip(columns, prepared.words, strict=True):
        name = asked["name"]
        if asked["kind"] == "numbers":
            issues += [of_column(name, what) for what in _no_numbers(values[name], words, asked)]
        elif words is None:
            named = [np.nan if math.isnan(v) else np.format_float_positional(v, trim="-") for v in values[name]]
            values[name] = np.array(named, dtype=object)
    if issues:
        raise DataError(issues_in_words(str(path), issues))
    return pd.DataFrame(values)


def _no_numbers(values: NDArray[Any], words: Sequence[str] | None, asked: Mapping[str, Any]) -> list[str]:
    """Say why a column is not one of numbers as the model takes them; nothing where it is."""
    if words is not None:
        return [f"holds words ({shown([*words], 3)}), and the model takes numbers"]
    gaps = int(np.isnan(values).sum())
    if gaps and not asked["missing_codes"]:
        return [f"has a gap in {gaps} rows, and the model was made to fill none; fill them, or leave the rows out"]
    return ["holds infinite values; correct them"] if np.isinf(values).any() else []


def predictions(model: Any, rows: HeldOutRows) -> pd.DataFrame:
    """Predict the class of each row.

    Returns
    -------
    DataFrame
        Columns `row` (from 1) and `predicted`; beside them, for each class `probability of CLASS` where the model is
        calibrated, or else, of two classes, `score`, larger for the second one.
    """
    table = pd.DataFrame({"row": np.arange(1, rows.samples.shape[0] + 1)})
    predicted, scores, probabilities = _answers(model, rows.samples)
    table["predicted"] = predicted
    if probabilities is not None:
        for label, column in zip(model.classes_, probabilities.T, strict=True):
            table[f"probability of {label}"] = column
    elif scores is not None:
        table["score"] = scores
    return table


def _answers(
    model: Any, samples: Any
) -> tuple[NDArray[np.str_], NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Return class, score of the second of two classes, and probabilities of each row."""
    with threadpoolctl.threadpool_limits(limits=1):
        try:
            predicted = np.array([*map(str, model.predict(samples))])
            probabilities = model.predict_proba(samples) if hasattr(model, "predict_proba") else None
            scores = None
            if len(model.classes_) == 2:
                has_scores = hasattr(model, "decision_function")
                scores = model.decision_function(samples) if has_scores else None
                scores = probabilities[:, 1] if scores is None and probabilities is not None else scores
        except ValueError as error:
            raise DataError(f"the model does not take these rows: {brief(str(error).splitlines()[0])}") from error
    return predicted, scores, probabilities


@dataclass(frozen=True)
class Share:
    """A share of rows with its 95 % interval; NaN where there is none."""

    value: float
    low: float
    high: float
    n: int


def share_of(n_right: int, n: int) -> Share:
    """Return a share with Wilson's interval.

    Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", Journal of the
    American Statistical Association 22, 1927, pages 209-212.
    """
    if n == 0:
        return Share(math.nan, math.nan, math.nan, 0)
    limits = binomtest(n_right, n).proportion_ci(CONFIDENCE, method="wilson")
    return Share(n_right / n, float(limits.low), float(limits.high), n)


def mean_of_shares(shares: Sequence[Share]) -> Share:
    """Return the mean of independent shares, with an interval from theirs.

    The distances of the mean to its limits are the roots of the sums of the squared distances of the shares to theirs:
    G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general approach", Statistics
    in Medicine 27, 2008, pages 1693-1702.
    """
    known = [share for share in shares if share.n]
    k = len(known)
    value = sum(share.value for share in known) / k
    below = math.sqrt(sum((share.value - share.low) ** 2 for share in known)) / k
    above = math.sqrt(sum((share.high - share.value) ** 2 for share in known)) / k
    return Share(value, max(value - below, 0.0), min(value + above, 1.0), sum(share.n for share in known))


@dataclass(frozen=True, eq=False)
class Importance:
    """What it costs a model that a column is permuted.

    Attributes
    ----------
    metric : str
    about : str
        On which rows.
    columns : tuple of dict of str to value
        `column`, `mean`, `ci_low` and `ci_high` of the loss, as a fraction; `rank` and `score` by the ranking.
    """

    metric: str
    about: str
    columns: tuple[dict[str, Any], ...]

    def content(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        return {"metric": self.metric, "about": self.about, "columns": [*self.columns]}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How well a model does on rows of a file.

    Attributes
    ----------
    classes : tuple of str
    confusion : ndarray of int, shape (n_classes, n_classes)
        Rows of each class (rows) by the class that was predicted (columns).
    accuracy, balanced_accuracy : Share
    recalls : tuple of Share
        Of each class.
    area_under_roc : Share or None
        Of two classes, both of which have rows.
    log_loss, brier_score : float or None
        Of calibrated probabilities: natural logarithm; mean of the sum of squared differences over the classes.
    importance : Importance or None
    others : dict of str to Share
        Further figures of merit that the run listed, by their names in configs, with intervals for other rows.
    positive : str or None
        The positive one of two classes, for those that have one.
    """

    classes: tuple[str, ...]
    confusion: NDArray[np.intp]
    accuracy: Share
    balanced_accuracy: Share
    recalls: tuple[Share, ...]
    area_under_roc: Share | None
    log_loss: float | None
    brier_score: float | None
    importance: Importance | None
    others: Mapping[str, Share]
    positive: str | None

    def content(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        return {
            "rows": int(self.confusion.sum()),
            "accuracy": asdict(self.accuracy),
            "balanced_accuracy": asdict(self.balanced_accuracy),
            "recall": {label: asdict(share) for label, share in zip(self.classes, self.recalls, strict=True)},
            "area_under_roc": None if self.area_under_roc is None else asdict(self.area_under_roc),
            "log_loss": self.log_loss,
            "brier_score": self.brier_score,
            "positive": self.positive,
            "others": {name: asdict(share) for name, share in self.others.items()},
            "confusion": self.confusion.tolist(),
            "importance": None if self.importance is None else self.importance.content(),
        }


def evaluate(
    model: Any, rows: HeldOutRows, metrics: Sequence[str] = ("accuracy",), positive: str | None = None
) -> Evaluation:
    """Score a model on rows whose classes are known; rows without a class are left out.

    Parameters
    ----------
    model : Pipeline
    rows : HeldOutRows
    metrics : sequence of str
        Names in configs. The importance of a column is a loss of the first, or of the accuracy where that is a loss
        itself, or needs a threshold.
    positive : str or None
        The positive one of two classes; None for the second.

    Raises
    ------
    DataError
        If no row has a class, or one has a class that the model does not know.
    """
    assert rows.labels is not None
    kept = np.flatnonzero([label is not None for label in rows.labels])
    if not len(kept):
        raise DataError("no row has a class; name the column that holds it (--target)")
    samples = rows.samples[kept] if sp.issparse(rows.samples) else rows.samples.iloc[kept]
    labels = np.array([rows.labels[row] for row in kept.tolist()])
    classes = [*map(str, model.classes_)]
    code = {label: number for number, label in enumerate(classes)}
    if unknown := sorted(set(labels.tolist()) - code.keys()):
        raise DataError(
            f"the rows are of classes that the model does not know: {shown([*map(brief, unknown)], 3)}; it knows "
            f"{shown(classes)}"
        )
    predicted, scores, probabilities = _answers(model, samples)
    y = np.array([code[label] for label in labels.tolist()])
    confusion = confusion_matrix(y, np.array([code[label] for label in predicted.tolist()]), len(classes))
    n_of_class = confusion.sum(axis=1)
    recalls = tuple(share_of(int(confusion[k, k]), int(n_of_class[k])) for k in range(len(classes)))
    area = None
    if scores is not None and (n_of_class > 0).all():
        found = area_under_roc(scores, y == 1).area
        counts = (float(each) for each in (n_of_class[1], n_of_class[0]))
        area = Share(found, *limits_of_area(found, variance_of_area(scores, y == 1), *counts), len(y))
    log_loss = brier = None
    if probabilities is not None:
        own = probabilities[np.arange(len(y)), y]
        log_loss = float(-np.log(np.maximum(own, np.finfo(float).tiny)).mean())
        brier = float(np.square(probabilities - np.eye(len(classes))[y]).sum(axis=1).mean())
    return Evaluation(
        classes=tuple(classes),
        confusion=confusion,
        accuracy=share_of(int(np.trace(confusion)), len(y)),
        balanced_accuracy=mean_of_shares(recalls),
        recalls=recalls,
        area_under_roc=area,
        log_loss=log_loss,
        brier_score=brier,
        importance=importance_on_rows(model, samples, model.classes_[y], metrics[0], positive=positive),
        others=_others(metrics, y, confusion, scores, code.get(positive or "", 1)),
        positive=positive if len(classes) == 2 else None,
    )


def _others(
    metrics: Sequence[str],
    y: NDArray[np.intp],
    confusion: NDArray[np.intp],
    scores: NDArray[np.float64] | None,
    positive: int,
) -> dict[str, Share]:
    """Compute the figures of merit that a run lists beside those that every evaluation has."""
    found = {}
    for name in metrics:
        if name in {"accuracy", "balanced-accuracy", AUC, LOG_LOSS}:
            continue
        if needs_scores(name):
            if scores is None:
                continue
            value = score_metric(name, y, scores, None, positive)
            limits = limits_for_other_samples(name, value, confusion.sum(axis=1).astype(float), math.nan)
        else:
            of_counts = metric_of_counts(name, positive)
            value = float(of_counts(confusion))
            limits = bootstrap_interval(of_counts, confusion, random_stream(0, "bootstrap", name))
        found[name] = Share(value, *limits, len(y))
    return found


def scorer_of(metric: str, classes: Sequence[Any], positive: str | None) -> tuple[str, Any]:
    """Return the metric that a permutation costs, and scikit-learn's scorer of it.

    Parameters
    ----------
    metric : str
        Of the run; the accuracy takes the place of a loss, of the sensitivity at a specificity, and of an area of
        several classes.
    classes : sequence
        Labels of the model.
    positive : str or None
        The positive one of two classes; None for the second.
    """
    if metric in SCORERS:
        return metric, SCORERS[metric]
    if len(classes) == 2:
        label = next((label for label in classes if str(label) == positive), classes[1])
        if metric == F1:
            return metric, make_scorer(f1_score, pos_label=label, zero_division=0)
        if metric == AVERAGE_PRECISION:
            responses = ("decision_function", "predict_proba")
            return metric, make_scorer(average_precision_score, response_method=responses, pos_label=label)
        if metric == AUC:
            return metric, "roc_auc"
    return "accuracy", "accuracy"


def importance_on_rows(  # noqa: PLR0917 - what is measured, and of what
    model: Any,
    samples: Any,
    labels: NDArray[Any],
    metric: str,
    about: str = "on these rows",
    positive: str | None = None,
) -> Importance | None:
    """Measure what permuting each column costs on rows that the model was not fitted on.

    The interval is that of other rows of the same kind: the 2.5 and the 97.5 % quantile over samples of the rows, drawn
    with replacement. Source of the measure: L. Breiman, "Random Forests", Machine Learning 45, 2001, pages 5-32.

    Returns
    -------
    Importance or None
        None of a sparse matrix, more than `MAX_COLUMNS` columns, or fewer than two rows.
    """
    if sp.issparse(samples) or samples.shape[1] > MAX_COLUMNS or len(labels) < 2:
        return None
    metric, scorer = scorer_of(metric, model.classes_, positive)
    settings = {"scoring": scorer, "random_state": 0}
    rng = random_stream(0, "importance")
    with threadpoolctl.threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a sample without one of the classes
        means = permutation_importance(model, samples, labels, n_repeats=N_REPEATS, **settings).importances_mean
        drawn = []
        for _ in range(N_BOOTSTRAPS):
            rows = rng.integers(len(labels), size=len(labels))
            settings["random_state"] = int(rng.integers(2**31))
            found = permutation_importance(model, samples.iloc[rows], labels[rows], n_repeats=1, **settings)
            drawn.append(found.importances_mean)
    # A sample of one class alone has no area.
    low, high = np.nanquantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    named = [*samples.columns]
    return _importance(metric, about, named, zip(means.tolist(), low.tolist(), high.tolist(), strict=True))


def _importance(metric: str, about: str, names: Sequence[str], values: Any) -> Importance:
    columns = [
        {"column": name, "mean": mean, "ci_low": low, "ci_high": high}
        for name, (mean, low, high) in zip(names, values, strict=True)
    ]
    columns.sort(key=lambda column: -float(str(column["mean"])))
    return Importance(metric, about, tuple(columns))


def importance_on_splits(exported: Export, found: Standalone, experiment: Experiment) -> Importance | None:
    """Measure what permuting each column of an exported model costs on rows that were left out.

    Where the config has a given split, these are the rows outside its training part. Else the machine is trained anew,
    with the same columns, on the training part of some of the run's splits and tried on their test parts: means over
    the splits, with the corrected interval of `difference_interval`. The columns were chosen on all rows, so that the
    importance is somewhat too high.

    Returns
    -------
    Importance or None
        None where there are no such rows, or too few splits, of a sparse matrix, or more than `MAX_COLUMNS` columns.
    """
    dataset, source, config = exported.dataset, experiment.source, experiment.config
    if sp.issparse(dataset.X) or not 0 < len(found.columns) <= MAX_COLUMNS or not isinstance(source, FixedSource):
        return None
    positive = source.class_names[experiment.positive]
    metric, scorer = scorer_of(config.metrics[0], found.model.classes_, positive)
    samples, labels = dataset.frame()[[*found.columns]], dataset.labels()
    if len(exported.rows) < dataset.n_samples:
        rest = np.setdiff1d(np.arange(dataset.n_samples), exported.rows)
        about = f"on the {len(rest)} rows outside the training part"
        on_rest = importance_on_rows(found.model, samples.iloc[rest], labels[rest], metric, about, positive)
        return _with_scores(on_rest, found)
    if config.protocol.is_given or len(experiment.n_test) != 1 or config.protocol.splits < MIN_SPLITS:
        return None
    ((n_train, n_test),) = experiment.n_test.items()
    machine = Pipeline([*found.model.steps[:-1], ("machine", exported.pipeline["classifier"])])
    losses, weight = [], dataset.sample_weight
    for split in range(min(N_SPLITS, config.protocol.splits)):
        rng = random_stream(config.protocol.seed, "split", split)
        if config.protocol.is_ordered:
            parts = Split(*source.given_splits[split])
        else:
            is_stratified = config.protocol.stratified
            parts = drawn_split(dataset.y, dataset.groups, n_train, n_test, rng, stratified=is_stratified)
        with threadpoolctl.threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            weights = {} if weight is None else {"machine__sample_weight": weight[parts.train]}
            fitted = clone(machine).fit(samples.iloc[parts.train], labels[parts.train], **weights)
            loss = permutation_importance(
                fitted,
                samples.iloc[parts.test],
                labels[parts.test],
                scoring=scorer,
                n_repeats=N_REPEATS,
                random_state=split,
            )
        losses.append(loss.importances_mean)
    intervals = [difference_interval(own, n_test / n_train, 1 / n_test) for own in np.transpose(losses)]
    about = f"on the test parts of {len(losses)} splits, the machine trained anew on their training parts"
    values = [(each.mean, each.low, each.high) for each in intervals]
    return _with_scores(_importance(metric, about, found.columns, values), found)


def _with_scores(importance: Importance | None, found: Standalone) -> Importance | None:
    """Put the ranking's own score and rank beside the importance of a column."""
    if importance is None:
        return None
    columns = tuple(column | found.scores.get(column["column"], {}) for column in importance.columns)
    return Importance(importance.metric, importance.about, columns)
