"""The routing table: in which form a machine's samples reach a solver, by the kernel, the samples and their number.

`FORMS` is read from its first row on. The first form that can take the samples, and that the solver's name asks for
or, where that is "auto", whose threshold the samples exceed, is taken. Within the form of a Gram matrix
`fsvm_cli.svm.solvers.solve` goes from sequential minimal optimisation to the interior-point method where the first
misses its gap; a linear machine that misses it with both is tried in the space of the features, and one of up to
5,000 samples that misses it there on a Gram matrix. An indefinite kernel
and a hard margin (C infinite) have no row of their own: every solver takes both, and states the gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import scipy.sparse as sp

from fsvm_cli.memory_check import free_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.solvers.dual import Solver

MAX_SAMPLES_OF_SMALL_GRAM = 5000
"""Up to so many samples a Gram matrix is always held: it takes 200 megabytes at most."""
MAX_SAMPLES_OF_PAIR_STEPS = 2000
"""Of linear machines that are solved on a Gram matrix though there are many samples for each feature: of more samples
the space of the features is 2 to 60 times as fast."""
MIN_SAMPLES_PER_FEATURE = 4
"""A linear machine on more samples than so many for each feature is solved in the space of the features: a step costs
n d^2 operations there, and n^2 d are needed for the Gram matrix."""
MAX_SAMPLES_OF_GRAM = 10_000
"""On more samples no Gram matrix is held, whatever the memory: it would take more than 800 megabytes."""
GRAM_MATRICES = 2
"""Matrices of all pairs that a solver on a Gram matrix holds: the Gram matrix and a factor of part of it."""
MAX_PART_OF_FREE_MEMORY = 0.5
"""Of the free memory, for the Gram matrix and its factor."""
MAX_FEATURES_OF_RETRY = 1000
"""Of linear machines that miss their gap with a Gram matrix and are tried in the space of the features instead."""


@dataclass(frozen=True)
class Form:
    """A form of the problem, with what it needs.

    Attributes
    ----------
    name : str
        Of the form, and of the solver that asks for it.
    linear_only, dense_only : bool
        Whether the kernel must be linear, and the samples a dense array.
    is_default : callable
        (n_samples, n_features) -> bool: whether the solver "auto" takes the form.
    """

    name: str
    linear_only: bool
    dense_only: bool
    is_default: Callable[[int, int], bool]

    def takes(self, kernel: Kernel, X: Any) -> bool:
        """Return whether the form can be made of these samples."""
        return (kernel.is_linear or not self.linear_only) and not (self.dense_only and sp.issparse(X))


def _has_many_samples_per_feature(n: int, d: int) -> bool:
    return n > max(MAX_SAMPLES_OF_PAIR_STEPS, MIN_SAMPLES_PER_FEATURE * d)


def _exceeds_memory_for_pairs(n: int, d: int) -> bool:  # noqa: ARG001 - as of all forms
    if n <= MAX_SAMPLES_OF_SMALL_GRAM:
        return False
    return n > MAX_SAMPLES_OF_GRAM or 8 * GRAM_MATRICES * n**2 > MAX_PART_OF_FREE_MEMORY * free_memory()


FEATURE_SPACE = Form("feature-space", linear_only=True, dense_only=True, is_default=_has_many_samples_per_feature)
DECOMPOSITION = Form("decomposition", linear_only=False, dense_only=False, is_default=_exceeds_memory_for_pairs)
GRAM = Form("gram", linear_only=False, dense_only=False, is_default=lambda n, d: True)  # noqa: ARG005
FORMS = (FEATURE_SPACE, DECOMPOSITION, GRAM)
"""The table. The solvers "smo", "interior-point" and "libsvm" work on a Gram matrix."""


def form_of(kernel: Kernel, X: Any, solver: Solver) -> Form:
    """Return the form in which machines on these samples are solved.

    Parameters
    ----------
    kernel : Kernel
    X : (n, d) array or CSR matrix
    solver : str or StoppedLibsvm

    Raises
    ------
    ValueError
        If the solver is "feature-space", and the kernel is not linear or the samples are sparse.
    """
    if solver == FEATURE_SPACE.name and not FEATURE_SPACE.takes(kernel, X):
        raise ValueError("solver 'feature-space' is for the linear kernel and dense samples; leave it to 'auto'")
    n, d = X.shape
    return next(form for form in FORMS if form.takes(kernel, X) and _is_chosen(form, solver, n, d))


def needs_a_cache(n_samples: int, solver: Solver) -> bool:
    """Return whether machines of a kernel that is not linear are solved by decomposition, without a Gram matrix.

    "auto" does so on more than 10,000 samples, and on more than 5,000 where the Gram matrix and its factor would take
    more than half of the free memory.
    """
    return _is_chosen(DECOMPOSITION, solver, n_samples, 0)


def eliminates_in_feature_space(kernel: Kernel, X: Any, solver: Solver) -> bool:
    """Return whether features that leave one after the other do so in the space of the features.

    Where "auto" takes that for a single machine, and a Gram matrix, from which terms of rank one are taken, is large.

    Raises
    ------
    ValueError
        As of `form_of`.
    """
    is_large = solver == FEATURE_SPACE.name or X.shape[0] > MAX_SAMPLES_OF_SMALL_GRAM
    return is_large and form_of(kernel, X, solver) is FEATURE_SPACE


def _is_chosen(form: Form, solver: Solver, n: int, d: int) -> bool:
    """Return whether a solver's name asks for a form, or "auto" takes it; all other solvers need a Gram matrix."""
    return solver == form.name or form is GRAM or (solver == "auto" and form.is_default(n, d))
