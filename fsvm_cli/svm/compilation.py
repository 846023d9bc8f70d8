"""Compilation ahead of time: once per host, before work fans out to processes."""

from __future__ import annotations

import numpy as np

from fsvm_cli.svm.kernels import Linear
from fsvm_cli.svm.nested import nested_curves
from fsvm_cli.svm.tuning import grid_search, leave_one_out


def warm_up() -> None:
    """Compile what this floor computes with, or load it from numba's cache on disk.

    The first call on a host takes some 20 s, later ones a fraction of a second. Processes that compile at the same time
    race for the cache (numba issues 4807 and 10128), so call this before starting them.
    """
    X = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [3.0, 2.0]])
    y = np.array([0, 0, 1, 1])
    nested_curves(Linear(), 1.0, X, y, X, np.array([[0, 1]]), (1, 2), n_classes=2)
    grid_search([Linear()], [1.0], X, y, leave_one_out(4), n_classes=2)
