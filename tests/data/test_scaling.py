from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fsvm_cli.data.scaling import SCALINGS, SHIFTING, ScalingName, fit_scaling
from fsvm_cli.errors import UsageError

MATRICES = arrays(np.float64, (6, 3), elements=st.integers(-5, 5).map(float))


def varied(X: np.ndarray) -> np.ndarray:
    return np.ptp(X, axis=0) > 0


@given(MATRICES)
def test_ranges(X: np.ndarray) -> None:
    unit = fit_scaling("minmax", X).transform(X)[:, varied(X)]
    symmetric = fit_scaling("minmax-symmetric", X).transform(X)[:, varied(X)]
    np.testing.assert_allclose([unit.min(axis=0), unit.max(axis=0)], [np.zeros_like(unit[0]), np.ones_like(unit[0])])
    np.testing.assert_allclose(symmetric, 2 * unit - 1, atol=1e-12)


@given(MATRICES)
def test_standard_gives_mean_0_and_variance_1(X: np.ndarray) -> None:
    scaled = fit_scaling("standard", X).transform(X)[:, varied(X)]
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.var(axis=0), 1, atol=1e-12)


@given(MATRICES)
def test_unit_norm_keeps_directions(X: np.ndarray) -> None:
    scaled = fit_scaling("unit-norm", X).transform(X)
    norms = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(scaled * norms[:, None], X, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), norms > 0, atol=1e-12)


@pytest.mark.parametrize("name", SCALINGS)
def test_constant_columns_are_named_and_kept_as_zeros_where_columns_shift(name: ScalingName) -> None:
    train = np.array([[7.0, 1.0, 0.1], [7.0, 2.0, 0.1], [7.0, 4.0, 0.1]])
    test = np.array([[7.5, 3.0, 0.3]])
    scaling = fit_scaling(name, train)
    assert scaling.constant.tolist() == [0, 2]
    zeroed = [(scaling.transform(part)[:, scaling.constant] == 0).all() for part in (train, test)]
    assert zeroed == [name in SHIFTING] * 2


@pytest.mark.parametrize("name", SCALINGS)
def test_nothing_is_learnt_from_other_rows_nor_written_into_them(name: ScalingName) -> None:
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(9, 4)), rng.normal(size=(5, 4))
    before = test.copy()
    together = fit_scaling(name, train).transform(test)
    alone = np.vstack([fit_scaling(name, train).transform(row[None]) for row in test])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(test, before)
    assert not np.shares_memory(together, test)


def test_sparse_rows() -> None:
    X = sp.csr_array([[3.0, 4.0, 0.0], [0.0, 2.0, 0.0]])
    np.testing.assert_allclose(fit_scaling("unit-norm", X).transform(X).toarray(), [[0.6, 0.8, 0], [0, 1, 0]])
    assert fit_scaling("none", X).constant.tolist() == [2]
    with pytest.raises(UsageError, match="would fill a sparse matrix"):
        fit_scaling("standard", X)
