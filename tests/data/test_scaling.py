from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from fsvm_cli.data.scaling import SCALINGS, SHIFTING_SCALINGS, ScalingName, fit_scaling
from fsvm_cli.errors import UsageError
from fsvm_cli.own_data.export import ExpressionScaler

if TYPE_CHECKING:
    from sklearn.base import TransformerMixin

OF_ANY_SIGN = tuple(name for name in SCALINGS if name != "expression")
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


@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("standard", StandardScaler()),
        ("minmax", MinMaxScaler()),
        ("minmax-symmetric", MinMaxScaler(feature_range=(-1, 1))),
        ("unit-norm", Normalizer()),
    ],
)
@given(X=arrays(np.float64, (7, 3), elements=st.floats(0.25, 4, width=16)))
def test_scikit_learn_gives_the_same(name: ScalingName, oracle: TransformerMixin, X: np.ndarray) -> None:
    """What differs is units of a power of two, which round nothing, and columns that are constant up to rounding."""
    expected = oracle.fit_transform(X) * (varied(X) if name in SHIFTING_SCALINGS else 1)
    np.testing.assert_allclose(fit_scaling(name, X).transform(X), expected, rtol=1e-14, atol=1e-14)


@given(MATRICES)
def test_unit_norm_keeps_directions(X: np.ndarray) -> None:
    scaled = fit_scaling("unit-norm", X).transform(X)
    norms = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(scaled * norms[:, None], X, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), norms > 0, atol=1e-12)


@pytest.mark.parametrize("name", OF_ANY_SIGN)
def test_constant_columns_are_named_and_kept_as_zeros_where_columns_shift(name: ScalingName) -> None:
    train = np.array([[7.0, 1.0, 0.1], [7.0, 2.0, 0.1], [7.0, 4.0, 0.1]])
    test = np.array([[7.5, 3.0, 0.3]])
    scaling = fit_scaling(name, train)
    assert scaling.constant.tolist() == [0, 2]
    zeroed = [(scaling.transform(part)[:, scaling.constant] == 0).all() for part in (train, test)]
    assert zeroed == [name in SHIFTING_SCALINGS] * 2


@pytest.mark.parametrize("name", SCALINGS)
def test_nothing_is_learnt_from_other_rows_nor_written_into_them(name: ScalingName) -> None:
    rng = np.random.default_rng(0)
    train, test = rng.lognormal(size=(9, 4)), rng.lognormal(size=(5, 4))
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


SHIFTS = sorted(SHIFTING_SCALINGS.keys() - {"expression"})
PLAIN = np.array([[1.0, -3.0], [2.5, 1.0], [0.25, 7.0], [1.0, 1.0]])


@pytest.mark.parametrize("name", OF_ANY_SIGN[1:])
@pytest.mark.parametrize("exponent", [-1000, -60, 60, 1020])
def test_other_units_change_nothing_however_large_or_small(name: ScalingName, exponent: int) -> None:
    other = np.ldexp(PLAIN, exponent)
    expected = fit_scaling(name, PLAIN).transform(PLAIN)
    np.testing.assert_array_equal(fit_scaling(name, other).transform(other), expected)


@pytest.mark.parametrize("name", SHIFTS)
def test_the_ends_of_the_doubles_are_scaled(name: ScalingName) -> None:
    largest = np.finfo(np.float64).max
    X = np.array([[largest, 5e-324, largest], [-largest, 0.0, largest], [0.0, 0.0, largest]])
    scaling = fit_scaling(name, X)
    assert scaling.constant.tolist() == [2]
    expected = fit_scaling(name, np.sign(X)).transform(np.sign(X))
    np.testing.assert_allclose(scaling.transform(X), expected, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("name", SHIFTS)
def test_rows_far_beyond_the_training_part_are_refused(name: ScalingName) -> None:
    scaling = fit_scaling(name, PLAIN * [1, 1e-200])
    with pytest.raises(ValueError, match="feature 2 has values of up to"):
        scaling.transform(PLAIN * [1, 1e200])


def test_units_of_rows_do_not_matter_in_a_sparse_matrix() -> None:
    X = sp.csr_array([[3e300, 4e300, 0.0], [0.0, 2e-300, 0.0], [0.0, 0.0, 0.0]])
    found = fit_scaling("unit-norm", X).transform(X).toarray()
    np.testing.assert_allclose(found, [[0.6, 0.8, 0], [0, 1, 0], [0, 0, 0]])


def test_expression_is_prepared_as_the_paper_states() -> None:
    """Logarithms, each sample standardised, each gene standardised on training rows, outliers squashed."""
    rng = np.random.default_rng(0)
    train, test = rng.lognormal(3, size=(9, 5)), rng.lognormal(3, size=(4, 5))
    by_row = [np.log(X) - np.log(X).mean(axis=1, keepdims=True) for X in (train, test)]
    by_row = [X / X.std(axis=1, keepdims=True) for X in by_row]
    columns = StandardScaler().fit(by_row[0])
    scaling = fit_scaling("expression", train)
    for X, expected in zip((train, test), by_row, strict=True):
        np.testing.assert_allclose(scaling.transform(X), np.arctan(columns.transform(expected)), rtol=1e-12)
        np.testing.assert_allclose(
            ExpressionScaler().fit(train).transform(X), np.arctan(columns.transform(expected)), rtol=1e-12
        )
    # The unit of a sample is of no account.
    np.testing.assert_allclose(scaling.transform(1000 * test), scaling.transform(test), atol=1e-12)


def test_expression_of_a_single_value_is_zero_and_of_none_refused() -> None:
    X = np.array([[0.1, 0.1, 0.1], [1.0, 2.0, 4.0], [3.0, 2.0, 7.0]])
    assert np.isfinite(fit_scaling("expression", X).transform(X)).all()
    for value in (0.0, -1.0):
        X[1, 1] = value
        with pytest.raises(UsageError, match="takes logarithms, and a value is not above 0"):
            fit_scaling("expression", X)
    with pytest.raises(UsageError, match="would fill a sparse matrix"):
        fit_scaling("expression", sp.csr_array(np.eye(3)))
