"""Checks that nothing in a config would turn a sparse matrix into a full one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import scipy.sparse as sp

from fsvm_cli.data.scaling import fit_scaling
from fsvm_cli.data.source import FixedSource
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.sparse_methods import advice_on_sparse, reason_against_sparse
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.spec.classifiers import Classifier
from fsvm_cli.svm import KERNELS

if TYPE_CHECKING:
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.spec.config import LoadedConfig


def is_sparse(source: DataSource) -> bool:
    """Whether a source yields its samples as a sparse matrix."""
    return isinstance(source, FixedSource) and bool(sp.issparse(source.dataset.X))


def check_sparse(loaded: LoadedConfig, source: DataSource) -> None:
    """Refuse, before any trial, what would fill the sparse matrix of a data set.

    Raises
    ------
    UsageError
        With the position of the key and what to use instead.
    """
    if not isinstance(source, FixedSource) or not is_sparse(source):
        return
    config, document, dataset = loaded.config, loaded.document, source.dataset
    for index, ranking in enumerate(config.rankings):
        if reason := reason_against_sparse(dataset, ranking_methods()[ranking.method]):
            raise document.error(("rankings", index, "method"), reason)
    for index, extraction in enumerate(config.extractors):
        raise document.error(("extractors", index, "method"), advice_on_sparse(dataset, f"{extraction.method} takes"))
    own = [(("rankings", index, "classifier"), ranking.classifier) for index, ranking in enumerate(config.rankings)]
    for where, classifier in [(("classifier",), config.classifier), *own]:
        if isinstance(classifier, Classifier):
            specs = (classifier, *classifier.class_kernels.values())
            if dense := [spec.kernel for spec in specs if not spec.kernel_object().accepts_sparse]:
                able = ", ".join(name for name, kernel in KERNELS.items() if kernel().accepts_sparse)
                advice = advice_on_sparse(dataset, f"the {dense[0]} kernel takes")
                reason = f"{advice}; kernels that take a sparse one: {able}"
                raise document.error(where, reason)
    try:
        fit_scaling(config.scaling, dataset.X[:1])
    except UsageError as error:
        raise document.error(("scaling",), str(error)) from error
