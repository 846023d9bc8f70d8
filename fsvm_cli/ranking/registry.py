"""The ranking methods by name: whatever file stands in this folder."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import TYPE_CHECKING

import fsvm_cli.ranking
from fsvm_cli.ranking.base import Ranker

if TYPE_CHECKING:
    from collections.abc import Mapping


@functools.cache
def ranking_methods() -> Mapping[str, type[Ranker]]:
    """Find every method, in the order of the names.

    Returns
    -------
    mapping of str to type
        The estimator class of each method.
    """
    found: dict[str, type[Ranker]] = {}
    for module_info in pkgutil.iter_modules(fsvm_cli.ranking.__path__, "fsvm_cli.ranking."):
        module = importlib.import_module(module_info.name)
        for value in vars(module).values():
            is_method = isinstance(value, type) and issubclass(value, Ranker) and hasattr(value, "method")
            if is_method and value.__module__ == module.__name__:
                assert value.method not in found, f"two files name the method '{value.method}'"
                found[value.method] = value
    return dict(sorted(found.items()))
