"""The dual problem of a kernel machine, by its samples, with a cache of rows of the Gram matrix.

The cache has a given size and drops the rows that were used least recently (Joachims 1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.solvers.dual import ImplicitProblem, Residuals
from fsvm_cli.svm.solvers.optimality import subtract_rows_exactly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Kernel, Rounding
    from fsvm_cli.svm.kernels.single_precision import SingleRows

if TYPE_CHECKING:
    Places = npt.NDArray[np.intp]

MIN_CACHED_ROWS = 2
"""Two coefficients must move together, for their sum is fixed."""


def memory_for_rows(n: int, n_bytes: int) -> Array:
    """Return memory for rows of n values: the given bytes, but at least two rows and at most all.

    One piece serves one cache after the other: the first use of fresh memory takes as long as some kernel values.
    """
    return np.empty(min(max(n_bytes // 8, MIN_CACHED_ROWS * n), n * n))


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


if TYPE_CHECKING:
    Rows = npt.NDArray[np.intp]

BLOCK_ROWS = 1024
"""Of a block of kernel values: 8 megabytes, so that a function of them finds them in the cache of the processor."""


@dataclass(frozen=True, eq=False, init=False)
class KernelProblem(ImplicitProblem):
    """The problem of a machine with any kernel on samples; see `BinaryProblem`.

    Attributes
    ----------
    kernel : Kernel
    X : (n, d) array or CSR matrix
        Samples.
    y, C, equality, ridge
        As in `BinaryProblem`; C given as a number holds for every sample.

    Raises
    ------
    ValueError
        As of `DualProblem`.
    """

    kernel: Kernel
    X: Any

    def __init__(  # noqa: PLR0917 - as of the other problems
        self,
        kernel: Kernel,
        X: Any,
        y: npt.ArrayLike,
        C: npt.ArrayLike,
        equality: bool = True,
        ridge: float = 0.0,
    ) -> None:
        samples = X.tocsr() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        n = np.size(y)
        if samples.ndim != 2 or samples.shape[0] != n or n == 0:
            raise ValueError(f"the samples have shape {samples.shape}; there are {n} labels")
        if not all(_is_finite(samples[rows]) for rows in _blocks(n, BLOCK_ROWS)):
            raise ValueError("the samples hold values that are not finite")
        self._set_constraints(n, y, C, equality, ridge)
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "X", samples)
        if not np.isfinite(self.diagonal()).all():
            raise ValueError("the kernel has values that are not finite on these samples")

    def diagonal(self) -> Array:  # noqa: D102 - as in BinaryProblem
        return self._diagonal

    @cached_property
    def _diagonal(self) -> Array:
        return self.kernel.diagonal(self.X)

    @cached_property
    def rounding(self) -> Rounding:
        """What rounding separates a machine's outputs from exact ones; see `Rounding.of_machine`."""
        return self.kernel.rounding(self.X).of_machine()

    def largest_kernel_value(self) -> float:
        """Return the largest value on the diagonal, which bounds all others of a positive semidefinite kernel."""
        return float(np.abs(self._diagonal).max())

    def objective(self, alpha: Array) -> float:  # noqa: D102
        coefficients = alpha * self.y
        support = np.flatnonzero(coefficients)
        outputs = self.outputs(coefficients, support)
        quadratic = coefficients[support] @ outputs + self.ridge * (alpha @ alpha)
        return float(alpha.sum() - 0.5 * quadratic)

    def block(self, rows: Rows) -> Array:  # noqa: D102 - as in ImplicitProblem
        own = self.X[rows]
        return self.kernel.gram(own, own)

    def fill_rows(self, rows: Rows, columns: Any, out: Array, places: Rows) -> None:
        """Write the kernel values of some samples with others into rows of a matrix.

        Parameters
        ----------
        rows : (n_rows,) array of int
            Samples.
        columns : (n_columns, d) array or CSR matrix
            The others themselves.
        out : (any, n_columns) array
        places : (n_rows,) array of int
            Where the row of each sample stands in `out`.
        """
        for part in _blocks(len(rows), BLOCK_ROWS):
            own = self.X[rows[part]]
            for to in _blocks(columns.shape[0], BLOCK_ROWS):
                self.kernel.write_rows(own, columns[to], out, places[part], to.start)

    def outputs(self, coefficients: Array, rows: Rows) -> Array:
        """Return sum_i c_i K(x_i, x_k) of some samples, shape (n_rows,), from all coefficients (n,)."""
        support = np.flatnonzero(coefficients)
        return self._expanded(support, coefficients[support], rows)

    @cached_property
    def singles(self) -> SingleRows | None:
        """What computes kernel values in single precision, where the kernel and the samples allow it."""
        return self.kernel.single_rows(self.X)

    def rough_outputs(self, coefficients: Array, rows: Rows) -> Array:
        """Return `outputs` by kernel values in single precision, where these are to be had."""
        if self.singles is None:
            return self.outputs(coefficients, rows)
        support = np.flatnonzero(coefficients)
        return self.singles.outputs(support, coefficients[support], rows)

    def residuals(self, coefficients: Array) -> Array:  # noqa: D102 - as in ImplicitProblem
        outputs = self.outputs(coefficients, np.arange(len(self.y)))
        return np.asarray(self.y - outputs - self.ridge * coefficients, dtype=np.float64)

    def residuals_after(self, before: Array, coefficients: Array, rows: Rows, change: Array) -> Array:  # noqa: ARG002
        """Return the residuals after some coefficients have changed, by their rows of the Gram matrix alone."""
        moved = np.flatnonzero(change)
        after = before - self._expanded(rows[moved], change[moved], np.arange(len(self.y)))
        after[rows] -= self.ridge * change
        return after

    def bounded_residuals(self, alpha: Array, *, sharp: bool = False) -> Residuals:
        """Return the residuals with bounds on their errors, of twice the precision up to the last digit if sharp.

        (m + 2) eps (1 + |K| |c|) covers the sum over m support vectors in any order, as in
        `fsvm_cli.svm.solvers.optimality`; what the rounding of kernel values does beside it is added.
        """
        coefficients, n = alpha * self.y, len(self.y)
        support = np.flatnonzero(coefficients)
        own = coefficients[support]
        values, low, sizes = self.y.copy(), np.zeros(n), np.ones(n)
        for part, to, gram in self._values(support, np.arange(n)):
            if sharp:
                subtract_rows_exactly(values[to], low[to], gram, own[part])
            else:
                values[to] -= own[part] @ gram
            np.abs(gram, out=gram)
            sizes[to] += np.abs(own[part]) @ gram
        error = (len(support) + 2) * EPSILON * sizes
        rounding = self.rounding
        of_kernel = rounding.relative * sizes + rounding.reach * float(np.abs(own) @ rounding.lengths[support])
        if sharp:
            values += low
            error = EPSILON * (np.abs(values) + (len(support) + 2) * error)
        error += of_kernel
        shrinkage = self.ridge * coefficients
        return Residuals(values - shrinkage, error + EPSILON * (np.abs(values) + 2.0 * np.abs(shrinkage)))

    def residuals_known(self, values: Array, terms: int, total: float) -> Residuals:
        """Return residuals that were summed up on the way, with a bound on their errors that costs nothing.

        No kernel value is larger than L, the largest on the diagonal, if the kernel is positive semidefinite. So no
        partial sum is beyond 1 + L total, and each of the terms rounds by no more than a last digit of it.

        Parameters
        ----------
        values : (n,) array
        terms : int
            Products of a coefficient, or of its change, and a kernel value that have been added up.
        total : float
            The sum of the magnitudes of these coefficients and changes.
        """
        largest = (self.largest_kernel_value() + self.ridge) * (1.0 + 4.0 * EPSILON)
        error = 2.0 * (terms + 2) * EPSILON * (1.0 + largest * total)
        rounding = self.rounding
        of_kernel = rounding.relative * (1.0 + largest * total)
        of_kernel += rounding.reach * (float(rounding.lengths.max()) * total)
        return Residuals(values, error + of_kernel)

    def _expanded(self, support: Rows, coefficients: Array, rows: Rows) -> Array:
        """Return the outputs of some samples from the coefficients of those that have any."""
        outputs = np.zeros(len(rows))
        for part in _blocks(len(support), BLOCK_ROWS):
            own = self.X[support[part]]
            for to in _blocks(len(rows), BLOCK_ROWS):
                self.kernel.add_outputs(own, self.X[rows[to]], coefficients[part], outputs[to])
        return outputs

    def _values(self, support: Rows, rows: Rows) -> Iterator[tuple[slice, slice, Array]]:
        """Yield the kernel values of some samples with others in blocks, with the places of both."""
        vectors, places = self.X[support], np.arange(BLOCK_ROWS)
        for to in _blocks(len(rows), BLOCK_ROWS):
            others = self.X[rows[to]]
            memory = np.empty((min(BLOCK_ROWS, len(support)), others.shape[0]))
            for part in _blocks(len(support), BLOCK_ROWS):
                gram = memory[: part.stop - part.start]
                self.kernel.write_rows(vectors[part], others, gram, places[: len(gram)], 0)
                yield part, to, gram


def _is_finite(samples: Any) -> bool:
    return bool(np.isfinite(samples.data if sparse.issparse(samples) else samples).all())


def _blocks(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
