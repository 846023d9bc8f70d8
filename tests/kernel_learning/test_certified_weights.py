"""What a learned sum of kernels says of itself is true of what predicts, in extended precision.

``python -m tests.kernel_learning.certified_weights`` tries many more.
"""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli import Gaussian, LearnedKernelSVM
from fsvm_cli.svm import Polynomial
from tests.kernel_learning.certified_weights import Task, complaint, hostile_task, lowest_pivot


@pytest.mark.parametrize("seed", range(8))
def test_no_learned_kernel_states_less_than_is_true(seed: int) -> None:
    assert not complaint(hostile_task(seed), look_for_better=False)[0]


@pytest.mark.parametrize(("seed", "theta", "apart"), [(0, 2.0, 0.06), (1, 1.0, 0.04), (2, 5.0, 5e-4)])
def test_nearly_dependent_kernels_add_up_to_one_without_negative_eigenvalues(
    seed: int, theta: float, apart: float
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 2))
    y = (X[:, 0] + 0.5 * rng.standard_normal(50) > 0).astype(int)
    kernels = [Gaussian(theta), Gaussian(theta * (1 + apart)), Polynomial(1)]
    machine = LearnedKernelSVM(kernels, combine="sdp", C=1.0, on_failure="flag").fit(X, y)
    task = Task(X, y, kernels, "1-norm", 1.0, "sdp")
    assert (machine.weights_ < 0).any()
    assert lowest_pivot(machine, task, 4.0 * len(y) * np.finfo(float).eps) > 0.0
