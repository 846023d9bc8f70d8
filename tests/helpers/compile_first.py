"""Compiles what tests run: machines, the solvers below them, nested subsets, folds, and the methods that have loops.

`make test` does so while another process checks types: with nothing compiled, each process of the tests would begin
with this, and on two cores one would have nothing to do meanwhile.
"""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold

from fsvm_cli import KernelParameterDescent, RecursiveFeatureElimination, ReliefF
from fsvm_cli.svm import Gaussian, Laplace, Linear, grid_search, nested_curves


def main() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 4)) + y[:, None]
    for kernel in (Linear(), Gaussian(theta=1.0)):
        nested_curves(kernel, 1.0, X, y, X, [np.arange(4)], (1, 4), n_classes=3)
    grid_search([Gaussian(1.0), Laplace(1.0)], [0.1, 1.0], X, y, list(KFold(3).split(X)), n_classes=3)
    for method in (ReliefF(), RecursiveFeatureElimination(Linear()), KernelParameterDescent(Gaussian(1.0))):
        method.fit(X, y)


if __name__ == "__main__":
    main()
