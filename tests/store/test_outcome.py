"""Outcomes and their form in the store."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.store.outcome import Outcome, SubsetResult

matrices = st.integers(1, 4).flatmap(
    lambda n: st.tuples(*[st.tuples(*[st.integers(0, 10**6)] * n)] * n),
)
finite = st.floats(allow_nan=False, allow_infinity=False)
results = st.builds(SubsetResult, matrices, matrices, st.integers(0, 10), finite)
outcomes = st.builds(
    Outcome,
    st.lists(finite, max_size=8).map(tuple),
    st.booleans(),
    st.dictionaries(st.integers(1, 10**5), results, max_size=5),
)


@given(outcomes)
def test_an_outcome_survives_its_json(outcome: Outcome) -> None:
    assert Outcome.from_json(outcome.to_json()) == outcome


@given(outcomes, outcomes)
def test_merging_keeps_every_subset_in_the_order_of_the_sizes(first: Outcome, later: Outcome) -> None:
    merged = first.merged_with(later)
    assert list(merged.subsets) == sorted({*first.subsets, *later.subsets})
    assert all(merged.subsets[size] == later.subsets[size] for size in later.subsets)
    assert all(merged.subsets[size] == first.subsets[size] for size in set(first.subsets) - set(later.subsets))
    assert merged.ranking_converged == (first.ranking_converged and later.ranking_converged)


@given(outcomes, st.data())
def test_a_text_that_was_cut_is_no_outcome(outcome: Outcome, data: st.DataObject) -> None:
    text = outcome.to_json()
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(ValueError):  # noqa: PT011 - json has messages of its own
        Outcome.from_json(text[:cut])


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_other_json_is_no_outcome(content: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        Outcome.from_json(json.dumps(content))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_no_outcome(bad: float) -> None:
    with pytest.raises(ValueError, match="scores that are not finite"):
        Outcome((1.0, bad), True)
    with pytest.raises(ValueError, match="duality gap that is not finite"):
        Outcome((), True, {1: SubsetResult(((1,),), ((1,),), 0, bad)})
