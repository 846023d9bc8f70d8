"""Rows of a Gram matrix within a given memory: those that were used last are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from fsvm_cli.svm.vectors import Array

    Places = npt.NDArray[np.intp]

LEAST_ROWS = 2
"""Two coefficients must move together, for their sum is fixed."""


def memory_for_rows(n: int, n_bytes: int) -> Array:
    """Return memory for rows of n values: so many bytes, but no less than two rows take, and no more than all.

    One piece serves one cache after the other: the first use of fresh memory takes as long as some kernel values.
    """
    return np.empty(min(max(n_bytes // 8, LEAST_ROWS * n), n * n))


class RowCache:
    """Rows of a square matrix of which no more are kept than fit into a given memory.

    Parameters
    ----------
    n : int
        Rows and columns of the matrix.
    memory : (n_values,) array
        Room for two rows at least; what it holds is lost.

    Attributes
    ----------
    values : (n_slots, n) array
        Rows in the order of their slots.
    n_computed : int
        Rows that had to be computed so far.
    """

    def __init__(self, n: int, memory: Array) -> None:
        self.n_computed = 0
        self._arrange(memory, n)

    def _arrange(self, memory: Array, n: int) -> None:
        """Lay empty slots for rows of n values into the memory."""
        capacity = min(memory.size // n, n)
        self._memory = memory
        self.values = memory[: capacity * n].reshape(capacity, n)
        self._slot_of = np.full(n, -1, dtype=np.intp)
        self._owner = np.full(capacity, -1, dtype=np.intp)
        self._used = np.zeros(capacity, dtype=np.int64)
        self._clock = 0

    def __len__(self) -> int:
        """Return how many rows there is room for."""
        return len(self._owner)

    def fetch(self, wanted: Places, compute: Callable[[Places, Array, Places], None]) -> Places:
        """Return the slots of rows, computing those that are not there in place of the least recently used.

        Parameters
        ----------
        wanted : (m,) array of int
            Different rows, no more than there is room for.
        compute : callable
            Called with rows, `values`, and the slots to write them to.
        """
        self._clock += 1
        there = self._slot_of[wanted]
        self._used[there[there >= 0]] = self._clock
        missing = wanted[there < 0]
        if len(missing):
            slots = np.sort(np.argsort(self._used, kind="stable")[: len(missing)])
            leaving = self._owner[slots]
            self._slot_of[leaving[leaving >= 0]] = -1
            compute(missing, self.values, slots)
            self._slot_of[missing], self._owner[slots] = slots, missing
            self._used[slots] = self._clock
            self.n_computed += len(missing)
        return self._slot_of[wanted]

    def restrict(self, kept: Places) -> None:
        """Keep the rows and columns with these numbers only, in ascending order; shorter rows make room for more.

        Rows move towards the beginning of the memory, the first of them first, so that none is written over before it
        has been moved.
        """
        before, owner, used = self.values, self._owner, self._used
        place = np.full(before.shape[1], -1, dtype=np.intp)
        place[kept] = np.arange(len(kept))
        staying = [slot for slot in range(len(owner)) if owner[slot] >= 0 and place[owner[slot]] >= 0]
        self._arrange(self._memory, len(kept))
        for slot, old in enumerate(staying[: len(self._owner)]):
            np.take(before[old], kept, out=self.values[slot], mode="clip")  # else it checks all places in a copy
            self._owner[slot], self._used[slot] = place[owner[old]], used[old]
            self._slot_of[self._owner[slot]] = slot
        self._clock = int(used.max())
