"""Problems that the tests of the Bayesian machine share."""

from __future__ import annotations

import numpy as np

from fsvm_cli.evidence.kernels import ArdKernel, NystroemFactor, nystroem_factor
from fsvm_cli.svm.nystroem import choose_landmarks


def two_classes(n: int, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Samples of which the first two features tell the classes, with some overlap."""
    rng = np.random.default_rng(17)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 0] + 0.4 * rng.standard_normal(n) > 0.0, 1.0, -1.0)


def thin_factor(X: np.ndarray, n_landmarks: int, rank: int) -> NystroemFactor:
    kernel = ArdKernel(1.0, 1.0, (float(np.sqrt(X.shape[1])),) * X.shape[1])
    return nystroem_factor(kernel, X, choose_landmarks(len(X), n_landmarks, np.random.default_rng(5)), rank)
