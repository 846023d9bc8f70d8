"""The extractors by name: those of all modules in this folder, and those that other packages add."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import fsvm_cli.extraction
from fsvm_cli.extraction.base import Extractor
from fsvm_cli.ranking.registry import all_methods

if TYPE_CHECKING:
    from collections.abc import Mapping


@functools.cache
def extraction_methods() -> Mapping[str, type[Extractor]]:
    """Find the estimator class of every extractor, as `fsvm_cli.ranking.registry.ranking_methods` does of rankings."""
    return all_methods(fsvm_cli.extraction, Extractor, "fsvm.extractors")  # type: ignore[type-abstract]
