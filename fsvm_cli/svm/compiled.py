"""LLVM instructions and numba options for compiled functions, which numba does not offer by name.

Vector operations that compiled kernels and solvers share, and the flags that they are compiled with.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.extending import intrinsic


def _selection(sign: str) -> Any:
    """Return a compiled function that gives the one of two numbers which compares so with the other.

    LLVM vectorises it where it reduces a loop to one number, because it may assume that no number is NaN. It does not
    vectorise what numba generates for `max` and `min`: pair steps took two to three times as long.
    """

    def of_two(typing_context: Any, a: Any, b: Any) -> Any:  # noqa: ARG001 - numba asks for it so
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
            flags = ("nnan", "nsz")
            return builder.select(builder.fcmp_ordered(sign, *arguments, flags=flags), *arguments, flags=flags)

        return types.float64(types.float64, types.float64), generate

    return intrinsic(of_two)


def _double_of(typing_context: Any, bits: Any) -> Any:  # noqa: ARG001 - numba asks for it so
    """Give the number whose 64 bits are those of an integer; through memory it would need a separate loop."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


def _single_of(typing_context: Any, bits: Any) -> Any:  # noqa: ARG001 - numba asks for it so
    """Give the number of single precision whose 32 bits are those of an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.int32), generate


larger, smaller = _selection(">"), _selection("<")
double_of: Any = intrinsic(_double_of)
single_of: Any = intrinsic(_single_of)


Array = npt.NDArray[np.float64]
COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
"""What the inner kernels are compiled with. They allocate nothing; without numba's runtime there is no counting of
references to arrays, whose atomic operations took half the time of a small fit. Division by zero gives infinity, as in
numpy: the check for it would keep loops off the vector instructions."""
ALLOCATING: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": True}
"""What the others are compiled with; said outright, for a function inherits such flags from the one that calls it."""
INLINED: dict[str, Any] = {**COMPILED, "inline": "always"}
"""What large functions with one or two callers are compiled with. A function that is called goes through the compiler
with each of its callers again; one that is inlined before, once. A tenth of a first run."""
REASSOCIATE = {"nnan", "nsz", "arcp", "contract", "reassoc"}
"""What lets reductions use vector instructions; without "ninf", for closed sides of the box are infinite."""
IN_ORDER = REASSOCIATE - {"reassoc", "arcp"}
"""What lets elementwise loops use vector instructions, and leaves every sum in the order in which it is written."""
UNFUSED = IN_ORDER - {"contract"}
"""What keeps products and sums apart, too: of a product that is used twice, LLVM may fuse one use with a sum or none,
and the last digit would depend on its choice."""
EPSILON = np.finfo(np.float64).eps
SPLITTER = 2.0**27 + 1.0
"""Times this, a double falls into two halves whose products are exact (Dekker 1971)."""
ROWS_IN_CACHE = 128
"""Rows of a matrix that are processed as one block."""


@njit(**COMPILED, fastmath=REASSOCIATE)
def add_scaled(target: Array, row: Array, factor: float) -> None:
    """Add factor * row to target."""
    for t in range(target.size):
        target[t] += factor * row[t]


@njit(**COMPILED)
def overwrite(target: Array, values: Array) -> None:
    """Copy values to target; an assignment to a slice takes a second to compile, with its shape errors."""
    for t in range(target.size):
        target[t] = values[t]


@njit(**COMPILED, fastmath=REASSOCIATE)
def inner_product(a: Array, b: Array) -> float:
    """Return the inner product."""
    result = 0.0
    for t in range(a.size):
        result += a[t] * b[t]
    return result


@njit(**COMPILED, fastmath=REASSOCIATE)
def total(values: Array) -> float:
    """Return the sum."""
    result = 0.0
    for t in range(values.size):
        result += values[t]
    return result
