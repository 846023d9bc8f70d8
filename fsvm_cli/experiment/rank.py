"""Ranking the features of one data set as a whole, outside any experiment."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import threadpoolctl
from pydantic import create_model

from fsvm_cli.data.catalogue import data_cards
from fsvm_cli.data.outline import outline_of
from fsvm_cli.data.phrases import nearest, shown
from fsvm_cli.data.scaling import ScalingName, fit_scaling
from fsvm_cli.data.source import fixed_source, open_source
from fsvm_cli.data.spec import FileSpec, NamedSpec, TableSpec
from fsvm_cli.data.vocabulary import seen_from
from fsvm_cli.documents import Document, StrictModel, as_in_documents, validate
from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.sparse_methods import refusal
from fsvm_cli.files import is_file
from fsvm_cli.magnitudes import check_magnitudes
from fsvm_cli.mistakes import in_words
from fsvm_cli.ranking.base import order_of
from fsvm_cli.ranking.registry import SYNONYMS, ranking_method, ranking_methods
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.data.spec import CategoricalRule, MissingRule
    from fsvm_cli.ranking.base import Ranker
    from fsvm_cli.spec.classifiers import Classifier

SEED = 0
DEFAULT_CLASSIFIER = {"kernel": "linear", "C": 1.0}


class _MethodByName(StrictModel):
    """The name of a method, and what other programs call it."""

    synonyms = SYNONYMS


@dataclass(frozen=True)
class RankingRequest:
    """How to rank.

    Attributes
    ----------
    method : type
        The estimator class.
    parameters : dict of str to value
        Of the method, by name.
    classifier : Classifier or None
        The machine of a method that trains one; the method's own where None.
    scaling : str
    """

    method: type[Ranker]
    parameters: dict[str, Any]
    classifier: Classifier | None
    scaling: ScalingName

    def estimator(self, class_names: Sequence[str]) -> Ranker:
        """Build the method's estimator, for data with these classes."""
        handed = {} if self.classifier is None else self.classifier.machine(class_names).handed()
        handed["random_state"] = int(random_stream(SEED, "ranking", self.method.method).integers(2**31))
        taken = {name: handed[name] for name in handed.keys() & self.method.handed_down}
        return self.method(**self.parameters, **taken)


@dataclass(frozen=True)
class FeatureRanking:
    """The features of a data set, ranked.

    Attributes
    ----------
    method : str
    n_samples : int
    converged : bool
        Whether every machine that the method trained reached its duality gap.
    order : ndarray of int, shape (n_features,)
        Feature indices, best first.
    scores : ndarray, shape (n_features,)
        By feature index; larger is more relevant. A column of words is one feature here, and has the score of its best
        word.
    feature_names : tuple of str
    words : dict of str to dict of str to float
        For each column of words, the scores of its words, by the names that they have as features.
    caveats : tuple of str
        What whoever reads the ranking must know.
    """

    method: str
    n_samples: int
    converged: bool
    order: NDArray[np.intp]
    scores: NDArray[np.float64]
    feature_names: tuple[str, ...]
    words: dict[str, dict[str, float]]
    caveats: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """List the features, best first: rank, feature, index and score."""
        return [
            {
                "rank": rank,
                "feature": self.feature_names[index],
                "index": int(index),
                "score": float(self.scores[index]),
            }
            for rank, index in enumerate(self.order, start=1)
        ]


def rank(
    table: str | Path | pd.DataFrame,
    target: str | None = None,
    *,
    method: str,
    scaling: str = "standard",
    missing: MissingRule = "refuse",
    categorical: CategoricalRule = "refuse",
    drop: Sequence[str] = (),
    **parameters: Any,
) -> pd.DataFrame:
    """Rank the features of a table, as the command ``fsvm rank`` does.

    Parameters
    ----------
    table : path or DataFrame
        A CSV, Parquet, ARFF or LIBSVM file, the name of a data set that fsvm knows, or the table itself.
    target : str, optional
        Column that holds the class.
    method : str
        Name of a ranking method; see `methods`.
    scaling : {"standard", "none", "minmax", "minmax-symmetric", "unit-norm"}, default="standard"
        Scaling of the features.
    missing : {"refuse", "drop", "mean"}, default="refuse"
        What to do about missing values: drop the rows, or put the column's mean.
    categorical : {"refuse", "one-hot"}, default="refuse"
        What to do about columns of words.
    drop : sequence of str, optional
        Columns that are no features.
    **parameters
        Of the method, or of the machine of a method that trains one (``kernel``, ``C``, ...).

    Returns
    -------
    DataFrame
        Columns ``rank`` (1 is best), ``feature``, ``index`` (in the table) and ``score`` (larger is more relevant),
        best feature first.

    Raises
    ------
    UsageError
        If a parameter is wrong, or the method is not defined for these data.
    DataError
        If the table is missing, or not usable as it is.

    Warns
    -----
    UserWarning
        If a feature is constant, or a machine missed its duality gap.

    See Also
    --------
    methods : The names of the methods and of their parameters.
    load_dataset : A data set by its name.

    Examples
    --------
    >>> import pandas as pd
    >>> from fsvm_cli import rank
    >>> table = pd.DataFrame({"a": [0, 1, 0, 1], "b": [1.0, 1.5, 4.0, 4.5], "kind": ["x", "x", "y", "y"]})
    >>> rank(table, "kind", method="fisher")[["rank", "feature"]]
       rank feature
    0     1       b
    1     2       a
    """
    import pandas as pd  # noqa: PLC0415 - the command does without it

    request = ranking_request(method, scaling, parameters=parameters)
    options = {"target": target, "missing": missing, "categorical": categorical, "drop": drop}
    if isinstance(table, pd.DataFrame):
        source = _source_of_frame(table, options)
    else:
        source = source_of(str(table), options, announce=lambda _: None)
    ranking = rank_features(source, request)
    for caveat in ranking.caveats:
        warnings.warn(caveat, stacklevel=2)
    return pd.DataFrame(ranking.rows())


def ranking_request(
    method: str, scaling: str, assignments: Iterable[str] = (), parameters: Mapping[str, Any] | None = None
) -> RankingRequest:
    """Build a request from what the command line, or a caller, says.

    Parameters
    ----------
    method : str
    scaling : str
    assignments : iterable of str
        ``KEY=VALUE``; KEY is a parameter of the method or of the machine (kernel, C, ...).
    parameters : mapping of str to value, optional
        The same as values.

    Raises
    ------
    UsageError
        Listing every mistake, with what is allowed.
    """
    known = ranking_method(method)
    content = {"ranking": {"method": method}, "scaling": scaling}
    document = Document("--method", content, {("scaling",): "--scaling"})
    section_of = dict.fromkeys(known.parameters_model().model_fields if known else (), "ranking")
    machines = _machines_of(known)
    section_of = dict.fromkeys(_keys_of_machines() if machines else (), "classifier") | section_of
    for key, value in as_in_documents(dict(parameters or {})).items():
        document = _with_machine(document, _section(key, f"{key}={in_words(value)}", method, section_of))
        section = document.content[section_of[key]] | {key: value}
        positions = document.positions | {(section_of[key], key): key}
        content = document.content | {section_of[key]: section}
        document = dataclasses.replace(document, content=content, positions=positions)
    for assignment in assignments:
        key = assignment.partition("=")[0].strip()
        document = _with_machine(document, _section(key, f"--set {assignment}", method, section_of))
        document = document.override(f"{section_of[key]}.{assignment.strip()}")
        as_written = {(section_of[key], key): f"--set {assignment}"}
        document = dataclasses.replace(document, positions=document.positions | as_written)
    found: Any = validate(document, _request_model(method, known, machines))
    assert known is not None, "the name of the method has been checked"
    chosen = {name: getattr(found.ranking, name) for name in known.parameters_model().model_fields}
    return RankingRequest(known, chosen, getattr(found, "classifier", None), found.scaling)


def _section(key: str, option: str, method: str, section_of: Mapping[str, str]) -> str:
    """Tell whether a key is the method's or its machine's."""
    if key not in section_of:
        who = f"neither {method} nor its machine has a" if "classifier" in section_of.values() else f"{method} has no"
        allowed = f"allowed: {', '.join(sorted(section_of))}" if section_of else "it has no parameters"
        raise UsageError(f"{option}: {who} '{key}'; {allowed}")
    return section_of[key]


def _with_machine(document: Document, section: str) -> Document:
    """Describe the machine that is meant where only some of it is said."""
    if section != "classifier" or section in document.content:
        return document
    return dataclasses.replace(document, content=document.content | {"classifier": DEFAULT_CLASSIFIER})


def _machines_of(method: type[Ranker] | None) -> Any:
    """Type of the machine that a method can be handed, None for a method that takes none."""
    if method is None or not {"kernel", "estimator"} & method.handed_down:
        return None
    from fsvm_cli.spec.classifiers import AnyClassifier  # noqa: PLC0415 - brings the solvers, which a filter does without

    return AnyClassifier


def _keys_of_machines() -> set[str]:
    from fsvm_cli.spec.classifiers import Classifier  # noqa: PLC0415 - as above
    from fsvm_cli.spec.kernels import fields_in_configs  # noqa: PLC0415
    from fsvm_cli.svm.kernels.families import KERNELS  # noqa: PLC0415

    return (set(Classifier.model_fields) - {"tune"}).union(*map(fields_in_configs, KERNELS.values()))


def _request_model(name: str, method: type[Ranker] | None, machines: Any) -> type[StrictModel]:
    """Make the model of a request, with the parameters of one method; of a method that does not exist, of its name."""
    fields: dict[str, Any] = {"scaling": (ScalingName, ...)}
    if method is None:
        names: Any = Literal[tuple(ranking_methods())]
        fields["ranking"] = (create_model("Method", __base__=_MethodByName, method=(names, ...)), ...)
    else:
        own: Any = Literal[name]
        fields["ranking"] = (create_model("Method", __base__=method.parameters_model(), method=(own, ...)), ...)
    if machines is not None:
        fields["classifier"] = (machines | None, None)
    return create_model("Request", __base__=StrictModel, **fields)


def source_of(file: str, options: Mapping[str, Any], announce: Callable[[str], None]) -> DataSource:
    """Open a file of the user's own, or a data set that fsvm knows.

    Parameters
    ----------
    file : str
        Path, or name of a data set; a file of the name goes first.
    options : mapping of str to value
        What is said of a file, as in `FileSpec`; those that are None say nothing.
    announce : callable
        Hears, line by line, what takes time.

    Raises
    ------
    UsageError
        If there is neither, or an option is wrong.
    DataError
        If the data are missing, corrupt or out of reach.
    """
    exists, names = is_file(Path(file)), [*data_cards()]
    is_known = file in names and not exists
    if not (exists or is_known or Path(file).suffix):
        raise UsageError(f"{brief(file)}: there is no such file, nor a data set of this name; {nearest(file, names)}")
    spec = NamedSpec(name=file) if is_known else validate(_document({"file": file, **options}), FileSpec)
    return open_source(spec, base_folder=Path(), announce=announce)


def _source_of_frame(table: pd.DataFrame, options: Mapping[str, Any]) -> DataSource:
    from fsvm_cli.data.user_file import caveats, from_frame  # noqa: PLC0415 - brings pyarrow, which is slow to import

    spec = validate(_document(options), TableSpec)
    return fixed_source(from_frame("table", table, spec), caveats(spec))


def _document(options: Mapping[str, Any]) -> Document:
    said = as_in_documents({name: value for name, value in options.items() if value is not None})
    return Document("rank", said, {(name,): name for name in said})


def rank_features(source: DataSource, request: RankingRequest) -> FeatureRanking:
    """Rank the features on all rows of a data set.

    Raises
    ------
    UsageError
        If the method is not defined for these data.
    """
    dataset, method = source.draw(random_stream(SEED, "data")), request.method.method
    if reason := refusal(outline_of(source), request.method):
        raise UsageError(reason)
    X = seen_from(dataset, np.arange(dataset.n_samples))
    scaling = fit_scaling(request.scaling, X)
    ranker = request.estimator(dataset.class_names)
    try:
        with threadpoolctl.threadpool_limits(limits=1):
            scaled = scaling.transform(X)
            check_magnitudes(scaled, dataset.feature_names)
            ranker.fit(scaled, dataset.y)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{dataset.name}: {error}") from error
    except MemoryError as error:
        raise UsageError(
            f"{dataset.name}: {method} needs more memory than there is for {dataset.n_samples:,} rows "
            f"and {dataset.n_features:,} features; draw fewer rows, or take a filter such as fisher"
        ) from error
    words = _words(dataset, ranker.scores_)
    best = dict(zip(dataset.source_columns or dataset.feature_names, ranker.scores_.tolist(), strict=True))
    best |= {column: max(of_words.values()) for column, of_words in words.items()}
    scores = np.array(list(best.values()))
    caveats = [*source.caveats]
    if len(scaling.constant):
        constant = [dataset.feature_names[feature] for feature in scaling.constant]
        caveats.append(f"constant, and so without information: {shown(constant)}")
    if not ranker.converged_:
        caveats.append("a machine that the method trained missed its duality gap: the order may change with the solver")
    return FeatureRanking(
        method=method,
        n_samples=dataset.n_samples,
        converged=ranker.converged_,
        order=order_of(scores),
        scores=scores,
        feature_names=tuple(best),
        words=words,
        caveats=tuple(caveats),
    )


def _words(dataset: Dataset, scores: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    """Find the scores of the words of each column of words."""
    words: dict[str, dict[str, float]] = {}
    sources = dataset.source_columns or dataset.feature_names
    for column, feature, score in zip(sources, dataset.feature_names, scores.tolist(), strict=True):
        if column != feature:
            words.setdefault(column, {})[feature] = score
    return words
