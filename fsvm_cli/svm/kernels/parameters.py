"""The ranges of kernels' parameters, as their type hints state them."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import annotated_types
import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def check_parameters(kernel: DataclassInstance) -> None:
    """Check that a kernel's numbers are in the ranges of their type hints, and that its weights are a tuple.

    Raises
    ------
    ValueError
        If a parameter is out of its range; the message names both.
    TypeError
        If weights are not a tuple.
    """
    hints = _parameter_hints(type(kernel))
    for field in fields(kernel):
        value = getattr(kernel, field.name)
        if field.name == "weights":
            _check_weights(value)
        else:
            check_number(f"{type(kernel).__name__}: {field.name}", value, hints[field.name])


def check_number(label: str, value: Any, hint: Any) -> None:
    """Check that a value is a finite number of the kind and within the bounds of a type hint.

    Raises
    ------
    ValueError
        If it is not; the message begins with `label`.
    """
    bare = getattr(hint, "__origin__", hint)
    kinds = (int, np.integer) if bare is int else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not np.isfinite(value):
        raise ValueError(f"{label} must be {'an integer' if bare is int else 'a finite number'}, not {value!r}")
    number: Any = value  # annotated_types compares what supports it; the type checker cannot know that numbers do
    for bounds in getattr(hint, "__metadata__", ()):
        if isinstance(bounds, annotated_types.Gt) and not number > bounds.gt:
            raise ValueError(f"{label} must be > {bounds.gt}, not {value!r}")
        if isinstance(bounds, annotated_types.Ge) and not number >= bounds.ge:
            raise ValueError(f"{label} must be >= {bounds.ge}, not {value!r}")


@cache
def _parameter_hints(kernel: type[DataclassInstance]) -> dict[str, Any]:
    return get_type_hints(kernel, include_extras=True)


def _check_weights(weights: Any) -> None:
    if weights is None:
        return
    if not isinstance(weights, tuple):
        raise TypeError(f"weights must be a tuple of numbers, not {type(weights).__name__}")
    for j, weight in enumerate(weights):
        check_number(f"weights[{j}]", weight, Annotated[float, annotated_types.Ge(0.0)])
