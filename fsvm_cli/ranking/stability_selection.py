"""How often a feature is selected on halves of the samples: stability selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt
from sklearn.utils import check_random_state

from fsvm_cli.evaluation.folds import stratified_folds
from fsvm_cli.ranking.base import Ranker
from fsvm_cli.ranking.penalty_path import centred_and_scaled, path_weights, squared_error

if TYPE_CHECKING:
    from numpy.typing import NDArray


class StabilitySelection(Ranker):
    """How often the lasso gives a feature a weight on halves of the samples, at the penalty where that is most often.

    The samples are divided into two halves at random, several times; on each half the weights of the lasso are followed
    along the same penalties, from where all are 0 over `decades`. The score is the largest share of the halves in which
    the feature has a weight, over the penalties; and a small part, the mean share, which orders features of the same
    largest one. It is the mean over the classes, each against the rest. O(pairs steps (n d + n s²)), where s features
    have weights.

    Use it with many features of which few matter linearly, where a feature shall count only if it is found again on
    other samples; not where much alike features shall score alike, nor with so few samples that a half says nothing.

    Parameters
    ----------
    pairs : int, default=25
        Divisions into two halves, at least 1.
    n_steps : int, default=10
        Penalties, at least 1.
    decades : float, default=1.0
        By how many powers of ten the weakest penalty is below the strongest, above 0.
    random_state : int, RandomState or None, default=0
        Of the halves.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Notes
    -----
    Source: Meinshausen and Bühlmann (2010), whose bound on the false discoveries needs a threshold that a ranking has
    not; the complementary halves are those of Shah and Samworth (2013). A present-day reference: no document of this
    project uses it. A model that misses its optimum sets `converged_` to False.

    See Also
    --------
    ElasticNet : A single path on all samples.
    Boruta : Asks whether an importance is more than chance.

    References
    ----------
    - N. Meinshausen and P. Bühlmann, "Stability Selection", Journal of the Royal Statistical Society B 72(4), 2010,
      pages 417-473.
    - R. D. Shah and R. J. Samworth, "Variable Selection with Error Control: Another Look at Stability Selection",
      Journal of the Royal Statistical Society B 75(1), 2013, pages 55-80.

    Examples
    --------
    >>> from fsvm_cli import StabilitySelection
    >>> X, y = [[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")
    >>> StabilitySelection(random_state=0).fit(X, y).ranking_.tolist()
    [1, 2]
    """

    method = "stability-selection"
    passed_down = frozenset({"random_state"})
    cross_validates = True
    accepts_sparse = True
    goes_by_content = True

    pairs: Annotated[int, Ge(1)] = 25
    n_steps: Annotated[int, Ge(1)] = 10
    decades: Annotated[float, Gt(0)] = 1.0
    random_state: int | np.random.RandomState | None = 0

    def _scores(
        self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int, groups: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        random_state = check_random_state(self.random_state)
        features = sp.csr_array(X) if sp.issparse(X) else X
        factors = 10 ** (self.decades * np.arange(1, self.n_steps + 1) / self.n_steps)
        codes = [1] if n_classes == 2 else range(n_classes)
        share = np.zeros((len(codes), self.n_steps, X.shape[1]))
        for _ in range(self.pairs):
            for half, _ in stratified_folds(y, 2, random_state, groups=groups, caller=self.method):
                part = centred_and_scaled(features[half])
                for number, code in enumerate(codes):
                    path = path_weights(part, np.where(y[half] == code, 1, -1), squared_error, factors)
                    share[number] += path.weights > 0
                    self.converged_ &= path.converged
        share /= 2 * self.pairs
        # Shares are whole numbers of halves: a mean over 4 halves at most moves no feature past another share.
        of_class = share.max(axis=1) + share.mean(axis=1) / (4 * self.pairs)
        return np.asarray(of_class.mean(axis=0))
