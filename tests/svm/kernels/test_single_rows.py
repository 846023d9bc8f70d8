"""Kernel values in single precision against those in doubles."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli.svm import Gaussian, Linear
from fsvm_cli.svm.kernels import single_precision as single_rows
from fsvm_cli.svm.kernels.single_precision import MAX_SQUARED_LENGTH

SINGLE = 2.0**-24


def samples(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(n).standard_normal((n, d)) + 100.0


def test_powers_of_two_are_those_of_doubles_but_for_rounding():
    exponents = np.linspace(-150.0, 0.0, 40_000, dtype=np.float32).reshape(8, -1)
    found = np.empty_like(exponents)
    single_rows._write_powers(exponents, found, np.arange(8), 0)
    expected = np.exp2(exponents.astype(np.float64))
    normal = exponents >= -125.9
    assert np.abs(found[normal] / expected[normal] - 1.0).max() <= 4 * SINGLE
    assert np.abs(found - expected)[~normal].max() <= 2.0**-125
    assert (found[exponents == 0.0] == 1.0).all()


def test_what_rounding_makes_positive_is_no_more_than_one():
    exponents = np.array([[1e-6, 0.5]], dtype=np.float32)
    found = np.zeros((1, 2), dtype=np.float32)
    single_rows._write_powers(exponents, found, np.arange(1), 0)
    assert found.tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("weights", [None, (0.5, 0.0, 2.0)])
@pytest.mark.parametrize("theta", [0.7, 3.0, 50.0])
def test_rows_and_sums_are_those_of_the_gram_matrix_but_for_rounding(monkeypatch, theta, weights):
    for name, size in (("BLOCK_ROWS", 5), ("BLOCK_COLUMNS", 7)):
        monkeypatch.setattr(single_rows, name, size)
    X, kernel = samples(40, 3), Gaussian(theta, weights)
    singles = kernel.single_rows(X)
    assert singles is not None
    gram, rng = kernel.gram(X, X), np.random.default_rng(0)
    rows, places = rng.permutation(40)[:13], rng.permutation(20)[:13]
    out = np.full((20, 40), np.nan, dtype=np.float32)
    singles.write(rows, out, places)
    np.testing.assert_allclose(out[places], gram[rows], rtol=8 * singles.error)
    assert np.isnan(np.delete(out, places, axis=0)).all()
    coefficients, others = rng.standard_normal(13), rng.permutation(40)[:31]
    found = singles.outputs(rows, coefficients, others)
    bound = 8 * singles.error * np.abs(coefficients).sum()
    np.testing.assert_allclose(found, coefficients @ gram[np.ix_(rows, others)], atol=bound)
    kept = np.array([1, 2, 5, 30])
    few = np.empty((2, 4), dtype=np.float32)
    singles.restrict(kept).write(np.array([3, 0]), few, np.array([0, 1]))
    np.testing.assert_allclose(few, gram[np.ix_([30, 1], kept)], rtol=8 * singles.error)


def test_samples_that_are_far_apart_or_of_other_kernels_have_none():
    X = samples(50, 3)
    widest = np.square(X - X.mean(axis=0)).sum(axis=1).max()
    assert Gaussian(1.01 * widest / MAX_SQUARED_LENGTH).single_rows(X) is not None
    assert Gaussian(0.99 * widest / MAX_SQUARED_LENGTH).single_rows(X) is None
    assert Gaussian(1.0).single_rows(1e150 * X) is None
    assert Linear().single_rows(X) is None
