"""The ways to learn the weights of kernels, by the names that configs give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from fsvm_cli.kernel_learning.alignment import align
from fsvm_cli.kernel_learning.kinds import Combine
from fsvm_cli.kernel_learning.margin import LearnedKernel
from fsvm_cli.kernel_learning.qcqp import learn_weights
from fsvm_cli.kernel_learning.sdp import learn_signed_weights
from fsvm_cli.svm.solvers.solve import solve

if TYPE_CHECKING:
    from fsvm_cli.kernel_learning.base_kernels import GramMatrices
    from fsvm_cli.kernel_learning.margin import Margin
    from fsvm_cli.svm.vectors import Array

MACHINE_TOLERANCE = 1e-2
"""Gap of the machine on aligned kernels, as a part of the tolerance of the weights."""


def learn_kernel(
    combine: Combine, kernels: GramMatrices, y: Array, margin: Margin, *, tolerance: float
) -> LearnedKernel:
    """Learn weights of kernels, and train a machine on their sum.

    Parameters
    ----------
    combine : {"alignment", "centred-alignment", "qcqp", "sdp"}
        See `align`, `learn_weights` and `learn_signed_weights`.
    kernels : GramMatrices
    y : (n,) array
        Labels of the training rows, -1 or +1.
    margin : Margin
    tolerance : float
        The relative gap of the weights to reach, > 0.

    Raises
    ------
    InfeasibleError
        If the margin is hard and no machine has one.
    ConvergenceError
        If a machine on aligned kernels misses its gap.
    ValueError
        As the three functions.
    """
    if combine not in get_args(Combine):
        raise ValueError(f"combine must be one of {', '.join(get_args(Combine))}, not {combine!r}")
    if combine == "qcqp":
        return learn_weights(kernels, y, margin, tolerance=tolerance)
    if combine == "sdp":
        return learn_signed_weights(kernels, y, margin, tolerance=tolerance)
    if margin.kind == "learned-2-norm":
        raise ValueError("a ridge is learned by the qcqp only; give C, or combine the kernels by it")
    aligned = align(kernels, y, centre=combine == "centred-alignment")
    gram = kernels.combined(aligned.weights)
    machine = solve(margin.problem(gram, y), tolerance=MACHINE_TOLERANCE * tolerance)
    c = machine.alpha * y
    return LearnedKernel(
        aligned.weights,
        margin.ridge,
        machine,
        squared_norm=float(c @ gram @ c),
        objective=2.0 * machine.objective / (1.0 - machine.duality_gap),
        gap=aligned.gap,
        iterations=1,
        converged=aligned.gap <= tolerance,
    )
