"""Angles between the gradient of the decision function and the axes, hermes2000."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Annotated

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge

from fsvm_cli.numerics import value_ranges
from fsvm_cli.ranking.base import SampleWeightRanker, order_of
from fsvm_cli.ranking.machine_ranker import SVMRanker
from fsvm_cli.svm import fit_one_vs_rest
from fsvm_cli.svm.costs import unit_of_c
from fsvm_cli.svm.large.linear_machine import centre_of, centred
from fsvm_cli.svm.multiclass import TIE_TOLERANCES
from fsvm_cli.svm.training_set import training_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.svm import Kernel


class GradientAngle(SampleWeightRanker, SVMRanker):
    """How closely the decision function's gradient follows each axis, near the decision boundary.

    With g the decision function of a machine, and the mean taken over the points x_i near its margin,

        score_j = 1 - (2/π) mean_i arccos(|∂_j g(x_i)| / ‖∇g(x_i)‖)

    lies between 0 (the gradient is orthogonal to the axis) and 1 (parallel). Several classes are separated one against
    the rest, and the scores averaged over the machines. For the linear kernel the gradient is the same everywhere, and
    the score is (2/π) arcsin(|w_j| / ‖w‖).

    It trains one machine per class; the gradients cost O(n_sv d) for each point of the region. Scale the features
    first: an angle depends on their units.

    Use it to see what a given machine goes by, with the kernel that will classify; not where that machine is poor.

    Parameters
    ----------
    kernel : str or Kernel, default="linear"
    C : float, default=1.0
        Upper bound of alpha.
    epsilon : float, default=0.1
        Half-width of the region around the margin, at least 0, in units of g.
    tolerance : float, default=1e-6
        Relative duality gap of the machines.
    solver : str, default="auto"
        Which "auto" takes: "feature-space" for the linear kernel on more than 5,000 samples (four for each feature, or
        "coordinate-ascent" on sparse ones), "decomposition" for others on more than 10,000, else the Gram matrix.
    class_weight : mapping of class label to float, "balanced", or None, default=None
        What C is multiplied by for the samples of a class; "balanced" is n / (n_classes * samples of the class).
    cache_mb : float or None, default=None
        Megabytes for kernel values where the solver is "decomposition", as "auto" is on more than 10,000 samples; a
        quarter of the free memory where None.
    C_unit : {"none", "mean-diagonal"}, default="none"
        "mean-diagonal": C is given in units of 1 / mean of K(x, x) over the samples.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.
    certify : bool, default=False
        Whether to bound the scores by the optimal machines, and to tell which places any correct solver would give.
        The machines are repaired first, or trained to a smaller gap, and the scores are those of the better ones. For
        the linear, Gaussian and polynomial kernels.

    Attributes
    ----------
    certificate_ : dict of str to ndarray, shape (n_features,)
        With `certify`, one row per feature, best first: ``feature``; ``score``, with ``lower`` and ``upper`` bounds on
        that by the optimal machines; ``radius``, how far the weights of each machine are from the optimal ones at
        most; ``bound``, whether Newton steps did or a machine was "retrained"; and ``verdict``: "decided", "copy" (only
        its copies might have its place) or "tied".
    decided_ : ndarray of bool, shape (n_features,)
        Whether the feature's place is decided.
    decided_sizes_ : ndarray of int
        The sizes k for which the k best features, as a set, are those by any correct solver, in ascending order.
    score_intervals_ : ndarray, shape (n_features, 2)
        The lowest and the highest score that the optimal machines might give.
    tied_with_ : dict of int to ndarray of int
        For each feature whose place is not decided, those that might have it.

    Raises
    ------
    ValueError
        If `certify` is asked for with a kernel that no bound is known for.

    Notes
    -----
    Source: hermes2000, equations (6) to (8) and Table 1, with these corrections. A weak influence is an angle of π/2,
    not π. The region is |y_i g(x_i) - 1| ≤ epsilon: the printed |g(x_i) - 1| drops the margin vectors of the negative
    class. Margin vectors belong to the region whatever `epsilon` is. There need not be any: where the region is empty,
    the support vectors take its place. Points where the gradient vanishes have no angle and do not count; a machine
    with none but such points does not count either. A gradient vanishes when it cannot move g by more than the width
    of a tie over the range of the training data: the linear machine of a class that lies between two others is
    constant up to rounding. The scores are then the mean over the other machines. A straight reading of (6) to (8)
    takes the direction of that rounding for one, and on three classes in a row is .1 away and more.

    See Also
    --------
    Infoprop : Credits features by the gradients of all machines.
    RecursiveFeatureElimination : By what the objective loses.

    References
    ----------
    - hermes2000: L. Hermes and J. M. Buhmann, ICPR 2000; in full in `Ranker`.

    Examples
    --------
    >>> from fsvm_cli import GradientAngle
    >>> GradientAngle().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "gradient-angle"
    accepts_sparse = True

    outside_configs = SVMRanker.outside_configs | {"certify"}

    epsilon: Annotated[float, Ge(0)] = 0.1
    certify: bool = field(default=False, kw_only=True)

    def _scores(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        kernel = self.kernel_object(X)
        bounds = self.bounds(y, weights) * unit_of_c(self.C_unit, kernel, X, weights)
        training = training_set(kernel, X, self.solver, self.cache_mb)
        machines = fit_one_vs_rest(
            training, y, bounds, n_classes, tolerance=self.tolerance, solver=self.solver, on_failure="flag"
        )
        solutions = [found for found in machines.solutions if found is not None]
        self.converged_ = all(found.converged for found in solutions)
        decision = training.outputs(machines.coefficients) + machines.bias[:, None]
        labels = [np.where(y == code, 1.0, -1.0) for code in ([1] if n_classes == 2 else range(n_classes))]
        trained = [*zip(labels, machines.coefficients, decision, strict=True)]
        if self.certify:
            if sp.issparse(X) or weights is not None:
                raise ValueError(f"{self.method}: certify=True takes neither a sparse matrix nor sample weights")
            return self._certified(kernel, X, bounds, trained)
        return self._mean_angles(kernel, X, bounds, trained, weights)

    def _mean_angles(
        self,
        kernel: Kernel,
        X: NDArray[np.float64],
        bounds: NDArray[np.float64],
        machines: Sequence[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]],
        weights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return the scores by machines that are given by their labels, coefficients alpha_i y_i and outputs."""
        samples = centred(X, centre_of(X)) if kernel.is_linear else X
        scores = []
        for y, c, outputs in machines:
            alpha, support = c * y, np.flatnonzero(c)
            region = margin_region(y * outputs, np.flatnonzero((alpha > 0) & (alpha < bounds)), support, self.epsilon)
            if kernel.is_linear and sp.issparse(
                X
            ):  # the gradient is the same everywhere, and fills a row for each point
                region = region[:1]
            steepness = np.abs(kernel.input_gradient(samples[support], samples[region], c[support]))
            # What moves g by less than a tie over all of the data is what the solver left over, and has no direction.
            is_steep = steepness @ value_ranges(X) > TIE_TOLERANCES * self.tolerance
            steepness, own = steepness[is_steep], None if weights is None else weights[region][is_steep]
            if len(steepness):
                cosines = steepness / np.linalg.norm(steepness, axis=1, keepdims=True)
                # arcsin of the cosine is the complement of the angle, exact where the angle is nearly a right one.
                scores.append(2 / np.pi * np.average(np.arcsin(np.minimum(cosines, 1)), axis=0, weights=own))
        return np.mean(scores, axis=0) if scores else np.zeros(X.shape[1])

    def _certified(
        self,
        kernel: Kernel,
        X: NDArray[np.float64],
        bounds: NDArray[np.float64],
        machines: Sequence[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]],
    ) -> NDArray[np.float64]:
        """Bound the scores; return those by the machines that the bounds are around."""
        from fsvm_cli.ranking import gradient_angle_certified as certified  # noqa: PLC0415 - seldom needed, and compiles

        settings = certified.settings_of(kernel, X, bounds, self.epsilon, TIE_TOLERANCES * self.tolerance)
        found = [certified.machine_scores(settings, *each) for each in machines]
        better = [(y, each.optimum.c, each.decision) for (y, *_), each in zip(machines, found, strict=True)]
        scores = self._mean_angles(kernel, X, bounds, better)
        certificate = certified.angle_certificate(scores, order_of(scores, self._priority), found, settings)
        self.certificate_, self.score_intervals_ = certificate.table, certificate.intervals
        self.decided_, self.decided_sizes_ = certificate.places.decided, certificate.places.sizes
        self.tied_with_ = certificate.places.tied_with
        return scores


def margin_region(
    functional_margin: NDArray[np.float64],
    margin_vectors: NDArray[np.intp],
    support: NDArray[np.intp],
    epsilon: float,
) -> NDArray[np.intp]:
    """Training points that a machine is least certain of, the set over which hermes2000, equation (8), averages.

    Parameters
    ----------
    functional_margin : ndarray, shape (n_samples,)
        y_i g(x_i).
    margin_vectors, support : ndarray of int
        Rows with 0 < alpha < C, and with 0 < alpha.
    epsilon : float
        Half-width of the region.

    Returns
    -------
    ndarray of int
        Rows in ascending order; the support vectors where no point lies in the region.
    """
    near = np.abs(functional_margin - 1) <= epsilon
    near[margin_vectors] = True
    return np.flatnonzero(near) if near.any() else np.sort(support)
