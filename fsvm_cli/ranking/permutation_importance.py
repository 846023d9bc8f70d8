"""What a classifier loses when a feature is permuted: permutation importance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Ge
from sklearn.base import clone
from sklearn.utils import check_random_state

from fsvm_cli.evaluation.folds import stratified_folds
from fsvm_cli.ranking.base import Ranker

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PermutationImportance(Ranker):
    """How much less often the classifier is right on samples it has not seen when the feature's values are permuted.

    The classifier is trained on all folds but one; on that one, each feature's values are permuted among the samples,
    several times. The score is the share of samples recognised as they are less that with the feature permuted, in the
    mean over folds and repetitions; it may be negative. A feature that says nothing scores about 0. O(folds repeats d)
    predictions of a fold.

    Use it to ask what a classifier of any kind rests on, with at most hundreds of features; not where features repeat
    each other, since the others stand in for the one that is permuted, nor with few samples, on which all score 0.

    Parameters
    ----------
    folds : int, default=5
        Folds of the cross-validation, at least 2, and no more than samples in the smallest class.
    repeats : int, default=5
        Permutations of each feature in each fold, at least 1.
    estimator : classifier, optional
        Of the experiment; scikit-learn's Gaussian naive Bayes where None.
    random_state : int, RandomState or None, default=0
        Of the folds and the permutations.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Breiman (2001), for forests, on the samples out of the bag; for any classifier Fisher, Rudin and Dominici
    (2019). By scikit-learn's ``permutation_importance``. A present-day reference: no document of this project uses it.

    See Also
    --------
    RecursiveFeatureElimination : Trains anew without the feature.
    Forest : Another importance that Breiman defines.

    References
    ----------
    - L. Breiman, "Random Forests", Machine Learning 45(1), 2001, pages 5-32.
    - A. Fisher, C. Rudin and F. Dominici, "All Models are Wrong, but Many are Useful: Learning a Variable's Importance
      by Studying an Entire Class of Prediction Models Simultaneously", Journal of Machine Learning Research 20(177),
      2019.

    Examples
    --------
    >>> from fsvm_cli import PermutationImportance
    >>> X, y = [[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")
    >>> PermutationImportance(folds=3, random_state=0).fit(X, y).ranking_.tolist()
    [1, 2]
    """

    method = "permutation-importance"
    passed_down = frozenset({"estimator", "random_state"})
    cross_validates = True
    goes_by_content = True

    folds: Annotated[int, Ge(2)] = 5
    repeats: Annotated[int, Ge(1)] = 5
    estimator: Any = None
    random_state: int | np.random.RandomState | None = 0

    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,  # noqa: ARG002 - the contract of Ranker
        groups: NDArray[np.intp] | None = None,
    ) -> NDArray[np.float64]:
        from sklearn.inspection import permutation_importance  # noqa: PLC0415 - slow to import, and seldom needed
        from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415 - as above

        random_state = check_random_state(self.random_state)
        folds = stratified_folds(y, self.folds, random_state, groups=groups, caller=self.method)
        estimator = GaussianNB() if self.estimator is None else self.estimator
        found = np.zeros(X.shape[1])
        for train, asked in folds:
            # In the other folds a feature may be constant, which leaves a likelihood without a spread.
            with np.errstate(all="ignore"):
                fitted = clone(estimator).fit(X[train], y[train])
                found += permutation_importance(
                    fitted,
                    X[asked],
                    y[asked],
                    scoring="accuracy",
                    n_repeats=self.repeats,
                    random_state=random_state,
                ).importances_mean
        return found / len(folds)
