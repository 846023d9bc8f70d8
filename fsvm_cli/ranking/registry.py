"""The ranking methods by name: those of this package, and plug-ins; and which of them take sparse matrices."""

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

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.plugins import Group

M = TypeVar("M", bound=NamedMethod)

SYNONYMS = {
    **dict.fromkeys(("relief", "relieff", "rrelieff"), "relief-f"),
    **dict.fromkeys(("svm-rfe", "svmrfe", "recursive-feature-elimination"), "rfe"),
    **dict.fromkeys(("mi", "mutual-info", "mutual-info-classif", "information-gain"), "mutual-information"),
    **dict.fromkeys(("f-score", "fisher-score", "f-classif", "anova"), "fisher"),
    **dict.fromkeys(("correlation", "pearsonr", "corr"), "pearson"),
    **dict.fromkeys(("ks", "ks-test", "kolmogorov"), "kolmogorov-smirnov"),
    **dict.fromkeys(("kp-svm", "kpd-svm"), "kpd"),
    **dict.fromkeys(("automatic-relevance-determination", "relevance-determination"), "ard"),
    **dict.fromkeys(("markov-blanket", "koller"), "koller-sahami"),
    **dict.fromkeys(("svm-infoprop",), "infoprop"),
    **dict.fromkeys(("angle", "gradient"), "gradient-angle"),
    **dict.fromkeys(("r2w2", "radius-margin-bound"), "radius-margin"),
    **dict.fromkeys(("span-bound",), "span"),
    **dict.fromkeys(("random-forest", "random-forest-importance"), "forest"),
    **dict.fromkeys(("shap-values", "tree-shap", "treeshap", "shapley"), "shap"),
    **dict.fromkeys(("lasso-svm", "l1", "linear-svc-l1"), "l1-svm"),
    **dict.fromkeys(("sfs", "forward-selection"), "wrapper"),
    **dict.fromkeys(("lasso-logistic", "l1-lr", "logistic-l1"), "l1-logistic"),
    **dict.fromkeys(("elasticnet", "enet"), "elastic-net"),
    **dict.fromkeys(("permutation", "pfi"), "permutation-importance"),
    **dict.fromkeys(("knockoff", "knockoff-filter", "model-x-knockoffs", "model-x"), "knockoffs"),
    **dict.fromkeys(("randomized-lasso", "stability"), "stability-selection"),
    **dict.fromkeys(("neighbors", "n-neighbours", "k"), "n_neighbors"),
    **dict.fromkeys(("cv", "n-splits", "n-folds"), "folds"),
    **dict.fromkeys(("bins",), "n_bins"),
}
"""Names of methods and parameters in other programs and papers."""


@functools.cache
def ranking_methods() -> Mapping[str, type[Ranker]]:
    """Return all methods, in the order of the names.

    Returns
    -------
    mapping of str to type
        The estimator class of each method.

    Raises
    ------
    UsageError
        If two packages have a method of the same name.
    """
    return all_methods(fsvm_cli.ranking, Ranker, "fsvm.rankings")  # type: ignore[type-abstract]


def ranking_method(name: str) -> type[Ranker] | None:
    """Return a method by its name, importing only its own module if that has the name of the method.

    Returns
    -------
    type or None
        The estimator class, None where no method has the name.
    """
    stem = name.replace("-", "_")
    if any(module.name == stem for module in pkgutil.iter_modules(fsvm_cli.ranking.__path__)):
        method = _defined_in(f"{fsvm_cli.ranking.__name__}.{stem}", Ranker).get(name)  # type: ignore[type-abstract]
        if method is not None:
            return method
    return ranking_methods().get(name)


def all_methods(package: ModuleType, base: type[M], group: Group) -> Mapping[str, type[M]]:
    """Return the methods of a package's modules, and the plug-ins of a group of entry points."""
    return joined(group, methods_in(package, base), load_plugins(group, functools.partial(_from_outside, base)))


def methods_in(package: ModuleType, base: type[M]) -> Mapping[str, type[M]]:
    """Return the subclasses of a base class that the modules of a package define under a name for configs.

    Returns
    -------
    mapping of str to type
        In the order of the names.
    """
    found: dict[str, type[M]] = {}
    for module_info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for name, method in _defined_in(module_info.name, base).items():
            assert name not in found, f"two files name the method '{name}'"
            found[name] = method
    return dict(sorted(found.items()))


def _defined_in(module_name: str, base: type[M]) -> dict[str, type[M]]:
    """Return the methods that a module itself defines, by name."""
    module = importlib.import_module(module_name)
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, base)]
    return {
        value.method: value for value in classes if hasattr(value, "method") and value.__module__ == module.__name__
    }


def _from_outside(base: type[Any], name: str, loaded: Any) -> dict[str, Any]:
    """Check that a plug-in is a subclass of a base class, and has the name of its entry point.

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


def reason_against_sparse(data: DatasetMetadata, method: type[Ranker]) -> str | None:
    """Return why a ranking method cannot rank the features of a data set as it is; None if it can."""
    if not data.is_sparse or method.accepts_sparse:
        return None
    able = ", ".join(name for name, each in ranking_methods().items() if each.accepts_sparse)
    return f"{advice_on_sparse(data, f'{method.method} takes')}; methods that take a sparse one: {able}"


def advice_on_sparse(data: DatasetMetadata, who: str) -> str:
    """Return the memory that a sparse data set takes as a full matrix, and the option that makes it one.

    The sentence begins with `who`, the subject that takes full matrices only, with its verb.
    """
    return (
        f"{who} no sparse matrix, and {data.name}, {data.n_samples:,} x {data.n_features:,}, would take "
        f"{8e-9 * data.n_samples * data.n_features:.1f} GB as a full one (which a LIBSVM file of your own becomes by "
        "dense: true, or --dense)"
    )
