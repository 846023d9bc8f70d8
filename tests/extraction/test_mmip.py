"""Informative projections against brute force, the starts of their search, and other processors' rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.interpolate import BSpline
from scipy.optimize import check_grad
from scipy.stats import entropy
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

from fsvm_cli.extraction.mmip import (
    BINNED_DEVIATIONS,
    InformativeProjections,
    SplineInformation,
    complement,
    cubic_parts,
    cubic_slopes,
)
from fsvm_cli.ranking.quantise import Indicators, quantise

X, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)


def binned(projections: np.ndarray) -> np.ndarray:
    """Information in ten bins of equally many samples: another estimate than the one that is climbed."""
    return Indicators.of(quantise(projections, 10)).information(Y)


def test_parts_are_those_of_scipy_and_slopes_their_derivatives() -> None:
    offsets = np.linspace(0, 1, 11)[:-1]
    spline = BSpline.basis_element(np.arange(5), extrapolate=False)
    expected = [spline(offsets + left) for left in (3, 2, 1, 0)]
    np.testing.assert_allclose(cubic_parts(offsets), expected, atol=1e-14)
    slopes = [spline.derivative()(offsets + left) for left in (3, 2, 1, 0)]
    np.testing.assert_allclose(cubic_slopes(offsets), slopes, atol=1e-14)


def test_the_estimate_is_that_of_a_table_of_shared_samples(rng: np.random.Generator) -> None:
    direction, n_bins = rng.normal(size=X.shape[1]), 7
    projection = X @ direction
    places = projection / projection.std() * n_bins / (2 * BINNED_DEVIATIONS)
    spline = BSpline.basis_element(np.arange(-2, 3), extrapolate=False)
    table = np.array([[np.nansum(spline(knot - places[c == Y])) for knot in range(-20, 21)] for c in range(3)])
    expected = entropy(table.sum(axis=0), base=2) + entropy(table.sum(axis=1), base=2) - entropy(table.ravel(), base=2)
    both = np.column_stack([direction, -3 * direction])
    np.testing.assert_allclose(SplineInformation(X, Y, n_bins).of(both), expected, rtol=1e-12)


@pytest.mark.parametrize("n_bins", [2, 10, 40])
def test_the_gradient_agrees_with_finite_differences(rng: np.random.Generator, n_bins: int) -> None:
    information = SplineInformation(X, Y, n_bins)
    for direction in rng.normal(size=(5, X.shape[1])):
        value, gradient = information.with_gradient(direction)
        assert value == pytest.approx(information.of(direction[:, None])[0], rel=1e-12)
        assert (
            check_grad(lambda w: information.of(w[:, None])[0], lambda w: information.with_gradient(w)[1], direction)
            < 1e-5
        )
        assert gradient @ direction == pytest.approx(0, abs=1e-12)


def test_a_projection_that_is_constant_says_nothing() -> None:
    value, gradient = SplineInformation(X * (np.arange(13) > 0), Y, 10).with_gradient(np.eye(13)[0])
    assert (value, gradient.tolist()) == (0.0, [0.0] * 13)


def test_no_direction_that_lies_near_at_hand_says_more(rng: np.random.Generator) -> None:
    found = InformativeProjections(n_components=2).fit(X, Y).directions_
    left = X
    for direction in found.T:
        random = rng.normal(size=(13, 1000))
        others = [
            LinearDiscriminantAnalysis().fit(left, Y).scalings_,
            PCA().fit(left).components_.T,
            np.eye(13),
            random,
        ]
        information = SplineInformation(left, Y, 10)
        said = information.of(direction[:, None])[0]
        candidates = np.hstack(others)
        candidates = candidates[:, np.linalg.norm(left @ candidates, axis=0) > 1e-6]
        assert said >= information.of(candidates).max() - 1e-9
        assert binned(left @ direction[:, None])[0] >= binned(left @ candidates).max()
        left = left @ (np.eye(13) - np.outer(direction, direction))


def test_directions_are_orthonormal_and_local_maxima() -> None:
    found = InformativeProjections(n_components=3).fit(X, Y).directions_
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-10)
    assert (found[np.abs(found).argmax(axis=0), range(3)] > 0).all()
    for before, direction in enumerate(found.T):
        gradient = SplineInformation(X, Y, 10).with_gradient(direction)[1]
        gradient -= found[:, :before] @ (found[:, :before].T @ gradient)
        np.testing.assert_allclose(gradient, 0, atol=1e-12)


def test_brute_force_in_the_plane_cannot_better_it(rng: np.random.Generator) -> None:
    angle = 0.7
    hidden = rng.normal(size=(300, 2)) + np.column_stack([2.5 * (np.arange(300) % 3), np.zeros(300)])
    turned = hidden @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    turned -= turned.mean(axis=0)
    y = np.arange(300) % 3
    information = SplineInformation(turned, y, 10)
    angles = np.linspace(0, np.pi, 721)
    best = information.of(np.array([np.cos(angles), np.sin(angles)])).max()
    found = InformativeProjections(n_components=1, n_starts=5).fit(turned, y).directions_
    assert information.of(found)[0] >= best


def test_directions_along_which_samples_do_not_differ_are_left_out(rng: np.random.Generator) -> None:
    few = rng.normal(size=(40, 3))
    repeated = np.column_stack([few, few[:, 0] - few[:, 1], np.full(40, 7.0)])
    fitted = InformativeProjections(n_starts=10).fit(repeated, np.arange(40) % 2)
    assert fitted.n_components_ == 3
    assert InformativeProjections().fit(np.ones((6, 3)), np.arange(6) % 2).n_components_ == 1


@given(
    hnp.arrays(float, st.integers(2, 7), elements=st.integers(-2, 2).map(float)).filter(np.any),
    st.integers(0, 2**32 - 1),
)
def test_the_complement_of_a_direction_is_orthonormal_and_rounding_does_not_turn_it(entries: Any, seed: int) -> None:
    direction = entries / np.linalg.norm(entries)
    rounded = direction + np.random.default_rng(seed).integers(-4, 5, len(entries)) * 1e-16
    found = complement(direction)
    np.testing.assert_allclose(np.column_stack([direction, found]).T @ found, np.eye(len(entries))[:, 1:], atol=1e-14)
    np.testing.assert_allclose(complement(rounded), found, atol=1e-14)


@pytest.mark.parametrize("on_a_lattice", [True, False])
def test_rounding_does_not_change_what_is_found(on_a_lattice: bool) -> None:
    # Samples on a lattice, many of them equal, tie everywhere.
    rng = np.random.default_rng(0)
    data = rng.integers(0, 3, size=(80, 5)).astype(float) if on_a_lattice else rng.normal(size=(80, 5))
    y = (data[:, 0] + data[:, 1] > data[:, 2] + rng.integers(0, 2, 80)).astype(int)
    exact = InformativeProjections(n_starts=50).fit(data, y).directions_
    for seed in range(3):
        noise = np.random.default_rng(seed).integers(-4, 5, data.shape) * 1e-16
        found = InformativeProjections(n_starts=50).fit(data + noise, y).directions_
        np.testing.assert_allclose(found, exact, atol=1e-10)


def test_rounding_stays_rounding_from_direction_to_direction() -> None:
    exact = InformativeProjections(n_starts=50).fit(X, Y).directions_
    for seed in range(3):
        noise = np.random.default_rng(seed).integers(-4, 5, X.shape) * 1e-16
        found = InformativeProjections(n_starts=50).fit(X + noise, Y).directions_
        np.testing.assert_allclose(found, exact, atol=1e-11)
