"""What the ranking methods that train support vector machines have in common: the machine."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fsvm_cli.ranking.base import Ranker
from fsvm_cli.svm import Kernel, kernel_for
from fsvm_cli.svm.costs import ClassWeight, weighted_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.svm.costs import CUnit
    from fsvm_cli.svm.solvers.dual import Solver


class MachineRanker(Ranker):
    """A ranking method that trains machines: in an experiment those that classify.

    Parameters
    ----------
    kernel : str or Kernel, default="linear"
        By a name, with the theta of `fsvm_cli.svm.kernel_for`.
    C : float, default=1.0
        Upper bound of alpha.
    tolerance : float, default=1e-6
        Relative duality gap of the machines.
    solver : str, default="auto"
    """

    trains_machines = True
    passed_down = frozenset({"kernel", "C", "tolerance", "solver"})

    sparse_needs_linear: ClassVar[bool] = False
    """Whether a method that accepts a sparse matrix does so with the linear kernel only."""

    kernel: str | Kernel = "linear"
    C: float = 1.0
    tolerance: float = field(default=1e-6, kw_only=True)
    solver: Solver = field(default="auto", kw_only=True)

    def kernel_object(self, X: NDArray[np.float64]) -> Kernel:
        """Return the kernel, which may be given by its name, for machines trained on `X`."""
        kernel = kernel_for(self.kernel, X)
        own: NDArray[np.intp] | None = getattr(self, "_columns", None)
        if own is None or not len(own) == X.shape[1] < self.n_features_in_:
            return kernel
        weights = kernel.feature_weights(self.n_features_in_)
        return kernel if weights is None else kernel.with_weights(weights[own])

    @classmethod
    def check_kernel(cls, kernel: Kernel) -> None:
        """Refuse a kernel for which the method is not defined, whatever the data; most methods take them all.

        Raises
        ------
        ValueError
            Naming the method and the kernel.
        """


class WeightedMachineRanker(MachineRanker):
    """A ranking method whose machines may weigh classes, as those that classify do.

    Parameters
    ----------
    class_weight : mapping of class label to float, "balanced", or None, default=None
        What C is multiplied by for the samples of a class; "balanced" is n / (n_classes * samples of the class).
    """

    passed_down = MachineRanker.passed_down | {"class_weight"}

    class_weight: ClassWeight | None = field(default=None, kw_only=True)

    def bounds(self, y: NDArray[np.intp], sample_weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the upper bound of alpha of each sample by the class codes, shape (n_samples,)."""
        return weighted_bounds(self.C, self.classes_[y], self.class_weight, sample_weight)

    def _put_back(self, scores: NDArray[np.float64]) -> None:
        """Renumber the certificate of a method that gives one; the places of constant columns are decided."""
        if not getattr(self, "certify", False):
            return
        found: Any = self
        own, intervals = self._columns, np.stack([scores, scores], axis=1)
        decided = np.ones(len(scores), dtype=np.bool_)
        intervals[own], decided[own] = found.score_intervals_, found.decided_
        found.score_intervals_, found.decided_ = intervals, decided
        found.certificate_ = found.certificate_ | {"feature": own[found.certificate_["feature"]]}
        found.tied_with_ = {int(own[feature]): own[others] for feature, others in found.tied_with_.items()}

    def weights(self, y: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Return what C is multiplied by for each sample, shape (n_samples,); None where classes have no weights."""
        return None if self.class_weight is None else weighted_bounds(1.0, self.classes_[y], self.class_weight)


class SVMRanker(WeightedMachineRanker):
    """A ranking method whose machines see all features: those of `SVM`, which need no matrix of all pairs of samples.

    Parameters
    ----------
    cache_mb : float or None, default=None
        Megabytes for kernel values where the solver is "decomposition", as "auto" is on more than 10,000 samples; a
        quarter of the free memory where None.
    C_unit : {"none", "mean-diagonal"}, default="none"
        "mean-diagonal": C is given in units of 1 / mean of K(x, x) over the samples that a machine is trained on.
    """

    passed_down = WeightedMachineRanker.passed_down | {"cache_mb", "C_unit"}

    cache_mb: float | None = field(default=None, kw_only=True)
    C_unit: CUnit = field(default="none", kw_only=True)
