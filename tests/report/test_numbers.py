"""Numbers of tables: what is rounding is not written."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.report.numbers import (
    DIGITS_OF_MACHINES,
    as_csv,
    briefly,
    rounded_alike,
    rounded_by_scale,
    rounded_each,
)


def test_all_numbers_have_the_digits_of_the_largest() -> None:
    found = rounded_alike(np.array([0.123456789, -12.3456789, np.nan, np.inf, -1e-17]), 5)
    np.testing.assert_array_equal(found, [0.123, -12.346, np.nan, np.inf, 0.0])
    assert not np.signbit(found[-1])


@pytest.mark.parametrize("numbers", [[], [0.0], [5e-324], [1.7e308, 1.0], [np.nan]])
def test_the_ends_of_the_range_of_doubles(numbers: list[float]) -> None:
    np.testing.assert_allclose(rounded_alike(np.array(numbers), 5), numbers, rtol=0, atol=1e304)


@given(
    st.lists(st.integers(0, 10**4), min_size=1, max_size=6),
    st.sampled_from([1e-9, 1.0, 1e7]),
    st.integers(0, 2**32 - 1),
)
def test_rounding_changes_no_digit(exact: list[int], unit: float, seed: int) -> None:
    # Numbers of five digits, as far from the middle between two as can be.
    numbers = np.array([*exact, 99999]) * unit
    rounded = numbers * (1 + np.random.default_rng(seed).uniform(-1e-9, 1e-9, len(numbers)))
    np.testing.assert_array_equal(
        rounded_alike(rounded, DIGITS_OF_MACHINES), rounded_alike(numbers, DIGITS_OF_MACHINES)
    )


def test_what_cancels_but_for_rounding_is_0_in_a_table() -> None:
    table = pd.DataFrame({"mean": [0.1 + 0.2 - 0.3, 0.25], "name": ["a", None], "n": [1, 2]})
    assert as_csv(table) == "mean,name,n\n0,a,1\n0.25,,2\n"


def test_what_a_perfect_separator_would_hide_keeps_its_digits() -> None:
    scores = np.array([2e30, 1e30, 0.9123456, 0.5, 1e-9, 1e-14, 0.0])
    np.testing.assert_allclose(
        rounded_by_scale(scores, 5, 1e-12), [2e30, 1e30, 0.91235, 0.5, 1e-9, 0.0, 0.0], rtol=1e-12
    )
    np.testing.assert_allclose(rounded_by_scale(scores, 5, 1.0), [2e30, 1e30, 0.91235, 0.5, 0.0, 0.0, 0.0], rtol=1e-12)


def test_where_ratios_count_each_number_has_digits_of_its_own() -> None:
    numbers = np.array([88123.4567, 0.0123456789, 1.0, 5e-324, np.nan, np.inf])
    np.testing.assert_array_equal(rounded_each(numbers, 5), [88123.0, 0.012346, 1.0, 5e-324, np.nan, np.inf])
    table = pd.DataFrame({"length_scale": numbers[:2], "relevance": [1e-9, 0.25]})
    assert as_csv(table, 5, ratios=["length_scale"]) == "length_scale,relevance\n88123,0\n0.012346,0.25\n"


def test_numbers_of_another_scale_have_digits_of_their_own() -> None:
    descents = {"ranking": ["polynomial"] * 3 + ["laplace"] * 2, "machine": [0, 0, 1, 0, 0]}
    objective = [1.2345678, 1.3456789, 0.0123456789, 12345.678, -1e-12]
    table = pd.DataFrame(descents | {"objective": objective})
    rows = [line.rpartition(",")[2] for line in as_csv(table, 5, groups=("ranking", "machine")).splitlines()]
    assert rows == ["objective", "1.2346", "1.3457", "0.012346", "12346", "0"]
    # A table that does not have these columns is of one scale.
    assert as_csv(table[["objective"]], 5, groups=("ranking",)) == "objective\n1\n1\n0\n12346\n0\n"


@pytest.mark.parametrize(
    ("number", "written"),
    [(11283.0, "11283"), (-9999.4, "-9999"), (0.123456, "0.1235"), (2e12, "2e+12"), (np.nan, "nan")],
)
def test_numbers_for_people_have_an_exponent_only_where_they_are_huge(number: float, written: str) -> None:
    assert briefly(number) == written
