"""Checks that nothing in a config would turn a sparse matrix into a full one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.data.scaling import SHIFTING, shifts_sparse
from fsvm_cli.experiment.sparse_methods import advice_on_sparse, reason_against_sparse
from fsvm_cli.mistakes import Mistake
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.spec.bayesian import BayesianBase
from fsvm_cli.spec.classifiers import Classifier
from fsvm_cli.spec.sklearn_classifiers import LearnedKernel
from fsvm_cli.svm import KERNELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.data.outline import Outline
    from fsvm_cli.data.scaling import ScalingName
    from fsvm_cli.mistakes import Location
    from fsvm_cli.spec.classifiers import ExperimentClassifier
    from fsvm_cli.spec.kernels import KernelSpec
    from fsvm_cli.spec.schema import Config


def mistakes_on_sparse_data(config: Config, data: Outline) -> Iterator[Mistake]:
    """Find what would fill the sparse matrix of a data set, and say what to use instead."""
    for index, ranking in enumerate(config.rankings):
        if reason := reason_against_sparse(data, ranking_methods()[ranking.method]):
            yield Mistake(("rankings", index, "method"), reason)
    for index, extraction in enumerate(config.extractors):
        yield Mistake(("extractors", index, "method"), advice_on_sparse(data, f"{extraction.method} takes"))
    for location, classifier in config.classifiers_written():
        if isinstance(classifier, BayesianBase):
            yield Mistake(location, advice_on_sparse(data, "a Bayesian machine takes"))
        if dense := [spec.kernel for spec in _kernels_of(classifier) if not spec.kernel_object().accepts_sparse]:
            able = ", ".join(name for name, kernel in KERNELS.items() if kernel().accepts_sparse)
            reason = f"{advice_on_sparse(data, f'the {dense[0]} kernel takes')}; kernels that take a sparse one: {able}"
            yield Mistake(location, reason)
    scalings: dict[Location, ScalingName] = {("scaling",): config.scaling}
    scalings |= {("rankings", index, "scaling"): each.scaling or "none" for index, each in enumerate(config.rankings)}
    for location, scaling in scalings.items():
        if scaling in SHIFTING:
            yield Mistake(location, shifts_sparse(scaling))


def _kernels_of(classifier: ExperimentClassifier) -> tuple[KernelSpec, ...]:
    if isinstance(classifier, Classifier):
        return (classifier, *classifier.class_kernels.values())
    return classifier.kernels if isinstance(classifier, LearnedKernel) else ()
