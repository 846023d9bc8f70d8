"""One fit from nothing at n = 2,000, Gram matrix included."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

from benchmarks.curves import svc_of
from benchmarks.harness import Comparison, compare, svc_gap, svc_peers
from benchmarks.large_curves import D, large_part
from fsvm_cli.svm import SVM, Gaussian, Linear

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np


TOLERANCES: dict[str, dict[str, object]] = {"": {}, ", tol=1e-6": {"tol": 1e-6}, ", tol=1e-12": {"tol": 1e-12}}
"""The peers' default of 1e-3, our default in their measure, and what brings their gap as near to ours as it gets."""


def comparisons() -> Iterator[Comparison]:
    """Yield the rows of cold fits."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = large_part()
    for kernel, target in ((Gaussian(float(D)), 2.0), (Linear(), 4.0)):
        words, gram = svc_of(kernel), kernel.gram(X, X)
        our_gap = float(SVM(kernel).fit(X, y).duality_gap_.max())
        for (name, peer), (suffix, tolerance) in product(svc_peers().items(), TOLERANCES.items()):
            theirs = partial(fit, peer, words | tolerance, X, y)
            yield compare(
                f"one cold fit, make_classification 2000 x {D}, {kernel.name}, C=1",
                name + suffix,
                target,
                theirs,
                partial(fit, SVM, {"kernel": kernel}, X, y),
                (svc_gap(gram, y, 1.0, theirs()), our_gap),
            )


def fit(machine: Callable[..., Any], words: dict[str, object], X: np.ndarray, y: np.ndarray) -> Any:
    """Fit a machine of these words."""
    return machine(**words).fit(X, y)
