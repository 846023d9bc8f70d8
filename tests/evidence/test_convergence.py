"""Split R-hat and effective sample sizes, of series whose autocorrelation is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from fsvm_cli.evidence.convergence import effective_sample_size, split_r_hat


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
    r_hat = split_r_hat(draws)
    assert r_hat[0] == pytest.approx(1.0, abs=0.01)
    assert (r_hat[1:] > 1.1).all()
    assert (effective_sample_size(draws)[1:] < 100).all()


def test_what_never_moves_is_told_from_what_is_stuck_in_several_places() -> None:
    still = np.full((10, 2, 2), 0.25)
    still[:, 1, 1] = 0.5
    np.testing.assert_array_equal(split_r_hat(still), [1.0, np.inf])
    assert effective_sample_size(still)[0] == 20.0


def test_three_draws_are_too_few() -> None:
    with pytest.raises(ValueError, match="at least 4 draws are needed, not 3"):
        split_r_hat(np.zeros((3, 1, 1)))
