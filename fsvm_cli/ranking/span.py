"""Ranking by the span bound, jebara-slides; Chapelle et al. (2002)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from annotated_types import Gt

from fsvm_cli.bounds.span import span_bound
from fsvm_cli.ranking.bound_ranker import BoundRanker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.bounds.bound import Bound
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Rounding
    from fsvm_cli.svm.solvers.dual import DualSolution


class Span(BoundRanker):
    """Scale the features so that few leave-one-out errors are predicted by the spans, and drop the small scales.

    With the kernel K(x s, x' s), where s scales each feature, leaving out the support vector x_p is an error where

        t_p = α_p S_p² > 1,    S_p² = 1 / (M⁻¹)_pp - η/α_p,

    with M the Gram matrix of the support vectors with η/α_i on its diagonal, and a further row and column of ones for
    the bias. For η = 0, S_p is the distance of x_p from the affine hull of the others, the span, and the rule is exact
    where the support vectors stay the same. The step at 1 is smoothed, Σ_p 1 / (1 + exp(-sharpness (t_p - 1))). From
    s = 1 a quasi-Newton method makes that small; the features with the smallest scales are dropped, and it goes on with
    the others. Several classes are separated one against the rest, and the errors added up: all machines share s.
    Scale the features first.

    The score is the place in the order of elimination: d for the feature that stays, 0 for one that is constant. Each
    of some ten rounds computes the bound some tens of times, each time in O(n² d + n_sv³) beside the machines.

    Use it as `RadiusMargin`, where that is too pessimistic to tell features apart; not with more features than samples
    and a large C: scales can be found then at which noise predicts what is left out. Nor where hardly a sample is
    misclassified when it is left out, for no scale makes a difference.

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
        λ, at least 0: larger than 0, a single descent of the errors + λ Σ_j s_j^p takes the place of the elimination,
        and features are ordered by its scales. In units of the errors at the start over the number of features.
    exponent : float, default=0.5
        p, larger than 0 and at most 2; the smaller, the closer to the number of features.
    max_iterations : int, default=50
        Of the quasi-Newton method in each round.
    sharpness : float, default=5.0
        Of the smoothed step, larger than 0.
    regularisation : float, default=0.1
        η, larger than 0, so that the errors do not jump where a sample becomes a support vector.
    tolerance : float, default=1e-6
        Relative duality gap of the machines.
    solver : str, default="auto"
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Attributes
    ----------
    diagnostics_ : dict
        Table `path`: the smoothed errors, and the scales of all features, at the end of each round.
    converged_ : bool
        Whether all machines reached their duality gap.

    Notes
    -----
    Source: jebara-slides, "Better Span Bound", with this correction: the printed 1 / (K⁻¹)_pp is that of a machine
    without bias. Smoothing and derivative are those of Chapelle et al. (2002), with their
    sharpness and η. Limits of the scales, the ridge, and what `finish` is for, are those of `RadiusMargin`.

    See Also
    --------
    RadiusMargin : By a bound that is easier to descend.
    KernelParameterDescent : Descends the machine's own objective.

    References
    ----------
    - jebara-slides: T. Jebara, "SVM Feature & Kernel Selection"; in full in `Ranker`.
    - O. Chapelle, V. Vapnik, O. Bousquet and S. Mukherjee, "Choosing Multiple Parameters for Support Vector Machines",
      Machine Learning 46, 2002, pages 131-159.
    - J. Weston, S. Mukherjee, O. Chapelle, M. Pontil, T. Poggio and V. Vapnik, "Feature Selection for SVMs",
      Advances in Neural Information Processing Systems 13, 2000, pages 668-674.

    Examples
    --------
    >>> from fsvm_cli import Span
    >>> Span().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "span"
    pair_matrices = 7

    sharpness: Annotated[float, Gt(0)] = 5.0
    regularisation: Annotated[float, Gt(0)] = 0.1

    def _bounds(
        self,
        gram: Array,
        labels: Array,
        machines: Sequence[DualSolution],
        rounding: Rounding,  # noqa: ARG002 - spans have no gap that it would add to
        beta0: Array | None = None,  # noqa: ARG002 - and no ball
    ) -> Sequence[Bound]:
        return [
            span_bound(gram, y, machine, sharpness=self.sharpness, regularisation=self.regularisation)
            for y, machine in zip(labels, machines, strict=True)
        ]
