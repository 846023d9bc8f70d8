"""What a learned sum of kernels says of itself is true of what predicts, in extended precision.

``python -m tests.kernel_learning.certified_weights`` tries many more.
"""

from __future__ import annotations

import numpy as np
import pytest

from fsvm_cli import Gaussian, LearnedKernelSVM
from fsvm_cli.svm import Linear
from fsvm_cli.svm.compiled import EPSILON
from tests.kernel_learning.certified_weights import complaint, hostile_task


@pytest.mark.parametrize("seed", range(8))
def test_no_learned_kernel_states_less_than_is_true(seed: int) -> None:
    assert not complaint(hostile_task(seed), look_for_better=False)[0]


@pytest.mark.parametrize("seed", [18, 25, 36])
def test_nearly_dependent_kernels_add_up_to_one_without_negative_eigenvalues(seed: int) -> None:
    """The least eigenvalues were -1.1e-9 to -1.2e-8 of the largest, where rounding explains 1e-12 to 1e-10."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(10, 60)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, d))
    y = (X[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(int)
    y[:2] = 0, 1
    theta, apart = 10.0 ** rng.uniform(-1, 1.5), 10.0 ** rng.uniform(-9, -1)
    kernels = [Gaussian(theta), Gaussian(theta * (1 + apart)), Linear()]
    if rng.random() < 0.5:
        kernels.append(Gaussian(theta * (1 - 2 * apart)))
    margin = str(rng.choice(["1-norm", "2-norm", "hard"]))
    C = 10.0 ** rng.uniform(-2, 2)
    machine = LearnedKernelSVM(kernels, combine="sdp", margin=margin, C=C, on_failure="flag").fit(X, y)
    gram = machine.machine_kernels_[0].gram(X, X)
    sizes = sum(
        abs(w) * np.abs(kernel.gram(X, X)).sum(axis=1).max()
        for w, kernel in zip(machine.weights_[0], kernels, strict=True)
    )
    assert (machine.weights_ < 0).any()
    assert np.linalg.eigvalsh(gram)[0] >= -4.0 * n * EPSILON * sizes
