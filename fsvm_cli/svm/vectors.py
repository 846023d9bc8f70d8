"""Vector operations that compiled kernels and solvers share, and the flags that they are compiled with."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

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
ROWS_IN_CACHE = 128
"""How many rows of a matrix are looked at together."""


@njit(**COMPILED, fastmath=REASSOCIATE)
def add_scaled(target: Array, row: Array, factor: float) -> None:
    """Add factor * row to target."""
    for t in range(target.size):
        target[t] += factor * row[t]


@njit(**COMPILED)
def overwrite(target: Array, values: Array) -> None:
    """Copy values to target; an assignment to a slice takes a second to compile, with its words on shapes."""
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
