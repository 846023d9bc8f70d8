"""Which of equally accurate candidates a grid search takes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.vectors import Array

TieRule = Literal["margin", "smoothest"]

ROUNDING = 1e-9
"""Between means of the same counts in another order."""

SAME_MARGIN = 1e-3
"""Relative difference of two margins that counts as none: machines reach their optimum to within a duality gap."""


def best_candidate(
    kernels: Sequence[Kernel], accuracy: Array, narrowness: Array, n_tested: int, rule: TieRule
) -> tuple[int, int]:
    """Choose among the candidates of a grid by accuracy, and among the equally accurate by a rule.

    The rule "margin" prefers what lies within a plateau to what lies at its edge. It compares the mean accuracy of the
    candidates next to each on the grid, in C and in each parameter of the kernel. Of those whose neighbours are within
    one standard error of the best neighbours, sqrt(a (1 - a) / n) for their accuracy a on n samples, it takes the one
    with the largest margin, in units of the samples' spread in the feature space. Of equal margins, and by the rule
    "smoothest" of all, the smallest C is taken, then the kernel of least `roughness`.

    Parameters
    ----------
    kernels : sequence of Kernel
    accuracy : (n_kernels, n_C) array
        In cross-validation, in 0 .. 1; C ascending.
    narrowness : (n_kernels, n_C) array
        Squared spread of the samples over the squared margin of the machines on all of them.
    n_tested : int
        Samples that the accuracy is one of.
    rule : {"margin", "smoothest"}

    Returns
    -------
    kernel, C : int
        Numbers of the row and the column.
    """
    smoothest = sorted(range(len(kernels)), key=lambda k: kernels[k].roughness)
    tied = np.argwhere(accuracy.max() - ROUNDING <= accuracy[smoothest].T)
    candidates = [(smoothest[k], int(c)) for c, k in tied]
    if rule == "margin" and len(candidates) > 1:
        beside = np.array([_accuracy_beside(kernels, accuracy, *candidate) for candidate in candidates])
        error = np.sqrt(beside.max() * (1 - beside.max()) / n_tested)
        within = [
            each for each, mean in zip(candidates, beside, strict=True) if mean >= beside.max() - error - ROUNDING
        ]
        least = min(narrowness[each] for each in within)
        candidates = [each for each in within if narrowness[each] <= least * (1 + SAME_MARGIN)]
    return candidates[0]


def _accuracy_beside(kernels: Sequence[Kernel], accuracy: Array, k: int, c: int) -> float:
    """Mean accuracy of the candidates next to one; its own where there are none."""
    found = [accuracy[k, each] for each in (c - 1, c + 1) if 0 <= each < accuracy.shape[1]]
    found += [accuracy[each, c] for each in _kernels_beside(kernels, k)]
    return float(np.mean(found)) if found else float(accuracy[k, c])


def _kernels_beside(kernels: Sequence[Kernel], k: int) -> list[int]:
    """Find the kernels that differ in one parameter, to the next larger or smaller value that there is of it."""
    beside = []
    own = _parameters(kernels[k])
    others = {each: _parameters(kernel) for each, kernel in enumerate(kernels) if type(kernel) is type(kernels[k])}
    for name, value in own.items():
        if isinstance(value, int | float):
            alike = [each for each, values in others.items() if {**values, name: None} == {**own, name: None}]
            line = {each: float(getattr(kernels[each], name)) for each in alike}
            above = [each for each in line if line[each] > value]
            below = [each for each in line if line[each] < value]
            beside += [min(above, key=line.__getitem__)] if above else []
            beside += [max(below, key=line.__getitem__)] if below else []
    return beside


def _parameters(kernel: Kernel) -> dict[str, object]:
    return {field.name: getattr(kernel, field.name) for field in dataclasses.fields(kernel)}
