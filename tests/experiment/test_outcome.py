"""Outcomes, their form in the store, and how one joins what the store has."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.errors import DataError
from fsvm_cli.experiment.outcome import Outcome, keep_outcome, stored_outcome
from fsvm_cli.store.store import FILE_NAME, Entry, Store

if TYPE_CHECKING:
    from pathlib import Path

N_CLASSES = 3
finite = st.floats(allow_nan=False, allow_infinity=False)
sizes_of_subsets = st.sets(st.integers(1, 10**5), min_size=1, max_size=5).map(sorted).map(tuple)


def outcome_of(*sizes: int, **changes: Any) -> Outcome:
    """Make an outcome whose numbers tell the sizes apart."""
    confusions = np.arange(N_CLASSES**2).reshape(N_CLASSES, N_CLASSES) + np.array(sizes)[:, None, None]
    outcome = Outcome(
        (0.5, -1.25), True, sizes, confusions, 2 * confusions, np.array(sizes) % 3, 1e-7 * np.array(sizes, dtype=float)
    )
    return replace(outcome, **changes)


@st.composite
def outcomes(draw: st.DrawFn) -> Outcome:
    sizes = draw(sizes_of_subsets)
    chosen = draw(st.dictionaries(st.text(), finite | st.integers() | st.text(), max_size=2))
    scores = draw(st.lists(finite, max_size=8).map(tuple))
    gaps = np.array(draw(st.lists(finite, min_size=len(sizes), max_size=len(sizes))))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    train, test = rng.integers(0, 10**6, size=(2, len(sizes), N_CLASSES, N_CLASSES))
    n_missed = rng.integers(0, 9, len(sizes))
    predictions = rng.integers(0, N_CLASSES, size=(1 + len(sizes), 4) if draw(st.booleans()) else (0, 0))
    measured = st.dictionaries(st.text(), finite, max_size=2)
    measures = draw(st.just(()) | st.lists(measured, min_size=len(sizes), max_size=len(sizes)).map(tuple))
    return Outcome(scores, draw(st.booleans()), sizes, train, test, n_missed, gaps, chosen, predictions, measures)


@given(outcomes())
def test_an_outcome_survives_its_packing(outcome: Outcome) -> None:
    again = Outcome.unpacked(outcome.packed())
    assert again == outcome
    assert again.packed() == outcome.packed()
    for name in ("train", "test", "n_unconverged", "duality_gap", "predictions"):
        np.testing.assert_array_equal(getattr(again, name), getattr(outcome, name))
    assert (again.scores, again.sizes, again.chosen) == (outcome.scores, outcome.sizes, outcome.chosen)


@given(outcomes(), outcomes())
def test_merging_keeps_every_subset_in_the_order_of_the_sizes(first: Outcome, later: Outcome) -> None:
    merged = first.merged_with(later)
    assert merged.sizes == tuple(sorted({*first.sizes, *later.sizes}))
    kept = [size for size in first.sizes if size not in later.sizes]
    for part in ("train", "test"):
        np.testing.assert_array_equal(merged.confusions(part, later.sizes), later.confusions(part, later.sizes))
        np.testing.assert_array_equal(merged.confusions(part, kept), first.confusions(part, kept))
    np.testing.assert_array_equal(merged.duality_gap[merged.rows(kept)], first.duality_gap[first.rows(kept)])
    if first.predictions.size and later.predictions.size:
        np.testing.assert_array_equal(merged.predictions_at(later.sizes)[1:], later.predictions[1:])
        np.testing.assert_array_equal(merged.predictions_at(kept)[1:], first.predictions_at(kept)[1:])
    else:
        assert not merged.predictions.size, "of some subsets alone there is no paired comparison"
    assert merged.ranking_converged == (first.ranking_converged and later.ranking_converged)


@given(outcomes(), st.data())
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


@pytest.mark.parametrize(
    "row", [[], [1, 2, 3, 4], [[[1]], [[1, 2], [3, 4]], 0, 0.0], [[[1]], [[10**30]], 0, 0.0], [[["a"]], [[1]], 0, 0.0]]
)
def test_a_row_of_another_form_is_no_outcome(row: list[Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        Outcome.from_json(json.dumps({"scores": [], "ranking_converged": True, "subsets": {"1": row}}))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_no_outcome(bad: float) -> None:
    with pytest.raises(ValueError, match="scores that are not finite"):
        outcome_of(1, scores=(1.0, bad))
    with pytest.raises(ValueError, match="duality gap that is not finite"):
        outcome_of(1, duality_gap=np.array([bad]))


@pytest.mark.parametrize("changes", [{"sizes": (2, 1)}, {"sizes": (1,)}, {"n_unconverged": np.zeros(1, np.intp)}])
def test_arrays_have_a_row_for_each_size(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="size"):
        outcome_of(1, 2, **changes)


def test_sizes_that_come_later_join_those_that_the_store_has(tmp_path: Path) -> None:
    for sizes in ((2,), (1, 3)):
        with Store(tmp_path, writable=True) as store:
            keep_outcome(store, "a", outcome_of(*sizes).packed())
    with Store(tmp_path, writable=False) as store:
        assert dict(store.covered_sizes()) == {"a": {1, 2, 3}}
        assert stored_outcome(store, "a") == outcome_of(1, 2, 3)
        assert stored_outcome(store, "b") is None


def test_an_entry_that_is_no_outcome_is_damage_with_its_place(tmp_path: Path) -> None:
    with Store(tmp_path, writable=True) as store:
        store.put("a", Entry("1", "{}"))
        with pytest.raises(DataError, match=rf"{FILE_NAME}: the entry a is damaged; start over with --fresh"):
            stored_outcome(store, "a")
