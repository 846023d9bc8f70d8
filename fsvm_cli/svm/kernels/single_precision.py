"""Rows of a Gaussian Gram matrix computed in single precision, for iterations before the optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numba import njit

from fsvm_cli.svm.compiled import COMPILED, Array, single_of
from fsvm_cli.svm.kernels.compiled import LOG2_E

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

if TYPE_CHECKING:
    Singles = npt.NDArray[np.float32]
    Places = npt.NDArray[np.intp]

BLOCK_ROWS, BLOCK_COLUMNS = 64, 512
"""Of a block, an eighth of a megabyte."""
MAX_SQUARED_LENGTH = 32.0
"""In units of theta: kernel values of longer samples are computed in double precision. The relative error is about
2^-24 times the squared length."""
MIN_EXPONENT = np.float32(-126.0)
"""Of 2 in a normal number; below it the power is taken as 0."""


class SingleRows:
    """Samples, prepared for kernel values in single precision: a third of the time of doubles, at 22 features.

    The exponent -|a - b|^2 / theta, in units of ln 2, is the inner product of sqrt(2 / theta) a, -|a|^2 / theta, 1 and
    sqrt(2 / theta) b, 1, -|b|^2 / theta, so that one product of matrices gives all of it.

    Parameters
    ----------
    left, right : (n, d + 2) and (d + 2, n) arrays of single precision
    error : float
        About the relative error of a kernel value.
    """

    def __init__(self, left: Singles, right: Singles, error: float) -> None:
        self._left, self._right, self.error = left, right, error

    @classmethod
    def of_samples(cls, centred: Array, theta: float) -> Self | None:
        """Return samples, given relative to a point amid them; None where single precision would not do.

        Parameters
        ----------
        centred : (n, d) array
            In units in which the weights of features are 1.
        theta : float
        """
        n, d = centred.shape
        widest = float(np.einsum("ij,ij->i", centred, centred).max()) / theta
        if not widest <= MAX_SQUARED_LENGTH:
            return None
        scaled = (centred * np.sqrt(2.0 * LOG2_E / theta)).astype(np.float32)
        # Of the rounded numbers, so that rounding moves samples a little and changes nothing else.
        squares = 0.5 * np.einsum("ij,ij->i", scaled, scaled, dtype=np.float64)
        left = np.ones((n, d + 2), dtype=np.float32)
        right = np.ones((d + 2, n), dtype=np.float32)
        left[:, :d], right[:d] = scaled, scaled.T
        left[:, d] = right[d + 1] = -squares
        return cls(left, right, 2.0**-24 * (1.0 + widest))

    def restrict(self, kept: Places) -> Self:
        """Return those samples alone."""
        return type(self)(self._left[kept], np.take(self._right, kept, axis=1), self.error)

    def write(self, rows: Places, out: Any, places: Places) -> None:
        """Write the kernel values of some samples with all into rows of a matrix.

        Parameters
        ----------
        rows : (m,) array of int
        out : (any, n) array of single precision
        places : (m,) array of int
            The row of each in `out`.
        """
        for own, start, exponents in self._exponents(rows, self._right):
            _write_powers(exponents, out, places[own], start)

    def outputs(self, support: Places, coefficients: Array, rows: Places) -> Array:
        """Return sum_i coefficients_i K(x_i, x_k) of some samples, in doubles from values of single precision.

        Parameters
        ----------
        support : (m,) array of int
        coefficients : (m,) array
        rows : (n_rows,) array of int
        """
        total, factors = np.zeros(len(rows)), coefficients.astype(np.float32)
        values, places = np.empty((BLOCK_ROWS, BLOCK_COLUMNS), dtype=np.float32), np.arange(BLOCK_ROWS)
        for own, start, exponents in self._exponents(support, np.take(self._right, rows, axis=1)):
            m, n = exponents.shape
            _write_powers(exponents, values, places[:m], 0)
            total[start : start + n] += factors[own] @ values[:m, :n]
        return total

    def _exponents(self, rows: Places, right: Singles) -> Iterator[tuple[slice, int, Singles]]:
        """Yield the exponents of some samples with others in blocks, with the places of the former, and the first."""
        n = right.shape[1]
        inner = np.empty((min(BLOCK_ROWS, len(rows)), min(BLOCK_COLUMNS, n)), dtype=np.float32)
        for top in range(0, len(rows), BLOCK_ROWS):
            own = slice(top, min(top + BLOCK_ROWS, len(rows)))
            left = self._left[rows[own]]
            for start in range(0, n, BLOCK_COLUMNS):
                columns = right[:, start : start + BLOCK_COLUMNS]
                exponents = inner[: len(left), : columns.shape[1]]
                np.matmul(left, columns, out=exponents)
                yield own, start, exponents


@njit(**COMPILED, fastmath={"contract"})
def _power_of_two(value: Any) -> Any:
    """Return 2^value in single precision, value at most 0, to within 2 units in the last place.

    2^k 2^f with |f| <= 1/2, and for 2^f the Taylor polynomial of degree 7 of exp(f ln 2).
    """
    x = value if value > MIN_EXPONENT else MIN_EXPONENT
    k = np.floor(x + np.float32(0.5))
    r = (x - k) * np.float32(0.6931471805599453)
    p = np.float32(1.0 / 5040.0)
    p = p * r + np.float32(1.0 / 720.0)
    p = p * r + np.float32(1.0 / 120.0)
    p = p * r + np.float32(1.0 / 24.0)
    p = p * r + np.float32(1.0 / 6.0)
    p = p * r + np.float32(0.5)
    p = p * r + np.float32(1.0)
    p = p * r + np.float32(1.0)
    power = single_of(np.int32((np.int32(k) + np.int32(127)) << np.int32(23)))
    return p * power if value > MIN_EXPONENT else np.float32(0.0)


@njit(**COMPILED, fastmath={"contract", "nnan"})
def _write_powers(exponents: Singles, out: Singles, places: Places, start: int) -> None:
    """Write the powers of two with these exponents, which only rounding makes more than 0."""
    n = exponents.shape[1]
    for i in range(exponents.shape[0]):
        row, values = exponents[i], out[places[i], start : start + n]
        for t in range(n):
            values[t] = _power_of_two(min(row[t], np.float32(0.0)))
