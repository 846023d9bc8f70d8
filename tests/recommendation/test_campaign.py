"""A few tables of the campaign: the rest are run by hand."""

from __future__ import annotations

from tests.recommendation.campaign import NOISE, SIGNAL, cover, find


def test_noise_is_not_recommended_and_plain_signal_is() -> None:
    # The level is 5 %: of 8 tables 3 are found with a probability of .006.
    assert sum(find(NOISE[number % len(NOISE)], number)["found"] for number in range(8)) <= 2
    assert all(find(SIGNAL[0], number)["recommended"] for number in range(2))


def test_intervals_hold_the_accuracy_on_fresh_rows() -> None:
    assert sum(cover(number, 6)["held"] for number in range(1, 7)) >= 4
