"""Certificates of trained machines, foreign ones too: how far they are from the optimum, and what that leaves open.

A better machine with a bound on its own distance from the optimum, r, is found from the one that is given: by Newton
steps, or else by training (`fsvm_cli.svm.certified` and the duality gap, rounding included). What is said of the given
machine is measured from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
import threadpoolctl
from sklearn.pipeline import Pipeline

from fsvm_cli.console import brief
from fsvm_cli.data.dataset import known_features
from fsvm_cli.data.scaling import SCALINGS, ScalingName, fit_scaling
from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.memory_check import check_memory_for_pairs
from fsvm_cli.own_data.foreign_models import machines_of
from fsvm_cli.own_data.request import SEED
from fsvm_cli.ranking.certified_places import classes_of_copies, places_by_intervals
from fsvm_cli.svm import DualProblem, Linear, solve
from fsvm_cli.svm.certified import computed_machine, lengths_of
from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.optimum import (
    RETRAINED_TO,
    optimum_of_linear,
    optimum_with_kernel,
    outputs_of_linear,
    outputs_with_kernel,
    root_of_gap,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from fsvm_cli.data.source import DataSource
    from fsvm_cli.own_data.foreign_models import Given
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.optimum import Optimum, Outputs

NEWTON_STEPS = 50


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
        The rows that the model was trained on, all of them, in any order; before the steps of a Pipeline. The columns
        of a data frame go by their names, in the order of the model.
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
        If the model is another one, was trained on other rows or columns, or holds coefficients beyond C.
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
    names = getattr(model, "feature_names_in_", None)
    if names is not None and hasattr(X, "columns"):
        X = X.iloc[:, _order_of(names, X.columns)]
    with threadpoolctl.threadpool_limits(limits=1):
        if isinstance(model, Pipeline):
            X, model = (model[:-1].transform(X) if len(model.steps) > 1 else X), model[-1]
        rows = np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        labels = np.asarray(y)
        if rows.ndim != 2 or len(rows) != len(labels):
            raise UsageError(f"X has shape {rows.shape} and y {labels.shape}; there must be one class for each row")
        given = [*machines_of(model, rows, labels, C)]
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
    names = getattr(model, "feature_names_in_", None)
    if names is not None and isinstance(model, Pipeline) and scaling == "none":
        X = dataset.frame()
    elif names is not None:
        X = X[:, _order_of(names, dataset.feature_names)]
    try:
        return certify(model, X, dataset.labels(), C=C)
    except ValueError as error:
        raise UsageError(f"{dataset.name}: {brief(str(error))}") from error


def _order_of(names: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Return the places that the columns of a model have in the data."""
    place = {name: number for number, name in enumerate(columns)}
    of_model, of_data = [name for name in names if name not in place], [*(place.keys() - set(names))]
    if of_model or of_data:
        lacking = f"{brief(', '.join(of_model))} is missing" if of_model else ""
        more = f"{brief(', '.join(sorted(of_data, key=place.__getitem__)))} is no column of the model (--drop)"
        raise UsageError(
            f"the model was trained on other columns: {'; '.join(filter(None, (lacking, more if of_data else '')))}"
        )
    return [place[name] for name in names]


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
    widths = radius + 2.0 * EPSILON * (len(w) + 4) * lengths
    unused = np.flatnonzero(~w.any(axis=0))
    widths[unused[~X[:, unused].any(axis=0)]] = 0.0  # a column of zeros
    order = np.argsort(-lengths, kind="stable")
    places = places_by_intervals(order, lengths - widths, lengths + widths, np.arange(d))
    tied = np.flatnonzero(~places.decided)
    if len(tied):  # copies are never decided
        columns = X.T[tied] if may_shift else np.column_stack([np.zeros(len(tied)), X.T[tied]])
        copies = np.arange(d)
        copies[tied] = d + classes_of_copies(np.ascontiguousarray(columns), None)
        places = places_by_intervals(order, lengths - widths, lengths + widths, copies)
    given = np.sqrt((np.array([np.asarray(each.given_coef)[:d] for each in found]) ** 2).sum(axis=0))
    other = np.argsort(-given, kind="stable") != order
    return tuple(places.verdicts), places.sizes, int((other & places.decided[order]).sum())


def _dual(given: Given, c: Array, X: Array) -> Found:
    """Certify a machine with its coefficients."""
    return (_linear if given.kernel.is_linear else _with_kernel)(given, c, X)


def _linear(given: Given, c: Array, X: Array) -> Found:
    computed = computed_machine(X, given.rows, c)
    w = computed.w
    gap = _gap(given, c, computed.at(given.rows).outputs, float(w @ w))
    optimum = optimum_of_linear(X, X, given.rows, given.y, given.C, c, given.bias, computed)
    apart = float(np.linalg.norm(w - np.asarray(optimum.w)))
    blur = computed.rounding + EPSILON * (len(w) + 4) * optimum.norm
    outputs = outputs_of_linear(optimum, given.rows, given.y, given.C)
    return _found(given, gap, (apart, blur), optimum, outputs, computed.outputs, w)


def _with_kernel(given: Given, c: Array, X: Array) -> Found:
    Z, kernel = X[given.rows], given.kernel
    check_memory_for_pairs("certify", len(Z), 3, "certify a model of fewer rows")
    K = kernel.gram(Z, Z)
    gap = _gap(given, c, K @ c, float(c @ (K @ c)))
    optimum = optimum_with_kernel(kernel, Z, K, given.y, given.C, c, given.bias)
    across = kernel.gram(X, Z)
    a = c - optimum.c
    blur = 2.0 * EPSILON * (len(a) + 8) * float(np.abs(a) @ (np.abs(K) @ np.abs(a)))
    apart = float(np.sqrt(max(float(a @ (K @ a)), 0.0)))
    outputs = outputs_with_kernel(kernel, optimum, across, X, given.rows, given.y, given.C)
    return _found(given, gap, (apart, float(np.sqrt(blur))), optimum, outputs, across @ c, None)


def _found(  # noqa: PLR0917 - what both kinds of machines end in
    given: Given,
    gap: float,
    apart: tuple[float, float],
    optimum: Optimum,
    outputs: Outputs,
    values: Array,
    coef: Array | None,
) -> Found:
    """Put a certificate together; `apart` is how far the better machine is from the given one, and its rounding."""
    coefficients = np.zeros(len(values))
    coefficients[given.rows] = optimum.c
    distance = _around(apart[0], optimum.radius + apart[1])
    certificate = MachineCertificate(
        given.name, gap, distance, optimum.radius, optimum.norm, optimum.w, coefficients, outputs.bias
    )
    return Found(certificate, outputs.low, outputs.high, values + given.bias, coef)


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
    return v, root_of_gap(found.duality_gap, found.objective) + rounding, found.objective, found.alpha


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


def _lengths(Z: Array) -> Array:
    return lengths_of(np.ascontiguousarray(Z.T), np.arange(Z.shape[1]))


def _around(value: float, radius: float) -> tuple[float, float]:
    return max(value - radius, 0.0), value + radius
