"""How much earlier a feature enters the path of the lasso than its knockoff."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge, Gt
from sklearn.utils import check_random_state

from fsvm_cli.evaluation.false_discovery import knockoff_sampler
from fsvm_cli.ranking.base import Ranker
from fsvm_cli.ranking.content import copies
from fsvm_cli.ranking.elastic_net import ElasticNet

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_FOLDS = 5
MAX_ITERATIONS = 20_000


class Knockoffs(Ranker):
    """How much earlier a feature enters the lasso than its knockoff, which is like it but knows nothing of the class.

    Every feature gets a knockoff: a column that has the feature's mean and variance, and its covariances with the other
    features, and is drawn without the classes. The lasso is followed on features and knockoffs together, all
    standardised, along weakening penalties. With Z the number of models that use a column, plus its share of the
    weights of the last, the statistic is W = Z - Z~, the feature's less its knockoff's; the score is the mean W over
    several draws, and over the classes, each against the rest. A feature that says nothing beside the others scores
    about 0, as often below as above. O(d³) for a sweep of the covariances, O(n d²) at most for a step of a model.

    Use it to ask what a feature says that the others do not, with more samples than features; not where copies shall
    score high, since what others say as well counts less, nor where features act only together.

    Parameters
    ----------
    draws : int, default=5
        Of the knockoffs, at least 1. Scores of fewer hang more on what is drawn.
    n_steps : int, default=20
        Models on the path, at least 1.
    decades : float, default=2.0
        By how many powers of ten the weakest penalty is below the strongest, above 0.
    random_state : int, RandomState or None, default=0
        Of the knockoffs.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Barber and Candès (2015), whose statistic of the lasso is the penalty at which a column enters; Candès et
    al. (2018) for knockoffs that are drawn from a normal distribution with the features' covariances, here those of
    Ledoit and Wolf, so that they are exact only for normal features. Both select by a threshold on W that bounds the
    share of false discoveries; here W ranks. ``fsvm rank --method knockoffs --fdr knockoffs`` gives the threshold of
    each feature, by one draw and the weights of the lasso at a penalty that is cross-validated (Candès et al.), since
    a mean over draws has no such bound. A present-day reference: no document of this project uses it. At most 1,000
    features. A model that misses its optimum sets `converged_` to False.

    See Also
    --------
    Boruta : Compares with permuted features, which asks whether a feature is related to the class at all.

    References
    ----------
    - R. F. Barber and E. J. Candès, "Controlling the false discovery rate via knockoffs", Annals of Statistics 43(5),
      2015, pages 2055-2085.
    - E. Candès, Y. Fan, L. Janson and J. Lv, "Panning for gold: 'model-X' knockoffs for high dimensional controlled
      variable selection", Journal of the Royal Statistical Society B 80(3), 2018, pages 551-577.

    Examples
    --------
    >>> from fsvm_cli import Knockoffs
    >>> X, y = [[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")
    >>> Knockoffs(random_state=0).fit(X, y).ranking_.tolist()
    [1, 2]
    """

    method = "knockoffs"
    passed_down = frozenset({"random_state"})
    goes_by_content = True

    draws: Annotated[int, Ge(1)] = 5
    n_steps: Annotated[int, Ge(1)] = 20
    decades: Annotated[float, Gt(0)] = 2.0
    random_state: int | np.random.RandomState | None = 0

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:  # noqa: ARG002
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        features = _standardised(X)
        draw, d = knockoff_sampler(features), X.shape[1]
        W = np.zeros(d)
        for _ in range(self.draws):
            # The lasso goes through the columns by their contents: swapping a feature and its knockoff turns W round.
            lasso = ElasticNet(mixing=1.0, n_steps=self.n_steps, decades=self.decades)
            lasso.fit(np.hstack([features, draw(rng)]), y)
            self.converged_ &= lasso.converged_
            W += lasso.scores_[:d] - lasso.scores_[d:]
        # Copies, which the lasso gives one weight together, divide what it says.
        numbers = copies(features)
        return np.asarray(W / (self.draws * np.bincount(numbers)[numbers]))


def lasso_weights(X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the sizes of the weights of the lasso whose penalty is cross-validated, shape (n_features,).

    Over several classes, each against the rest, they are added up. There are five folds, or as many as the smallest
    class has rows.

    Raises
    ------
    ValueError
        If a class has one row.
    """
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - slow to import, and seldom needed
    from sklearn.linear_model import LassoCV  # noqa: PLC0415
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415

    n_samples = np.bincount(y)
    if n_samples.min() < 2:
        raise ValueError("the lasso's penalty is cross-validated, and a class has one row")
    folds = StratifiedKFold(min(N_FOLDS, n_samples.min()), shuffle=True, random_state=0)
    features, sizes = np.asfortranarray(_standardised(X)), np.zeros(X.shape[1])
    for positive in range(1 if len(n_samples) == 2 else len(n_samples)):
        lasso = LassoCV(cv=list(folds.split(X, y)), max_iter=MAX_ITERATIONS)
        with warnings.catch_warnings():
            # The rate needs no optimum, but a feature and its knockoff alike.
            warnings.simplefilter("ignore", ConvergenceWarning)
            sizes += np.abs(lasso.fit(features, np.where(y == positive, 1.0, -1.0)).coef_)
    return sizes


def _standardised(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give every column mean 0 and deviation 1; a constant one is 0."""
    smallest, largest = X.min(axis=0), X.max(axis=0)
    varies = largest > smallest
    scaled = np.where(varies, (X - smallest) / np.where(varies, largest - smallest, 1.0), 0.0)
    standardised: NDArray[np.float64] = (scaled - scaled.mean(axis=0)) / np.where(varies, scaled.std(axis=0), 1.0)
    return standardised
