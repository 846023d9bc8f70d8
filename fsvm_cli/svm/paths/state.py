"""What the compiled functions of nested subsets are handed: the path so far, scratch, problems, features, records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fsvm_cli.svm.kernels.compiled import IDENTITY, Form
from fsvm_cli.svm.solvers.engine import make_scratch

if TYPE_CHECKING:
    from fsvm_cli.svm.solvers.factor import Factor
    from fsvm_cli.svm.solvers.pair_steps import Box
    from fsvm_cli.svm.vectors import Array

Integers = npt.NDArray[np.int64]


class Path(NamedTuple):
    """The machines on the last subset, from which those on the next begin, and the matrices that they share.

    Attributes
    ----------
    form : Form
        The kernel: a function of the statistic, which is a sum over features.
    square : (n, n) array
        Statistic between training samples; of some kernels the upper triangle only.
    cross : (n, n_test) array
        Statistic between training and test samples; without columns where scores come from normal vectors.
    coefficients, residuals : (n_machines, n) arrays
        Solutions on the last subset. `follow_order` keeps the residuals up to date where the kernel is its statistic.
    bias : (n_machines,) array
    """

    form: Form
    square: Array
    cross: Array
    coefficients: Array
    residuals: Array
    bias: Array


class Scratch(NamedTuple):
    """Memory to work in, reusable from one path to the next.

    Attributes
    ----------
    K : (n, n) array
        The Gram matrix; the path's own `square` where the kernel is its statistic.
    box : Box
    factor : Factor
    row : (max(n, n_test),) array
    """

    K: Array
    box: Box
    factor: Factor
    row: Array


class Problems(NamedTuple):
    """The dual problems but for their Gram matrix.

    Attributes
    ----------
    labels : (n_machines, n) array
        -1 or +1; a machine without +1 has no fit and a score of -infinity.
    C : (n,) array
        Upper bounds of alpha.
    tolerance : float
        Relative duality gap.
    """

    labels: Array
    C: Array
    tolerance: float


class Entering(NamedTuple):
    """The features that enter along an order, and when.

    Attributes
    ----------
    train, test : (n_features, n) and (n_features, n_test) arrays
        Samples, one row for each feature.
    weights : (n_features,) array
        Of the features in the kernel.
    order : (n_entering,) array of int
        Rows of `train`.
    added : (n_sizes,) array of int
        How many features enter before each subset.
    """

    train: Array
    test: Array
    weights: Array
    order: Integers
    added: Integers


class Records(NamedTuple):
    """What is noted of each subset and machine; see `NestedCurves`."""

    train_decision: Array
    test_decision: Array
    duality_gap: Array
    converged: npt.NDArray[np.bool_]
    iterations: Integers

    def part(self, index: Any) -> Records:
        """Return views of the records at an index of their leading axes."""
        return Records(*(array[index] for array in self))


def make_path(form: Form, n: int, n_test: int, n_machines: int) -> tuple[Path, Scratch]:
    """Return a path, which `restart` is to begin, and its scratch; linear machines need no `cross`."""
    path = Path(
        form=form,
        square=np.empty((n, n)),
        cross=np.empty((n, 0 if form.function == IDENTITY else n_test)),
        coefficients=np.empty((n_machines, n)),
        residuals=np.empty((n_machines, n)),
        bias=np.empty(n_machines),
    )
    box, factor = make_scratch(n)
    K = path.square if form.function == IDENTITY else np.empty((n, n))
    return path, Scratch(K=K, box=box, factor=factor, row=np.empty(max(n, n_test)))


def restart(path: Path, labels: Array) -> None:
    """Begin without features: matrices of zeros, and machines whose coefficients are 0."""
    path.square[:], path.cross[:], path.coefficients[:] = 0.0, 0.0, 0.0
    path.residuals[:] = labels
