"""Bounds on the scores of `gradient-angle` at the optimal machines, whatever solver trained them.

A machine is repaired first, or trained again, until its weights are known to be within a radius r of the optimal ones
(`svm.optimum`). At each point near the margin every derivative of the output is then known up to r times the length of
the derivative of the kernel, and so is the cosine with each axis. Which points are near the margin is known but for
those whose output is within its own bound of an end of the region: of all choices of these the lowest and the highest
mean count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fsvm_cli.memory_check import check_memory_for_pairs
from fsvm_cli.ranking.certified_places import classes_of_copies, places_by_intervals
from fsvm_cli.svm.compiled import EPSILON
from fsvm_cli.svm.kernels.additive import AdditiveKernel
from fsvm_cli.svm.kernels.compiled import SQUARED_DISTANCE
from fsvm_cli.svm.kernels.derivative_bounds import derivatives, has_derivative_bounds
from fsvm_cli.svm.large.linear_machine import centre_of, centred
from fsvm_cli.svm.optimum import (
    optimum_of_linear,
    optimum_with_kernel,
    outputs_of_linear,
    outputs_with_kernel,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.ranking.certified_places import Places
    from fsvm_cli.svm import Kernel
    from fsvm_cli.svm.optimum import Optimum, Outputs

SPARE_TERMS = 16.0
"""Roundings of single factors beside those of sums."""


class Settings(NamedTuple):
    """What the machines of a ranking share.

    Attributes
    ----------
    kernel : AdditiveKernel
        For which `has_derivative_bounds`.
    X : ndarray, shape (n_samples, n_features)
    samples : ndarray, shape (n_samples, n_features)
        `X`, less its centre where the kernel is linear.
    C : ndarray, shape (n_samples,)
        Upper bounds of alpha.
    epsilon : float
        Half-width of the region.
    least_move : float
        What a gradient moves the output by over the range of the data if it counts.
    """

    kernel: AdditiveKernel
    X: NDArray[np.float64]
    samples: NDArray[np.float64]
    C: NDArray[np.float64]
    epsilon: float
    least_move: float


class MachineScores(NamedTuple):
    """Scores by one machine.

    Attributes
    ----------
    low, high : ndarray, shape (n_features,)
        Bounds of those by the optimal machine.
    is_certain, may_count : bool
        Whether the optimal machine counts, which one without a gradient does not, and whether it may.
    optimum : Optimum
    decision : ndarray, shape (n_samples,)
        Outputs of the machine at `optimum`.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    is_certain: bool
    may_count: bool
    optimum: Optimum
    decision: NDArray[np.float64]


class AngleCertificate(NamedTuple):
    """What is certified of a ranking by angles.

    Attributes
    ----------
    table : dict of str to ndarray, shape (n_features,)
        One row per feature, best first.
    intervals : ndarray, shape (n_features, 2)
    places : Places
    """

    table: dict[str, NDArray[Any]]
    intervals: NDArray[np.float64]
    places: Places


def settings_of(
    kernel: Kernel, X: NDArray[np.float64], C: NDArray[np.float64], epsilon: float, least_move: float
) -> Settings:
    """Put the settings together, as of `Settings`.

    Raises
    ------
    ValueError
        If no bound is known for derivatives of the kernel.
    """
    if not isinstance(kernel, AdditiveKernel) or not has_derivative_bounds(kernel):
        raise ValueError(
            f"gradient-angle: certify=True needs the linear, Gaussian or polynomial kernel; no bound is known for "
            f"derivatives with the {kernel.name} kernel"
        )
    samples = centred(X, centre_of(X)) if kernel.is_linear else X
    return Settings(kernel, X, samples, C, epsilon, least_move)


def machine_scores(
    settings: Settings, y: NDArray[np.float64], c: NDArray[np.float64], decision: NDArray[np.float64]
) -> MachineScores:
    """Bound the scores by the optimal machine of a trained one.

    Parameters
    ----------
    settings : Settings
    y : ndarray, shape (n_samples,)
        Labels, -1 or +1.
    c : ndarray, shape (n_samples,)
        Coefficients alpha_i y_i.
    decision : ndarray, shape (n_samples,)
        Outputs of the machine.
    """
    optimum, outputs = _optimum(settings, y, c, decision)
    d = settings.X.shape[1]
    unknown = MachineScores(
        np.zeros(d), np.ones(d), is_certain=False, may_count=True, optimum=optimum, decision=decision
    )
    if outputs is None:
        return unknown
    at_optimum = 0.5 * (outputs.low + outputs.high) + optimum.bias
    unknown = unknown._replace(decision=at_optimum)
    if settings.kernel.is_linear:
        rows, inside = np.array([0]), np.array([True])  # the gradient is the same everywhere
    else:
        certain, possible = _region(settings, y, outputs)
        if not certain.any() and possible.any():  # it may be empty, and the support vectors in its place
            return unknown
        rows, inside = np.flatnonzero(possible), certain[possible]
    found = derivatives(settings.kernel, settings.samples, optimum.c, rows)
    width = (optimum.radius * found.lengths + found.rounding) * (1.0 + SPARE_TERMS * EPSILON)
    steepness, spread = np.abs(found.values), np.ptp(settings.X, axis=0)
    low, high = np.maximum(steepness - width, 0.0), steepness + width
    blur = EPSILON * (d + SPARE_TERMS)
    moves = low @ spread * (1.0 - blur) > settings.least_move
    may_move = high @ spread * (1.0 + blur) > settings.least_move
    if not may_move.any():
        return unknown._replace(may_count=False)
    counts = (inside & moves)[may_move]
    low, high = mean_of_some(*_angles(low[may_move], high[may_move]), counts)
    return MachineScores(low, high, bool(counts.any()), may_count=True, optimum=optimum, decision=at_optimum)


def _optimum(
    settings: Settings, y: NDArray[np.float64], c: NDArray[np.float64], decision: NDArray[np.float64]
) -> tuple[Optimum, Outputs | None]:
    """Find the optimum, and bounds of its outputs where it is known how far that is: of a hard margin it may not be."""
    kernel, Z, C = settings.kernel, settings.samples, settings.C
    every = np.arange(len(Z))
    if kernel.is_linear:
        weights = kernel.feature_weights(Z.shape[1])
        scaled = Z if weights is None else Z * np.sqrt(weights)
        scaled, originals = np.ascontiguousarray(scaled), np.ascontiguousarray(settings.X)
        bias = float(np.mean(decision - scaled @ (c @ scaled)))
        optimum = optimum_of_linear(scaled, originals, every, y, C, c, bias)
        known = np.isfinite(optimum.radius)
        return optimum, outputs_of_linear(optimum, every, y, C) if known else None
    check_memory_for_pairs("gradient-angle with certify=True", len(Z), 3, "or leave certify out")
    K = kernel.gram(Z, Z)
    optimum = optimum_with_kernel(kernel, Z, K, y, C, c, float(np.mean(decision - K @ c)))
    known = np.isfinite(optimum.radius)
    return optimum, outputs_with_kernel(kernel, optimum, K, Z, every, y, C) if known else None


def _region(
    settings: Settings, y: NDArray[np.float64], outputs: Outputs
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which samples are in the region at the optimum, and which may be.

    Those with 0 < alpha < C are on their margin exactly, and so in the region whatever its width.
    """
    ends = np.sort([y * (outputs.low + outputs.bias[0]), y * (outputs.high + outputs.bias[1])], axis=0)
    low, high = ends + np.array([[-1.0], [1.0]]) * EPSILON * SPARE_TERMS * (1.0 + np.abs(ends))
    inner, outer = 1.0 - settings.epsilon, 1.0 + settings.epsilon
    possible = (high >= inner) & (low <= outer)
    if possible.any():
        return (low >= inner) & (high <= outer), possible
    # No sample is near its margin: all with alpha > 0 are within, at C.
    return high < 1.0, high < 1.0


def _angles(low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound 2/pi arcsin(|g_j| / |g|) by bounds of |g_j|, arrays (n_points, n_features)."""
    blur = EPSILON * (low.shape[1] + SPARE_TERMS)
    squares, larger = low**2, high**2
    others_low = np.maximum(squares.sum(axis=1, keepdims=True) * (1.0 - blur) - squares, 0.0)
    others_high = np.maximum(larger.sum(axis=1, keepdims=True) * (1.0 + blur) - larger, 0.0)
    with np.errstate(invalid="ignore"):
        least = np.where(low > 0.0, low / np.sqrt(squares + others_high), 0.0) * (1.0 - blur)
        most = np.minimum(np.where(high > 0.0, high / np.sqrt(larger + others_low), 0.0) * (1.0 + blur), 1.0)
    return 2 / np.pi * np.arcsin(least) * (1.0 - blur), np.minimum(2 / np.pi * np.arcsin(most) * (1.0 + blur), 1.0)


def mean_of_some(
    low: NDArray[np.float64], high: NDArray[np.float64], certain: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and the highest mean of the rows that are certain and any of the others; of none it is 0.

    Parameters
    ----------
    low, high : ndarray, shape (n_rows, n_features)
        Bounds of each value, >= 0.
    certain : ndarray of bool, shape (n_rows,)
    """
    blur = EPSILON * (len(low) + SPARE_TERMS)

    def lowest(values: NDArray[np.float64]) -> NDArray[np.float64]:
        n_certain, others = int(certain.sum()), np.sort(values[~certain], axis=0)
        sums = values[certain].sum(axis=0) + np.concatenate([np.zeros((1, values.shape[1])), others.cumsum(axis=0)])
        counts = np.arange(n_certain, n_certain + len(others) + 1)
        return np.asarray((sums[counts > 0] / counts[counts > 0, None]).min(axis=0), dtype=np.float64)

    least = lowest(low) if certain.any() else np.zeros(low.shape[1])
    return least * (1.0 - blur), -lowest(-high) * (1.0 + blur)


def angle_certificate(
    scores: NDArray[np.float64], order: NDArray[np.intp], machines: list[MachineScores], settings: Settings
) -> AngleCertificate:
    """Put the bounds by single machines together.

    Parameters
    ----------
    scores : ndarray, shape (n_features,)
    order : ndarray of int, shape (n_features,)
        Best first.
    machines : list of MachineScores
    settings : Settings
    """
    counting = [each for each in machines if each.may_count]
    low, high = scores, scores
    if counting:
        low, high = mean_of_some(
            np.array([each.low for each in counting]),
            np.array([each.high for each in counting]),
            np.array([each.is_certain for each in counting]),
        )
    low, high = np.minimum(low, scores), np.maximum(high, scores)
    kernel = settings.kernel
    # A constant added to a column moves no difference, but an inner product.
    shifts = kernel.is_linear or kernel.form.statistic == SQUARED_DISTANCE
    columns = settings.X.T if shifts else np.column_stack([np.zeros(settings.X.shape[1]), settings.X.T])
    copies = classes_of_copies(np.ascontiguousarray(columns), kernel.feature_weights(settings.X.shape[1]))
    places = places_by_intervals(order, low, high, copies)
    radius = max(each.optimum.radius for each in machines)
    bound = "repair" if all(each.optimum.is_repaired for each in machines) else "retrained"
    table = {
        "feature": order,
        "score": scores[order],
        "lower": low[order],
        "upper": high[order],
        "radius": np.full(len(order), radius),
        "bound": np.full(len(order), bound),
        "verdict": np.array(places.verdicts)[order],
    }
    return AngleCertificate(table, np.column_stack([low, high]), places)
