"""The ranking methods by name: whatever file stands in this folder."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import TYPE_CHECKING, TypeVar

import fsvm_cli.ranking
from fsvm_cli.ranking.base import Ranker
from fsvm_cli.ranking.parameters import NamedMethod

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

M = TypeVar("M", bound=NamedMethod)

SYNONYMS = {
    **dict.fromkeys(("relief", "relieff", "rrelieff"), "relief-f"),
    **dict.fromkeys(("svm-rfe", "svmrfe", "recursive-feature-elimination"), "rfe"),
    **dict.fromkeys(("mi", "mutual-info", "mutual-info-classif", "information-gain"), "mutual-information"),
    **dict.fromkeys(("f-score", "fisher-score", "f-classif", "anova"), "fisher"),
    **dict.fromkeys(("correlation", "pearsonr", "corr"), "pearson"),
    **dict.fromkeys(("ks", "ks-test", "kolmogorov"), "kolmogorov-smirnov"),
    **dict.fromkeys(("kp-svm", "kpd-svm"), "kpd"),
    **dict.fromkeys(("markov-blanket", "koller"), "koller-sahami"),
    **dict.fromkeys(("svm-infoprop",), "infoprop"),
    **dict.fromkeys(("angle", "gradient"), "gradient-angle"),
    **dict.fromkeys(("sfs", "forward-selection"), "wrapper"),
    **dict.fromkeys(("neighbors", "n-neighbours", "k"), "n_neighbors"),
    **dict.fromkeys(("cv", "n-splits"), "n_folds"),
    **dict.fromkeys(("bins",), "n_bins"),
}
"""What other programs and papers call methods and their parameters."""


@functools.cache
def ranking_methods() -> Mapping[str, type[Ranker]]:
    """Find every method, in the order of the names.

    Returns
    -------
    mapping of str to type
        The estimator class of each method.
    """
    return methods_in(fsvm_cli.ranking, Ranker)  # type: ignore[type-abstract]


def methods_in(package: ModuleType, base: type[M]) -> Mapping[str, type[M]]:
    """Find the classes that the modules of a package define below a base class, and that have a name.

    Returns
    -------
    mapping of str to type
        In the order of the names.
    """
    found: dict[str, type[M]] = {}
    for module_info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(module_info.name)
        for value in vars(module).values():
            is_method = isinstance(value, type) and issubclass(value, base) and hasattr(value, "method")
            if is_method and value.__module__ == module.__name__:
                assert value.method not in found, f"two files name the method '{value.method}'"
                found[value.method] = value
    return dict(sorted(found.items()))
