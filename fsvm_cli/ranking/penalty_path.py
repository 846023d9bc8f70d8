"""What linear models whose penalty makes most weights zero have in common: features enter as the penalty weakens."""

from __future__ import annotations

import warnings
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
SMALLEST_STEP = 1e-8
ROUNDING = 1e-12
"""Of an objective, relative to it."""
MIN_CURVATURE = 1e-8
"""In place of none, where a step would have no end."""
DESCENT_TOLERANCE, MAX_DESCENTS = 1e-12, 20_000
"""Of coordinate descent: duality gap in units of the target's squares, and passes."""


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
    # Coordinate descent takes indices of 32 bits.
    return sp.csc_array((data, moved.indices.astype(np.int32), moved.indptr.astype(np.int32)), shape=X.shape)


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

    The models minimise Σ_i loss(y_i (w x_i + b)) + a (m |w|₁ + (1 - m) |w|²/2), by Newton's method: each step is a
    penalised regression with weights, scikit-learn's, and is halved until the objective falls. Copies of a column
    share their weight alike.

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
    problem = _Penalised(X, labels, loss, weights, mixing)
    values = problem.biased()
    strongest = float(np.abs(problem.slope(values) @ X).max(initial=0.0)) / mixing
    if strongest <= np.finfo(np.float64).eps * n_samples:
        return WeightPath(sizes, converged=True)
    coefficients, converged = np.zeros(n_features), True
    for size, factor in zip(sizes, factors, strict=True):
        coefficients, values, reached = problem.descend(strongest / factor, coefficients, values)
        converged &= reached
        size[:] = mean_of_copies(np.abs(coefficients), numbers)
    return WeightPath(sizes, converged)


class _Penalised(NamedTuple):
    """The objective of `path_weights`; `values` are those of the model, w x_i + b."""

    X: Any
    labels: NDArray[np.intp]
    loss: Loss
    weights: NDArray[np.float64]
    mixing: float

    def slope(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the derivative of the loss by the value of each row."""
        slope: NDArray[np.float64] = self.weights * self.labels * self.loss(self.labels * values)[1]
        return slope

    def biased(self) -> NDArray[np.float64]:
        """Return the values of the best model without features."""
        bias = np.zeros(len(self.labels))
        for _ in range(MAX_NEWTON_STEPS):
            curvature = self.weights @ self.loss(self.labels * bias)[2]
            step = self.slope(bias).sum() / curvature
            bias = bias - step
            if abs(step) <= np.finfo(np.float64).eps * abs(bias[0]):
                break
        return bias

    def objective(self, values: NDArray[np.float64], coefficients: NDArray[np.float64], penalty: float) -> float:
        """Return what is minimised."""
        sizes = self.mixing * np.abs(coefficients) + (1 - self.mixing) * coefficients**2 / 2
        return float(self.weights @ self.loss(self.labels * values)[0] + penalty * sizes.sum())

    def violation(self, values: NDArray[np.float64], coefficients: NDArray[np.float64], penalty: float) -> float:
        """Return by how much the conditions of an optimum are missed, in units of the penalty."""
        slope = self.slope(values)
        pull = slope @ self.X / penalty + (1 - self.mixing) * coefficients
        at_zero = np.maximum(np.abs(pull) - self.mixing, 0)
        missed = np.where(coefficients == 0, at_zero, np.abs(pull + self.mixing * np.sign(coefficients)))
        return max(float(missed.max()), abs(float(slope.sum())) / penalty)

    def descend(
        self, penalty: float, coefficients: NDArray[np.float64], values: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
        """Return the coefficients and values at the optimum, from those given, and whether it is reached."""
        for _ in range(MAX_NEWTON_STEPS):
            if self.violation(values, coefficients, penalty) <= MAX_VIOLATION:
                return coefficients, values, True
            curvature = np.maximum(self.loss(self.labels * values)[2], MIN_CURVATURE) * self.weights
            target = values - self.slope(values) / curvature
            found, bias = _regression(self.X, target, curvature, penalty, self.mixing, coefficients)
            step, full, change = 1.0, self.X @ found + bias - values, found - coefficients
            now = self.objective(values, coefficients, penalty) * (1 + ROUNDING)
            while self.objective(values + step * full, coefficients + step * change, penalty) > now:
                step /= 2
                if step < SMALLEST_STEP:
                    return coefficients, values, False
            coefficients = found if step == 1.0 else coefficients + step * change
            values = values + step * full
        return coefficients, values, False


def _regression(  # noqa: PLR0917 - the regression, and where it starts
    X: Any,
    target: NDArray[np.float64],
    weights: NDArray[np.float64],
    penalty: float,
    mixing: float,
    start: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float]:
    """Return coefficients and bias of the least squares with weights and both penalties."""
    from sklearn import config_context  # noqa: PLC0415 - slow to import, and seldom needed
    from sklearn.linear_model import ElasticNet, enet_path  # noqa: PLC0415 - as above

    with config_context(skip_parameter_validation=True, assume_finite=True), warnings.catch_warnings():
        # Whether the optimum is reached is asked where it is needed.
        warnings.simplefilter("ignore")
        if sp.issparse(X):
            model = ElasticNet(
                alpha=penalty / weights.sum(),
                l1_ratio=mixing,
                tol=DESCENT_TOLERANCE,
                max_iter=MAX_DESCENTS,
                warm_start=True,
            )
            model.coef_ = start.copy()
            model.fit(X, target, sample_weight=weights)
            return model.coef_, float(model.intercept_)
        centre, middle = np.average(X, axis=0, weights=weights), np.average(target, weights=weights)
        roots = np.sqrt(weights)
        features = np.asfortranarray((X - centre) * roots[:, None])
        found = enet_path(
            features,
            (target - middle) * roots,
            l1_ratio=mixing,
            alphas=[penalty / len(X)],
            coef_init=start.copy(),
            precompute=features.T @ features if X.shape[1] <= len(X) else False,
            tol=DESCENT_TOLERANCE,
            max_iter=MAX_DESCENTS,
            check_input=False,
        )[1][:, 0]
    return found, float(middle - centre @ found)
