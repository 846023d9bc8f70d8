"""The ranking methods by name: whatever file stands in this folder, and what other packages add."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from typing import TYPE_CHECKING, Any, TypeVar

import fsvm_cli.ranking
from fsvm_cli.plugins import joined, load_plugins
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
    **dict.fromkeys(("cv", "n-splits", "n-folds"), "folds"),
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

    Raises
    ------
    UsageError
        If two packages have a method of the same name.
    """
    own = methods_in(fsvm_cli.ranking, Ranker)  # type: ignore[type-abstract]
    added = load_plugins("fsvm.rankings", functools.partial(method_from_outside, Ranker))
    return joined("fsvm.rankings", own, added)


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


def method_from_outside(base: type[Any], name: str, loaded: Any) -> dict[str, Any]:
    """Check that what another package adds is a method below a base class, and has the name of its entry point.

    Raises
    ------
    TypeError
        If it is not, or has parameters that no config can set.
    """
    if not (inspect.isclass(loaded) and issubclass(loaded, base)):
        raise TypeError(f"{loaded!r} is no subclass of {base.__name__}")
    method: Any = loaded
    if inspect.isabstract(method):
        raise TypeError(f"{method.__name__} lacks {', '.join(sorted(method.__abstractmethods__))}")
    called = getattr(method, "method", None)
    if called != name:
        raise TypeError(f"its class calls itself {called!r}")
    method.parameters_model()
    return {name: method}
