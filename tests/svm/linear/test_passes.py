"""Passes over all samples against plain numpy, however the samples lie in memory."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fsvm_cli.svm.large.linear_problem import (
    BLOCK_ROWS,
    outputs_and_sum,
    outputs_and_violators,
    outputs_of,
    squared_norms,
    weighted_sum,
)

LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "first columns of more": lambda X: np.column_stack([X, X, np.full(len(X), np.nan)])[:, : X.shape[1]],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every third row": lambda X: np.repeat(X, 3, axis=0)[::3],
    "rows from the last": lambda X: X[::-1].copy()[::-1],
    "one row again and again": lambda X: np.broadcast_to(X[:1], X.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 5), (7, 1), (5, 3), (BLOCK_ROWS, 4), (2 * BLOCK_ROWS + 3, 5)])
def test_outputs_and_sums_are_those_of_plain_numpy(layout: str, n: int, d: int, rng: np.random.Generator) -> None:
    X = LAYOUTS[layout](rng.standard_normal((n, d)))
    w, coefficients = rng.standard_normal(d), np.where(rng.random(n) < 0.5, rng.standard_normal(n), 0.0)
    outputs, total = outputs_and_sum(X, w, coefficients)
    with_violators, of_violators = outputs_and_violators(X, w, 0.25, coefficients)
    loses = np.sign(coefficients) * ((X * w).sum(axis=1) + 0.25) < 1.0
    np.testing.assert_allclose(of_violators, (X.T * (coefficients * loses)).sum(axis=1), rtol=1e-11, atol=1e-11)
    for found in (outputs, outputs_of(X, w), with_violators):
        np.testing.assert_allclose(found, (X * w).sum(axis=1), rtol=1e-12, atol=1e-12)
    for found in (total, weighted_sum(coefficients, X)):
        np.testing.assert_allclose(found, (X.T * coefficients).sum(axis=1), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(squared_norms(X), (X**2).sum(axis=1), rtol=1e-12)


def test_rounding_of_a_sum_is_that_of_its_two_stages(rng: np.random.Generator) -> None:
    n = 3 * BLOCK_ROWS
    X, coefficients = 10.0 ** rng.uniform(-8, 8, (n, 2)), rng.standard_normal(n)
    found = weighted_sum(coefficients, X)
    for j in range(2):
        terms = [Fraction(c) * Fraction(x) for c, x in zip(coefficients.tolist(), X[:, j].tolist(), strict=True)]
        size = float(sum(abs(term) for term in terms))
        assert (
            abs(float(Fraction(float(found[j])) - sum(terms)))
            <= np.finfo(float).eps * (BLOCK_ROWS + n // BLOCK_ROWS + 2) * size
        )
