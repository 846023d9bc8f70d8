"""The normal equations of a weighted least-squares problem in w and the bias, made in blocks of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from fsvm_cli.svm.linear.looks import ROWS, blocks_of, weighted_sum

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array


class NormalMatrix:
    """The identity and sum_i T_i x_i x_i', T > 0, bordered with the bias where there is one.

    The bias is eliminated first, and with it the mean of the samples, weighted by T: the sum over T (x - m)(x - m)' is
    accurate where a feature hardly differs from the bias, too.

    Parameters
    ----------
    X : (n, d) array
    T : (n,) array
    has_bias : bool

    Raises
    ------
    LinAlgError
        If there are no samples, or rounding has made it indefinite.
    """

    def __init__(self, X: Array, T: Array, has_bias: bool) -> None:
        n, d = X.shape
        if n == 0:
            raise LinAlgError("no samples")
        self.total = float(T.sum())
        self.mean = weighted_sum(T, X) / self.total if has_bias else np.zeros(d)
        matrix, roots = np.eye(d), np.sqrt(T)
        memory = np.empty((min(ROWS, n), d))  # fresh memory for each block would take a fifth of the time
        for rows in blocks_of(n):
            samples = X[rows]
            block = np.subtract(samples, self.mean, out=memory[: len(samples)])
            block *= roots[rows, None]
            matrix += block.T @ block
        self.factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, right: Array, balance: float) -> tuple[Array, float]:
        """Return w and b with w + sum_i T_i (w . x_i + b) x_i = right and sum_i T_i (w . x_i + b) = balance.

        Of a problem without bias the balance is 0, and so is b.
        """
        w = cho_solve(self.factor, right - balance * self.mean, check_finite=False)
        return w, balance / self.total - float(self.mean @ w)
