"""Ranking the features of one data set as a whole, outside any experiment."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import threadpoolctl

from fsvm_cli.data.scaling import ScalingName, fit_scaling
from fsvm_cli.data.vocabulary import seen_from
from fsvm_cli.documents import Document, StrictModel, validate
from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.sparse import refusal
from fsvm_cli.magnitudes import check_magnitudes
from fsvm_cli.ranking.base import order_of
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.spec.classifiers import AnyClassifier, Classifier
from fsvm_cli.spec.kernels import fields_in_configs
from fsvm_cli.spec.rankings import AnyRanking
from fsvm_cli.svm.kernels.families import KERNELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Dataset

SEED = 0
DEFAULT_CLASSIFIER = {"kernel": "linear", "C": 1.0}


class RankingRequest(StrictModel):
    """How to rank: the method, and the machine of those methods that train one (the method's own where left out)."""

    ranking: AnyRanking
    classifier: AnyClassifier | None = None
    scaling: ScalingName


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
    constant : tuple of str
        Features that have a single value.
    words : dict of str to dict of str to float
        For each column of words, the scores of its words, by the names that they have as features.
    """

    method: str
    n_samples: int
    converged: bool
    order: NDArray[np.intp]
    scores: NDArray[np.float64]
    feature_names: tuple[str, ...]
    constant: tuple[str, ...]
    words: dict[str, dict[str, float]]


def ranking_request(method: str, scaling: str, assignments: Sequence[str]) -> RankingRequest:
    """Build a request from what the command line says.

    Parameters
    ----------
    method : str
    scaling : str
    assignments : sequence of str
        ``KEY=VALUE``; KEY is a parameter of the method or of the machine (kernel, C, ...).

    Raises
    ------
    UsageError
        Listing every mistake, with what is allowed.
    """
    document = Document("--method", {"ranking": {"method": method}, "scaling": scaling}, {("scaling",): "--scaling"})
    known = ranking_methods().get(method)
    section_of = dict.fromkeys(_machine_keys(), "classifier")
    section_of |= dict.fromkeys(known.parameters_model().model_fields if known else (), "ranking")
    for assignment in assignments:
        key = assignment.partition("=")[0].strip()
        if key not in section_of:
            allowed = ", ".join(sorted(section_of))
            raise UsageError(f"--set {assignment}: neither {method} nor its machine has a '{key}'; allowed: {allowed}")
        if section_of[key] == "classifier":
            described = DEFAULT_CLASSIFIER | document.content.get("classifier", {})
            document = dataclasses.replace(document, content=document.content | {"classifier": described})
        document = document.override(f"{section_of[key]}.{assignment.strip()}")
    return validate(document, RankingRequest)


def _machine_keys() -> set[str]:
    return (set(Classifier.model_fields) - {"tune"}).union(*map(fields_in_configs, KERNELS.values()))


def rank_features(dataset: Dataset, request: RankingRequest) -> FeatureRanking:
    """Rank the features on all rows of a data set.

    Raises
    ------
    UsageError
        If the method is not defined for these data.
    """
    if reason := refusal(dataset, request.ranking.method):
        raise UsageError(reason)
    X = seen_from(dataset, np.arange(dataset.n_samples))
    scaling = fit_scaling(request.scaling, X)
    machine = {} if request.classifier is None else request.classifier.machine(dataset.class_names).handed()
    seed = int(random_stream(SEED, "ranking", request.ranking.method).integers(2**31))
    ranker = request.ranking.estimator(**machine, random_state=seed)
    try:
        with threadpoolctl.threadpool_limits(limits=1):
            scaled = scaling.transform(X)
            check_magnitudes(scaled, dataset.feature_names)
            ranker.fit(scaled, dataset.y)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{dataset.name}: {error}") from error
    except MemoryError as error:
        raise UsageError(
            f"{dataset.name}: {request.ranking.method} needs more memory than there is for {dataset.n_samples:,} rows "
            f"and {dataset.n_features:,} features; draw fewer rows, or take a filter such as fisher"
        ) from error
    words = _words(dataset, ranker.scores_)
    best = dict(zip(dataset.source_columns or dataset.feature_names, ranker.scores_.tolist(), strict=True))
    best |= {column: max(of_words.values()) for column, of_words in words.items()}
    scores = np.array(list(best.values()))
    return FeatureRanking(
        method=request.ranking.method,
        n_samples=dataset.n_samples,
        converged=ranker.converged_,
        order=order_of(scores),
        scores=scores,
        feature_names=tuple(best),
        constant=tuple(dataset.feature_names[feature] for feature in scaling.constant),
        words=words,
    )


def _words(dataset: Dataset, scores: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    """Find the scores of the words of each column of words."""
    words: dict[str, dict[str, float]] = {}
    sources = dataset.source_columns or dataset.feature_names
    for column, feature, score in zip(sources, dataset.feature_names, scores.tolist(), strict=True):
        if column != feature:
            words.setdefault(column, {})[feature] = score
    return words
