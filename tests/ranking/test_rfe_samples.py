"""Samples whose features leave against a matrix of which columns are taken."""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli.ranking.rfe_machines import LeavingFeatures


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weighted", [True, False])
def test_what_is_left_is_the_matrix_of_the_features_that_are_left(order, weighted, rng):
    X = np.asarray(rng.standard_normal((2500, 12)), order=order)
    weights = rng.uniform(0.5, 2.0, 12) if weighted else None
    scaled = X * np.sqrt(weights) if weighted else X.copy()
    samples, left = LeavingFeatures(X, weights), list(range(12))
    for feature in rng.permutation(12)[:11].tolist():
        left.remove(feature)
        np.testing.assert_array_equal(samples.drop(feature), scaled[:, feature])
        assert sorted(samples.features.tolist()) == left
        np.testing.assert_array_equal(samples.X, scaled[:, samples.features])
        np.testing.assert_allclose(samples.squared_lengths, (samples.X**2).sum(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(X if weights is None else X * np.sqrt(weights), scaled)


def test_lengths_are_right_where_hardly_anything_of_a_sample_is_left(rng):
    X = rng.standard_normal((50, 4)) * [1e9, 1e-9, 1.0, 1e4]
    X[3] = 0.0
    samples = LeavingFeatures(X, None)
    for feature in (0, 3, 2):
        samples.drop(feature)
        np.testing.assert_allclose(samples.squared_lengths, (samples.X**2).sum(axis=1), rtol=1e-14)
