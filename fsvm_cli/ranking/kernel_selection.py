"""Linear feature selection as kernel selection, jebara-slides; Lanckriet et al. (2004)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from fsvm_cli.kernel_learning.base_kernels import SingleFeatures
from fsvm_cli.kernel_learning.margin import Margin
from fsvm_cli.kernel_learning.qcqp import learn_weights
from fsvm_cli.ranking.machine_ranker import MachineRanker
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.svm import Kernel


class KernelSelection(MachineRanker):
    """Give each feature a kernel of its own, and learn the weights of the kernels for the largest margin.

    With k_j(x, x') = x_j x'_j the machine on K = Σ_j μ_j K_j is linear in the features scaled by √μ_j. The weights,

        min over μ ≥ 0 of max over α of  2 Σ_i α_i - Σ_ik α_i α_k y_i y_k K_ik,    Σ_j μ_j tr K_j = Σ_j tr K_j,

    with 0 ≤ α_i ≤ C and Σ_i α_i y_i = 0, are 0 for most features of many: it is the machine that pays for (Σ_j ‖w_j‖)²
    in place of ‖w‖². The score is the feature's share of the trace, its weight where all kernels have trace 1. Several
    classes are separated one against the rest, and the shares are averaged. Features are centred, which a machine with
    a bias does not see.

    The value is convex in the weights: there is one optimum, and it is certified. Each of some 10 to 50 machines costs
    O(n² d) for the kernel, and its derivatives O(n d²).

    Use it where few of many features matter and no more than a set is asked for; not to order the features that it
    leaves out, whose scores are 0 or next to it, nor on thousands of samples.

    Parameters
    ----------
    kernel : str or Kernel, default="linear"
        The linear kernel, without weights.
    C : float, default=1.0
        Upper bound of α, or of the squared loss C/2 Σ_i ξ_i².
    margin : str, default="1-norm"
        What violations ξ_i of the margin cost: C Σ_i ξ_i ("1-norm"), C/2 Σ_i ξ_i² ("2-norm"); "hard" allows none.
    tolerance : float, default=1e-6
        Relative gap of the weights.
    solver : str, default="auto"
        Of no effect: the machines of kernel learning have their own.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Attributes
    ----------
    converged_ : bool
        Whether the weights reached their gap.

    Notes
    -----
    Source: jebara-slides, "Feature vs. Kernel Selection", which asks for weights of 0 and 1; here they are real, as in
    its "SVM Kernel Selection" before. A feature that is constant has no kernel, and the score 0.

    See Also
    --------
    LearnedKernelSVM : Learns the weights of any kernels.
    RadiusMargin : Scales the features, too, by a bound that is not convex.
    RecursiveFeatureElimination : Orders all features.

    References
    ----------
    - jebara-slides: T. Jebara, "SVM Feature & Kernel Selection"; in full in `Ranker`.
    - G. R. G. Lanckriet, N. Cristianini, P. Bartlett, L. El Ghaoui and M. I. Jordan, "Learning the Kernel Matrix with
      Semidefinite Programming", Journal of Machine Learning Research 5, 2004, pages 27-72.

    Examples
    --------
    >>> from fsvm_cli import KernelSelection
    >>> KernelSelection().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "kernel-selection"
    scores_are_shares = True

    margin: Literal["1-norm", "2-norm", "hard"] = "1-norm"

    @classmethod
    def check_kernel(cls, kernel: Kernel) -> None:
        """Refuse a kernel that is no sum of one for each feature; as in `MachineRanker`."""
        if not kernel.is_linear or getattr(kernel, "weights", None) is not None:
            raise ValueError(f"{cls.method} is defined for the linear kernel without weights, not for {kernel!r}")

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        kernel = self.kernel_object(X)
        self.check_kernel(kernel)
        margin = Margin(self.margin, self.C)
        scores = np.zeros(X.shape[1])
        varies = np.flatnonzero(np.ptp(X, axis=0) > 0.0)
        if not len(varies):
            return scores
        columns = X[:, varies]
        features = SingleFeatures.of(columns - columns.mean(axis=0))
        labels = machine_labels(y, n_classes)[0]
        for own in labels:
            learned = learn_weights(features, own, margin, tolerance=self.tolerance)
            self.converged_ &= learned.converged
            scores[varies] += learned.weights / features.units / len(labels)
        return scores
