"""Compiles what tests run: machines, the solvers below them, nested subsets, folds, and the methods that have loops.

With nothing compiled, each process of the tests would begin with this. Two do it side by side: one for this processor,
as tests call the library, and one for the instructions that the command line keeps to.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
from sklearn.model_selection import KFold

from fsvm_cli import KernelParameterDescent, RecursiveFeatureElimination, ReliefF
from fsvm_cli.cpu_features import common_cpu_features, cpu_flags
from fsvm_cli.svm import Gaussian, Laplace, Linear, grid_search, nested_curves


def main() -> None:
    chosen = common_cpu_features(cpu_flags(), os.environ)
    other = subprocess.Popen([sys.executable, "-m", __spec__.name], env=os.environ | chosen) if chosen else None
    compile_here()
    if other is not None and other.wait():
        sys.exit(1)


def compile_here() -> None:
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
