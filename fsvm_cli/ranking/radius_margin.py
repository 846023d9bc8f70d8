"""Ranking by the radius-margin bound, jebara-slides; Weston et al. (2000)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.bounds.radius_margin import enclosing_ball, radius_margin_bound
from fsvm_cli.ranking.bound_ranker import BoundRanker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.bounds.bound import Bound
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Rounding
    from fsvm_cli.svm.solvers.dual import DualSolution


class RadiusMargin(BoundRanker):
    """Scale the features so that the squared radius over the squared margin is least, and drop the small scales.

    With the kernel K(x s, x' s), where s scales each feature, R the radius of the smallest ball that holds the training
    samples in feature space, and 1/W the margin,

        R² = max_β Σ_i β_i k_ii - β'Kβ,    β ≥ 0,  Σ_i β_i = 1,
        W² = 2 max_α [Σ_i α_i - ½ Σ_ik α_i α_k y_i y_k k_ik],    α ≥ 0,  Σ_i α_i y_i = 0,

    R²W² bounds the leave-one-out errors. From s = 1 a quasi-Newton method makes it small; the features with the
    smallest scales are dropped, and it goes on with the others. Several classes are separated one against the rest, and
    the bounds added up: all machines share s. Scale the features first.

    The score is the place in the order of elimination: d for the feature that stays, 0 for one that is constant. Each
    of some ten rounds computes the bound some tens of times, each time in O(n² d) beside the machines.

    Use it with the kernel that will classify, where few of many features matter and act together; not on thousands of
    samples, nor with a hard margin where single outliers decide it.

    Parameters
    ----------
    kernel : str or Kernel, default="linear"
        Linear, polynomial or Gaussian.
    C : float, default=1.0
        Of the squared loss C/2 Σ_i ξ_i²: a ridge of 1/C on K. Infinity asks for a hard margin.
    search : {"backward", "forward", "exhaustive"}, default="backward"
        "forward": from no feature on, add the one with which the bound is least. "exhaustive": try all subsets of
        `finish` features, 10,000 at the most. Both look at scales of 1, without a descent, and need a finite C or
        `ridge`.
    finish : int, default=1
        Backward: from so many features on, drop one at a time, that without which the descended bound is least.
        Forward: add so many features; the others are ordered by the bound with each of them beside these but the last.
        Exhaustive: the features of the best subset come first, by the bound without each.
    ridge : float or None, default=None
        Larger than 0: in place of 1/C, the ridge is so many times the mean squared distance of the samples from their
        mean in feature space, at the scales of the moment.
    step : int or float, default=0.5
        Features to drop in each round: a number, or a fraction between 0 and 1 of those that are left, rounded down,
        but at least one.
    penalty : float, default=0.0
        λ, at least 0: larger than 0, a single descent of R²W² + λ Σ_j s_j^p takes the place of the elimination, and
        features are ordered by its scales. In units of the bound at the start over the number of features.
    exponent : float, default=0.5
        p, larger than 0 and at most 2; the smaller, the closer to the number of features.
    max_iterations : int, default=50
        Of the quasi-Newton method in each round.
    tolerance : float, default=1e-6
        Relative duality gap of the machines, and of R².
    solver : str, default="auto"
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Attributes
    ----------
    diagnostics_ : dict
        Table `path`: the bound, and the scales of all features, at the end of each round.
    converged_ : bool
        Whether all machines reached their duality gap, and all balls theirs.

    Notes
    -----
    Source: jebara-slides, "SVM Feature Selection", after Weston et al. (2000), with these corrections. The printed dual
    lacks the ½. Its gradient of W² holds for a hard margin, with a ridge or without, not for an upper bound on α. The
    slide's start, a vector of zeros and ones, can never take a feature back: at s_j = 0 every derivative by s_j
    vanishes. So scales stay above 10⁻³, where those that the bound would rise with most are dropped first.

    Ours: the sum over the classes; a step of half of the features; scales of at most 1, for above it a machine may give
    a feature the less weight the larger its scale. Where classes are hard to tell apart, n - 1, the bound of a machine
    to which the ridge leaves nothing to tell, may be the least of all, and all scales run to their limit: the round is
    then done again, and the later ones done, with a ridge that is in proportion to the spread of the samples in feature
    space. Where a hard margin is lost with the dropped features, those that are left are ordered by their last scales.

    The order of few features by their scales is not that by the bound: of features that are redundant together the
    scales are alike, and the pair with the largest scales need not have the least bound. `finish` compares the bounds
    themselves, with as many descents as there are features in each round.

    See Also
    --------
    Span : By a tighter bound, which is harder to descend.
    KernelParameterDescent : Descends the machine's own objective.
    RecursiveFeatureElimination : Drops features by the margin alone.

    References
    ----------
    - jebara-slides: T. Jebara, "SVM Feature & Kernel Selection"; in full in `Ranker`.
    - J. Weston, S. Mukherjee, O. Chapelle, M. Pontil, T. Poggio and V. Vapnik, "Feature Selection for SVMs",
      Advances in Neural Information Processing Systems 13, 2000, pages 668-674.

    Examples
    --------
    >>> from fsvm_cli import RadiusMargin
    >>> RadiusMargin().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "radius-margin"
    pair_matrices = 6

    def _bounds(
        self,
        gram: Array,
        labels: Array,
        machines: Sequence[DualSolution],
        rounding: Rounding,
        beta0: Array | None = None,
    ) -> Sequence[Bound]:
        ball = enclosing_ball(gram, tolerance=self.tolerance, rounding=rounding, beta0=beta0)
        return [radius_margin_bound(y, ball, machine) for y, machine in zip(labels, machines, strict=True)]
