"""Recursive feature elimination with support vector machines, the rival of kpd2018."""

from __future__ import annotations

import functools
from dataclasses import field
from typing import TYPE_CHECKING, Annotated

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt, Lt

from fsvm_cli.ranking.base import SampleWeightRanker, all_largest, n_dropped, order_of, tied_with
from fsvm_cli.ranking.machine_ranker import WeightedMachineRanker
from fsvm_cli.ranking.rfe_certified import Certifier, certificate_of
from fsvm_cli.ranking.rfe_machines import EliminationProblem, machines_for
from fsvm_cli.svm.kernels.additive import require_additive
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.ranking.rfe_certified import Certificate
    from fsvm_cli.svm import Kernel


class RecursiveFeatureElimination(SampleWeightRanker, WeightedMachineRanker):
    """Train, drop the feature that the machine misses least, train again, until one is left.

    What dropping feature j costs is the change of ‖w‖² at fixed coefficients c_i = alpha_i y_i,

        cost_j = Σ_ik c_i c_k (K(x_i, x_k) - K₋ⱼ(x_i, x_k)),

    where K₋ⱼ is the kernel without feature j; for the linear kernel that is w_j². Several classes are separated one
    against the rest, and the costs added up over the machines. The score is the place in the order of elimination: 1
    for the feature that goes first, d for the one that stays. Scale the features first.

    It sees which features serve together: each round looks at what is left, so that of two copies one goes as soon as
    both cost little. It trains d - 1 times where `step` is 1; each machine begins at the one before. A round costs
    O(n_sv² d) for the costs with a non-linear kernel, O(n d) with the linear one.

    With the linear kernel a sparse matrix stays sparse. Nothing is subtracted from its columns, which changes nothing
    but rounding.

    Use it where accuracy on small sets matters most, with the linear kernel on thousands of features, too; not to tell
    which features are relevant at all: of copies it keeps one.

    Parameters
    ----------
    kernel : str or Kernel, default="linear"
    C : float, default=1.0
        Upper bound of alpha.
    step : int or float, default=1
        Features to drop in each round: a number, or a fraction between 0 and 1 of those that are left, rounded down,
        but at least one. Features that go together are ordered by their costs.
    tolerance : float, default=1e-6
        Relative duality gap of the machines. Where there are more features than samples, costs may lie so close
        together that at 1e-3 the order depends on the solver and on the order of the samples; `certify` tells.
    solver : str, default="auto"
    class_weight : mapping of class label to float, "balanced", or None, default=None
        What C is multiplied by for the samples of a class; "balanced" is n / (n_classes * samples of the class).
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.
    certify : bool, default=False
        Whether to bound how far each machine is from its optimum, and to tell which eliminations any correct solver
        would make. Where a bound leaves one open, the machine is repaired or trained to a smaller gap, and the order is
        that of the better machine. For the linear kernel only: no bound is known for the costs with others.

    Attributes
    ----------
    certificate_ : dict of str to ndarray, shape (n_features - 1,)
        With `certify`, one row per elimination: ``feature``; ``cost``, with ``lower`` and ``upper`` bounds on that of
        the optimal machine; ``radius``, how far the weights are from the optimal ones at most; ``bound``, by which it
        is known; and ``verdict``: "decided", "copy" (only its copies might have gone in its place) or "tied".
    decided_ : ndarray of bool, shape (n_features,)
        Whether the feature's place is decided, given the set that was left.
    decided_sizes_ : ndarray of int
        The sizes k for which the k best features, as a set, are those of any correct solver, in ascending order.
    score_intervals_ : ndarray, shape (n_features, 2)
        The lowest and the highest score that a correct solver might give.
    tied_with_ : dict of int to ndarray of int
        For each feature whose elimination is not decided, the features that might have gone in its place.

    Raises
    ------
    ValueError
        If `certify` is asked for with a kernel that is not linear, or a sparse matrix; or a sparse matrix comes with a
        kernel that is not linear.

    Notes
    -----
    Source: Guyon et al. (2002), the rival of kpd2018, Figures 2 and 4. For two classes, the linear kernel and a step
    of 1 the order is that of scikit-learn's ``RFE(SVC(kernel="linear"), step=1)`` at a tight tolerance. Of equal
    costs the seed draws the feature that goes first.

    See Also
    --------
    KernelParameterDescent : Descends by the weights of the kernel.
    GradientAngle : Ranks by a single machine.

    References
    ----------
    - I. Guyon, J. Weston, S. Barnhill and V. Vapnik, "Gene Selection for Cancer Classification using Support Vector
      Machines", Machine Learning 46, 2002.

    Examples
    --------
    >>> from fsvm_cli import RecursiveFeatureElimination
    >>> X = [[0, 3], [1, 1], [0, 2], [1, 4], [5, 3], [6, 1], [5, 2], [6, 4]]
    >>> RecursiveFeatureElimination().fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).ranking_.tolist()
    [1, 2]
    """

    method = "rfe"
    accepts_sparse = True
    sparse_needs_linear = True

    outside_configs = WeightedMachineRanker.outside_configs | {"certify"}

    step: Annotated[int, Ge(1)] | Annotated[float, Gt(0), Lt(1)] = 1
    certify: bool = field(default=False, kw_only=True)

    @classmethod
    def check_kernel(cls, kernel: Kernel) -> None:
        """Refuse a kernel that is no function of a sum over the features; as in `MachineRanker`."""
        require_additive(kernel, cls.method)

    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        kernel = self.kernel_object(X)
        labels, _ = machine_labels(y, n_classes)
        kernel = require_additive(kernel, self.method)
        if self.certify and not kernel.is_linear:
            raise ValueError(
                f"{self.method}: certify=True needs the linear kernel; no bound is known for costs with the "
                f"{kernel.name} kernel"
            )
        if self.certify and sp.issparse(X):
            raise ValueError(
                f"{self.method}: certify=True takes no sparse matrix; leave it out, or make the matrix full"
            )
        problem = EliminationProblem(kernel, X, labels, self.bounds(y, weights), self.tolerance, self.solver)
        machines = machines_for(problem)
        certifier = Certifier(machines, X) if self.certify else None
        order: list[int] = []
        while len(machines.features) > 1:
            self.converged_ &= machines.train()
            number = min(n_dropped(self.step, len(machines.features)), len(machines.features) - 1)
            tied: list[int] = []
            find = functools.partial(_cheapest, priority=self._priority[machines.features], tied=tied)
            if certifier:
                cheapest = certifier.eliminate(number, find)
            else:
                cheapest = find(machines.costs_of_cheapest(number), number)
            self._tied[machines.features[tied]] = True
            order += machines.features[cheapest].tolist()
            machines.drop(cheapest)
        order += machines.features.tolist()
        if certifier:
            self._certify(certificate_of(certifier, order))
        scores = np.empty(X.shape[1])
        scores[order] = np.arange(1, X.shape[1] + 1)
        return scores

    def _certify(self, certificate: Certificate) -> None:
        self.certificate_ = certificate.table
        self.score_intervals_ = certificate.intervals
        self.decided_ = certificate.decided
        self.decided_sizes_ = certificate.sizes
        self.tied_with_ = certificate.tied_with


def _cheapest(costs: NDArray[np.float64], number: int, priority: NDArray[np.intp], tied: list[int]) -> NDArray[np.intp]:
    """Return the indices of the smallest costs, ascending; of equal costs the largest priority comes first.

    `tied` becomes the indices that tie with these.
    """
    # A whole sort in each round would cost as much as the machine.
    if number == 1:
        near = all_largest(-costs)
        first = near[[priority[near].argmax()]]
        tied[:] = near.tolist() if len(near) > 1 else []
    else:
        first = order_of(-costs, -priority)[:number]
        tied[:] = tied_with(costs, first).tolist()
    return first
