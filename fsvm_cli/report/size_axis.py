"""The axis of a figure on which numbers of features lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from fsvm_cli.spec.schema import Config

MAX_ROWS_OF_A_TABLE = 6
"""So few numbers of features, chosen one by one, are the rows of a table, and no line leads from one to the next."""
WIDTH_OF_A_ROW = 0.64
"""Of the space between two rows of a table, what the points side by side take."""
MOST_TICKS = 9
NARROWEST_GAP = 0.09
"""Of the axis, between two ticks that are named."""


class SizeAxis(NamedTuple):
    """Where numbers of features lie on the horizontal axis."""

    is_table: bool
    sizes: tuple[int, ...]

    def positions(self, n_features: Iterable[int]) -> list[float]:
        """Give the positions of numbers of features: themselves on a scale, their rows in a table."""
        return [float(self.sizes.index(size)) if self.is_table else float(size) for size in n_features]

    @classmethod
    def of(cls, config: Config, rows: pd.DataFrame) -> Self:
        """Give the axis of the rows of a table: a scale, or a few rows where sizes were chosen one by one."""
        sizes = tuple(sorted(rows["n_features"].unique()))
        return cls(config.subsets != "all" and len(sizes) <= MAX_ROWS_OF_A_TABLE, sizes)

    def beside(self, label: str, labels: Sequence[str]) -> float:
        """Say how far a point stands beside the middle of its row, where those of several labels stand side by side."""
        if not self.is_table or label not in labels:
            return 0.0
        return WIDTH_OF_A_ROW * ((labels.index(label) + 0.5) / len(labels) - 0.5)


def ticks_among(sizes: Sequence[int]) -> list[float]:
    """Choose some of the measured sizes as ticks: the last, and others as evenly as they come.

    Parameters
    ----------
    sizes : sequence of int
        Ascending.
    """
    span = max(sizes[-1] - sizes[0], 1)
    wanted = np.linspace(sizes[0], sizes[-1], min(MOST_TICKS, len(sizes)))
    nearest = sorted({min(sizes, key=lambda size, at=at: abs(size - at)) for at in wanted}, reverse=True)  # type: ignore[misc]
    chosen: list[float] = []
    for size in nearest:
        if not chosen or chosen[-1] - size >= NARROWEST_GAP * span:
            chosen.append(float(size))
    return chosen[::-1]
