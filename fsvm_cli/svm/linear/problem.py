"""The dual problem of a linear machine, by its samples instead of their Gram matrix."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm.linear.looks import ROWS, blocks_of, outputs_and_losers, outputs_and_sum, outputs_of, weighted_sum
from fsvm_cli.svm.linear.looks import squared_lengths as lengths_of
from fsvm_cli.svm.solvers.problem import ImplicitProblem, Residuals
from fsvm_cli.svm.vectors import EPSILON

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.vectors import Array


@dataclass(frozen=True, eq=False, init=False)
class LinearProblem(ImplicitProblem):
    """The problem of a machine with K = X X'; see `BinaryProblem`.

    Attributes
    ----------
    X : (n, d) array
        Samples. A weighted linear kernel multiplies each feature by the root of its weight first.
    y, C, equality, ridge
        As in `BinaryProblem`; C given as a number holds for every sample.
    squared_lengths : (n,) array
        x_i . x_i. Given where they are known.
    outside_w, outside_sum : (d,) array and float
        Sum of alpha_i y_i x_i, and of alpha_i y_i, over samples that are not among these and whose alpha is held: 0 but
        for a `part`.

    Raises
    ------
    ValueError
        As of `DualProblem`.
    """

    X: Array
    squared_lengths: Array
    outside_w: Array
    outside_sum: float

    def __init__(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        C: npt.ArrayLike,
        equality: bool = True,
        ridge: float = 0.0,
        *,
        squared_lengths: Array | None = None,
    ) -> None:
        samples = np.asarray(X, dtype=np.float64)
        n = np.size(y)
        if samples.ndim != 2 or len(samples) != n or n == 0:
            raise ValueError(f"the samples have shape {samples.shape}; there are {n} labels")
        object.__setattr__(self, "X", samples)
        lengths = lengths_of(samples) if squared_lengths is None else squared_lengths
        object.__setattr__(self, "squared_lengths", lengths)
        # One look at the samples gives their lengths, too: only squares that are not finite ask for a second.
        if not np.isfinite(lengths).all() and not all(np.isfinite(samples[rows]).all() for rows in blocks_of(n)):
            raise ValueError("the samples hold values that are not finite")
        self._set_constraints(n, y, C, equality, ridge)
        object.__setattr__(self, "outside_w", np.zeros(samples.shape[1]))
        object.__setattr__(self, "outside_sum", 0.0)

    def part(self, rows: npt.NDArray[np.intp], alpha: Array, w: Array | None = None) -> LinearProblem:
        """Return the problem of some samples, the alpha of all others held.

        Parameters
        ----------
        rows : (n_rows,) array of int
        alpha : (n,) array
            In the box.
        w : (d,) array, optional
            Sum of alpha_i y_i x_i over all samples, where it is known.
        """
        coefficients, samples, part = self.y * alpha, self.X[rows], copy(self)
        w = self.normal_vector(coefficients) if w is None else w
        own = coefficients[rows]
        coefficients[rows] = 0.0
        fields = {
            "X": samples,
            "y": self.y[rows],
            "C": self.C[rows],
            "squared_lengths": self.squared_lengths[rows],
            "outside_w": self.outside_w + w - own @ samples,
            "outside_sum": self.outside_sum + float(coefficients.sum()),
        }
        for name, value in fields.items():
            object.__setattr__(part, name, value)
        return part

    def diagonal(self) -> Array:  # noqa: D102 - as in BinaryProblem
        return self.squared_lengths

    def largest_kernel_value(self) -> float:  # noqa: D102
        return float(self.squared_lengths.max())

    def objective(self, alpha: Array) -> float:  # noqa: D102
        w = self.normal_vector(alpha * self.y)
        return float(alpha.sum() - 0.5 * (w @ w + self.ridge * (alpha @ alpha)))

    def normal_vector(self, coefficients: Array) -> Array:
        """Return sum_i c_i x_i, shape (d,), summed in two stages, which rounds less than one long sum."""
        return weighted_sum(coefficients, self.X)

    def outputs(self, w: Array) -> Array:
        """Return w . x_i, shape (n,)."""
        return outputs_of(self.X, w)

    def outputs_and_normal_vector(self, w: Array, coefficients: Array) -> tuple[Array, Array]:
        """Return `outputs` and `normal_vector` by one look at the samples."""
        return outputs_and_sum(self.X, w, coefficients)

    def outputs_and_losers(self, w: Array, b: float) -> tuple[Array, Array]:
        """Return `outputs`, and the sum of C_i y_i x_i over samples within their margin, by one look at the samples."""
        return outputs_and_losers(self.X, w, b, self.C * self.y)

    def block(self, rows: npt.NDArray[np.intp]) -> Array:  # noqa: D102 - as in ImplicitProblem
        own = self.X[rows]
        return np.asarray(own @ own.T, dtype=np.float64)

    def residuals(self, coefficients: Array) -> Array:  # noqa: D102
        outputs = self.outputs(self.normal_vector(coefficients) + self.outside_w)
        return np.asarray(self.y - outputs - self.ridge * coefficients, dtype=np.float64)

    def bounded_residuals(self, alpha: Array, *, sharp: bool = False) -> Residuals:
        """Return the residuals of the normal vector as computed, and how far that may be from the one of alpha.

        A residual has then only one product of d terms to round. Its bound is by the norms of the two factors, or, if
        sharp, by their entries, which differ where features have very different units.
        """
        w = self.normal_vector(alpha * self.y)
        return self.residuals_of(alpha, w, self.outputs(w), sharp=sharp)

    def residuals_of(
        self, alpha: Array, w: Array, outputs: Array, *, apart: float = 0.0, sharp: bool = False
    ) -> Residuals:
        """Return the residuals with their bounds where their machine is at hand.

        Parameters
        ----------
        alpha : (n,) array
        w, outputs : (d,) and (n,) arrays
            A normal vector, and w . x_i.
        apart : float
            How far, at most, it is from what `normal_vector` gives.
        sharp : bool
            As of `bounded_residuals`.
        """
        n, d = self.X.shape
        if sharp:
            sizes = np.concatenate([np.abs(self.X[rows]) @ np.abs(w) for rows in blocks_of(n)])
        else:
            sizes = np.sqrt(self.squared_lengths * (w @ w))
        shrinkage = self.ridge * alpha * self.y
        values = self.y - outputs - shrinkage
        error = EPSILON * ((d + 2) * sizes + 2.0 * (1.0 + np.abs(outputs) + 2.0 * np.abs(shrinkage)))
        lengths = float(alpha @ np.sqrt(self.squared_lengths))
        return Residuals(values, error, apart + EPSILON * (ROWS + n // ROWS + 2) * lengths)
