"""Regression of the class on the features with a penalty between the 1-norm and the square: the elastic net."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Gt, Le

from fsvm_cli.ranking.penalty_path import PenaltyPath, squared_error


class ElasticNet(PenaltyPath):
    """How early a feature gets a weight as a regression with both penalties is allowed more of them.

    The model minimises Σ_i (y_i - b - w x_i)² / (2n) + a (m |w|₁ + (1 - m) |w|²/2), with y_i = ±1 and m the `mixing`.
    Above a largest a all weights are 0; as a falls geometrically over `decades`, more and more are not. The score is
    the number of models on this path that use the feature, plus its share of |w|₁ in the last; it is the mean over the
    classes, each against the rest. O(n d + n s²) for a step of a model, where s features have weights.

    Use it with many features that come in groups of much alike ones, all of which are wanted; not where a small set
    shall say as much, nor where features act only together.

    Parameters
    ----------
    mixing : float, default=0.5
        Share of the 1-norm, above 0 and at most 1, where it is the lasso.
    n_steps : int, default=20
        Models on the path, at least 1.
    decades : float, default=3.0
        By how many powers of ten the smallest a is below the largest, above 0.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Zou and Hastie (2005), without the correction of the shrinkage, which moves no weight away from 0. A
    present-day reference: no document of this project uses it. A model that misses its optimum by more than a millionth
    of the penalty sets `converged_` to False.

    See Also
    --------
    L1Logistic : The 1-norm alone, with a loss for classes.

    References
    ----------
    - H. Zou and T. Hastie, "Regularization and Variable Selection via the Elastic Net", Journal of the Royal
      Statistical Society B 67(2), 2005, pages 301-320.

    Examples
    --------
    >>> from fsvm_cli import ElasticNet
    >>> ElasticNet().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "elastic-net"
    loss = squared_error

    mixing: Annotated[float, Gt(0), Le(1)] = 0.5
