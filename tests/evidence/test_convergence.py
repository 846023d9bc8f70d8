"""Split R-hat and effective sample sizes, of series whose autocorrelation is known."""

from __future__ import annotations

import numpy as np
import pytest
from arviz_stats.base import array_stats
from scipy.signal import lfilter

from fsvm_cli.evidence.diagnostics import (
    convergence,
    effective_sample_size,
    energy_fraction,
    pareto_k,
)


def autoregression(correlation: float, shape: tuple[int, int, int]) -> np.ndarray:
    """A stationary series x_t = correlation x_(t-1) + noise along the first axis."""
    noise = np.random.default_rng(11).standard_normal(shape)
    noise[0] /= np.sqrt(1 - correlation**2)
    return lfilter([1.0], [1.0, -correlation], noise, axis=0)


@pytest.mark.parametrize("correlation", [-0.4, 0.0, 0.5, 0.9])
def test_effective_sizes_are_those_of_an_autoregression(correlation: float) -> None:
    draws = autoregression(correlation, (2001, 8, 5))
    expected = draws.shape[0] * draws.shape[1] * (1 - correlation) / (1 + correlation)
    np.testing.assert_allclose(effective_sample_size(draws), expected, rtol=0.2)


def test_effective_sizes_tell_the_error_of_the_mean() -> None:
    draws = autoregression(0.8, (400, 4, 300))
    claimed = np.sqrt(draws.var(axis=(0, 1)) / effective_sample_size(draws))
    assert np.std(draws.mean(axis=(0, 1)) / claimed) == pytest.approx(1.0, abs=5 / np.sqrt(2 * 300))


def test_chains_that_agree_have_an_r_hat_of_one_and_others_not() -> None:
    draws = autoregression(0.3, (500, 6, 3))
    draws[:, 2, 1] += 2.0  # one chain is elsewhere
    draws[:, :, 2] += np.linspace(0.0, 3.0, 500)[:, None]  # all chains are still moving
    r_hat = convergence(draws).r_hat
    assert r_hat[0] == pytest.approx(1.0, abs=0.01)
    assert (r_hat[1:] > 1.1).all()
    assert (effective_sample_size(draws)[1:] < 100).all()


def test_what_never_moves_is_told_from_what_is_stuck_in_several_places() -> None:
    still = np.full((10, 2, 2), 0.25)
    still[:, 1, 1] = 0.5
    np.testing.assert_array_equal(convergence(still).r_hat, [1.0, np.inf])
    assert effective_sample_size(still)[0] == 20.0


def test_three_draws_are_too_few() -> None:
    with pytest.raises(ValueError, match="at least 4 draws are needed, not 3"):
        convergence(np.zeros((3, 1, 1)))


def several_series(seed: int) -> np.ndarray:
    """Three series of some length and number of chains, of which one chain may be elsewhere, and values may be tied."""
    rng = np.random.default_rng(seed)
    correlation, shape = rng.uniform(-0.9, 0.97), (int(rng.integers(4, 200)), int(rng.integers(2, 17)), 3)
    draws = lfilter([1.0], [1.0, -correlation], rng.standard_normal(shape), axis=0)
    draws[:, 0] += 2.0 * (seed % 3 == 0)
    return np.round(draws, 1) if seed % 4 == 0 else draws


@pytest.mark.parametrize("seed", range(24))
def test_diagnostics_are_those_of_arviz(seed: int) -> None:
    draws = several_series(seed)
    axes = {"chain_axis": 1, "draw_axis": 0}
    found = convergence(draws)
    for j, series in enumerate(draws.transpose(2, 0, 1)):
        assert found.r_hat[j] == pytest.approx(float(array_stats.rhat(series, **axes)), rel=1e-9)
        sizes = {"mean": effective_sample_size(draws), "bulk": found.bulk_size, "tail": found.tail_size}
        for method, ours in sizes.items():
            prob = {"prob": (0.05, 0.95)} if method == "tail" else {}
            theirs = float(array_stats.ess(series, **axes, method=method, **prob))
            assert ours[j] == pytest.approx(theirs, rel=1e-9)
    np.testing.assert_allclose(energy_fraction(draws[:, :, 0]), array_stats.bfmi(draws[:, :, 0].T), rtol=1e-9)
    rng = np.random.default_rng(seed)
    log_weights = rng.uniform(0.1, 3.0) * rng.standard_t(3, size=int(rng.integers(30, 3000)))
    assert pareto_k(log_weights) == pytest.approx(float(array_stats.psislw(-log_weights)[1]), rel=1e-9)


def test_shapes_of_weights_that_are_equal_and_of_one_that_is_alone() -> None:
    assert pareto_k(np.zeros(100)) == -np.inf
    alone = np.full(100, -np.inf)
    alone[3] = 0.0
    assert pareto_k(alone) == np.inf
