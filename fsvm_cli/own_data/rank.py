"""Ranking the features of a file, a data frame or a built-in data set as a whole, outside any experiment."""

from __future__ import annotations

import shlex
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import threadpoolctl

from fsvm_cli.config_io import Document, as_in_documents, validate
from fsvm_cli.console import brief
from fsvm_cli.data.data_quality import constant_features
from fsvm_cli.data.dataset import known_features
from fsvm_cli.data.messages import nearest
from fsvm_cli.data.opening import open_source
from fsvm_cli.data.readers.numbers import quoted
from fsvm_cli.data.scaling import fit_scaling
from fsvm_cli.data.source import features_called, fixed_source, metadata_of
from fsvm_cli.data.source_spec import FileSpec, NamedSpec, TableSpec
from fsvm_cli.errors import DataError, FsvmError, TrialsFailedError, UsageError, contained, named, quiet_in_place
from fsvm_cli.evaluation.false_discovery import (
    N_REPEATS_OF_SHARES,
    CollinearError,
    Controls,
    difference,
    knockoff_q_values,
    permuted_q_values,
    tied_ranks,
)
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evidence.parameters import CAVEATS, NOTHING_FOUND
from fsvm_cli.files import is_file, special_kind
from fsvm_cli.numerics import check_input_range, read_only
from fsvm_cli.own_data.column_groups import (
    columns_as_numbers,
    columns_of,
    is_grouped,
    ranked_features,
    scores_of_words,
    scoring,
    shares_of_columns,
    with_column_groups,
)
from fsvm_cli.own_data.request import SEED, ranking_request
from fsvm_cli.ranking.always_keep import with_kept_first
from fsvm_cli.ranking.base import SampleWeightRanker, order_of, tie_priority, tied_with

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.readers.numbers import DecimalMark
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.data.source_spec import CategoricalRule, MissingRule, Separator, Spec
    from fsvm_cli.own_data.request import RankingRequest
    from fsvm_cli.ranking.base import Ranker

    QValues = Callable[..., NDArray[np.float64]]


def source_of(file: str, options: Mapping[str, Any], announce: Callable[[str], None]) -> DataSource:
    """Open a file of the user's own, or a built-in data set.

    Parameters
    ----------
    file : str
        Path, or name of a data set; a file of the name goes first.
    options : mapping of str to value
        Keys of `FileSpec`; None stands for the default.
    announce : callable
        Called with each line about what takes time.

    Raises
    ------
    UsageError
        If there is neither, or an option is wrong.
    DataError
        If the data are missing, corrupt or out of reach.
    """
    exists = is_file(Path(file))
    names: list[str] = []
    if not exists:
        from fsvm_cli.data.cards import data_cards  # noqa: PLC0415 - a file needs no cards

        names = [*data_cards()]
    if file in names:
        spec: Spec = NamedSpec(name=file)
    elif not (exists or Path(file).suffix or special_kind(Path(file))):  # reading says what a pipe or a device is
        raise UsageError(f"{brief(file)}: there is no such file, nor a data set of this name; {nearest(file, names)}")
    else:
        spec = file_spec(file, options)
    return open_source(spec, base_folder=Path(), announce=announce)


def file_spec(file: str, options: Mapping[str, Any]) -> FileSpec:
    """Check the options of a file; `options` and errors as in `source_of`."""
    return validate(_document({"file": file, **options}), FileSpec)


def source_of_frame(table: Any, options: Mapping[str, Any]) -> DataSource:
    """Open a data frame; `options` and errors as in `source_of`."""
    from fsvm_cli.data.user_file import from_frame  # noqa: PLC0415 - brings pyarrow, which is slow to import

    spec = validate(_document(options), TableSpec)
    return fixed_source(from_frame("table", table, spec))


def _document(options: Mapping[str, Any]) -> Document:
    content = as_in_documents({name: value for name, value in options.items() if value is not None})
    return Document("rank", content, {(name,): name for name in content})


def rank(
    table: str | Path | pd.DataFrame,
    target: str | None = None,
    *,
    method: str,
    scaling: str = "standard",
    missing: MissingRule = "refuse",
    categorical: CategoricalRule = "refuse",
    groups: str | None = None,
    sample_weight: str | None = None,
    drop: Sequence[str] = (),
    words: Sequence[str] = (),
    separator: Separator | None = None,
    encoding: str | None = None,
    decimal: DecimalMark | None = None,
    na: Sequence[str] = (),
    sheet: str | None = None,
    header_rows: int | str | None = None,
    no_header: bool = False,
    fdr: Controls | None = None,
    certify: bool = False,
    always_keep: Sequence[str] = (),
    column_groups: Mapping[str, str] | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Rank the features of a table, as the command ``fsvm rank`` does.

    Parameters
    ----------
    table : path or DataFrame
        A CSV, Excel, Parquet, ARFF or LIBSVM file, the name of a built-in data set, or the table itself,
        of pandas, polars, or any other library that speaks Arrow.
    target : str, optional
        Column that holds the class.
    method : str
        Name of a ranking method; see `methods`.
    scaling : {"standard", "none", "minmax", "minmax-symmetric", "unit-norm"}, default="standard"
        Scaling of the features.
    missing : {"refuse", "drop", "mean", "median", "most-frequent", "indicator"}, default="refuse"
        What to do about missing values: drop the rows, or fill them; with one feature more that tells where they were.
    categorical : {"refuse", "one-hot", "ordinal"}, default="refuse"
        What to do about columns of words: one feature for each word, or the words' numbers.
    groups : str, optional
        Column whose rows with the same value stay together where a method cross-validates; no feature.
    sample_weight : str, optional
        Column that says how many equal rows each row stands for, >= 0; no feature.
    drop : sequence of str, optional
        Columns that are no features.
    words : sequence of str, optional
        Columns whose values are words, also where they are digits or ``NA``.
    separator : {",", ";", "tab", "|", "space", ":"}, optional
        Between the fields of a text; by default, what its header says.
    encoding : str, optional
        Of a text; by default UTF-8, or UTF-16 where it begins with its mark.
    decimal : {".", ","}, optional
        What stands before decimals; commas are recognised where they cannot be anything else.
    na : sequence of str, optional
        What stands for a missing value, beside the usual marks; a dash among words is a word then.
    sheet : str, optional
        Of a workbook of Excel, by its name; by default the first.
    header_rows : int or str, optional
        Rows of a sheet that hold the names of the columns: the first so many, or as 3-4; by default the first.
    no_header : bool, default=False
        Whether a text begins with its first row; the columns are column1, column2, ...
    fdr : {"permuted", "knockoffs"}, optional
        Rank controls together with the features, and give each feature a q-value: the smallest false discovery rate at
        which it is among the discoveries (`fsvm_cli.evaluation.false_discovery`).
    certify : bool, default=False
        Bound the scores by the optimal machines, and tell which places any correct solver would give: of
        ``gradient-angle`` and ``rfe``. ``rfe`` with the linear kernel does so of itself.
    always_keep : sequence of str, optional
        Columns that come first, whatever their scores.
    column_groups : mapping of str to str, optional
        Group of a column, for columns that are ranked as one.
    **parameters
        Of the method, or of the machine of a method that trains one (``kernel``, ``C``, ...).

    Returns
    -------
    DataFrame
        Columns ``rank`` (1 is best), ``feature``, ``index`` (in the table), ``score`` (larger is more relevant)
        and ``tied`` (its place among equals is drawn), best feature first. Where a column or a group has several
        features, ``score`` is the share of permuted controls that it beats, and ``method_score`` that of its best
        feature. With `fdr` also ``q_value``, and with a
        certificate ``score_low``, ``score_high`` and ``verdict``: "decided", "copy" (only a copy might have the place)
        or "tied".

    Raises
    ------
    UsageError
        If a parameter is wrong, or the method is not defined for these data.
    DataError
        If the table is missing, or not usable as it is.

    Warns
    -----
    UserWarning
        If the table has a data-quality problem, a decision was made when it was read, or a machine missed its gap.

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
    options = {"target": target, "missing": missing, "categorical": categorical, "groups": groups, "drop": drop}
    options |= {"words": words, "sample_weight": sample_weight}
    of_text: dict[str, Any] = {
        "separator": separator,
        "encoding": encoding,
        "decimal": decimal,
        "na": na or None,
        "sheet": sheet,
    }
    of_text |= {"header_rows": None if header_rows is None else str(header_rows)}
    of_text |= {"no_header": no_header or None}
    if isinstance(table, pd.DataFrame) or hasattr(table, "__arrow_c_stream__"):
        source = source_of_frame(table, options | of_text)
    else:
        source = source_of(str(table), options | of_text, announce=lambda _: None)
    if column_groups:
        source = with_column_groups(source, column_groups)
    ranking = rank_features(
        source, request, overwrite=fdr is None, certify=certify or None, fdr=fdr, always_keep=always_keep
    )
    for caveat in ranking.caveats:
        warnings.warn(caveat, stacklevel=2)
    return pd.DataFrame(ranking.rows())


@dataclass(frozen=True)
class CertifiedPlaces:
    """Which places in a ranking any correct solver would give.

    Attributes
    ----------
    intervals : ndarray, shape (n_features, 2)
        Of the scores.
    verdicts : tuple of str
        For each feature "decided", "copy" or "tied".
    summary : str
        How many eliminations or places are decided, and which of the sizes 64, 8 and 4 are certified.
    """

    intervals: NDArray[np.float64]
    verdicts: tuple[str, ...]
    summary: str


SUMMARISED_SIZES = (64, 8, 4)


def places_in_words(verdicts: Sequence[str], what: str, sizes: NDArray[np.intp], n_features: int) -> str:
    """Say how many places are decided, between copies or tied, and which of the sizes 64, 8 and 4 are certified.

    Parameters
    ----------
    verdicts : sequence of {"decided", "copy", "tied"}
    what : str
        What they are about.
    sizes : array of int
        That are certified.
    n_features : int
    """
    summary = f"{verdicts.count('decided'):,} of {len(verdicts):,} {what} decided"
    for name, words in (("copy", "between copies"), ("tied", "tied")):
        if name in verdicts:
            summary += f"; {verdicts.count(name):,} {words}"
    certified = [str(size) for size in SUMMARISED_SIZES if size < n_features and size in sizes]
    return summary + (f"; top {', '.join(certified)} certified" if certified else "")


def _certified(ranker: Ranker, ranked: NDArray[np.intp], n_features: int) -> CertifiedPlaces | None:
    """Return the verdicts of a ranker that certified its places; those of features that it did not see are decided."""
    if not getattr(ranker, "certify", False):
        return None
    found: Any = ranker
    table = found.certificate_
    by_feature = dict(zip(table["feature"].tolist(), table["verdict"].tolist(), strict=True))
    last = str(table["verdict"][-1]) if by_feature else "decided"  # for the one that stays
    own = [by_feature.get(j, "decided" if found.decided_[j] else last) for j in range(len(ranked))]
    what = "eliminations" if len(by_feature) < len(ranked) else "places"
    summary = places_in_words([*by_feature.values()], what, found.decided_sizes_, len(ranked))
    intervals, verdicts = np.zeros((n_features, 2)), np.full(n_features, "decided", dtype=object)
    intervals[ranked], verdicts[ranked] = found.score_intervals_, own
    return CertifiedPlaces(intervals, tuple(verdicts.tolist()), summary)


@dataclass(frozen=True)
class FeatureRanking:
    """The features of a data set, ranked.

    Attributes
    ----------
    method : str
    n_samples : int
    converged : bool
        Whether every machine that the method trained reached its duality gap.
    chosen : dict of str to value
        What the method chose on the data.
    order : ndarray of int, shape (n_features,)
        Feature indices, best first.
    scores : ndarray, shape (n_features,)
        By feature index; larger is more relevant. A column of words, or a group of columns, is one feature here. Where
        there is any, the score of each is the share of permuted controls that it beats
        (`shares_of_controls_beaten`). One that is constant on all rows, which the method does not see, has 0, or the
        lowest score if that is below 0, and comes last.
    feature_names : tuple of str
    words : dict of str to dict of str to float
        For each column of words, the scores of its words, by the names that they have as features.
    caveats : tuple of str
        Limitations that readers of the ranking must know.
    certified : CertifiedPlaces or None
        Which places any correct solver would give, where the method can tell and no column is one of words.
    controls : {"permuted", "knockoffs"} or None
        What `q_values` come from.
    tied : ndarray of bool, shape (n_features,)
        By feature index: whether only the seed tells its place from another's.
    n_with_score : int
        Features that vary and whose scores say something, or that are always kept.
    q_values : ndarray, shape (n_features,), or None
        By feature index: the smallest false discovery rate at which the feature is among the discoveries.
    method_scores : ndarray, shape (n_features,), or None
        By feature index, where `scores` are shares: the score that the method gives the best feature of each column. It
        orders equal shares.
    scoring : str
        How the scores were obtained, where they are shares.
    """

    method: str
    n_samples: int
    converged: bool
    chosen: dict[str, float | int | str]
    order: NDArray[np.intp]
    scores: NDArray[np.float64]
    feature_names: tuple[str, ...]
    words: dict[str, dict[str, float]]
    caveats: tuple[str, ...]
    tied: NDArray[np.bool_]
    n_with_score: int
    certified: CertifiedPlaces | None = None
    controls: Controls | None = None
    q_values: NDArray[np.float64] | None = None
    method_scores: NDArray[np.float64] | None = None
    scoring: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """The caveats, and how the scores were obtained where not by the method itself."""
        return (*self.caveats, self.scoring) if self.scoring else self.caveats

    def rows(self) -> list[dict[str, Any]]:
        """List the features, best first: rank, feature, index, score, tie; interval, verdict, q-value if known."""
        rows: list[dict[str, Any]] = []
        for rank, index in enumerate(self.order, start=1):
            row = {"rank": rank, "feature": self.feature_names[index], "index": int(index)}
            row["score"] = float(self.scores[index])
            row["tied"] = bool(self.tied[index])
            if self.method_scores is not None:
                row["method_score"] = float(self.method_scores[index])
            if self.certified is not None:
                low, high = self.certified.intervals[index].tolist()
                row |= {"score_low": low, "score_high": high, "verdict": self.certified.verdicts[index]}
            if self.q_values is not None:
                row["q_value"] = float(self.q_values[index])
            rows.append(row)
        return rows


def rank_features(
    source: DataSource,
    request: RankingRequest,
    *,
    overwrite: bool = False,
    certify: bool | None = False,
    fdr: Controls | None = None,
    always_keep: Sequence[str] = (),
) -> FeatureRanking:
    """Rank the features on all rows of a data set.

    Parameters
    ----------
    source : DataSource
    request : RankingRequest
    overwrite : bool, default=False
        Whether the scaled features may overwrite those of the data set.
    certify : bool or None, default=False
        Whether the method is to tell which places any correct solver would give; None: if that takes no more than
        about the time of the ranking again, as of `rfe` with the linear kernel.
    fdr : {"permuted", "knockoffs"}, optional
        Controls that q-values come from.
    always_keep : sequence of str
        Columns that come first, whatever their scores, which lie above all others then.

    Raises
    ------
    UsageError
        If there is no such column, the method is not defined for these data, or does not come to an end on them; or
        there are no such controls; or no certificate can be given.
    """
    dataset = source.draw(random_stream(SEED, "data"))
    kept = features_called(always_keep, source)
    if certify:
        _check_certifiable(request, dataset, kept)
    if source.is_sparse:
        from fsvm_cli.ranking.registry import reason_against_sparse  # noqa: PLC0415 - imports all that configs can name

        if reason := reason_against_sparse(metadata_of(source), request.method):
            raise UsageError(reason)
    if reason := reason_against_weights(source, request.method):
        raise UsageError(reason)
    has_groups = is_grouped(dataset)
    ranker, ranked, caveats = _fitted(dataset, request, overwrite=overwrite and not has_groups, certify=certify)
    q_values = None if fdr is None else _q_values(dataset, request, fdr)
    if fdr == "knockoffs":
        caveats.append(KNOCKOFFS_CAVEAT)
    of_features = np.full(dataset.n_features, min(float(ranker.scores_.min()), 0.0))
    of_features[ranked] = ranker.scores_
    words = scores_of_words(dataset, of_features)
    best: dict[str, float] = {}
    for column, score in zip(dataset.source_columns or dataset.feature_names, of_features.tolist(), strict=True):
        best[column] = max(best.get(column, -np.inf), score)
    scores, places = np.array(list(best.values())), {column: place for place, column in enumerate(best)}
    columns = dataset.source_columns or dataset.feature_names
    first = list(dict.fromkeys(places[columns[feature]] for feature in kept))
    method_scores, scoring = None, ""
    if has_groups:
        method_scores = scores
        scores, scoring = shares_of_columns(dataset, request)
    scores = with_kept_first(scores, first)
    keys = scores
    if method_scores is not None:  # which are multiples of 1 / (2 N_REPEATS_OF_SHARES)
        keys = scores * 2 * N_REPEATS_OF_SHARES * (len(scores) + 1) + tied_ranks(method_scores)
    priority, tied = tie_priority(SEED, len(scores)), np.zeros(len(scores), dtype=np.bool_)
    order = order_of(keys, priority)
    if len(scores) == dataset.n_features:
        # Within an elimination the method's own order tells more than its scores.
        tied[ranked] = ranker.tied_
        has_score = np.isin(np.arange(len(scores)), ranked[ranker.has_score_])
    else:
        tied[tied_with(keys, order)] = True
        names_with_score = {columns[feature] for feature in ranked[ranker.has_score_]}
        has_score = np.array([column in names_with_score for column in best])
    tied[first] = False
    has_score[first] = True
    has_place = np.zeros(len(scores), dtype=np.bool_)
    has_place[[*first, *(places[columns[feature]] for feature in ranked.tolist())]] = True
    return FeatureRanking(
        method=request.method.method,
        n_samples=dataset.n_samples,
        converged=ranker.converged_,
        chosen=ranker.chosen_,
        order=np.concatenate([order[has_place[order]], order[~has_place[order]]]),
        scores=scores,
        feature_names=tuple(best),
        words=words,
        caveats=tuple(dict.fromkeys([*source.caveats, *request.remarks, *caveats])),
        tied=tied,
        n_with_score=int(has_score.sum()),
        certified=None if words or first else _certified(ranker, ranked, dataset.n_features),
        controls=fdr,
        q_values=q_values,
        method_scores=method_scores,
        scoring=scoring,
    )


def _check_certifiable(request: RankingRequest, dataset: Dataset, kept: Sequence[int]) -> None:
    if not is_certifiable(request.method):
        from fsvm_cli.ranking.registry import ranking_methods  # noqa: PLC0415 - imports all that configs can name

        able = ", ".join(name for name, each in ranking_methods().items() if is_certifiable(each))
        raise UsageError(f"--certify: no bound is known for the scores of {request.method.method}; one is for {able}")
    if kept:
        raise UsageError("--certify: is about places by the scores; leave --always-keep out")
    if is_grouped(dataset):
        raise UsageError(
            "--certify: no bound is known for the score of a column that becomes several features; drop it (--drop "
            "COLUMN), or take --categorical ordinal"
        )


def is_certifiable(method: type[Ranker]) -> bool:
    """Return whether a method can bound its scores by the optimal machines."""
    return "certify" in method.outside_configs


def reason_against_weights(source: DataSource, method: type[Ranker]) -> str:
    """Return why a ranking method cannot rank the features of rows with weights; empty if it can, or there are none."""
    if method.takes_sample_weight or not metadata_of(source).has_weights:
        return ""
    from fsvm_cli.ranking.registry import ranking_methods  # noqa: PLC0415 - imports all that configs can name

    able = ", ".join(name for name, each in ranking_methods().items() if each.takes_sample_weight)
    return f"{source.name}: {method.method} takes no sample weights; methods that do: {able}"


KNOCKOFFS_CAVEAT = (
    "knockoffs have the means and covariances of the columns, not more: on columns far from normal the rate is "
    "approximate, and fewer than ten discoveries are never made at 10 %"
)


def _q_values(dataset: Dataset, request: RankingRequest, controls: Controls) -> NDArray[np.float64]:
    """Rank controls together with the features, and return the q-value of each column."""
    rows = np.arange(dataset.n_samples)
    X = known_features(dataset, rows)
    if not isinstance(X, np.ndarray):
        raise UsageError(f"--fdr: {dataset.name} is a sparse matrix, which controls would fill; read it with --dense")
    if dataset.groups is not None:
        raise UsageError(
            "--fdr: rows of one group depend on each other, and controls of independent rows find too much; give one "
            "row for each group, and leave --groups out"
        )
    if dataset.sample_weight is not None:
        raise UsageError("--fdr: controls are of rows that weigh the same; leave --sample-weight out")
    names, columns = columns_as_numbers(dataset)
    q_values = np.ones(len(names))
    score: Any = scoring(dataset, request)
    find: QValues = permuted_q_values if controls == "permuted" else knockoff_q_values
    if controls == "knockoffs" and request.method.method == "knockoffs":
        from fsvm_cli.ranking.knockoffs import lasso_weights  # noqa: PLC0415 - slow to import, and seldom needed

        score, find = partial(lasso_weights, y=dataset.y), partial(knockoff_q_values, statistic=difference)
    rng = random_stream(SEED, "false discovery")
    try:
        with threadpoolctl.threadpool_limits(limits=1), quiet_in_place():
            scaled = fit_scaling(request.scaling, X).transform(X)
            ranked = ranked_features(scaled, request)
            tested, numbers = np.unique(columns[ranked], return_inverse=True)
            q_values[tested] = find(columns_of(scaled, ranked), score, numbers, rng)
            return q_values
    except CollinearError as error:
        of, *others = [dataset.feature_names[ranked[each]] for each in (error.column, *error.others)]
        column = names[columns[ranked[error.column]]]
        drop = f"--drop {shlex.quote(brief(column))}"
        remedy = (
            f"drop one of these ({drop})"
            if column == of
            else f"number the words (--categorical ordinal), or drop the column ({drop})"
        )
        raise UsageError(
            f"{dataset.name}: '{brief(of)}' is a linear combination of {quoted(others)}: no knockoff can be told from "
            f"it; {remedy}, or take --fdr permuted"
        ) from error
    except (ValueError, TypeError) as error:
        raise UsageError(f"{dataset.name}: {error}; or take --fdr permuted, or leave --fdr out") from error


def _fitted(
    dataset: Dataset, request: RankingRequest, *, overwrite: bool, certify: bool | None
) -> tuple[Ranker, NDArray[np.intp], list[str]]:
    """Fit the method on the scaled features that vary; return it with these, and its caveats."""
    X = known_features(dataset, np.arange(dataset.n_samples))
    scaling = fit_scaling(request.scaling, X)
    try:
        with threadpoolctl.threadpool_limits(limits=1):
            scaled = scaling.transform(X, overwrite=overwrite)
            check_input_range(scaled, dataset.feature_names)
            ranked = ranked_features(scaled, request)
            scaled = columns_of(scaled, ranked)
            ranker, chosen = request.estimator(dataset.class_names, scaled)
            # Certificates of other methods may hold all pairs of rows, and are given on request alone.
            if certify is None:
                linear_elimination = ranker.method == "rfe" and ranker.kernel_object(scaled).is_linear
                certify = linear_elimination and not sp.issparse(scaled)
            if certify:
                ranker.set_params(certify=True)
            weights = (dataset.sample_weight,) if isinstance(ranker, SampleWeightRanker) else ()
            with contained(ranker.method), quiet_in_place():
                ranker.fit(read_only(scaled), read_only(dataset.y), dataset.groups, *weights)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{dataset.name}: {error}") from error
    except (UsageError, DataError, ImportError, OSError, SystemError):
        raise
    except FsvmError as error:  # a sampler that is stuck, or a solver that misses its gap
        raise UsageError(f"{dataset.name}: {error}") from error
    except MemoryError as error:
        raise UsageError(
            f"{dataset.name}: {request.method.method} needs more memory than there is for {dataset.n_samples:,} rows "
            f"and {dataset.n_features:,} features; draw fewer rows, or take a filter such as fisher"
        ) from error
    except Exception as error:
        why = f"{request.method.method} failed ({named(error)}); fit it in Python to see where"
        raise TrialsFailedError(f"{dataset.name}: {why}") from error
    caveats = [*chosen]
    if len(scaling.constant):
        caveats.append(constant_features(_constant_columns(dataset, scaling.constant)))
    if not ranker.converged_ and not NOTHING_FOUND & ranker.chosen_.keys():
        caveats.append(
            "an ascent on the evidence did not end by its rule: the order may change with more steps (max_steps)"
            if "ascent" in ranker.diagnostics_
            else "a machine that the method trained missed its duality gap: the order may change with the solver"
        )
    caveats += [f"{words} ({ranker.chosen_[name]})" for name, words in CAVEATS.items() if name in ranker.chosen_]
    return ranker, ranked, caveats


def _constant_columns(dataset: Dataset, features: NDArray[np.intp]) -> list[str]:
    """Name the columns of constant features; a feature by its own name where others of its column vary."""
    sources = dataset.source_columns or dataset.feature_names
    varying = {sources[feature] for feature in np.setdiff1d(np.arange(dataset.n_features), features)}
    names = [dataset.feature_names[j] if sources[j] in varying else sources[j] for j in features]
    return list(dict.fromkeys(names))
