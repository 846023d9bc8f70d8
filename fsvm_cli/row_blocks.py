"""The rows of a large matrix a block at a time: what is computed of each block needs no second matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

VALUES = 1 << 20
"""Of a block, about: 8 megabytes. A smaller matrix is one block, whose sums are those of the whole to the last bit."""


def row_blocks(n_rows: int, n_columns: int, n_values: int | None = None) -> Iterator[slice]:
    """Yield the blocks of rows of a matrix of this shape, in their order, each of `n_values` values at most."""
    step = max((n_values or VALUES) // max(n_columns, 1), 1)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def all_finite(X: NDArray[np.float64]) -> bool:
    """Whether a matrix holds neither NaN nor an infinite value."""
    return all(bool(np.isfinite(X[rows]).all()) for rows in row_blocks(*X.shape))
