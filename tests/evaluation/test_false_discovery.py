"""False discovery rates: closed forms, and few tables with known truth (many by benchmarks/false_discovery.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from fsvm_cli.evaluation.false_discovery import (
    CollinearError,
    difference,
    entropy_diagonal,
    gaussian_knockoffs,
    knockoff_q_values,
    permuted_q_values,
    q_values_of_statistics,
    signed_maximum,
    tied_ranks,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def correlated(n: int, d: int, rho: float, rng: np.random.Generator) -> NDArray[np.float64]:
    sigma = rho ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    return rng.standard_normal((n, d)) @ np.linalg.cholesky(sigma).T


@pytest.mark.parametrize("rho", [-0.9, 0.0, 0.3, 0.99])
def test_the_diagonal_of_two_columns_has_a_closed_form(rho: float) -> None:
    # The root of (2 - s)^2 - 4 rho^2 = s (2 - s), where the gradient is 0.
    s = entropy_diagonal(np.array([[1.0, rho], [rho, 1.0]]))
    np.testing.assert_allclose(s, (3 - np.sqrt(1 + 8 * rho**2)) / 2, atol=1e-8)


def test_the_diagonal_is_stationary_and_feasible() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 12))
    sigma = A @ A.T + 0.5 * np.eye(12)
    scale = np.sqrt(np.diag(sigma))
    sigma /= np.outer(scale, scale)
    s = entropy_diagonal(sigma)
    assert np.linalg.eigvalsh(2 * sigma - np.diag(s))[0] > 0
    np.testing.assert_allclose(1 / s, np.diag(np.linalg.inv(2 * sigma - np.diag(s))), rtol=1e-6)


def test_knockoffs_have_the_covariances_of_their_columns() -> None:
    rng = np.random.default_rng(1)
    X = correlated(200_000, 4, 0.6, rng) * [1.0, 2.0, 3.0, 4.0] + 5
    both = np.hstack([X, gaussian_knockoffs(X, rng)])
    found = np.corrcoef(both.T)
    sigma = 0.6 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    between = sigma - np.diag(entropy_diagonal(sigma))
    np.testing.assert_allclose(found, np.block([[sigma, between], [between, sigma]]), atol=0.02)
    np.testing.assert_allclose(both.mean(axis=0), 5, atol=0.1)


def test_collinear_columns_are_named() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, 5))
    X[:, 3] = 2 * X[:, 0] - X[:, 1] + 1
    with pytest.raises(CollinearError) as caught:
        gaussian_knockoffs(X, rng)
    assert {caught.value.column, *caught.value.others} == {0, 1, 3}
    few = rng.standard_normal((6, 20))
    gaussian_knockoffs(few, rng)
    few[:, 17] = -3 * few[:, 4]
    with pytest.raises(CollinearError, match="column 17 is a linear combination of 4"):
        gaussian_knockoffs(few, rng)


def test_a_constant_column_is_its_own_knockoff() -> None:
    X = np.random.default_rng(3).standard_normal((30, 3))
    X[:, 1] = 7.0
    assert (gaussian_knockoffs(X, np.random.default_rng(0))[:, 1] == 7).all()


def test_q_values_by_the_definition_of_the_filter() -> None:
    rng = np.random.default_rng(4)
    W = np.round(rng.normal(0.5, 1, 60), 1)
    found = q_values_of_statistics(W)
    for rate in (0.05, 0.1, 0.2, 0.5, 0.9):
        thresholds = [t for t in np.unique(np.abs(W[W != 0])) if 1 + (t <= -W).sum() <= rate * max((t <= W).sum(), 1)]
        selected = min(thresholds) <= W if thresholds else np.zeros(60, dtype=bool)
        assert (selected == (found <= rate)).all()


def test_ties_within_rounding_share_a_rank() -> None:
    assert tied_ranks(np.array([3.0, 1.0, 3.0 * (1 + 1e-12), -2.0])).tolist() == [3.5, 2.0, 3.5, 1.0]


@pytest.mark.parametrize("statistic", [signed_maximum, difference])
def test_statistics_turn_round_where_a_column_and_its_knockoff_are_swapped(
    statistic: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
) -> None:
    rng = np.random.default_rng(8)
    own, control = np.round(rng.exponential(size=(2, 30)), 1)
    control[:5] = own[:5] * (1 + 1e-12)
    W = statistic(own, control)
    assert (W[:5] == 0).all()
    swapped = rng.random(30) < 0.5
    turned = statistic(np.where(swapped, control, own), np.where(swapped, own, control))
    assert turned.tolist() == np.where(swapped, -W, W).tolist()


def test_permuted_q_values_are_those_of_benjamini_and_hochberg() -> None:
    X, y = np.random.default_rng(5).standard_normal((40, 8)), np.arange(40) % 2
    seen: list[NDArray[np.float64]] = []

    def score(both: NDArray[np.float64]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = np.abs(both[y == 1].mean(axis=0) - both[y == 0].mean(axis=0))
        seen.append(values)
        return values

    X[:, 0] += 3 * y
    found = permuted_q_values(X, score, np.arange(8), np.random.default_rng(6), n_repeats=5)
    own = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    n_above = sum(
        (values[:, None] >= own * (1 - 1e-9)).sum(axis=0) - (own[:, None] >= own).sum(axis=0) for values in seen
    )
    np.testing.assert_allclose(found, false_discovery_control((1 + n_above) / 41), rtol=1e-12)
    assert found.argmin() == 0


def test_discoveries_are_found_and_few_are_false() -> None:
    rng = np.random.default_rng(7)
    n_found, n_false = 0, 0
    for _ in range(12):
        X = correlated(300, 40, 0.4, rng)
        y = X[:, :15] @ np.full(15, 0.5) + rng.standard_normal(300)

        def score(both: NDArray[np.float64], y: NDArray[np.float64] = y) -> NDArray[np.float64]:
            coefficients: NDArray[np.float64] = np.abs(np.linalg.lstsq(both, y, rcond=None)[0])
            return coefficients

        found = np.flatnonzero(knockoff_q_values(X, score, np.arange(40), rng) <= 0.2)
        n_found, n_false = n_found + len(found), n_false + int((found >= 15).sum())
    # Of 180 real ones; a rate of .2 with its error over twelve tables.
    assert n_found - n_false > 120
    assert n_false / n_found < 0.3
