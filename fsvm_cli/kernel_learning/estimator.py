"""The machine with a learned sum of kernels as a scikit-learn estimator, and its learners by their names in configs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fsvm_cli.kernel_learning import Combine
from fsvm_cli.kernel_learning.alignment import align
from fsvm_cli.kernel_learning.base_kernels import GramMatrices
from fsvm_cli.kernel_learning.margin import LearnedSum, Margin
from fsvm_cli.kernel_learning.qcqp import learn_weights
from fsvm_cli.kernel_learning.sdp import learn_signed_weights
from fsvm_cli.numerics import one_blas_thread
from fsvm_cli.svm import ConvergenceError, DualProblem, Kernel, UnitDiagonal, WeightedSum, duality_gap, kernel_for
from fsvm_cli.svm.base import KernelMachine
from fsvm_cli.svm.kernels.registry import as_kernel
from fsvm_cli.svm.labels import machine_labels
from fsvm_cli.svm.solvers.solve import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.kernel_learning import MarginKind
    from fsvm_cli.svm.compiled import Array

MACHINE_TOLERANCE = 1e-2
"""Gap of the machine on aligned kernels, as a part of the tolerance of the weights."""


def learn_kernel(combine: Combine, kernels: GramMatrices, y: Array, margin: Margin, *, tolerance: float) -> LearnedSum:
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
    return LearnedSum(
        aligned.weights,
        margin.ridge,
        machine,
        squared_norm=float(c @ gram @ c),
        objective=2.0 * machine.objective / (1.0 - machine.duality_gap),
        gap=aligned.gap,
        iterations=1,
        converged=aligned.gap <= tolerance,
    )


class LearnedKernelSVM(KernelMachine):
    """Support vector machine on a weighted sum of kernels, with weights that are learned; several classes one-vs-rest.

    Parameters
    ----------
    kernels : sequence of str or Kernel
        The base kernels, at least one, all positive semidefinite; by a name as of `SVM`.
    combine : {"qcqp", "sdp", "alignment", "centred-alignment"}
        How to learn their weights: for the largest margin with weights that are not negative, or of either sign with a
        sum that is positive semidefinite; by the alignment of the sum with the labels, of kernels as they are or
        centred in feature space.
    margin : {"1-norm", "2-norm", "hard", "learned-2-norm"}
        What violations of the margin cost: C sum_i xi_i; C/2 sum_i xi_i^2; they are not allowed; as "2-norm", with a
        ridge that is learned in place of 1/C ("qcqp" only).
    C : float
        > 0; of no meaning for a hard margin and a learned ridge.
    unit_diagonal : bool
        Whether each kernel is first divided by the lengths of its samples; see `UnitDiagonal`.
    tolerance : float
        The relative gap of the weights, > 0; machines have a hundredth of it.
    on_failure : {"raise", "flag"}
        Whether weights that miss their gap raise `ConvergenceError` or are recorded in `converged_`.

    Attributes
    ----------
    weights_ : (n_machines, n_kernels) array
        mu_i of each machine, whose sum of kernels has the trace of all of them together.
    ridge_ : (n_machines,) array
        What each machine adds to the diagonal of the Gram matrix of its training samples.
    margin_ : (n_machines,) array
        Width 2/‖w‖ between the classes, in the feature space of the sum.
    duality_gap_ : (n_machines,) array
        Relative, of the weights or, if larger, of the machine: upper bounds for the machine on the sum of kernels that
        predicts, with the rounding of kernel values and sums.
    converged_ : (n_machines,) array of bool
        Whether the weights reached their gap, and the machine its own.
    n_iter_ : (n_machines,) array of int
        Machines that were trained on the way.
    classes_, class_counts_, support_, support_vectors_, dual_coef_, intercept_, margin_vectors_, machine_kernels_, \
output_factors_, n_features_in_, feature_names_in_
        As in `SVM`; the kernels of the machines are weighted sums.

    See Also
    --------
    SVM : The machine on one kernel.
    KernelSelection : Ranks features by the weights of one linear kernel each.

    References
    ----------
    - G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui and M. I. Jordan, "Learning the Kernel Matrix with
      Semidefinite Programming", Journal of Machine Learning Research 5, 2004, pages 27-72.
    - jebara-slides: T. Jebara, "SVM Feature & Kernel Selection", lecture slides of the course "Advanced Machine
      Learning & Perception".

    Examples
    --------
    >>> from fsvm_cli import Gaussian, LearnedKernelSVM
    >>> X = [[0, 3], [1, 1], [0, 2], [1, 4], [5, 3], [6, 1], [5, 2], [6, 4]]
    >>> machine = LearnedKernelSVM(["linear", Gaussian(2.0)], C=10).fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> machine.predict([[0, 0], [6, 6]]).tolist(), bool(machine.converged_.all())
    ([0, 1], True)
    >>> machine.weights_.shape
    (1, 2)
    """

    def __init__(  # noqa: PLR0917 - scikit-learn's estimators take their parameters in place or by name
        self,
        kernels: Sequence[str | Kernel] = ("linear", "gaussian"),
        combine: Combine = "qcqp",
        margin: MarginKind = "1-norm",
        C: float = 1.0,
        unit_diagonal: bool = False,
        tolerance: float = 1e-4,
        on_failure: Literal["raise", "flag"] = "raise",
    ) -> None:
        self.kernels = kernels
        self.combine = combine
        self.margin = margin
        self.C = C
        self.unit_diagonal = unit_diagonal
        self.tolerance = tolerance
        self.on_failure = on_failure

    @one_blas_thread()
    def fit(self, X: Any, y: npt.ArrayLike, X_unlabelled: Any = None) -> Self:
        """Learn the weights of each machine's kernels, and fit the machines.

        Parameters
        ----------
        X : (n, n_features) array, data frame or (where all kernels take one) sparse matrix
        y : (n,) array
            Class labels.
        X_unlabelled : (n_unlabelled, n_features) array or matrix, optional
            Further samples, whose classes are to be predicted: "qcqp" and "sdp" scale the kernels by their traces on
            all samples, and the sum is positive semidefinite on all.

        Raises
        ------
        ValueError
            If the input is not fit for classification, holds one class only, a parameter is out of range, or a kernel
            is indefinite on the samples.
        InfeasibleError
            If a hard margin was asked for and the classes are not separable.
        ConvergenceError
            If weights or a machine miss their gap and `on_failure` is "raise".
        """
        X, codes = self._to_learn(X, y)
        margin, kernels = Margin(self.margin, self.C), self._kernels_asked_for(X)
        rows = X if X_unlabelled is None else _stacked(X, self._validated_rows(X_unlabelled))
        known = [kernel.positive_semidefinite for kernel in kernels]
        grams = GramMatrices.of([kernel.gram(rows, rows) for kernel in kernels], X.shape[0], known_semidefinite=known)
        labels, self.class_counts_ = machine_labels(codes, len(self.classes_))
        learned = [learn_kernel(self.combine, grams, own, margin, tolerance=self.tolerance) for own in labels]
        self._keep(X, labels, kernels, learned)
        self._certify(X, grams, labels, margin, learned)
        margin_bound = margin.bound
        alphas = [found.machine.alpha for found in learned]
        self.margin_vectors_ = tuple(np.flatnonzero((alpha > 0) & (alpha < margin_bound)) for alpha in alphas)
        if self.on_failure == "raise" and not self.converged_.all():
            worst = learned[int(self.duality_gap_.argmax())]
            raise ConvergenceError(
                f"{self.combine} stopped after {worst.iterations} machines at a relative gap of {worst.gap:.1e}, above "
                f"the tolerance of {self.tolerance:.1e}",
                worst.machine,
            )
        return self

    def _keep(self, X: Any, labels: Array, kernels: Sequence[Kernel], learned: Sequence[LearnedSum]) -> None:
        """Set what a machine predicts by, and what was learned."""
        coefficients = np.array([found.machine.alpha * own for found, own in zip(learned, labels, strict=True)])
        self.support_ = np.flatnonzero((coefficients != 0).any(axis=0))
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = coefficients[:, self.support_]
        self.intercept_ = np.array([found.machine.bias for found in learned])
        self.weights_ = np.array([found.weights for found in learned])
        self.ridge_ = np.array([found.ridge for found in learned])
        self.margin_ = np.array([found.margin for found in learned])
        self.duality_gap_ = np.array([max(found.gap, found.machine.duality_gap) for found in learned])
        self.converged_ = np.array([found.converged and found.machine.converged for found in learned])
        self.n_iter_ = np.array([found.iterations for found in learned])
        self.output_factors_ = np.ones(len(learned))
        self.machine_kernels_ = tuple(
            WeightedSum(tuple(kernels), tuple(map(float, weights)), free_sign=bool((weights < 0).any()))
            for weights in self.weights_
        )

    def _certify(
        self, X: Any, grams: GramMatrices, labels: Array, margin: Margin, learned: Sequence[LearnedSum]
    ) -> None:
        """Set the gaps of the machines that predict."""
        for m, (found, y, kernel) in enumerate(zip(learned, labels, self.machine_kernels_, strict=True)):
            rounding, gram = kernel.rounding(X).of_machine(), grams.combined(found.weights)
            problem = DualProblem(gram, y, margin.bound, ridge=found.ridge, rounding=rounding)
            own = duality_gap(problem, found.machine.alpha, found.machine.bias)
            self.duality_gap_[m] = max(self.duality_gap_[m], own, found.gap_above(own))
        self.converged_ &= self.duality_gap_ <= self.tolerance

    def _kernels_asked_for(self, X: Any = None) -> list[Kernel]:
        if isinstance(self.kernels, str | Kernel) or not len(self.kernels):
            raise ValueError("kernels must be a list of one kernel or more")
        kernels = [as_kernel(kernel) if X is None else kernel_for(kernel, X) for kernel in self.kernels]
        return [UnitDiagonal(kernel) for kernel in kernels] if self.unit_diagonal else kernels


def _stacked(above: Any, below: Any) -> Any:
    if sparse.issparse(above) or sparse.issparse(below):
        return sparse.vstack([above, below], format="csr")
    return np.vstack([above, below])
