"""The extractors by name: whatever file stands in this folder."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import fsvm_cli.extraction
from fsvm_cli.extraction.base import Extractor
from fsvm_cli.ranking.registry import methods_in

if TYPE_CHECKING:
    from collections.abc import Mapping


@functools.cache
def extraction_methods() -> Mapping[str, type[Extractor]]:
    """Find every extractor, in the order of the names.

    Returns
    -------
    mapping of str to type
        The estimator class of each extractor.
    """
    return methods_in(fsvm_cli.extraction, Extractor)  # type: ignore[type-abstract]
