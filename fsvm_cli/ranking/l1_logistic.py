"""Logistic regression whose penalty makes most weights zero."""

from __future__ import annotations

from fsvm_cli.ranking.penalty_path import PenaltyPath, logistic


class L1Logistic(PenaltyPath):
    """How early a feature gets a weight as a logistic regression with the 1-norm is allowed more of them.

    The model minimises |w|₁ + C Σ_i ln(1 + exp(-y_i (w x_i + b))). Up to a smallest C all weights are 0, and the
    bias, which is free, is that of the classes; as C grows geometrically over `decades`, more and more are not. The
    score is the number of models on this path that use the feature, plus its share of |w|₁ in the last, which orders
    those that entered together; it is the mean over the classes, each against the rest. O(n d + n s²) for a step of a
    model, where s features have weights.

    Use it with many features of which few matter linearly, and features on one scale; not where much alike features
    shall score alike, of which one takes the weight of all, nor where features act only together.

    Parameters
    ----------
    n_steps : int, default=20
        Models on the path, at least 1.
    decades : float, default=3.0
        By how many powers of ten the largest C is above the smallest, above 0.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Koh, Kim and Boyd (2007). The bias is free, where liblinear's is penalised, so that beside a rare class
    almost no feature enters. Copies share a weight. A present-day reference: no document of this project uses it. A
    model that misses its optimum by more than a millionth of the penalty sets `converged_` to False.

    See Also
    --------
    L1Svm : The same with the squared hinge loss.
    ElasticNet : Shares the weight among copies.

    References
    ----------
    - K. Koh, S.-J. Kim and S. Boyd, "An Interior-Point Method for Large-Scale l1-Regularized Logistic Regression",
      Journal of Machine Learning Research 8, 2007, pages 1519-1555.

    Examples
    --------
    >>> from fsvm_cli import L1Logistic
    >>> L1Logistic().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "l1-logistic"
    loss = logistic
