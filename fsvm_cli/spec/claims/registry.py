"""The kinds of claims by name: whatever file stands in the folder `kinds`."""

from __future__ import annotations

import functools
import importlib
import operator
import pkgutil
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

import fsvm_cli.spec.claims.kinds
from fsvm_cli.spec.claims.base import Claim

if TYPE_CHECKING:
    from collections.abc import Mapping


@functools.cache
def claim_kinds() -> Mapping[str, type[Claim]]:
    """Find every kind of claim, by the word for it in configs, in the order of these words."""
    folder = fsvm_cli.spec.claims.kinds
    names = [module.name for module in pkgutil.iter_modules(folder.__path__)]
    return {name.replace("_", "-"): _kind_in_file_of(f"{folder.__name__}.{name}") for name in sorted(names)}


def _kind_in_file_of(name: str) -> type[Claim]:
    module = importlib.import_module(name)
    (kind,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Claim) and value.__module__ == name
    )
    return kind


if TYPE_CHECKING:
    AnyClaim = Claim
else:
    AnyClaim = Annotated[functools.reduce(operator.or_, claim_kinds().values()), Field(discriminator="kind")]
