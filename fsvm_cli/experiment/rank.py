"""Ranking the features of one data set as a whole, outside any experiment."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import threadpoolctl

from fsvm_cli.data.scaling import ScalingName, fit_scaling
from fsvm_cli.documents import Document, StrictModel, validate
from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.experiment.kernel_spec import KERNEL_FIELDS_NOT_IN_CONFIGS
from fsvm_cli.experiment.schema import AnyClassifier, AnyRanking, Classifier
from fsvm_cli.experiment.sparse import refusal
from fsvm_cli.ranking.base import order_of
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.svm.kernels import KERNELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
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
        By feature index; larger is more relevant.
    feature_names : tuple of str
    constant : tuple of str
        Features that have a single value.
    """

    method: str
    n_samples: int
    converged: bool
    order: NDArray[np.intp]
    scores: NDArray[np.float64]
    feature_names: tuple[str, ...]
    constant: tuple[str, ...]


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
    kernel_keys = {field.name for kernel in KERNELS.values() for field in dataclasses.fields(kernel)}
    return set(Classifier.model_fields) | (kernel_keys - KERNEL_FIELDS_NOT_IN_CONFIGS)


def rank_features(dataset: Dataset, request: RankingRequest) -> FeatureRanking:
    """Rank the features on all rows of a data set.

    Raises
    ------
    UsageError
        If the method is not defined for these data.
    """
    if reason := refusal(dataset, request.ranking.method):
        raise UsageError(reason)
    scaling = fit_scaling(request.scaling, dataset.X)
    machine = {} if request.classifier is None else request.classifier.handed(dataset.class_names)
    seed = int(random_stream(SEED, "ranking", request.ranking.method).integers(2**31))
    ranker = request.ranking.estimator(**machine, random_state=seed)
    try:
        with threadpoolctl.threadpool_limits(limits=1):
            ranker.fit(scaling.transform(dataset.X), dataset.y)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{dataset.name}: {error}") from error
    return FeatureRanking(
        method=request.ranking.method,
        n_samples=dataset.n_samples,
        converged=ranker.converged_,
        order=order_of(ranker.scores_),
        scores=ranker.scores_,
        feature_names=dataset.feature_names,
        constant=tuple(dataset.feature_names[feature] for feature in scaling.constant),
    )
