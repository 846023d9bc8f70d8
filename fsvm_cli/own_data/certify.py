"""Certificates of trained machines, foreign ones too: how far they are from the optimum, and what that leaves open.

A better machine with a bound on its own distance from the optimum, r, is found from the one that is given: by Newton
steps, or else by training (`fsvm_cli.svm.certified` and the duality gap, rounding included). What is said of the given
machine is measured from there.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
import threadpoolctl
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.class_weight import compute_class_weight

from fsvm_cli.console import brief
from fsvm_cli.data.dataset import known_features
from fsvm_cli.data.scaling import SCALINGS, ScalingName, fit_scaling
from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.memory_check import check_memory_for_pairs
from fsvm_cli.own_data.request import SEED
from fsvm_cli.ranking.rfe_certified import classes_of_copies
from fsvm_cli.svm import SVM, DualProblem, Gaussian, Linear, Polynomial, solve
from fsvm_cli.svm.certified import Points, lengths_of, locate, normal_vector_of
from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.solvers.solve import balanced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from fsvm_cli.data.source import DataSource
    from fsvm_cli.svm import Kernel
    from fsvm_cli.svm.compiled import Array

REPAIRS = 3
"""Newton steps from a given machine, before one is trained."""
CLOSE_ENOUGH = 1e-9
"""Radius, relative to the length of w, with which a repaired machine is not trained again."""
RETRAINED_TO = 1e-12
"""Relative duality gap of what is trained where a repair is not close enough."""
QUANTILE_ROUNDING = 1e-12
"""Of sums of C over samples, relative to the whole sum."""
NEWTON_STEPS = 50
FEW_ROWS = 2_000
"""Up to which a linear machine that a repair leaves open is trained from a matrix of all pairs of rows."""


@dataclass(frozen=True)
class MachineCertificate:
    """What is certified of one machine.

    Attributes
    ----------
    name : str
        Classes that it tells apart, that with the output +1 first.
    relative_gap : float
        Upper bound of (P - D) / max(P, D), where P is the objective of what the model predicts by, and D that of its
        dual coefficients; of the repaired machine's for models that keep none.
    distance : tuple of float
        Lower and upper bound of |w - w*|.
    radius : float
        Upper bound of the distance of the repaired machine.
    norm : float
        |w| of the repaired machine.
    coef : ndarray, shape (n_features,), or None
        The repaired machine's, of the linear kernel.
    dual_coef : ndarray, shape (n_samples,), or None
        The repaired machine's alpha_i y_i; None for models with the squared loss.
    bias : tuple of float
        Between which the optimal bias is.
    """

    name: str
    relative_gap: float
    distance: tuple[float, float]
    radius: float
    norm: float
    coef: Array | None
    dual_coef: Array | None
    bias: tuple[float, float]


@dataclass(frozen=True)
class ModelCertificate:
    """What is certified of a model.

    Attributes
    ----------
    machines : tuple of MachineCertificate
    decided_predictions : ndarray of bool, shape (n_samples,)
        Whether the sign of each machine's output at the optimum is known.
    other_predictions : ndarray of int
        Rows whose decided prediction is another than the model's.
    verdicts : tuple of str, or None
        For each feature "decided", "copy" or "tied": its place in the order of sum w_j^2 over the machines at the
        optimum. None where the kernel is not linear.
    decided_sizes : ndarray of int
        The sizes k for which the k largest sum w_j^2, as a set, are known.
    other_places : int
        Features that the model gives another place than they have in the order of the repaired machine.
    remarks : tuple of str
    """

    machines: tuple[MachineCertificate, ...]
    decided_predictions: npt.NDArray[np.bool_]
    other_predictions: npt.NDArray[np.intp]
    verdicts: tuple[str, ...] | None
    decided_sizes: npt.NDArray[np.intp]
    other_places: int
    remarks: tuple[str, ...] = ()


class Given(NamedTuple):
    """One machine of a model.

    Attributes
    ----------
    name : str
    rows : (n,) array of int
        That it was trained on.
    y : (n,) array
        Their labels, -1 or +1.
    C : (n,) array
    kernel : Kernel
    c : (n,) array or None
        alpha_i y_i.
    w : (d,) array or None
        Where there is no c; with the bias over `constant` last if that is not 0.
    bias : float
    constant : float
        The value of the column by whose weight the bias is penalised.
    is_squared : bool
        Loss C max(0, 1 - y f)^2.
    """

    name: str
    rows: npt.NDArray[np.intp]
    y: Array
    C: Array
    kernel: Kernel
    c: Array | None
    w: Array | None
    bias: float
    constant: float = 0.0
    is_squared: bool = False


class Found(NamedTuple):
    """A machine beside its certificate: at all rows its optimal outputs are in `low` and `high`, before the bias."""

    certificate: MachineCertificate
    low: Array
    high: Array
    given: Array
    given_coef: Array | None


def certify(model: Any, X: Any, y: npt.ArrayLike, *, C: float | None = None) -> ModelCertificate:
    """Certify a trained machine: how far it is from the optimum, and which predictions and places that leaves open.

    Parameters
    ----------
    model : SVC, LinearSVC or SVM, a Pipeline that ends in one, or a path
        A path is that of a model file of libsvm or liblinear. Of the kernels linear, Gaussian ("rbf") and polynomial.
        LinearSVC and liblinear penalise the bias: their optimum is that of this problem.
    X : array, shape (n_samples, n_features), or data frame
        The rows that the model was trained on, all of them, in any order; before the steps of a Pipeline.
    y : array, shape (n_samples,)
        Their classes.
    C : float, optional
        With which a model file was trained, > 0; estimators know it.

    Returns
    -------
    ModelCertificate

    Raises
    ------
    UsageError
        If the model is another one, was trained on other rows, or holds coefficients beyond C.
    DataError
        If a model file is missing or damaged.

    See Also
    --------
    RecursiveFeatureElimination : With ``certify=True``, says the same of each elimination.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from fsvm_cli import certify
    >>> X = [[0.0, 3.0], [1.0, 1.0], [0.0, 2.0], [1.0, 4.0], [5.0, 3.0], [6.0, 1.0], [5.0, 2.0], [6.0, 4.0]]
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> found = certify(SVC(kernel="linear").fit(X, y), X, y)
    >>> found.decided_predictions.all(), found.verdicts
    (np.True_, ('decided', 'decided'))
    """
    with threadpoolctl.threadpool_limits(limits=1):
        if isinstance(model, Pipeline):
            X, model = (model[:-1].transform(X) if len(model.steps) > 1 else X), model[-1]
        rows = np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        labels = np.asarray(y)
        if rows.ndim != 2 or len(rows) != len(labels):
            raise UsageError(f"X has shape {rows.shape} and y {labels.shape}; there must be one class for each row")
        given = [*_machines(model, rows, labels, C)]
        return _certified(given, rows)


def certify_source(model: Any, source: DataSource, *, scaling: str, C: float | None) -> ModelCertificate:
    """Certify a model by a file or a built-in data set, as `certify` does by arrays.

    Parameters
    ----------
    model : estimator or path
    source : DataSource
    scaling : str
        Of the features before the model, by its name.
    C : float or None
        Of a model file.

    Raises
    ------
    UsageError
        As `certify`, or if the scaling is none.
    """
    if scaling not in SCALINGS:
        raise UsageError(f"--scaling {brief(scaling)}: is none of {', '.join(SCALINGS)}")
    dataset = source.draw(random_stream(SEED, "data"))
    X = known_features(dataset, np.arange(dataset.n_samples))
    if scaling != "none":
        X = fit_scaling(cast("ScalingName", scaling), X).transform(X)
    elif isinstance(model, Pipeline) and hasattr(model, "feature_names_in_"):
        X = dataset.frame()
    try:
        return certify(model, X, dataset.labels(), C=C)
    except ValueError as error:
        raise UsageError(f"{dataset.name}: {brief(str(error))}") from error


def _certified(machines: Sequence[Given], X: Array) -> ModelCertificate:
    found = [_primal(each, X) if each.c is None else _dual(each, each.c, X) for each in machines]
    decided, other = np.ones(len(X), dtype=bool), np.zeros(len(X), dtype=bool)
    for each in found:
        low, high = each.low + each.certificate.bias[0], each.high + each.certificate.bias[1]
        decided &= (low > 0.0) | (high < 0.0)
        other |= ((low > 0.0) & (each.given < 0.0)) | ((high < 0.0) & (each.given > 0.0))
    certificates = tuple(each.certificate for each in found)
    verdicts, sizes, other_places = None, np.array([], dtype=np.intp), 0
    if all(each.given_coef is not None for each in found):
        verdicts, sizes, other_places = _places(found, X, may_shift=all(each.w is None for each in machines))
    remarks = []
    if any(each.constant for each in machines):
        remarks.append("the bias is penalised, as LinearSVC and liblinear do: w and its distance include it")
    if any(each.is_squared for each in machines):
        remarks.append("the loss is squared: a machine with the plain loss is another one")
    if any(not np.isfinite(each.radius) for each in certificates):
        remarks.append("no bound is known for a machine whose coefficients do not sum to 0: nothing is decided")
    return ModelCertificate(
        certificates, decided, np.flatnonzero(other & decided), verdicts, sizes, other_places, tuple(remarks)
    )


def _places(found: Sequence[Found], X: Array, *, may_shift: bool) -> tuple[tuple[str, ...], npt.NDArray[np.intp], int]:
    """Return the verdict on each feature's place, the sizes of sets that are known, and how many are elsewhere.

    Where the bias is penalised, or there is none, a column is no copy of the same plus a constant.
    """
    d = X.shape[1]
    w = np.array([np.asarray(each.certificate.coef)[:d] for each in found])
    lengths = np.sqrt((w**2).sum(axis=0)) * (1.0 + EPSILON * (len(w) + 4))
    radius = float(np.sqrt(sum(each.certificate.radius**2 for each in found))) * (1.0 + 1e-9)
    widths = np.where(np.any(X, axis=0), radius + 2.0 * EPSILON * (len(w) + 4) * lengths, 0.0)
    columns = X.T if may_shift else np.column_stack([np.zeros(d), X.T])
    copies = classes_of_copies(np.ascontiguousarray(columns), None)
    order = np.argsort(-lengths, kind="stable")
    low, high = (lengths - widths)[order], (lengths + widths)[order]
    lowest, highest = np.minimum.accumulate(low), np.maximum.accumulate(high[::-1])[::-1]
    verdicts, own = [""] * d, copies[order]
    for place, feature in enumerate(order):
        if (place == 0 or lowest[place - 1] > high[place]) and (place == d - 1 or highest[place + 1] < low[place]):
            verdicts[feature] = "decided"
            continue
        overlap = (low <= high[place]) & (high >= low[place])
        verdicts[feature] = "copy" if (own[overlap] == own[place]).all() else "tied"
    sizes = [k for k in range(1, d) if lowest[k - 1] > highest[k]] + [d]
    given = np.sqrt((np.array([np.asarray(each.given_coef)[:d] for each in found]) ** 2).sum(axis=0))
    other = np.argsort(-given, kind="stable") != order
    certain = np.array([verdicts[feature] == "decided" for feature in order])
    return tuple(verdicts), np.array(sizes), int((other & certain).sum())


def _bias_interval(y: Array, C: Array, low: Array, high: Array) -> tuple[float, float]:
    """Return where every optimal bias is.

    sum_i C_i max(0, 1 - y_i (s_i + b)) has in b a slope of -sum of C over y = 1 on the left, and C_i more beyond each
    y_i - s_i: its minimum is at a quantile of these, which grows with each of them.

    Parameters
    ----------
    y, C : (n,) arrays
    low, high : (n,) arrays
        Bounds of the outputs s_i.
    """
    total, level = float(C.sum()), float(C[y > 0.0].sum())
    blur = QUANTILE_ROUNDING * total
    ends = []
    for points, is_left in ((y - high, True), (y - low, False)):
        order = np.argsort(points, kind="stable")
        sums = np.cumsum(C[order])
        at = np.flatnonzero(sums >= level - blur if is_left else sums > level + blur)
        ends.append(float(points[order[at[0]]]) if len(at) else np.inf)
    return ends[0] - EPSILON * (1.0 + abs(ends[0])), ends[1] + EPSILON * (1.0 + abs(ends[1]))


def _dual(given: Given, c: Array, X: Array) -> Found:
    """Certify a machine with its coefficients."""
    return (_linear if given.kernel.is_linear else _with_kernel)(given, c, X)


def _linear(given: Given, c: Array, X: Array) -> Found:
    Z = X[given.rows]
    columns, features = np.ascontiguousarray(Z.T), np.arange(X.shape[1])
    points = Points(columns, columns, features, lengths_of(columns, features), given.y, given.C)
    w = normal_vector_of(columns, features, c)
    gap, best, v = _gap(given, c, Z @ w, float(w @ w)), locate(points, c, w, given.bias), w
    repaired = c
    for trained in (False, True):
        for _ in range(REPAIRS):
            if best.radius <= CLOSE_ENOUGH * float(np.linalg.norm(v)):
                break
            u = normal_vector_of(columns, features, best.c)
            after = locate(points, best.c, u, best.bias)
            if not after.radius < best.radius:
                break
            repaired, best, v = best.c, after, u
        if trained or best.radius <= CLOSE_ENOUGH * float(np.linalg.norm(v)):
            break
        start, at = _retrained(given, Z)
        u = normal_vector_of(columns, features, start)
        after = locate(points, start, u, at)
        if after.radius < best.radius:
            repaired, best, v = start, after, u
    length = float(np.linalg.norm(v))
    reach = _lengths(X) * (best.radius + EPSILON * (X.shape[1] + 8) * length) * (1.0 + 1e-9)
    outputs = X @ v
    low, high = outputs - reach, outputs + reach
    bias = _bias_interval(given.y, given.C, low[given.rows], high[given.rows])
    distance = _around(float(np.linalg.norm(w - v)), best.radius + EPSILON * (len(w) + 4) * length)
    coefficients = np.zeros(len(X))
    coefficients[given.rows] = repaired
    certificate = MachineCertificate(given.name, gap, distance, best.radius, length, v, coefficients, bias)
    return Found(certificate, low, high, X @ w + given.bias, w)


def _retrained(given: Given, Z: Array) -> tuple[Array, float]:
    if len(Z) <= FEW_ROWS:
        centred = Z - Z.mean(axis=0)
        found = solve(DualProblem(centred @ centred.T, given.y, given.C), tolerance=RETRAINED_TO, on_failure="flag")
        return found.alpha * given.y, found.bias - float(Z.mean(axis=0) @ (Z.T @ (found.alpha * given.y)))
    machine = SVM(tolerance=RETRAINED_TO, on_failure="flag").fit(Z, given.y, sample_weight=given.C)
    c = np.zeros(len(Z))
    c[machine.support_] = machine.dual_coef_[0]
    return c, float(machine.intercept_[0])


def _with_kernel(given: Given, c: Array, X: Array) -> Found:
    """Certify a machine by a trained one of the same kernel: v = w leaves |w - w*|^2 <= the duality gap."""
    Z = X[given.rows]
    check_memory_for_pairs("certify", len(Z), 3, "certify a model of fewer rows")
    K, rounding = given.kernel.gram(Z, Z), given.kernel.rounding(Z).of_machine()
    problem = DualProblem(K, given.y, given.C, rounding=rounding)
    gap = _gap(given, c, K @ c, float(c @ (K @ c)))
    start = balanced(problem, c * given.y)
    found = solve(problem, tolerance=RETRAINED_TO, alpha0=start, on_failure="flag")
    radius = _root_of_gap(found.duality_gap, found.objective)
    repaired = found.alpha * given.y
    a = c - repaired
    blur = 2.0 * EPSILON * (len(a) + 8) * float(np.abs(a) @ (np.abs(K) @ np.abs(a)))
    apart = np.sqrt(max(float(a @ (K @ a)), 0.0))
    across = given.kernel.gram(X, Z)
    length = float(np.sqrt(max(float(repaired @ (K @ repaired)), 0.0)))
    lengths: Array = np.sqrt(given.kernel.diagonal(X))
    own = given.kernel.rounding(X)
    relative, reach = float(own.relative.max()), float(own.reach.max())
    error = np.abs(across) @ np.abs(repaired) * (relative + EPSILON * (len(a) + 8))
    error += reach * float(np.abs(repaired) @ lengths[given.rows])
    outputs = across @ repaired
    low, high = (outputs + sign * (lengths * radius * (1.0 + 1e-9) + error) for sign in (-1.0, 1.0))
    bias = _bias_interval(given.y, given.C, low[given.rows], high[given.rows])
    distance = _around(apart, radius + float(np.sqrt(blur)))
    coefficients = np.zeros(len(X))
    coefficients[given.rows] = repaired
    certificate = MachineCertificate(given.name, gap, distance, radius, length, None, coefficients, bias)
    return Found(certificate, low, high, across @ c + given.bias, None)


def _gap(given: Given, c: Array, outputs: Array, square: float) -> float:
    """Return the relative gap of a machine, a sum of terms >= 0 (`fsvm_cli.svm.certified`)."""
    alpha, slack = c * given.y, 1.0 - given.y * (outputs + given.bias)
    losses = given.C * np.maximum(slack, 0.0)
    gap = float(np.maximum(losses - alpha * slack, 0.0).sum()) + abs(given.bias * float(c.sum()))
    primal = 0.5 * square + float(losses.sum())
    largest = max(primal, float(alpha.sum()) - 0.5 * square)
    return gap / largest + EPSILON * len(c) if largest > 0.0 else 0.0


def _primal(given: Given, X: Array) -> Found:
    """Certify a machine that keeps no coefficients."""
    w = np.asarray(given.w)
    Z = X if not given.constant else np.column_stack([X, np.full(len(X), given.constant)])
    rows, y, C = Z[given.rows], given.y, given.C
    v, radius, dual, alpha = (_squared if given.is_squared else _hinge)(rows, y, C, w)
    slack = np.maximum(1.0 - y * (rows @ w), 0.0)
    primal = 0.5 * float(w @ w) + float(C @ (slack**2 if given.is_squared else slack))
    gap = max(primal - dual, 0.0) / primal + EPSILON * len(rows)
    length = float(np.linalg.norm(v))
    reach = _lengths(Z) * (radius + EPSILON * (Z.shape[1] + 8) * length) * (1.0 + 1e-9)
    outputs = Z @ v
    distance = _around(float(np.linalg.norm(w - v)), radius + EPSILON * (len(w) + 4) * length)
    bias = 0.0 if not given.constant else float(v[-1]) * given.constant
    interval = (bias - radius * abs(given.constant), bias + radius * abs(given.constant))
    low, high = outputs - reach - interval[0], outputs + reach - interval[1]
    coefficients = None
    if alpha is not None:
        coefficients = np.zeros(len(X))
        coefficients[given.rows] = alpha * y
    certificate = MachineCertificate(given.name, gap, distance, radius, length, v[: X.shape[1]], coefficients, interval)
    return Found(certificate, low, high, Z @ w, w)


def _hinge(Z: Array, y: Array, C: Array, _: Array) -> tuple[Array, float, float, Array | None]:
    """Return w of a trained machine without bias, its radius, its dual objective and alpha."""
    check_memory_for_pairs("certify", len(Z), 2, "certify a model of fewer rows, or of the squared loss")
    problem = DualProblem(Z @ Z.T, y, C, equality=False, rounding=Linear().rounding(Z).of_machine())
    found = solve(problem, tolerance=RETRAINED_TO, on_failure="flag")
    v = (found.alpha * y) @ Z
    rounding = EPSILON * (len(Z) + 4) * float(found.alpha @ _lengths(Z))
    return v, _root_of_gap(found.duality_gap, found.objective) + rounding, found.objective, found.alpha


def _squared(Z: Array, y: Array, C: Array, w: Array) -> tuple[Array, float, float, None]:
    """Return the w of Newton steps on the samples within the margin, its radius, and a bound of the optimum from below.

    P = |w|^2 / 2 + sum C xi^2 is strongly convex, so that |w - w*| <= |P'(w)|, and P - P* <= |P'(w)|^2 / 2.
    """
    lengths = _lengths(Z)

    def gradient(v: Array) -> tuple[Array, float]:
        pull = 2.0 * C * np.maximum(1.0 - y * (Z @ v), 0.0)
        slope = v - (pull * y) @ Z
        length = float(np.linalg.norm(v))
        of_outputs = 2.0 * C * EPSILON * ((Z.shape[1] + 4) * length * lengths + 2.0)
        of_sum = EPSILON * (len(Z) + 4) * pull
        error = float((of_outputs + of_sum) @ lengths) + EPSILON * length
        return slope, (float(np.linalg.norm(slope)) * (1.0 + EPSILON * len(v)) + error) * (1.0 + 1e-9)

    def objective(v: Array) -> float:
        return 0.5 * float(v @ v) + float(C @ np.maximum(1.0 - y * (Z @ v), 0.0) ** 2)

    best: Array = w
    slope, radius = gradient(w)
    for _ in range(NEWTON_STEPS):
        inside = y * (Z @ best) < 1.0
        A, weights = Z[inside], 2.0 * C[inside]
        if len(A) < A.shape[1]:  # (I + A'WA)^-1 = I - A'(W^-1 + AA')^-1 A
            step = slope - A.T @ np.linalg.solve(np.diag(1.0 / weights) + A @ A.T, A @ slope)
        else:
            step = np.asarray(np.linalg.solve(np.eye(A.shape[1]) + (A.T * weights) @ A, slope), dtype=np.float64)
        factor, before = 1.0, objective(best)
        while factor > EPSILON and objective(best - factor * step) > before:
            factor *= 0.5
        after = best - (factor if factor > EPSILON else 1.0) * step
        slope_after, radius_after = gradient(after)
        if not radius_after < radius and not objective(after) < before:
            break
        best, slope, radius = after, slope_after, radius_after
    return best, radius, objective(best) - 0.5 * radius**2, None


def _root_of_gap(relative: float, objective: float) -> float:
    if not relative < 1.0:
        return np.inf
    return float(np.sqrt(relative * abs(objective) / (1.0 - relative) * (1.0 + 1e-9)))


def _lengths(Z: Array) -> Array:
    columns = np.ascontiguousarray(Z.T)
    return lengths_of(columns, np.arange(len(columns)))


def _around(value: float, radius: float) -> tuple[float, float]:
    return max(value - radius, 0.0), value + radius


def _machines(model: Any, X: Array, y: npt.NDArray[Any], C: float | None) -> Iterator[Given]:
    """Yield the machines of a model, by its kind.

    Raises
    ------
    UsageError
        If it is of none that is known.
    """
    if isinstance(model, str | Path):
        yield from _of_file(Path(model), X, y, C)
        return
    if C is not None:
        raise UsageError("C is for model files, which do not hold it; leave it out for an estimator")
    readers: tuple[tuple[Any, Callable[[Any, Array, npt.NDArray[Any]], Iterator[Given]]], ...] = (
        (SVM, _of_own),
        (SVC, _of_svc),
        (LinearSVC, _of_linear_svc),
    )
    for kind, read in readers:
        if type(model) is kind:
            if not hasattr(model, "classes_"):
                raise UsageError(f"{kind.__name__}: is not fitted; fit it first")
            if getattr(model, "n_features_in_", X.shape[1]) != X.shape[1]:
                raise UsageError(
                    f"{kind.__name__}: was trained on {model.n_features_in_} features, and the data have "
                    f"{X.shape[1]}; give it the data that it was trained on"
                )
            yield from read(model, X, y)
            return
    raise UsageError(
        f"{type(model).__name__}: only SVC and LinearSVC of scikit-learn, SVM of fsvm, Pipelines that end in one, and "
        "model files of libsvm and liblinear can be certified"
    )


def _codes(y: npt.NDArray[Any], classes: Sequence[Any]) -> npt.NDArray[np.intp]:
    """Return the numbers that a model gives the classes of rows; what is equal as text is the same class."""
    number = {str(name): k for k, name in enumerate(classes)}
    unknown = sorted({str(name) for name in np.unique(y)} - number.keys())
    if unknown or len(np.unique(y)) < len(number):
        raise UsageError(
            f"the model tells {', '.join(number)} apart, and the rows are of {', '.join(map(str, np.unique(y)))}; give "
            "the data that it was trained on"
        )
    return np.array([number[str(name)] for name in y])


def _one_against_one(  # noqa: PLR0917 - what the machines of a model share
    pairs: Sequence[tuple[int, int]],
    coefficients: Callable[[int, int, int], Array],
    biases: Array,
    codes: npt.NDArray[np.intp],
    C: Array,
    kernel: Kernel,
    classes: Sequence[Any],
) -> Iterator[Given]:
    """Yield the machines of pairs of classes, the first as +1."""
    for m, (i, j) in enumerate(pairs):
        rows = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[rows] == i, 1.0, -1.0)
        c = coefficients(m, i, j)[rows]
        name = f"{classes[i]} against {classes[j]}"
        yield Given(name, rows, y, C[rows], kernel, _in_box(name, c, y, C[rows]), None, float(biases[m]))


def _in_box(name: str, c: Array, y: Array, C: Array) -> Array:
    alpha = c * y
    if (alpha < 0.0).any() or (alpha > C * (1.0 + 1e-12)).any():
        raise UsageError(
            f"{name}: has coefficients below 0 or beyond C; the classes or C are not those of its training, or it "
            "was trained with weights of samples, which models do not keep"
        )
    return np.minimum(alpha, C) * y


def _rows_of(vectors: Array, classes: npt.NDArray[np.intp], X: Array, codes: npt.NDArray[np.intp]) -> list[int]:
    """Find support vectors among the rows, each row once."""
    places: dict[tuple[bytes, int], list[int]] = {}
    for row in range(len(X) - 1, -1, -1):
        places.setdefault(((X[row] + 0.0).tobytes(), int(codes[row])), []).append(row)
    found = []
    for k, (vector, code) in enumerate(zip(vectors, classes, strict=True)):
        left = places.get(((vector + 0.0).tobytes(), int(code)))
        if not left:
            raise UsageError(
                f"support vector {k + 1} is no row of the data, or of another class there; give the data that the "
                "model was trained on, scaled as they were (--scaling)"
            )
        found.append(left.pop())
    return found


def _scikit_kernel(name: Any, gamma: float, offset: float, degree: int) -> Kernel:
    if name == "linear":
        return Linear()
    if name == "rbf":
        return Gaussian(theta=1.0 / gamma)
    if name == "poly" and offset >= 0.0:
        return Polynomial(degree=degree, offset=offset, scale=gamma)
    raise UsageError(
        f"kernel {brief(str(name))}: the kernels linear, rbf and poly (coef0 >= 0) can be certified; others may be "
        "indefinite, and have no optimum to be near"
    )


def _of_svc(model: Any, X: Array, y: npt.NDArray[Any]) -> Iterator[Given]:
    kernel = _scikit_kernel(model.kernel, model._gamma, model.coef0, model.degree)
    codes, classes = _codes(y, model.classes_), model.classes_
    vectors = model.support_vectors_
    vectors = np.asarray(vectors.toarray() if sp.issparse(vectors) else vectors, dtype=np.float64)
    coefficients = model.dual_coef_
    coefficients = np.asarray(coefficients.toarray() if sp.issparse(coefficients) else coefficients)
    owners = np.repeat(np.arange(len(classes)), model.n_support_)
    C = model.C * np.asarray(model.class_weight_)[codes]
    yield from _of_libsvm(kernel, vectors, coefficients, owners, model.intercept_, X, codes, C, classes)


def _of_libsvm(  # noqa: PLR0917 - what a model of libsvm holds
    kernel: Kernel,
    vectors: Array,
    coefficients: Array,
    owners: npt.NDArray[np.intp],
    biases: Array,
    X: Array,
    codes: npt.NDArray[np.intp],
    C: Array,
    classes: Sequence[Any],
) -> Iterator[Given]:
    """Yield the machines of support vectors class by class; of two classes the second is +1, of more the first.

    Parameters
    ----------
    coefficients : (n_classes - 1, n_support) array
        The row of a pair is that of its other class, less the own one.
    """
    places = np.array(_rows_of(vectors, owners, X, codes), dtype=np.intp)
    pairs = [(1, 0)] if len(classes) == 2 else [*combinations(range(len(classes)), 2)]

    def of_pair(_: int, i: int, j: int) -> Array:
        full = np.zeros(len(X))
        for own, other in ((i, j), (j, i)):
            mine = owners == own
            full[places[mine]] = coefficients[other - (other > own), mine]
        return full

    yield from _one_against_one(pairs, of_pair, np.asarray(biases), codes, C, kernel, classes)


def _of_own(model: Any, X: Array, y: npt.NDArray[Any]) -> Iterator[Given]:
    if model.C_unit != "none" or np.isinf(model.C) or model.class_kernels is not None:
        raise UsageError("SVM: with C_unit, a hard margin or class_kernels cannot be certified; see its duality_gap_")
    codes, classes, kernel = _codes(y, model.classes_), model.classes_, model.machine_kernels_[0]
    if not kernel.positive_semidefinite:
        raise UsageError(f"SVM: the {kernel.name} kernel may be indefinite, and has no optimum to be near")
    C = model.C * _class_weights(model.class_weight, classes, codes)
    found = np.zeros((len(model.dual_coef_), len(X)))
    same = len(model.support_) == 0 or model.support_.max() < len(X)
    if not (same and np.array_equal(X[model.support_], model.support_vectors_)):
        raise UsageError("SVM: its support vectors are not the same rows of the data; give those it was trained on")
    found[:, model.support_] = model.dual_coef_
    if model.decision_function_shape == "ovo" and len(classes) > 2:
        pairs = [*combinations(range(len(classes)), 2)]
        yield from _one_against_one(pairs, lambda m, *_: found[m], model.intercept_, codes, C, kernel, classes)
        return
    for m, k in enumerate([1] if len(classes) == 2 else range(len(classes))):
        y_m = np.where(codes == k, 1.0, -1.0)
        name = _against_rest(classes, k)
        c = _in_box(name, found[m], y_m, C)
        yield Given(name, np.arange(len(X)), y_m, C, kernel, c, None, float(model.intercept_[m]))


def _against_rest(classes: Sequence[Any], k: int) -> str:
    return f"{classes[k]} against {classes[1 - k] if len(classes) == 2 else 'the rest'}"


def _class_weights(class_weight: Any, classes: Sequence[Any], codes: npt.NDArray[np.intp]) -> Array:
    names = np.asarray(classes)
    weights = compute_class_weight(class_weight, classes=names, y=names[codes])
    return np.asarray(weights, dtype=np.float64)[codes]


def _of_linear_svc(model: Any, _: Array, y: npt.NDArray[Any]) -> Iterator[Given]:
    if model.penalty != "l2" or model.multi_class != "ovr":
        raise UsageError(
            f"LinearSVC: penalty={model.penalty!r}, multi_class={model.multi_class!r}; only penalty='l2' one against "
            "the rest can be certified"
        )
    codes, classes = _codes(y, model.classes_), model.classes_
    C = model.C * _class_weights(model.class_weight, classes, codes)
    constant = float(model.intercept_scaling) if model.fit_intercept else 0.0
    intercepts = np.broadcast_to(model.intercept_, len(model.coef_))
    yield from _against_rests(
        classes, codes, C, model.coef_, intercepts, constant, is_squared=model.loss == "squared_hinge"
    )


def _against_rests(  # noqa: PLR0917 - as above
    classes: Sequence[Any],
    codes: npt.NDArray[np.intp],
    C: Array,
    coef: Array,
    intercepts: Array,
    constant: float,
    *,
    is_squared: bool,
) -> Iterator[Given]:
    for m, k in enumerate([1] if len(classes) == 2 else range(len(classes))):
        w = coef[m] if not constant else np.append(coef[m], intercepts[m] / constant)
        y = np.where(codes == k, 1.0, -1.0)
        name = _against_rest(classes, k)
        rows = np.arange(len(codes))
        yield Given(name, rows, y, C, Linear(), None, w, float(intercepts[m]), constant, is_squared)


LIBSVM_KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf"}
LIBLINEAR_LOSSES = {
    "L2R_L2LOSS_SVC_DUAL": "squared",
    "L2R_L2LOSS_SVC": "squared",
    "L2R_L1LOSS_SVC_DUAL": "plain",
}


def _of_file(path: Path, X: Array, y: npt.NDArray[Any], C: float | None) -> Iterator[Given]:
    """Yield the machines of a model file of libsvm or liblinear."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{brief(str(path))}: cannot be read as a model of libsvm or liblinear ({error})") from error
    header: dict[str, list[str]] = {}
    body: list[str] = []
    for number, line in enumerate(lines):
        name, *values = line.split() or [""]
        if name in {"SV", "w"}:
            body = [each for each in lines[number + 1 :] if each.strip()]
            break
        header[name] = values
    kinds = {"svm_type": _of_libsvm_text, "solver_type": _of_liblinear_text}
    for key, read in kinds.items():
        if key in header:
            if C is None or not 0.0 < C < np.inf:
                raise UsageError(f"{brief(str(path))}: a model file does not hold C; add the C of its training (--C)")
            try:
                yield from read(header, body, X, y, C)
            except (KeyError, ValueError, IndexError) as error:
                raise DataError(
                    f"{brief(str(path))}: is damaged, or of a version that is not known ({brief(repr(error))}); train "
                    "it again"
                ) from error
            return
    raise DataError(f"{brief(str(path))}: is no model of libsvm or liblinear; estimators end in .joblib or .skops")


def _first(header: dict[str, list[str]], name: str) -> str:
    return header[name][0]


def _of_libsvm_text(
    header: dict[str, list[str]], body: list[str], X: Array, y: npt.NDArray[Any], C: float
) -> Iterator[Given]:
    kind, name = _first(header, "svm_type"), _first(header, "kernel_type")
    if kind != "c_svc":
        raise UsageError(f"svm_type {brief(kind)}: only c_svc can be certified")
    gamma, offset = float(header.get("gamma", ["0"])[0]), float(header.get("coef0", ["0"])[0])
    kernel = _scikit_kernel(LIBSVM_KERNELS.get(name, name), gamma, offset, int(header.get("degree", ["3"])[0]))
    classes, n_support = header["label"], [int(value) for value in header["nr_sv"]]
    codes = _codes(y, classes)
    if len(body) != sum(n_support) or len(n_support) != len(classes):
        raise ValueError("support vectors are missing")
    coefficients, vectors = np.empty((len(classes) - 1, len(body))), np.zeros((len(body), X.shape[1]))
    for k, line in enumerate(body):
        words = line.split()
        coefficients[:, k] = [float(word) for word in words[: len(classes) - 1]]
        for word in words[len(classes) - 1 :]:
            index, value = word.split(":")
            vectors[k, int(index) - 1] = float(value)
    # libsvm writes eight digits of a value, and its machine of more has been trained on the whole ones.
    rounded = np.array([[float(f"{value:.8g}") for value in row] for row in X.tolist()])
    owners, biases = np.repeat(np.arange(len(classes)), n_support), -np.array(header["rho"], dtype=np.float64)
    if len(classes) == 2:  # here the first class is +1, whereas in scikit-learn it is the second
        coefficients, biases = -coefficients, -biases
    places = _rows_of(vectors, owners, rounded, codes)
    bounds = np.full(len(X), C)
    yield from _of_libsvm(kernel, X[places], coefficients, owners, biases, X, codes, bounds, classes)


def _of_liblinear_text(
    header: dict[str, list[str]], body: list[str], X: Array, y: npt.NDArray[Any], C: float
) -> Iterator[Given]:
    kind = _first(header, "solver_type")
    if kind not in LIBLINEAR_LOSSES:
        raise UsageError(f"solver_type {brief(kind)}: only {', '.join(LIBLINEAR_LOSSES)} can be certified")
    classes, constant = header["label"], max(float(_first(header, "bias")), 0.0)
    codes, n_features = _codes(y, classes), int(_first(header, "nr_feature"))
    if n_features > X.shape[1]:
        raise UsageError(f"the model was trained on {n_features} features, and the data have {X.shape[1]}")
    w = np.array([[float(word) for word in line.split()] for line in body]).T
    if w.shape[1] != n_features + (constant > 0.0):
        raise ValueError("weights are missing")
    coef = np.zeros((len(w), X.shape[1]))
    coef[:, :n_features] = w[:, :n_features]
    intercepts = w[:, -1] * constant if constant else np.zeros(len(w))
    if len(classes) == 2:
        coef, intercepts = -coef, -intercepts
    squared = LIBLINEAR_LOSSES[kind] == "squared"
    yield from _against_rests(classes, codes, np.full(len(X), C), coef, intercepts, constant, is_squared=squared)


def read_model(path: Path) -> tuple[Any, tuple[str, ...]]:
    """Read an estimator from a .joblib or .skops file; any other file is left to `certify`.

    Returns
    -------
    model : estimator, or the path
    remarks : tuple of str
        Warnings of the library that reads it, such as that another version wrote it.

    Raises
    ------
    DataError
        If the file is missing or damaged.
    UsageError
        If skops is not installed, or the file holds types that it does not trust.
    """
    if not path.is_file():
        raise DataError(f"{brief(str(path))}: there is no such file")
    if path.suffix not in {".joblib", ".skops"}:
        return path, ()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = _loaded(path)
        except (UsageError, MemoryError):
            raise
        except Exception as error:  # what unpickling raises is anything
            raise DataError(f"{brief(str(path))}: cannot be loaded ({brief(repr(error))}); train it again") from error
    return model, tuple(dict.fromkeys(brief(str(each.message)) for each in caught))


def _loaded(path: Path) -> Any:
    if path.suffix == ".joblib":
        import joblib  # noqa: PLC0415 - seldom needed

        return joblib.load(io.BytesIO(path.read_bytes()))
    try:
        from skops.io import get_untrusted_types, load  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError("a .skops file needs the package skops (pip install skops)") from error
    foreign = [name for name in get_untrusted_types(file=path) if not name.startswith(("fsvm_cli.", "sklearn."))]
    if foreign:
        raise UsageError(f"{brief(str(path))}: holds types that are not trusted: {brief(', '.join(foreign))}")
    return load(path, trusted=get_untrusted_types(file=path))
