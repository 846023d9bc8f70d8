"""Export of a ranking: a pipeline of scikit-learn, fitted on all rows, and the Python that rebuilds it.

The pipeline takes data frames with the columns of the table.
"""

from __future__ import annotations

import functools
import io
import itertools
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
import threadpoolctl
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
)

from fsvm_cli.console import brief
from fsvm_cli.data.messages import nearest
from fsvm_cli.data.preparation import IMPUTER_STRATEGIES
from fsvm_cli.data.scaling import ScalingName, logarithms_by_row
from fsvm_cli.data.source import FixedSource
from fsvm_cli.data.source_spec import FileSpec
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.trial import DrawnTrial, undivided_parts
from fsvm_cli.learners.base import EstimatorLearner
from fsvm_cli.ranking.always_keep import AlwaysKeep
from fsvm_cli.spec.rankings import learns_machine
from fsvm_cli.svm.kernels.base import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.preparation import Preparation
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.rankings import Ranking


def table_transformer(dataset: Dataset) -> ColumnTransformer:
    """Build the transformer, not fitted, that makes of `Dataset.frame` what `Dataset.X` holds, column by column.

    Other columns of a frame are ignored.
    """
    prepared = dataset.preparation
    if prepared is None:
        steps: list[Any] = [("numbers", "passthrough", list(dataset.feature_names))]
    else:
        steps = [*_steps(prepared)]
    return ColumnTransformer(steps)


def _steps(prepared: Preparation) -> Iterator[tuple[str, Any, list[str]]]:
    """Yield what is done with the columns, those of numbers that are alike together."""
    indicated = {feature.column for feature in prepared.layout if feature.is_indicator}
    alone = [words is not None or column in indicated for column, words in enumerate(prepared.words)]
    kinds = [is_alone and column + 1 for column, is_alone in enumerate(alone)]
    for _, run in itertools.groupby(range(len(kinds)), key=lambda column: kinds[column]):
        columns = list(run)
        names = [prepared.names[column] for column in columns]
        # scikit-learn does not accept every column name as the name of a step.
        yield f"columns from {columns[0] + 1}", _transformer(prepared, columns), names
        if columns[0] in indicated:
            yield f"gaps of {columns[0] + 1}", MissingIndicator(features="all"), names


def _transformer(prepared: Preparation, columns: Sequence[int]) -> Any:
    fills = prepared.missing in IMPUTER_STRATEGIES
    if prepared.words[columns[0]] is None:
        return SimpleImputer(strategy=IMPUTER_STRATEGIES[prepared.missing]) if fills else "passthrough"
    most_frequent = SimpleImputer(strategy="most_frequent")
    if prepared.categorical == "ordinal":
        # An unknown word counts as missing.
        return make_pipeline(prepared.encoder(columns[0]), most_frequent)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(most_frequent, encoder) if fills else encoder


class ExpressionScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The scaling 'expression': logarithms, standardised by row and then by column, and of these the arctan."""

    def fit(self, X: NDArray[np.float64], y: None = None) -> Self:  # noqa: ARG002 - scikit-learn's contract
        """Learn mean and standard deviation of each column."""
        self.columns_ = StandardScaler().fit(logarithms_by_row(np.asarray(X, dtype=np.float64)))
        return self

    def transform(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scale rows."""
        squashed: NDArray[np.float64] = np.arctan(
            self.columns_.transform(logarithms_by_row(np.asarray(X, dtype=np.float64)))
        )
        return squashed


SCALERS: Mapping[ScalingName, Callable[[], Any]] = {
    "none": FunctionTransformer,
    "standard": StandardScaler,
    "minmax": MinMaxScaler,
    "minmax-symmetric": functools.partial(MinMaxScaler, feature_range=(-1, 1)),
    "unit-norm": Normalizer,
    "expression": ExpressionScaler,
}
"""What makes of ordinary columns what `fit_scaling` makes."""


@dataclass(frozen=True, eq=False)
class Export:
    """A pipeline, not fitted, and the data that it is for.

    Attributes
    ----------
    pipeline : Pipeline
        Columns of a table to features, scaling, selector, classifier; of sparse data without the first.
    dataset : Dataset
    rows : ndarray of int
        That it is fitted on: the training rows where the config has a given split, else all.
    fit_parameters : dict of str to value
        What the steps take beside samples and classes: the groups, for a selector that cross-validates, and weights.
    na : tuple of str
        What else stands for a missing value in the file.
    """

    pipeline: Pipeline
    dataset: Dataset
    rows: NDArray[np.intp]
    fit_parameters: dict[str, Any]
    na: tuple[str, ...] = ()

    def samples(self) -> Any:
        """Return the rows that the pipeline is fitted on: a data frame, or a sparse matrix."""
        return self.dataset.X[self.rows] if sp.issparse(self.dataset.X) else self.dataset.frame().iloc[self.rows]

    def labels(self) -> NDArray[Any]:
        """Return the classes of these rows."""
        return self.dataset.labels()[self.rows]

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """The groups of these rows."""
        return None if self.dataset.groups is None else self.dataset.groups[self.rows]

    def fitted(self) -> Pipeline:
        """Fit a copy."""
        with threadpoolctl.threadpool_limits(limits=1):
            return clone(self.pipeline).fit(self.samples(), self.labels(), **self.fit_parameters)


def export(experiment: Experiment, label: str, n_features: int) -> Export:
    """Build the pipeline of a ranking with a number of features; what the config tunes is tuned on the rows of the fit.

    These are all rows, or the training rows where the config has a given split: the others stay held out.

    Parameters
    ----------
    experiment : Experiment
    label : str
        Of one of its rankings.
    n_features : int

    Raises
    ------
    UsageError
        If there is no such ranking, it needs test rows or keeps the worst, there are fewer features, or the data are
        not a table that stays the same.
    """
    ranking = _ranking(experiment, label)
    source = experiment.source
    if not isinstance(source, FixedSource):
        raise UsageError(f"{source.name} is drawn anew for each split; there are no rows to fit a model on")
    if not 1 <= n_features <= source.n_features:
        raise UsageError(f"{n_features} features cannot be kept; {source.name} has {source.n_features}")
    dataset, config = source.dataset, experiment.config
    given = dataset.train_indices if config.protocol.is_given else None
    rows = np.arange(dataset.n_samples) if given is None else given
    scaling = ranking.scaling or config.scaling
    parts = undivided_parts(dataset, dataset.y, rows, scaling)
    groups, weights = parts.groups_train, parts.weights_train
    # With the random streams of a split that no trial uses.
    drawn = DrawnTrial(
        experiment, Trial(dataset.n_samples, config.protocol.splits + config.protocol.is_bootstrap), parts
    )
    with threadpoolctl.threadpool_limits(limits=1):
        learner = drawn.learner(config.classifier_of(ranking))
    learner = learner.for_labels(dict(zip(dataset.y.tolist(), dataset.labels().tolist(), strict=True)))
    ranking_arguments = learner.ranking_arguments()
    seed = int(drawn.stream("ranking", ranking.method).integers(2**31))
    selector: Any = ranking.estimator(**ranking_arguments, random_state=seed)
    if experiment.always_kept:
        selector = AlwaysKeep(selector, experiment.always_kept)
    selector = selector.set_params(n_features_to_select=n_features)
    steps: list[tuple[str, Any]] = [] if sp.issparse(parts.X_train) else [("columns", table_transformer(dataset))]
    steps += [("scaling", SCALERS[scaling]()), ("selector", selector)]
    steps += [
        ("classifier", learner.estimator if isinstance(learner, EstimatorLearner) else ranking_arguments["estimator"])
    ]
    asking = [name for name, step in steps if getattr(step, "cross_validates", False)]
    fit_parameters: dict[str, Any] = {} if groups is None else {f"{name}__groups": groups for name in asking}
    weighing = [] if weights is None else ["selector", "classifier"]
    fit_parameters |= {f"{name}__sample_weight": weights for name in weighing}
    na = config.dataset.na if isinstance(config.dataset, FileSpec) else ()
    return Export(Pipeline(steps), dataset, rows, fit_parameters, na)


def _ranking(experiment: Experiment, label: str) -> Ranking:
    labels = {ranking.label: ranking for ranking in experiment.config.rankings}
    if label not in labels:
        raise UsageError(f"no ranking is called '{brief(label)}'; {nearest(label, [*labels])}")
    ranking = labels[label]
    if ranking.order != "best-first" or ranking.sees_test_part():
        raise UsageError(f"'{brief(label)}' keeps the worst features, or ranks by test rows; name another ranking")
    if learns_machine(ranking):
        raise UsageError(f"'{brief(label)}' has machines with learned weights, no pipeline; name another ranking")
    return ranking


def as_joblib(pipeline: Pipeline) -> bytes:
    """Write a fitted pipeline as joblib does."""
    import joblib  # noqa: PLC0415 - seldom needed

    stream = io.BytesIO()
    joblib.dump(pipeline, stream)
    return stream.getvalue()


def as_skops(pipeline: Pipeline) -> bytes:
    """Write a fitted pipeline as skops does: loading it runs no code but that of types one trusts.

    Raises
    ------
    UsageError
        If skops is not installed.
    """
    try:
        from skops.io import dumps  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError("a .skops file needs the package skops (pip install skops); or write .joblib") from error
    written: bytes = dumps(pipeline)
    return written


def as_python(exported: Export, experiment: Experiment, folder: Path) -> str:
    """Write the Python that rebuilds a pipeline and fits it.

    Parameters
    ----------
    exported : Export
    experiment : Experiment
    folder : Path
        From which the config's paths start.
    """
    spec = experiment.config.dataset
    content = spec.model_dump(mode="json", exclude_defaults=True)
    if isinstance(spec, FileSpec):
        content["file"] = str(folder / spec.file)
    names: dict[str, set[str]] = defaultdict(set)
    names["fsvm_cli"].add("load_dataset")
    for part in _parts(exported.pipeline):
        names[_home(type(part))].add(type(part).__name__)
    code = exported.pipeline.__repr__(N_CHAR_MAX=10**9)
    if "nan" in code:
        names["numpy"].add("nan")
    imports = [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]
    samples = "data.X" if sp.issparse(exported.dataset.X) else "data.frame()"
    is_part = len(exported.rows) < exported.dataset.n_samples
    of_rows = "[data.train_indices]" if is_part else ""
    samples += f".iloc{of_rows}" if is_part and not sp.issparse(exported.dataset.X) else of_rows
    beside = "".join(f", {name}=data.{name.partition('__')[2]}{of_rows}" for name in exported.fit_parameters)
    lines = [
        *imports,
        "",
        f"data = load_dataset({content!r})",
        f"model = {code}",
        f"model.fit({samples}, data.labels(){of_rows}{beside})",
    ]
    return "\n".join(lines) + "\n"


def _home(kind: type) -> str:
    """Return the public module of a class."""
    parts = kind.__module__.split(".")
    if parts[0] == "sklearn":
        return ".".join(part for part in parts if not part.startswith("_"))
    import fsvm_cli  # noqa: PLC0415 - whose names are imported late

    return "fsvm_cli" if kind.__name__ in fsvm_cli.__all__ else kind.__module__


def _parts(estimator: BaseEstimator) -> Iterator[Any]:
    """Yield an estimator and all that its parameters hold."""
    yield estimator
    for value in estimator.get_params(deep=True).values():
        if isinstance(value, BaseEstimator | Kernel):
            yield value
            yield from (each for each in vars(value).values() if isinstance(each, Kernel))
