"""How many support vectors machines have, where copies of a sample share a coefficient.

Information of a classifier, credited to the features that its machines depend on: SVM-Infoprop, infoprop2001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, validate_data

from fsvm_cli.evaluation.folds import stratified_folds
from fsvm_cli.evaluation.metrics import confusion_matrix
from fsvm_cli.evaluation.splits import random_group_split
from fsvm_cli.numerics import indicator_credits, value_ranges
from fsvm_cli.ranking.base import LeakingRanker
from fsvm_cli.ranking.machine_ranker import SVMRanker
from fsvm_cli.svm import SVM, Kernel
from fsvm_cli.svm.large.linear_machine import centre_of, centred
from fsvm_cli.svm.multiclass import TIE_TOLERANCES, OutputScaling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.folds import Fold
    from fsvm_cli.svm.compiled import Array


def count_support_vectors(points: Any, coefficients: Array, bounds: Array, noise: float) -> NDArray[np.intp]:
    """Count the support vectors of each machine, whatever copies of a sample have of the coefficient that they share.

    Copies may share it in any way, and solvers, and processors, share it in different ways: as few are counted as can
    carry it.

    Parameters
    ----------
    points : (n, d) array or CSR matrix
        Samples; all that have a coefficient other than 0 are among them.
    coefficients : (n_machines, n) array
        alpha_i y_i.
    bounds : (n_machines, n) array
        C of each sample, > 0; may be infinite.
    noise : float
        What counts as 0, as a part of C and of the largest joint coefficient.

    Returns
    -------
    (n_machines,) array of int
    """
    place = _numbers_of_rows(points)
    numbers = np.zeros(len(coefficients), dtype=np.intp)
    for machine, (own, C) in enumerate(zip(coefficients, bounds, strict=True)):
        largest = np.zeros(place.max(initial=-1) + 1)
        np.maximum.at(largest, place, C)
        joint = np.array([np.bincount(place, np.maximum(sign * own, 0.0)) for sign in (1, -1)])
        carriers = np.maximum(np.ceil(joint / largest - noise), 1.0)
        numbers[machine] = carriers[joint > noise * joint.max(initial=0.0)].sum()
    return numbers


def _numbers_of_rows(points: Any) -> NDArray[np.intp]:
    """Give each row a number, equal ones the same."""
    if not sparse.issparse(points):
        return np.unique(points, axis=0, return_inverse=True)[1].ravel()
    columns, values = (np.split(of_all, points.indptr[1:-1]) for of_all in (points.indices, points.data))
    numbers: dict[tuple[bytes, bytes], int] = {}
    keys = [(row.tobytes(), of_row.tobytes()) for row, of_row in zip(columns, values, strict=True)]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


class Infoprop(SVMRanker, LeakingRanker):
    """How much of what a classifier says about the class is owed to each feature, in bits.

    The confusion matrix of the machines, one against the rest, has the information H, of which class indicator r
    earns H_r. With f_r the decision function of machine r, and i running over its support vectors,

        D_rk = Σ_i alpha_i |∂f_r(x_i) / ∂x_k|        score_k = Σ_r H_r D_rk / Σ_p D_rp

    The scores are at least 0 and add up to H. For the linear kernel machine r hands on H_r in proportion to |w_rk|; a
    machine for two classes hands on all of H. Where the classifier says nothing, all scores are 0. A sparse matrix is
    taken by the kernels that are functions of the inner product.

    It trains one machine per class, and again for each part that is held out; the derivatives cost O(n_sv² d), those of
    the linear kernel O(n_sv d).

    Use it for several classes that are not equally hard to tell; not for two, where all of H goes to one machine, nor
    where the classifier says little: there is no information to hand out.

    Parameters
    ----------
    kernel : str or Kernel, default="linear"
    C : float, default=1.0
        Upper bound of alpha.
    credit_on : {"validation", "cross-validation", "test"}, default="validation"
        Samples whose confusion matrix credits the indicators: a part of the training data, which the machine that is
        asked has not seen; all of them, each asked of a machine that has not seen its fold; or the test part, as in
        infoprop2001. The last is a leak: test labels decide about the ranking, and its test accuracy is optimistic.
    validation_fraction : float, default=0.3
        Part of each class, between 0 and 1, that `credit_on` "validation" holds out.
    folds : int, default=5
        Folds of `credit_on` "cross-validation", at least 2, and no more than samples in the smallest class.
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
        "mean-diagonal": C is given in units of 1 / mean of K(x, x) over the samples that a machine is trained on.
    class_kernels : mapping of class label to Kernel, optional
        Kernels of the machines of single classes, where they differ from `kernel`.
    output_scaling : {"none", "times-margin", "divided-by-margin"}, default="none"
        What the outputs of the machines are multiplied or divided by before the largest one wins; the margin is
        1/‖w‖. Times the margin, the output is the distance to the hyperplane.
    random_state : int, RandomState or None, default=0
        Of the choice of the samples that are held out, or of the folds.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Attributes
    ----------
    chosen_ : dict
        `support_vectors`, how many the machines on all samples have, in the mean over them: of copies that share a
        coefficient as few as can carry it, and none that is within ten tolerances of 0.

    Notes
    -----
    Source: infoprop2001, equations (3), (5) and (6), with this correction: (5) prints the derivative with respect to
    the expansion point x_j, but its example is the derivative with respect to the evaluation point x_i, and for the
    linear kernel the printed one is Σ_j alpha_j y_j = 0. The document divides outputs by the margin, where the distance
    is the output times the margin. The machines whose derivatives are taken are trained on all samples, whatever
    `credit_on` is. A derivative that cannot move f_r by more than the width of a tie over the range of the data is what
    the solver left over, and does not count; an indicator whose machine is constant has no features to hand its credit
    to, and the scores then add up to less than H. A straight reading of (5) and (6) hands its credit out by what the
    solver left over.

    See Also
    --------
    GradientAngle : Angles of the gradient near the margin.

    References
    ----------
    - infoprop2001: V. Sindhwani, P. Bhattacharya and S. Rakshit, SDM 2001; in full in `Ranker`.

    Examples
    --------
    >>> from fsvm_cli import Infoprop
    >>> Infoprop().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "infoprop"
    scores_are_shares = True
    cross_validates = True
    accepts_sparse = True
    leaks_where: ClassVar[Mapping[str, Any]] = {"credit_on": "test"}
    passed_down = SVMRanker.passed_down | {"class_kernels", "output_scaling", "random_state"}

    credit_on: Literal["validation", "cross-validation", "test"] = "validation"
    validation_fraction: Annotated[float, Gt(0), Lt(1)] = 0.3
    folds: Annotated[int, Ge(2)] = 5
    class_kernels: Mapping[Any, str | Kernel] | None = None
    output_scaling: OutputScaling = "none"
    random_state: int | np.random.RandomState | None = 0

    def _scores(
        self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int, groups: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        svm = self._machines(X, y)
        confusion = np.zeros((n_classes, n_classes), dtype=np.intp)
        for train, asked in self._parts_to_ask(y, groups):
            blind = self._machines(X[train], y[train])
            confusion += confusion_matrix(y[asked], blind.predict(X[asked]), n_classes)
        return self._credited(svm, X, y, confusion, n_classes)

    def _scores_with_test_part(
        self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int, *, X_test: Any, y_test: Any
    ) -> NDArray[np.float64]:
        svm = self._machines(X, y)
        X_test = validate_data(self, X_test, dtype=np.float64, accept_sparse=self._sparse_format(), reset=False)
        X_test = X_test[:, self._columns]
        codes = self._codes_of(y_test)
        check_consistent_length(X_test, codes)
        n_known = max(n_classes, int(codes.max()) + 1)
        return self._credited(svm, X, y, confusion_matrix(codes, svm.predict(X_test), n_known), n_classes)

    def _credited(
        self, svm: SVM, X: NDArray[np.float64], y: NDArray[np.intp], confusion: NDArray[np.intp], n_classes: int
    ) -> NDArray[np.float64]:
        """Hand the credit that the machines earned on to the features."""
        noise = TIE_TOLERANCES * self.tolerance
        weights = self.weights(y)
        bounds = np.multiply.outer(svm.machine_C_, np.ones(len(y)) if weights is None else weights)[:, svm.support_]
        counts = count_support_vectors(svm.support_vectors_, svm.dual_coef_, bounds, noise)
        self.chosen_["support_vectors"] = round(float(counts.mean()))
        earned = indicator_credits(confusion)
        # Both indicators of two classes are the sign of one machine.
        of_machine = [earned.sum()] if n_classes == 2 else earned[:n_classes]
        ranges, scores, centre = value_ranges(X), np.zeros(X.shape[1]), centre_of(X)
        for credit, kernel, coefficients in zip(of_machine, svm.machine_kernels_, svm.dual_coef_, strict=True):
            own = coefficients != 0
            samples = centred(svm.support_vectors_[own], centre) if kernel.is_linear else svm.support_vectors_[own]
            influence = feature_influence(kernel, samples, coefficients[own], ranges, noise)
            if influence.any():
                scores += credit * influence / influence.sum()
        return scores

    def _machines(self, X: NDArray[np.float64], y: NDArray[np.intp]) -> SVM:
        svm = SVM(
            self.kernel,
            self.C,
            self.tolerance,
            self.solver,
            on_failure="flag",
            class_kernels=self.class_kernels,
            output_scaling=self.output_scaling,
            cache_mb=self.cache_mb,
            C_unit=self.C_unit,
        ).fit(X, y, self.weights(y))
        self.converged_ = self.converged_ and bool(svm.converged_.all())
        return svm

    def _codes_of(self, labels: Any) -> NDArray[np.intp]:
        """Code the classes of the test part; those that are not in the training part come after."""
        listed, known = np.asarray(labels).tolist(), self.classes_.tolist()
        code_of = {label: code for code, label in enumerate([*known, *sorted(set(listed) - set(known))])}
        return np.array([code_of[label] for label in listed], dtype=np.intp)

    def _parts_to_ask(self, y: NDArray[np.intp], groups: NDArray[np.intp] | None = None) -> list[Fold]:
        """Choose the samples whose classes are asked for, the same share of each class in every part."""
        if self.credit_on == "cross-validation":
            return stratified_folds(y, self.folds, self.random_state, groups=groups, caller=self.method)
        if groups is not None:
            n_asked = min(max(round(self.validation_fraction * len(y)), 1), len(y) - 1)
            split = random_group_split(y, groups, len(y) - n_asked, n_asked, check_random_state(self.random_state))
            return [(np.sort(split.train), np.sort(split.test))]
        order = check_random_state(self.random_state).permutation(len(y))
        order = order[np.argsort(y[order], kind="stable")]
        held_out = np.zeros(len(y), dtype=bool)
        for members in np.split(order, np.flatnonzero(np.diff(y[order])) + 1):
            held_out[members[: min(round(self.validation_fraction * len(members)), len(members) - 1)]] = True
        if not held_out.any():
            raise ValueError(
                f"{self.method}: no class has so many samples that a fraction of {self.validation_fraction:g} of them "
                f"can be held out of n_samples={len(y)}; use more samples or a larger validation_fraction"
            )
        return [(np.flatnonzero(~held_out), np.flatnonzero(held_out))]


def feature_influence(
    kernel: Kernel,
    support_vectors: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    ranges: NDArray[np.float64],
    noise: float,
) -> NDArray[np.float64]:
    """Influence of each feature on the margin of one machine, infoprop2001, equation (5) as corrected.

    Parameters
    ----------
    kernel : Kernel
    support_vectors : ndarray, shape (n_support, n_features)
    coefficients : ndarray, shape (n_support,)
        alpha_i y_i, none of them 0.
    ranges : ndarray, shape (n_features,)
        Of the features in the training data.
    noise : float
        A gradient that moves the decision function by no more than this over `ranges` counts as 0.

    Returns
    -------
    ndarray, shape (n_features,)
        Σ_i alpha_i |∂f(x_i) / ∂x_k|, at least 0.
    """
    alpha, points = np.abs(coefficients), support_vectors
    if kernel.is_linear:  # the gradient is the same everywhere
        alpha, points = alpha.sum(keepdims=True), support_vectors[:1]
    steepness = np.abs(kernel.input_gradient(support_vectors, points, coefficients))
    counts = steepness @ ranges > noise
    influence: NDArray[np.float64] = alpha[counts] @ steepness[counts]
    return influence
