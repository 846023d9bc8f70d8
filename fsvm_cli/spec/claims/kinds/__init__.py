"""The kinds of claims, found by name in the modules of this package."""

from __future__ import annotations

import functools
import importlib
import operator
import pkgutil
import typing
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fsvm_cli.spec.claims.base import Claim

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType


@functools.cache
def claim_kinds() -> Mapping[str, type[Claim]]:
    """Find every kind of claim, by the word for it in configs, in the order of these words."""
    modules = [importlib.import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__)]
    found = {_word_of(value): value for module in modules for value in vars(module).values() if _is_kind(value, module)}
    return dict(sorted(found.items()))


def _is_kind(value: object, module: ModuleType) -> bool:
    is_own = isinstance(value, type) and issubclass(value, Claim) and value.__module__ == module.__name__
    return is_own and "kind" in vars(value)["__annotations__"]


def _word_of(kind: type[Claim]) -> str:
    (word,) = typing.get_args(kind.model_fields["kind"].annotation)
    return str(word)


if TYPE_CHECKING:
    AnyClaim = Claim
else:
    AnyClaim = Annotated[functools.reduce(operator.or_, claim_kinds().values()), Field(discriminator="kind")]
