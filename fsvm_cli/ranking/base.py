"""A scikit-learn transformer that keeps some of the features.

The contract of every ranking method.

What the ranking methods that may be shown the test part have in common: how it reaches them.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from fsvm_cli.errors import contained
from fsvm_cli.memory_check import check_memory_for_pairs
from fsvm_cli.numerics import (
    check_input_range,
    feature_called,
    one_blas_thread,
    read_only,
    real_numbers,
    refusing_overflow,
    row_blocks,
    value_ranges,
)
from fsvm_cli.ranking.content import rows_by_content, table_by_content
from fsvm_cli.ranking.parameters import NamedMethod
from fsvm_cli.validation import ONE_CLASS, validated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray


class Selector(TransformerMixin, ABC):
    """What scikit-learn's ``SelectorMixin`` does, which cannot be imported without a second of other modules."""

    @abstractmethod
    def _get_support_mask(self) -> NDArray[np.bool_]:
        """Tell which features are kept."""

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Tell which features are kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to list their indices, in place of a mask.

        Returns
        -------
        ndarray, shape (n_features_in_,) of bool or (n_features_to_select,) of int
        """
        mask = self._get_support_mask()
        return np.flatnonzero(mask) if indices else mask

    def transform(self, X: Any) -> Any:
        """Keep the selected features.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features_in_)

        Returns
        -------
        ndarray or CSR matrix, shape (n_samples, n_features_to_select)
        """
        check_is_fitted(self)
        return validate_data(self, X, dtype=None, accept_sparse="csr", reset=False)[:, self.get_support()]

    def inverse_transform(self, X: Any) -> Any:
        """Put zeros where features have been left out.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_samples, n_features_to_select)

        Returns
        -------
        ndarray or CSC matrix, shape (n_samples, n_features_in_)

        Raises
        ------
        ValueError
            If the number of columns is not that of the selected features.
        """
        support = self.get_support()
        X = check_array(X, dtype=None, accept_sparse="csc")
        if X.shape[1] != support.sum():
            raise ValueError(f"X has {X.shape[1]} features; {support.sum()} were selected")
        if sp.issparse(X):
            starts = np.concatenate([[0], np.cumsum(np.where(support, 1, 0))])
            return type(X)((X.data, X.indices, X.indptr[starts]), shape=(X.shape[0], len(support)))
        whole = np.zeros((len(X), len(support)), dtype=X.dtype)
        whole[:, support] = X
        return whole

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Name the selected features.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of all features; those that `fit` saw where None.
        """
        names = np.asarray(OneToOneFeatureMixin.get_feature_names_out(self, input_features), dtype=object)
        selected: NDArray[np.object_] = names[self.get_support()]
        return selected


ALTERNATIVES_WITHOUT_PAIR_MATRICES = "take gradient-angle, which holds none, or a filter such as fisher"
"""Remedy where a method holds matrices of all pairs of samples and memory is too small."""
RELATIVE_ROUNDING = 1e-9
"""What another processor may change in a score, relative to it, with room to spare: 3e-11 was measured."""

ROUNDING_OF_ZERO = 1e-12
"""The same where a score is a difference of numbers of about 1 that cancel."""


class Ranker(NamedMethod, Selector, BaseEstimator):
    """A scikit-learn feature selector that gives every feature a score.

    A subclass names itself in `method`, lists its parameters with their ranges as a dataclass does (see
    `NamedMethod`), and computes the scores in `_scores`.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random, those within a search or an elimination, too.

    Attributes
    ----------
    scores_ : ndarray, shape (n_features,)
        Larger is more relevant. Of constant columns, which no method sees, 0, or below all others where these reach it;
        their ranks are the last. Tables and paths of a method are of the columns that it sees.
    ranking_ : ndarray of int, shape (n_features,)
        Rank of each feature, 1 is best, as in scikit-learn's ``RFE``; ties break at random by `tie_seed`.
    support_ : ndarray of bool, shape (n_features,)
        The `n_features_to_select` best features; half of all where it is None. Fewer where fewer are in `has_score_`.
    tied_ : ndarray of bool, shape (n_features,)
        Whether only the seed tells the feature from another: their scores tie, or in an elimination what decides does.
    has_score_ : ndarray of bool, shape (n_features,)
        Which features are ever kept: those that vary, and whose score says something (`zero_says_nothing`).
    classes_ : ndarray
        The class labels.
    converged_ : bool
        Whether every machine that the method trained reached its duality gap.
    chosen_ : dict of str to value
        Parameters that the method chose on the data, by their names; empty where it chose none.
    diagnostics_ : dict of str to dict of str to ndarray
        Tables that show how the method came to its scores, by their names: columns of one length by their names, which
        ``pandas.DataFrame`` takes as they are. A column about a feature ends in the feature's name. Empty for most
        methods.
    n_features_in_ : int

    See Also
    --------
    Extractor : Makes few new features of all, where a ranker keeps some of them.

    References
    ----------
    The documents that methods cite by a short name:

    - gold2005: C. Gold, A. Holub and P. Sollich, "Bayesian Approach to Feature Selection and Parameter Tuning for
      Support Vector Machine Classifiers", Neural Networks 18, 2005.
    - hermes2000: L. Hermes and J. M. Buhmann, "Feature Selection for Support Vector Machines", International Conference
      on Pattern Recognition (ICPR), 2000.
    - infoprop2001: V. Sindhwani, P. Bhattacharya and S. Rakshit, "Information Theoretic Feature Crediting in Multiclass
      Support Vector Machines", SIAM International Conference on Data Mining (SDM), 2001.
    - jebara-slides: T. Jebara, "SVM Feature & Kernel Selection", lecture slides of the course "Advanced Machine
      Learning & Perception".
    - kpd2018: KPD-SVM, "Kernel Parameter Descent Support Vector Machine", Chinese Conference on Pattern Recognition and
      Computer Vision (PRCV), 2018, doi:10.1007/978-3-030-03338-5_30.

    Examples
    --------
    >>> from fsvm_cli import Ranker
    >>> class Variance(Ranker):
    ...     method = "variance"
    ...     def _scores(self, X, y, n_classes):
    ...         return X.var(axis=0)
    >>> Variance().fit([[0, 3], [1, 9], [0, 5]], ["no", "yes", "no"]).ranking_.tolist()
    [2, 1]
    """

    outside_configs = frozenset({"n_features_to_select", "tie_seed"})

    is_supervised: ClassVar[bool] = True
    """Whether the scores depend on the classes."""

    is_control: ClassVar[bool] = False
    """Whether the scores say nothing about the features: a control, which no figure of scores shows."""

    trains_machines: ClassVar[bool] = False
    """Whether the method trains support vector machines; see `MachineRanker`."""

    zero_says_nothing: ClassVar[bool] = True
    """Whether a feature of score 0 says nothing about the class, so that it is never kept; not where 0 is a place."""

    scores_are_shares: ClassVar[bool] = False
    """Whether the scores divide an amount among the features; figures show them as bars."""

    cross_validates: ClassVar[bool] = False
    """Whether `_scores` divides the samples into parts, and takes ``groups``: the samples of one stay in one part."""

    accepts_sparse: ClassVar[bool] = False
    """Whether `_scores` accepts a CSR matrix; other methods refuse one, because most would fill it."""

    scores_columns_apart: ClassVar[bool] = False
    """Whether the score of a feature is one of its column and the classes alone. `_scores` then gets a CSR matrix in
    blocks of columns, each of them full."""

    goes_by_content: ClassVar[bool] = False
    """Whether `_scores` draws features, or goes through them: it then gets rows, columns and classes in the order of
    their content, columns in its direction, and copies of a column get one score. A method with a `random_state` that
    is not marked so gets the rows alone in that order."""

    takes_sample_weight: ClassVar[bool] = False
    """Whether `fit` takes ``sample_weight``; see `SampleWeightRanker`."""

    index_parameters: ClassVar[frozenset[str]] = frozenset()
    """Parameters that are the index of a feature."""

    pair_matrices: ClassVar[int] = 0
    """Matrices of all pairs of samples that the method holds at a time, 0 where none need be."""

    n_features_to_select: int | None = field(default=None, kw_only=True)
    tie_seed: int = field(default=0, kw_only=True)

    @classmethod
    def sees_test_part(cls, parameters: Mapping[str, Any]) -> bool:  # noqa: ARG003 - for those that may be shown it
        """Whether the method, with these parameters, needs the test part; see `LeakingRanker`."""
        return False

    @abstractmethod
    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        """Score the features of `X` for class codes `y`.

        May set `converged_` to False, and fill `chosen_` and `diagnostics_`. Where features tie on the way, that of
        the least `_priority` is the better one; no index may decide.
        """

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Score and rank the features.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            Class labels, at least two classes.
        groups : array-like, shape (n_samples,), optional
            Samples with the same value belong together, such as those of one patient. A method that cross-validates
            keeps them in one fold; for others they are of no meaning.

        Raises
        ------
        ValueError
            If a parameter is out of its range, the data are not what the method is defined for, or a feature's values
            are too large or too small to compute with.
        """
        return self._fit(X, y, self._scores_with(groups, y))

    def _scores_with(self, groups: Any, y: Any) -> Callable[..., NDArray[np.float64]]:
        """Return `_scores`, which receives the groups if it declares them."""
        if groups is None or not self.cross_validates:
            return self._scores
        check_consistent_length(groups, y)
        scores: Callable[..., NDArray[np.float64]] = self._scores
        return functools.partial(scores, groups=np.unique(np.asarray(groups), return_inverse=True)[1])

    @one_blas_thread()
    def _fit(self, X: Any, y: Any, scores: Callable[..., NDArray[np.float64]], sample_weight: Any = None) -> Self:
        """Score the features by `scores`, which takes what `_scores` takes, and rank them."""
        self.check_parameters()
        X, y = validated(self, X, y, accept_sparse=self._sparse_format())
        if sample_weight is not None:
            X, y, weights = _weighted(X, y, sample_weight)
            scores = scores if (weights == 1.0).all() else functools.partial(scores, weights=weights)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{self.method} needs samples of at least two classes; {ONE_CLASS}")
        n_features = X.shape[1]
        n_selected = max(n_features // 2, 1) if self.n_features_to_select is None else self.n_features_to_select
        if not 1 <= n_selected <= n_features:
            raise ValueError(f"n_features_to_select is {n_selected}; X has {n_features} features")
        check_input_range(X, self._given_names())
        if self.pair_matrices:
            check_memory_for_pairs(self.method, X.shape[0], self.pair_matrices, ALTERNATIVES_WITHOUT_PAIR_MATRICES)
        self.converged_ = True
        self.chosen_: dict[str, float | int | str] = {}
        self.diagnostics_: dict[str, dict[str, NDArray[Any]]] = {}
        priority, varies = tie_priority(self.tie_seed, n_features), value_ranges(X) > 0
        self._columns = np.flatnonzero(varies) if varies.any() else np.arange(n_features)
        if len(self._columns) < n_features:
            # Indexing would leave the samples far apart, and round sums over them in another order.
            X = X[:, self._columns] if sp.issparse(X) else np.take(X, self._columns, axis=1)
        self._priority = priority[self._columns]
        self._tied = np.zeros(len(self._columns), dtype=np.bool_)
        with refusing_overflow(self.method), contained(self.method):
            found = self._scores_by_blocks(scores, read_only(X), read_only(codes))
        self.scores_ = real_numbers(found, len(self._columns), self.method, "scores")
        self._check_scores()
        order = self._columns[order_of(self.scores_, self._priority)]
        self._tied[tied_with(self.scores_, np.arange(len(self.scores_)))] = True
        self.tied_ = np.zeros(n_features, dtype=np.bool_)
        self.tied_[self._columns] = self._tied
        self.scores_, self.has_score_ = self._of_all(varies)
        constant = np.flatnonzero(~varies)
        self.ranking_ = np.empty(n_features, dtype=np.intp)
        order = np.concatenate([order[varies[order]], constant[priority[constant].argsort()]])
        self.ranking_[order] = np.arange(1, n_features + 1)
        self.support_ = (self.ranking_ <= n_selected) & self.has_score_
        return self

    def _of_all(self, varies: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the scores of all features, constant ones among them, and which say something."""
        own = self.scores_[varies[self._columns]]
        least = float(own.min(initial=np.inf))
        is_below = least < 0 or (least == 0 and not self.zero_says_nothing)
        scores, has_score = np.full(len(varies), least - max(1.0, -least) if is_below else 0.0), varies.copy()
        scores[varies] = own
        # A best score of 0 can mean anything: a method may give negative ones throughout.
        if self.zero_says_nothing and (own == 0).any() and ((own > 0).any() or not (own < 0).any()):
            has_score &= scores > 0
        if len(self._columns) < len(varies):
            self._put_back(scores)
        return scores, has_score

    def _put_back(self, scores: NDArray[np.float64]) -> None:
        """Renumber what a method has found about the `_columns` that it saw, if that is by feature."""

    def _scores_by_blocks(
        self, scores: Callable[..., NDArray[np.float64]], X: Any, codes: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Score the features, those of a sparse matrix a block of full columns after the other where that can be."""
        if self.goes_by_content:
            return table_by_content(scores, X, codes, len(self.classes_))
        if "random_state" in self.passed_down and self.is_supervised:
            return rows_by_content(scores, X, codes, len(self.classes_))
        if not (sp.issparse(X) and self.scores_columns_apart):
            return scores(X, codes, len(self.classes_))
        by_column = X.tocsc()
        blocks = row_blocks(X.shape[1], X.shape[0])
        return np.concatenate(
            [scores(by_column[:, own].toarray(order="C"), codes, len(self.classes_)) for own in blocks]
        )

    def _given_names(self) -> Sequence[str] | None:
        return getattr(self, "feature_names_in_", None)

    def _feature_names(self) -> Sequence[str]:
        """Name the features that the method sees; those of data without names as scikit-learn does."""
        given = self._given_names()
        return [f"x{feature}" if given is None else given[feature] for feature in self._columns.tolist()]

    def _check_scores(self) -> None:
        for feature in np.flatnonzero(~np.isfinite(self.scores_))[:1].tolist():
            name = feature_called(self._columns[feature], self._given_names())
            raise ValueError(f"{self.method}: the score of {name} is {self.scores_[feature]}: scale the features first")

    @classmethod
    def _sparse_format(cls) -> str | bool:
        return "csr" if cls.accepts_sparse else False

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.array_api_support = False
        tags.input_tags.sparse = self.accepts_sparse
        return tags


def _weighted(X: Any, y: NDArray[Any], sample_weight: Any) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
    """Return the samples that take part, and their weights.

    Raises
    ------
    ValueError
        If there is not one finite weight >= 0 for each sample, or all are 0.
    """
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != y.shape:
        raise ValueError(
            f"sample_weight has the shape {weights.shape}; one weight is needed for each of {len(y)} samples"
        )
    if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
        raise ValueError("sample_weight must hold finite numbers >= 0")
    if not weights.any():
        raise ValueError("all weights in sample_weight are zero; one sample of each class needs a weight above 0")
    if weights.all():
        return X, y, weights
    return X[weights > 0.0], y[weights > 0.0], weights[weights > 0.0]


class SampleWeightRanker(Ranker):
    """A ranking method that takes sample weights: a sample of weight 2 counts as two equal ones.

    `_scores` takes ``weights``, ndarray of shape (n_samples,), all above 0, or None where all are 1.
    """

    takes_sample_weight = True

    @abstractmethod
    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Score the features of `X` for class codes `y`; see `Ranker`."""

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Score and rank the features.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            Class labels, at least two classes.
        groups : array-like, shape (n_samples,), optional
            As in ``Ranker.fit``.
        sample_weight : array-like, shape (n_samples,), optional
            How many equal samples each one stands for, >= 0, whole or not. One of weight 0 does not take part.

        Raises
        ------
        ValueError
            As in ``Ranker.fit``, or if the weights are no finite numbers >= 0, one for each sample.
        """
        return self._fit(X, y, self._scores_with(groups, y), sample_weight)


def tie_priority(tie_seed: int, n_features: int) -> NDArray[np.intp]:
    """Draw which of the features that tie comes first: the one with the least number here."""
    return np.random.default_rng(tie_seed).permutation(n_features)


def order_of(scores: NDArray[np.float64], priority: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
    """Order indices from the best score to the worst; of a tie the least `priority` comes first, or the least index.

    Scores that agree to within rounding are a tie: where they differ by no more than `RELATIVE_ROUNDING` of their size,
    or than `ROUNDING_OF_ZERO`. Processors and libraries of linear algebra round differently, and copies of a feature
    must not change their order. Ties are passed on: in a chain of scores each of which ties with the next, all do.
    """
    group = tie_groups(scores)
    return np.lexsort((np.arange(len(scores)) if priority is None else priority, group))


def tie_groups(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give scores that tie, as `order_of` says, one number, from the best on; shape (n_features,)."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    sizes = np.abs(falling)
    width = np.maximum(RELATIVE_ROUNDING * np.maximum(sizes[1:], sizes[:-1]), _rounding_of_zero(scores))
    with np.errstate(invalid="ignore"):
        ties = (falling[:-1] - falling[1:] <= width) & np.isfinite(sizes[1:] + sizes[:-1])
    groups = np.empty(len(order), dtype=np.intp)
    groups[order] = np.concatenate([[0], np.cumsum(~ties)])[: len(order)]
    return groups


def tied_with(scores: NDArray[np.float64], some: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the indices of the scores that tie with another where one of them is among `some`."""
    groups = tie_groups(scores)
    return np.flatnonzero((np.bincount(groups)[groups] > 1) & np.isin(groups, groups[some]))


def n_dropped(step: float, n_left: int) -> int:
    """Count the features that a round of elimination drops: `step`, or where it is a float this part of those left."""
    return step if isinstance(step, int) else max(int(step * n_left), 1)


def first_largest(values: NDArray[np.float64], priority: NDArray[np.intp] | None = None) -> int:
    """Index of the largest value; of those that agree with it to within rounding, the first as in `order_of`."""
    found = all_largest(values)
    return int(found[0 if priority is None else priority[found].argmin()])


def all_largest(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the indices of the largest value and of those that agree with it to within rounding."""
    largest = values.max()
    return np.flatnonzero(values >= largest - max(RELATIVE_ROUNDING * abs(largest), _rounding_of_zero(values)))


def _rounding_of_zero(values: NDArray[np.float64]) -> float:
    """Return what may be left of a difference that is 0: small beside 1, and beside the largest value if less."""
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if not math.isfinite(largest):
        largest = float(np.abs(values).max(initial=0.0, where=np.isfinite(values)))
    return ROUNDING_OF_ZERO * min(largest, 1.0)


class LeakingRanker(Ranker):
    """A ranking method that with some of its parameters needs the test part.

    That is a leak: test labels decide about the ranking, and its test accuracy is optimistic. An experiment passes the
    test part only where `sees_test_part` is true; the label of the ranking then mentions it.
    """

    leaks_where: ClassVar[Mapping[str, Any]]
    """Values of parameters, none of them a default, with which the method needs the test part."""

    @classmethod
    def sees_test_part(cls, parameters: Mapping[str, Any]) -> bool:
        """Whether the method, with these parameters, needs the test part."""
        return all(parameters.get(name) == value for name, value in cls.leaks_where.items())

    @abstractmethod
    def _scores_with_test_part(
        self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int, *, X_test: Any, y_test: Any
    ) -> NDArray[np.float64]:
        """Score the features as `_scores` does; the test part is as it was given, with labels in place of codes."""

    def fit(self, X: Any, y: Any, groups: Any = None, *, X_test: Any = None, y_test: Any = None) -> Self:
        """Score and rank the features.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            Class labels, at least two classes.
        groups : array-like, shape (n_samples,), optional
            As in ``Ranker.fit``.
        X_test, y_test : array-like, shapes (n_test, n_features) and (n_test,)
            Where the parameters ask for the test part, and only there.

        Raises
        ------
        ValueError
            If there is a test part where none is needed, or none where one is; and as in ``Ranker.fit``.
        """
        parameters = self.get_params(deep=False)
        needed = self.sees_test_part(parameters)
        if needed != (X_test is not None) or needed != (y_test is not None):
            what = "needs X_test and y_test" if needed else "must not see a test part"
            settings = ", ".join(f"{name}={parameters[name]!r}" for name in self.leaks_where)
            raise ValueError(f"{self.method} with {settings} {what}")
        if not needed:
            return super().fit(X, y, groups)
        return self._fit(X, y, functools.partial(self._scores_with_test_part, X_test=X_test, y_test=y_test))
