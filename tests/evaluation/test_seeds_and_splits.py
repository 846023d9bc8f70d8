"""Named random streams and random splits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.splits import count_rows, random_split, stratified_split

axes = st.lists(st.integers(0, 10**6) | st.text(max_size=8), max_size=4).map(tuple)


def first_numbers(seed: int, named: tuple[str | int, ...]) -> list[int]:
    return random_stream(seed, *named).integers(2**62, size=4).tolist()


@given(st.integers(0, 2**40), axes, axes)
def test_equal_names_give_equal_streams_and_other_names_others(seed: int, one: tuple, other: tuple) -> None:
    assert first_numbers(seed, one) == first_numbers(seed, one)
    assert (first_numbers(seed, one) == first_numbers(seed, other)) == (one == other)


def test_a_stream_depends_on_the_seed() -> None:
    assert first_numbers(1, ("split", 0)) != first_numbers(2, ("split", 0))


@given(st.integers(2, 60), st.data())
def test_a_split_is_disjoint_and_of_the_size_asked_for(n_samples: int, data: st.DataObject) -> None:
    n_train = data.draw(st.integers(1, n_samples - 1))
    n_test = data.draw(st.integers(1, n_samples - n_train))
    split = random_split(n_samples, n_train, n_test, np.random.default_rng(0))
    rows = np.concatenate([split.train, split.test])
    assert (len(split.train), len(split.test)) == (n_train, n_test)
    assert len(np.unique(rows)) == len(rows)
    assert set(rows) <= set(range(n_samples))


def test_training_parts_of_a_learning_curve_are_nested() -> None:
    small, large = (random_split(30, n_train, 10, random_stream(7, "split", 3)) for n_train in (8, 20))
    np.testing.assert_array_equal(large.train[:8], small.train)
    np.testing.assert_array_equal(large.test, small.test)


def test_every_row_is_as_likely_to_be_trained_on() -> None:
    counts = np.zeros(9)
    for split in range(3000):
        counts[random_split(9, 3, 6, random_stream(0, "split", split)).train] += 1
    # Each count is binomial with mean 1000 and standard deviation 26.
    assert np.abs(counts - 1000).max() < 5 * 26


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.data())
def test_parts_of_a_stratified_split_have_the_shares_of_all_rows(classes: list[int], data: st.DataObject) -> None:
    y = np.array(classes)
    n_train = data.draw(st.integers(1, len(y) - 1))
    n_test = data.draw(st.integers(1, len(y) - n_train))
    split = stratified_split(y, n_train, n_test, random_stream(1, "split", len(y)))
    assert (len(split.train), len(split.test)) == (n_train, n_test)
    assert len({*split.train.tolist(), *split.test.tolist()}) == n_train + n_test
    shares = np.bincount(y) / len(y)
    for part in (split.train, split.test):
        counts = np.bincount(y[part], minlength=len(shares))
        assert (np.abs(counts - len(part) * shares) < 1 + np.count_nonzero(shares) * shares + 1e-9).all()


def test_training_parts_of_stratified_splits_are_nested_and_every_row_is_as_likely() -> None:
    y = np.repeat([0, 1], [6, 4])
    parts = [{*stratified_split(y, size, 3, random_stream(1, "split", 4)).train.tolist()} for size in (2, 4, 7)]
    assert parts[0] < parts[1] < parts[2]
    drawn = [stratified_split(y, 5, 5, random_stream(1, "split", number)).train for number in range(4000)]
    np.testing.assert_allclose(np.bincount(np.concatenate(drawn)) / len(drawn), 0.5, atol=0.04)


@pytest.mark.parametrize(("n_train", "n_test"), [(0, 5), (5, 0), (6, 5)])
def test_parts_that_do_not_fit_are_refused(n_train: int, n_test: int) -> None:
    with pytest.raises(ValueError, match="rows cannot be drawn from 10 rows"):
        stratified_split(np.zeros(10, dtype=int), n_train, n_test, random_stream(0, "split"))
    with pytest.raises(ValueError, match="cannot be drawn from 10 rows"):
        random_split(10, n_train, n_test, np.random.default_rng(0))


def test_a_fraction_of_the_rows_is_rounded_down() -> None:
    assert count_rows(Fraction(2, 3), 178) == 118
    assert count_rows(Fraction(2, 3), 569) == 379
    assert count_rows(42, 178) == 42
