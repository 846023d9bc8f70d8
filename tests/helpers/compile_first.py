"""Compiles what most tests run: machines, the solvers below them, and nested subsets.

`make test` does so while another process checks types: with nothing compiled, each process of the tests would begin
with this, and on two cores one would have nothing to do meanwhile.
"""

from __future__ import annotations

import numpy as np

from fsvm_cli.svm import Gaussian, Linear, nested_curves


def main() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 4)) + y[:, None]
    for kernel in (Linear(), Gaussian(theta=1.0)):
        nested_curves(kernel, 1.0, X, y, X, [np.arange(4)], (1, 4), n_classes=3)


if __name__ == "__main__":
    main()
