"""Places on a grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.numerics import quantised


@given(st.floats(-1e6, 1e6), st.integers(-30, 4))
def test_the_nearest_multiple_is_exact_and_stays_where_it_is(value: float, exponent: int) -> None:
    spacing = 2.0**exponent
    place = float(quantised(value, spacing))
    assert (place / spacing).is_integer()
    assert abs(place - value) <= spacing / 2
    assert quantised(place, spacing) == place


@pytest.mark.parametrize("value", [0.3, -0.3, 1e3])
def test_a_last_digit_is_gone(value: float) -> None:
    assert quantised(np.nextafter(value, 2 * value), 2.0**-20) == quantised(value, 2.0**-20)
