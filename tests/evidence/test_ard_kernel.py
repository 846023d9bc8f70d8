"""The kernel of the paper, and its derivatives."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fsvm_cli.evidence.kernels import ROWS_PER_BLOCK, ArdKernel

KERNEL = ArdKernel(1.4, 0.6, (0.8, 1.7, 40.0))


def test_it_is_equation_3(rng: np.random.Generator) -> None:
    A, B = rng.standard_normal((4, 3)), rng.standard_normal((5, 3))
    squares = ((A[:, None] - B[None]) / KERNEL.length_scales) ** 2
    np.testing.assert_allclose(KERNEL.kernel.gram(A, B), 1.4 * np.exp(-0.5 * squares.sum(axis=2)) + 0.6)


def test_gradients_are_differences_over_several_blocks(rng: np.random.Generator) -> None:
    A, B = rng.standard_normal((ROWS_PER_BLOCK + 7, 3)), rng.standard_normal((5, 3))
    left, right = rng.standard_normal((2, len(A), 4)), rng.standard_normal((5, 4))

    def contracted(logs: np.ndarray) -> np.ndarray:
        k0, k_off, *lengths = np.exp(logs).tolist()
        return np.einsum("rap,bp,ab->r", left, right, ArdKernel(k0, k_off, tuple(lengths)).kernel.gram(A, B))

    logs, h = np.log([KERNEL.k0, KERNEL.k_off, *KERNEL.length_scales]), 1e-5
    steps = h * np.eye(5)
    expected = np.array([(contracted(logs + s) - contracted(logs - s)) / (2 * h) for s in steps]).T
    np.testing.assert_allclose(KERNEL.log_gradient(A, B, left, right), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("n", [1, ROWS_PER_BLOCK, 2 * ROWS_PER_BLOCK + 7])
def test_gradients_of_one_sample_are_those_of_two(n: int, rng: np.random.Generator) -> None:
    X, left, right = rng.standard_normal((n, 3)), rng.standard_normal((2, n, 4)), rng.standard_normal((n, 4))
    expected = KERNEL.log_gradient(X, X.copy(), left, right)
    np.testing.assert_allclose(KERNEL.log_gradient(X, X, left, right), expected, rtol=1e-10, atol=1e-10)


def test_copies_of_a_feature_have_the_same_gradient(rng: np.random.Generator) -> None:
    samples = rng.standard_normal((30, 3))
    samples = np.column_stack([samples, samples[:, 1]])
    kernel = ArdKernel(1.3, 0.4, (0.9, 1.7, 2.0, 1.7))
    gradient = kernel.log_gradient(samples, samples, rng.standard_normal((2, 30, 5)), rng.standard_normal((30, 5)))
    np.testing.assert_allclose(gradient[:, 5], gradient[:, 3], rtol=1e-9)
    # A step that changes both is one of a single feature with the length scale that both together make.
    together = replace(kernel, length_scales=(0.9, 1.7 / np.sqrt(2), 2.0))
    np.testing.assert_allclose(kernel.shape.gram(samples, samples), together.shape.gram(*[samples[:, :3]] * 2))


def test_a_constant_feature_has_no_gradient(rng: np.random.Generator) -> None:
    A = rng.standard_normal((6, 3))
    A[:, 1] = 0.1
    assert KERNEL.log_gradient(A, A, rng.standard_normal((1, 6, 2)), rng.standard_normal((6, 2)))[0, 3] == 0.0


def test_gradients_take_the_memory_of_a_few_rows(rng: np.random.Generator) -> None:
    n, d = 2000, 40
    X, left, right = rng.standard_normal((n, d)), np.ones((1, n, 2)), np.ones((n, 2))
    kernel = ArdKernel(1.0, 1.0, (6.0,) * d)
    tracemalloc.start()
    kernel.log_gradient(X, X, left, right)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n**2 / 2


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ((0.0, 1.0, (1.0,)), "k0 must be a finite number > 0, not 0.0"),
        ((1.0, -1.0, (1.0,)), "k_off must be a finite number >= 0, not -1.0"),
        ((1.0, 1.0, (1.0, np.inf)), r"length_scales\[1\] must be a finite number > 0, not inf"),
        ((np.nan, 1.0, (1.0,)), "k0 must be a finite number > 0, not nan"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        ArdKernel(*parameters)
