"""What linear models whose penalty makes most weights zero have in common: features enter as the penalty weakens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt
from scipy.special import expit

from fsvm_cli.numerics import value_ranges
from fsvm_cli.ranking.base import SampleWeightRanker
from fsvm_cli.ranking.content import copies, mean_of_copies

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Losses = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    Loss = Callable[[NDArray[np.float64]], Losses]

MAX_VIOLATION = 1e-6
"""Of the conditions of an optimum, in units of the penalty."""
MAX_NEWTON_STEPS = 100
MAX_HALVINGS = 27
ROUNDING = 1e-12
"""Of an objective, relative to it."""
MIN_CURVATURE = 1e-8
"""In place of none, where a step would have no end."""
CONDITION = 1e-12
"""Curvature in all directions, in units of the largest, where a step could go along copies without end."""
FEWEST_TO_ENTER = 50
"""Features that a step may add, where fewer are used."""
MAX_SIGN_CHANGES = 10_000
"""Within one step."""


def squared_error(margins: NDArray[np.float64]) -> Losses:
    """Return half the squared distance of margins from 1, and its first and second derivatives."""
    return (1 - margins) ** 2 / 2, margins - 1, np.ones(np.shape(margins))


def squared_hinge(margins: NDArray[np.float64]) -> Losses:
    """Return the squared hinge loss of margins, and its first and second derivatives."""
    missing = np.maximum(1 - margins, 0)
    return missing**2, -2 * missing, 2.0 * (missing > 0)


def logistic(margins: NDArray[np.float64]) -> Losses:
    """Return the logistic loss of margins, and its first and second derivatives."""
    wrong = expit(-margins)
    return np.logaddexp(0, -margins), -wrong, wrong * expit(margins)


class PenaltyPath(SampleWeightRanker):
    """A ranking method whose scores say how early a feature gets a weight as a linear model is allowed more of them.

    The score is the number of models on a path of weakening penalties that use the feature, plus its share of the
    weights of the last, which orders those that entered together; it is the mean over the classes, each against the
    rest.

    Parameters
    ----------
    n_steps : int, default=20
        Models on the path, at least 1.
    decades : float, default=3.0
        By how many powers of ten the penalty weakens, from where all weights are 0; above 0.
    """

    goes_by_content = True
    accepts_sparse = True

    loss: ClassVar[Loss]
    """Of the margins."""
    mixing = 1.0

    n_steps: Annotated[int, Ge(1)] = 20
    decades: Annotated[float, Gt(0)] = 3.0

    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        features, found = centred_and_scaled(X), np.zeros(X.shape[1])
        factors = 10 ** (self.decades * np.arange(1, self.n_steps + 1) / self.n_steps)
        codes = [1] if n_classes == 2 else range(n_classes)
        for code in codes:
            path = path_weights(features, np.where(y == code, 1, -1), type(self).loss, factors, self.mixing, weights)
            found += (path.weights > 0).sum(axis=0)
            found += path.weights[-1] / max(path.weights[-1].sum(), np.finfo(np.float64).tiny)
            self.converged_ &= path.converged
        return found / len(codes)


def centred_and_scaled(X: Any) -> Any:
    """Move the columns to where they have no offset, and divide all by the largest range of a column.

    Of a sparse matrix only columns without zeros are moved; a constant column becomes 0.
    """
    ranges = value_ranges(X)
    largest = ranges.max(initial=0.0) or 1.0
    if not sp.issparse(X):
        lowest = X.min(axis=0)
        return np.where(ranges > 0, X - lowest - (X - lowest).mean(axis=0), 0.0) / largest
    moved = sp.csc_array(X)
    n_stored = np.diff(moved.indptr)
    lowest = np.where(n_stored == X.shape[0], X.min(axis=0).toarray().ravel(), 0.0)
    data = (moved.data - np.repeat(lowest, n_stored)) / largest
    return sp.csc_array((data, moved.indices, moved.indptr), shape=X.shape)


def scatter(X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products of all pairs of columns about their means, added up over weighted rows."""
    mean = weights @ X / weights.sum()
    if sp.issparse(X):
        products = (X.T @ X.multiply(weights[:, None])).toarray()
        return np.asarray(products - weights.sum() * np.outer(mean, mean))
    centred = (X - mean) * np.sqrt(weights)[:, None]
    return np.asarray(centred.T @ centred)


class WeightPath(NamedTuple):
    """Sizes of the weights of models, shape (n_steps, n_features), and whether all are at their optimum."""

    weights: NDArray[np.float64]
    converged: bool


def path_weights(  # noqa: PLR0917 - the table, the model, the path
    X: Any,
    labels: NDArray[np.intp],
    loss: Loss,
    factors: NDArray[np.float64],
    mixing: float = 1.0,
    sample_weight: NDArray[np.float64] | None = None,
) -> WeightPath:
    """Follow the weights of linear models with a free bias along a path of weakening penalties.

    The models minimise Σ_i loss(y_i (w x_i + b)) + a (m |w|₁ + (1 - m) |w|²/2), by Newton's method: each step is
    the optimum of a quadratic model of the loss, in the features that are used or pulled from 0, and is halved until
    the objective falls. Copies of a column share their weight alike.

    Parameters
    ----------
    X : ndarray or CSC matrix, shape (n_samples, n_features)
        See `centred_and_scaled`.
    labels : ndarray, shape (n_samples,)
        -1 or 1.
    loss : callable
        Gives losses of margins, and their first and second derivatives.
    factors : ndarray, shape (n_steps,)
        Ascending; by what the penalty is weaker than where the first weight leaves 0.
    mixing : float, default=1.0
        m, the share of the 1-norm.
    sample_weight : ndarray, shape (n_samples,), optional
    """
    n_samples, n_features = X.shape
    sizes, numbers = np.zeros((len(factors), n_features)), copies(X)
    weights = np.ones(n_samples) if sample_weight is None else sample_weight / sample_weight.mean()
    # Where curvatures are the same all along the path, one matrix serves it.
    gram = scatter(X, weights) if loss is squared_error and n_features <= n_samples else None
    problem = _Penalised(X, labels, loss, weights, mixing, gram)
    at, converged = problem.without_features(), True
    strongest = float(np.abs(at.slope @ X).max(initial=0.0)) / mixing
    if strongest <= np.finfo(np.float64).eps * n_samples:
        return WeightPath(sizes, converged=True)
    for size, factor in zip(sizes, factors, strict=True):
        at, reached = problem.descend(strongest / factor, at)
        converged &= reached
        size[:] = mean_of_copies(np.abs(at.coefficients), numbers)
    return WeightPath(sizes, converged)


class _Model(NamedTuple):
    """Coefficients of a model, its values w x_i + b, its loss, and the loss's two derivatives by each value."""

    coefficients: NDArray[np.float64]
    values: NDArray[np.float64]
    loss: float
    slope: NDArray[np.float64]
    curvature: NDArray[np.float64]


class _Penalised(NamedTuple):
    """The objective of `path_weights`."""

    X: Any
    labels: NDArray[np.intp]
    loss: Loss
    weights: NDArray[np.float64]
    mixing: float
    gram: NDArray[np.float64] | None

    def model(self, coefficients: NDArray[np.float64], values: NDArray[np.float64]) -> _Model:
        """Return the model that has these coefficients and values."""
        losses, slopes, curvatures = self.loss(self.labels * values)
        curvature = np.maximum(curvatures, MIN_CURVATURE) * self.weights
        return _Model(
            coefficients, values, float(self.weights @ losses), self.weights * self.labels * slopes, curvature
        )

    def without_features(self) -> _Model:
        """Return the best model that has only a bias."""
        at = self.model(np.zeros(self.X.shape[1]), np.zeros(len(self.labels)))
        for _ in range(MAX_NEWTON_STEPS):
            step = at.slope.sum() / at.curvature.sum()
            at = self.model(at.coefficients, at.values - step)
            if abs(step) <= ROUNDING:
                break
        return at

    def objective(self, at: _Model, penalty: float) -> float:
        """Return what is minimised."""
        sizes = self.mixing * np.abs(at.coefficients) + (1 - self.mixing) * at.coefficients**2 / 2
        return at.loss + penalty * float(sizes.sum())

    def descend(self, penalty: float, at: _Model) -> tuple[_Model, bool]:
        """Return the optimum, or how far the way to it from a model led, and whether it is reached."""
        one_norm = self.mixing * penalty
        for _ in range(MAX_NEWTON_STEPS):
            pull, is_used = at.slope @ self.X + (penalty - one_norm) * at.coefficients, at.coefficients != 0
            missed = np.maximum(np.abs(pull + one_norm * np.sign(at.coefficients)) - one_norm * ~is_used, 0.0)
            if max(float(missed.max()), abs(float(at.slope.sum()))) <= MAX_VIOLATION * penalty:
                return at, True
            eagerness = np.where(is_used, np.inf, missed)
            n_used = int(np.count_nonzero(is_used))
            # Few enter at once; the 1-norm gives weights to no more features than there are samples.
            own = np.argsort(-eagerness, kind="stable")[: n_used + min(max(n_used, FEWEST_TO_ENTER), len(self.labels))]
            own = own[eagerness[own] > 0]
            change = np.zeros_like(pull)
            change[own], shift = self.newton_step(at, own, pull[own], penalty)
            now = self.objective(at, penalty)
            for step in 0.5 ** np.arange(MAX_HALVINGS):
                new = self.model(at.coefficients + step * change, at.values + step * shift)
                if self.objective(new, penalty) <= now * (1 + ROUNDING):
                    break
            else:
                return at, False
            at = new
        return at, False

    def newton_step(
        self, at: _Model, own: NDArray[np.intp], pull: NDArray[np.float64], penalty: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return by how much some coefficients, and all values, change to the optimum of the quadratic model."""
        features, curvature, excess = self.X[:, own], at.curvature.sum(), at.slope.sum()
        # The best bias for each choice of coefficients is that of features with mean 0.
        centre = at.curvature @ features / curvature
        curvatures = scatter(features, at.curvature) if self.gram is None else self.gram[own[:, None], own]
        least = CONDITION * np.diagonal(curvatures).max(initial=0.0)
        curvatures.flat[:: len(own) + 1] += (1 - self.mixing) * penalty + least
        change = sign_search(curvatures, pull - excess * centre, self.mixing * penalty, at.coefficients[own])
        return change, features @ change - centre @ change - excess / curvature


def sign_search(
    curvatures: NDArray[np.float64], slopes: NDArray[np.float64], penalty: float, start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the change c that minimises slopes c + c' curvatures c / 2 + penalty |start + c|₁.

    With the signs of the weights fixed it solves a linear system. On the way there the first weight that would change
    its sign becomes 0; where none does, the weight enters that is pulled most from 0.

    References
    ----------
    - H. Lee, A. Battle, R. Raina and A. Y. Ng, "Efficient Sparse Coding Algorithms", Advances in Neural Information
      Processing Systems 19, 2007: the feature-sign search.
    """
    found, signs, is_best = start.copy(), np.sign(start), not start.any()
    used = np.flatnonzero(start)
    # Of the curvatures of the used weights; with each that enters or leaves it changes by an outer product.
    inverse = np.linalg.inv(curvatures[used[:, None], used])
    for _ in range(MAX_SIGN_CHANGES):
        pull = slopes + curvatures @ (found - start)
        if is_best:
            enters = int(np.where(signs == 0, np.abs(pull), 0.0).argmax())
            if signs[enters] or abs(pull[enters]) <= penalty * (1 + MAX_VIOLATION / 1000):
                break
            signs[enters] = -np.sign(pull[enters])
            column = np.append(inverse @ curvatures[used, enters], -1.0)
            own = curvatures[enters, enters] - curvatures[enters, used] @ column[:-1]
            inverse = np.pad(inverse, (0, 1)) + np.outer(column, column / own)
            used = np.append(used, enters)
        way = -inverse @ (pull + penalty * signs)[used]
        ends = np.full(len(way), np.inf)
        np.divide(-found[used], way, out=ends, where=way * signs[used] < 0)
        first = int(ends.argmin())
        is_best = bool(ends[first] > 1)
        found[used] += min(1.0, ends[first]) * way
        if not is_best:
            inverse -= np.outer(inverse[first], inverse[first] / inverse[first, first])
            inverse = np.delete(np.delete(inverse, first, axis=0), first, axis=1)
            found[used[first]] = signs[used[first]] = 0.0
            used = np.delete(used, first)
            is_best = not len(used)
    return found - start
