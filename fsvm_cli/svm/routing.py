"""The routing table: which solver takes a machine, by the kernel, the samples and their number.

`SOLVERS` is read from its first row on: the first solver that can take the samples, and that is asked for by its name
or, under "auto", whose threshold the samples exceed. On a Gram matrix "auto" goes from sequential minimal optimisation
to the interior-point method where the first misses its gap; a linear machine that misses it with both is tried in the
space of the features, and one of up to 5,000 samples that misses it there on a Gram matrix. An indefinite kernel and a
hard margin (C infinite) have no row of their own: all solvers but libsvm take both, and state the gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import scipy.sparse as sp

from fsvm_cli.memory_check import free_memory
from fsvm_cli.svm.large.coordinate_ascent import CoordinateAscent
from fsvm_cli.svm.large.decomposition import Decomposition
from fsvm_cli.svm.large.linear import FeatureSpace
from fsvm_cli.svm.large.linear_machine import MAX_PART_OF_FREE_MEMORY, fits_densely
from fsvm_cli.svm.solvers.dual import DualSolver
from fsvm_cli.svm.solvers.solve import GRAM_SOLVERS, check_solver

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.solvers.dual import Needs, Solver

MAX_SAMPLES_OF_SMALL_GRAM = 5000
"""Up to this number of samples a Gram matrix is always held: it takes 200 megabytes at most."""
MAX_SAMPLES_OF_PAIR_STEPS = 1000
"""Of linear machines that are solved on a Gram matrix though there are many samples for each feature: of more samples
the space of the features is .8 (300 features, C = .01) to 60 times as fast, and of 1,500 or more 2 to 20 times from
C = 1 on."""
MIN_SAMPLES_PER_FEATURE = 4
"""A linear machine on more samples for each feature than this is solved in the space of the features: a step costs
n d^2 operations there, and n^2 d are needed for the Gram matrix."""
MAX_SAMPLES_OF_GRAM = 10_000
"""On more samples no Gram matrix is held, whatever the memory: it would take more than 800 megabytes."""
GRAM_MATRICES = 2
"""Matrices of all pairs that a solver on a Gram matrix holds: the Gram matrix and a factor of part of it."""
MAX_FEATURES_OF_RETRY = 1000
"""Of linear machines that miss their gap with a Gram matrix and are tried in the space of the features instead."""


class Shape(NamedTuple):
    """What a threshold looks at: the numbers of samples and of features, and whether the samples are sparse."""

    n: int
    d: int
    is_sparse: bool


def _has_many_samples_per_feature(shape: Shape) -> bool:
    return shape.n > max(MAX_SAMPLES_OF_PAIR_STEPS, MIN_SAMPLES_PER_FEATURE * shape.d)


def _has_many_sparse_samples(shape: Shape) -> bool:
    return shape.is_sparse and shape.n > MAX_SAMPLES_OF_SMALL_GRAM


def _exceeds_memory_for_pairs(shape: Shape) -> bool:
    n = shape.n
    if n <= MAX_SAMPLES_OF_SMALL_GRAM:
        return False
    return n > MAX_SAMPLES_OF_GRAM or 8 * GRAM_MATRICES * n**2 > MAX_PART_OF_FREE_MEMORY * free_memory()


FEATURE_SPACE, COORDINATE_ASCENT, DECOMPOSITION = FeatureSpace(), CoordinateAscent(), Decomposition()
SOLVERS: tuple[DualSolver, ...] = (FEATURE_SPACE, COORDINATE_ASCENT, DECOMPOSITION, *GRAM_SOLVERS.values())
"""The table. `Automatic`, whose name is "auto", takes what those before it have left."""
THRESHOLDS: dict[str, Callable[[Shape], bool]] = {
    FeatureSpace.name: _has_many_samples_per_feature,
    CoordinateAscent.name: _has_many_sparse_samples,
    Decomposition.name: _exceeds_memory_for_pairs,
}
"""By the solver's name: whether "auto" takes it."""


def solver_for(kernel: Kernel, X: Any, solver: Solver) -> DualSolver:
    """Return the solver of machines on these samples.

    Parameters
    ----------
    kernel : Kernel
    X : (n, d) array or CSR matrix
    solver : str or DualSolver

    Raises
    ------
    ValueError
        If no solver has the name; if it is "feature-space" or "coordinate-ascent" and the kernel is not linear; or
        if it is "feature-space" and the samples are sparse.
    """
    if isinstance(solver, DualSolver):
        return solver
    check_solver(solver)
    shape = Shape(X.shape[0], X.shape[1], sp.issparse(X))
    for each in SOLVERS:
        if _takes(each.needs, kernel, X) and _is_chosen(each, solver, shape):
            return each
    samples = "" if solver == COORDINATE_ASCENT.name else " and dense samples"
    raise ValueError(f"solver '{solver}' is for the linear kernel{samples}; leave it to 'auto'")


def is_better_dense(X: Any, solver: Solver) -> bool:
    """Return whether "auto" makes sparse samples of a linear machine dense: many for each feature, if they find room.

    Their machine has few free coefficients, which coordinates find slowly, and the space of the features at once.
    """
    if solver != "auto" or not sp.issparse(X):
        return False
    shape = Shape(X.shape[0], X.shape[1], is_sparse=False)
    has_many = shape.n > MAX_SAMPLES_OF_SMALL_GRAM and _has_many_samples_per_feature(shape)
    return has_many and fits_densely(shape.n, shape.d)


def needs_a_cache(n_samples: int, solver: Solver) -> bool:
    """Return whether machines of a kernel that is not linear are solved by decomposition, without a Gram matrix.

    "auto" does so on more than 10,000 samples, and on more than 5,000 where the Gram matrix and its factor would take
    more than half of the free memory.
    """
    return isinstance(solver, str) and _is_chosen(DECOMPOSITION, solver, Shape(n_samples, 0, is_sparse=False))


def eliminates_in_feature_space(kernel: Kernel, X: Any, solver: Solver) -> bool:
    """Return whether features that leave one after the other do so in the space of the features.

    Where "auto" takes that for a single machine, and a Gram matrix, from which terms of rank one are taken, is large.

    Raises
    ------
    ValueError
        As of `solver_for`.
    """
    is_large = solver == FEATURE_SPACE.name or X.shape[0] > MAX_SAMPLES_OF_SMALL_GRAM
    return is_large and solver_for(kernel, X, solver) is FEATURE_SPACE


def _takes(needs: Needs, kernel: Kernel, X: Any) -> bool:
    return (kernel.is_linear or not needs.linear_kernel) and not (needs.dense_samples and sp.issparse(X))


def _is_chosen(each: DualSolver, solver: str, shape: Shape) -> bool:
    """Return whether a solver is asked for by its name, or "auto" takes it."""
    return each.name == solver or (solver == "auto" and each.name in THRESHOLDS and THRESHOLDS[each.name](shape))
