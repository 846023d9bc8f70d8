"""Rows that belong together, such as those of one patient: a column says which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.phrases import nearest
from fsvm_cli.data.table_mistakes import of_column
from fsvm_cli.errors import UsageError
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa
    from numpy.typing import NDArray

    from fsvm_cli.data.table_mistakes import Mistake


def check_group_column(name: str, column: str, columns: Collection[str], taken: Collection[str | None]) -> None:
    """Check that a column can tell groups.

    Parameters
    ----------
    name : str
        Of the data set, for the message.
    column : str
    columns : collection of str
        Those of the table.
    taken : collection of str or None
        Those that say something else: the target, the column that splits the rows.

    Raises
    ------
    UsageError
        If there is no such column, or it says something else.
    """
    if column not in columns:
        raise UsageError(f"{name}: there is no column '{brief(column)}' to group by; {nearest(column, [*columns])}")
    if column in taken:
        raise UsageError(
            f"{name}: the column '{brief(column)}' is the target, or tells training from test rows; groups need a "
            "column of their own"
        )


def group_codes(column: pa.ChunkedArray, name: str, mistakes: list[Mistake]) -> NDArray[np.int64]:
    """Give each group a number, in the order in which they appear.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        No value of it missing.
    name : str
        Of the column.
    mistakes : list of Mistake
        Is added to, where all rows are of one group.
    """
    codes = np.asarray(column.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy(), dtype=np.int64)
    if codes.max(initial=0) == 0:
        what = (
            "holds a single group; rows of one group stay together, so that a split needs two: name another column "
            "(groups: COLUMN), or leave the groups out"
        )
        mistakes.append(of_column(name, what))
    return codes


def check_apart(groups: NDArray[np.int64], train: NDArray[np.int64], test: NDArray[np.int64]) -> None:
    """Raise a ValueError where rows of one group are in both parts of a split that the source gives."""
    if both := np.intersect1d(groups[train], groups[test]).tolist():
        here, there = (part[groups[part] == both[0]][0] + 1 for part in (train, test))
        raise ValueError(
            f"row {here} is for training and row {there}, of the same group, for testing; put a group on one side, or "
            "leave the groups out"
        )
