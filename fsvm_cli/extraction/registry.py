"""The extractors by name: whatever file stands in this folder, and what other packages add."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import fsvm_cli.extraction
from fsvm_cli.extraction.base import Extractor
from fsvm_cli.plugins import joined, load_plugins
from fsvm_cli.ranking.registry import method_from_outside, methods_in

if TYPE_CHECKING:
    from collections.abc import Mapping


@functools.cache
def extraction_methods() -> Mapping[str, type[Extractor]]:
    """Find every extractor, in the order of the names.

    Returns
    -------
    mapping of str to type
        The estimator class of each extractor.

    Raises
    ------
    UsageError
        If two packages have an extractor of the same name.
    """
    own = methods_in(fsvm_cli.extraction, Extractor)  # type: ignore[type-abstract]
    added = load_plugins("fsvm.extractors", functools.partial(method_from_outside, Extractor))
    return joined("fsvm.extractors", own, added)
