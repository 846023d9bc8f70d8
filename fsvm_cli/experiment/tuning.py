"""The choice of a machine inside the training part, as the `tune` of a classifier asks for it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from fsvm_cli.evaluation.folds import LEAVE_ONE_OUT, leave_one_out, stratified_folds
from fsvm_cli.spec.kernels import fields_in_configs
from fsvm_cli.svm import grid_search

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fsvm_cli.evaluation.folds import Fold
    from fsvm_cli.spec.machine import Machine
    from fsvm_cli.spec.tuning import TuneStep
    from fsvm_cli.svm.kernels.base import Kernel


def tuned(
    machine: Machine,
    steps: Sequence[TuneStep],
    X: NDArray[np.float64],
    y: NDArray[np.intp],
    *,
    n_classes: int,
    rng: np.random.Generator,
    groups: NDArray[np.intp] | None = None,
) -> Machine:
    """Choose a machine by accuracy in cross-validation, step by step.

    Of equally accurate candidates the step's rule takes one; see `fsvm_cli.svm.ties`.

    Parameters
    ----------
    machine : Machine
        Where the first step begins.
    steps : sequence of TuneStep
        Each begins with what the one before it chose.
    X : ndarray, shape (n_samples, n_features)
        The training part.
    y : ndarray of int, shape (n_samples,)
        Class codes.
    n_classes : int
    rng : numpy.random.Generator
        Draws the folds.
    groups : ndarray of int, shape (n_samples,), optional
        Samples of one group stay in one fold.

    Raises
    ------
    ValueError
        If a class has too few samples for the folds, or there are too few groups.
    """
    for step in steps:
        kernels = [kernel for candidates in step.kernels for kernel in candidates.objects()]
        found = grid_search(
            kernels or [machine.kernel],
            step.C or [machine.C],
            X,
            y,
            _folds(step, y, rng, groups),
            n_classes=n_classes,
            tolerance=machine.tolerance,
            ties=step.ties,
            class_weight=machine.class_weight,
            C_unit=machine.C_unit,
        )
        machine = dataclasses.replace(
            machine,
            kernel=found.kernel,
            C=found.C,
            chosen={**machine.chosen, **_chosen(step, found.kernel, found.C)},
            converged=machine.converged and bool(found.converged.all()),
        )
    return machine


def _folds(
    step: TuneStep, y: NDArray[np.intp], rng: np.random.Generator, groups: NDArray[np.intp] | None
) -> list[Fold]:
    if step.folds == LEAVE_ONE_OUT:
        return leave_one_out(y, groups=groups, caller="tune")
    return stratified_folds(y, step.folds, int(rng.integers(2**31)), groups=groups, caller="tune")


def _chosen(step: TuneStep, kernel: Kernel, C: float) -> dict[str, float | int | str]:
    """Name what the step chose among several values."""
    chosen: dict[str, float | int | str] = {}
    if len({candidates.kernel for candidates in step.kernels}) > 1:
        chosen["kernel"] = kernel.name
    of_kind = [candidates.values() for candidates in step.kernels if candidates.kernel == kernel.name]
    for name in fields_in_configs(type(kernel)):
        if len({value for values in of_kind for value in values[name]}) > 1:
            chosen[name] = getattr(kernel, name)
    return chosen | ({"C": C} if len(step.C) > 1 else {})
