"""Information of a classifier, credited to the features that its machines depend on: SVM-Infoprop, infoprop2001."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from annotated_types import Ge, Gt, Lt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, validate_data

from fsvm_cli.evaluation.metrics import confusion_matrix
from fsvm_cli.information import indicator_credits
from fsvm_cli.magnitudes import value_ranges
from fsvm_cli.ranking.base import Ranker
from fsvm_cli.svm import SVM, Kernel
from fsvm_cli.svm.one_vs_rest import TIE_TOLERANCES, OutputScaling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fsvm_cli.svm.solvers.dual import Solver


class Infoprop(Ranker):
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
    n_folds : int, default=5
        Folds of `credit_on` "cross-validation", at least 2.
    tolerance : float, default=1e-6
        Relative duality gap of the machines.
    solver : str, default="auto"
    class_kernels : mapping of class label to Kernel, optional
        Kernels of the machines of single classes, where they differ from `kernel`.
    output_scaling : {"none", "times-margin", "divided-by-margin"}, default="none"
        What the outputs of the machines are multiplied or divided by before the largest one wins; the margin is
        1/‖w‖. Times the margin, the output is the distance to the hyperplane.
    random_state : int, RandomState or None, default=None
        Of the choice of the samples that are held out, or of the folds.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.

    Notes
    -----
    Source: infoprop2001, equations (3), (5) and (6), with this correction: (5) prints the derivative with respect to
    the expansion point x_j, but its example is the derivative with respect to the evaluation point x_i, and for the
    linear kernel the printed one is Σ_j alpha_j y_j = 0. The document divides outputs by the margin, where the distance
    is the output times the margin. The machines whose derivatives are taken are trained on all samples, whatever
    `credit_on` is. A derivative that cannot move f_r by more than the width of a tie over the range of the data is what
    the solver left over, and does not count; an indicator whose machine is constant has no features to hand its credit
    to, and the scores then add up to less than H.

    See Also
    --------
    GradientAngle : Angles of the gradient near the margin.

    References
    ----------
    - V. Sindhwani, P. Bhattacharya and S. Rakshit, "Information Theoretic Feature Crediting in Multiclass Support
      Vector Machines", SIAM International Conference on Data Mining, 2001; here infoprop2001.

    Examples
    --------
    >>> from fsvm_cli import Infoprop
    >>> X = [[0, 3], [1, 1], [0, 2], [1, 4], [5, 3], [6, 1], [5, 2], [6, 4]]
    >>> Infoprop().fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).ranking_.tolist()
    [1, 2]
    """

    method = "infoprop"
    scores_are_shares = True
    accepts_sparse = True

    def __init__(  # noqa: PLR0917 - scikit-learn's estimators take their parameters in place or by name
        self,
        kernel: str | Kernel = "linear",
        C: float = 1.0,
        credit_on: Literal["validation", "cross-validation", "test"] = "validation",
        validation_fraction: Annotated[float, Gt(0), Lt(1)] = 0.3,
        n_folds: Annotated[int, Ge(2)] = 5,
        tolerance: float = 1e-6,
        solver: Solver = "auto",
        class_kernels: Mapping[Any, str | Kernel] | None = None,
        output_scaling: OutputScaling = "none",
        random_state: int | np.random.RandomState | None = None,
        n_features_to_select: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.credit_on = credit_on
        self.validation_fraction = validation_fraction
        self.n_folds = n_folds
        self.tolerance = tolerance
        self.solver = solver
        self.class_kernels = class_kernels
        self.output_scaling = output_scaling
        self.random_state = random_state
        self.n_features_to_select = n_features_to_select

    @classmethod
    def sees_test_part(cls, parameters: Mapping[str, Any]) -> bool:
        """Whether test labels decide about the ranking."""
        return parameters.get("credit_on") == "test"

    def fit(self, X: Any, y: Any, X_test: Any = None, y_test: Any = None) -> Self:
        """Credit and rank the features.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            Class labels, at least two classes.
        X_test, y_test : array-like, shapes (n_test, n_features) and (n_test,)
            For `credit_on` "test", and only for it.

        Raises
        ------
        ValueError
            If a parameter is out of its range, there is a test part where none is credited, or none where one is, or
            too few samples to hold any out.
        """
        needed = self.sees_test_part(self.get_params())
        if needed != (X_test is not None) or needed != (y_test is not None):
            what = "needs X_test and y_test" if needed else "must not see a test part"
            raise ValueError(f"{self.method} with credit_on={self.credit_on!r} {what}")
        self._test_part = X_test, y_test
        try:
            return super().fit(X, y)
        finally:
            # An estimator keeps what it has learnt, not the data.
            del self._test_part

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        svm = self._machines(X, y)
        earned = indicator_credits(self._confusion(svm, X, y, n_classes))
        # Both indicators of two classes are the sign of one machine.
        of_machine = [earned.sum()] if n_classes == 2 else earned[:n_classes]
        noise = TIE_TOLERANCES * self.tolerance
        ranges, scores = value_ranges(X), np.zeros(X.shape[1])
        for credit, kernel, coefficients in zip(of_machine, svm.machine_kernels_, svm.dual_coef_, strict=True):
            own = coefficients != 0
            influence = feature_influence(kernel, svm.support_vectors_[own], coefficients[own], ranges, noise)
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
        ).fit(X, y)
        self.converged_ = self.converged_ and bool(svm.converged_.all())
        return svm

    def _confusion(self, svm: SVM, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.intp]:
        """Count what the machines say of samples that they have not been trained on."""
        if self.credit_on == "test":
            X_test, codes = self._coded_test_part()
            n_classes = max(n_classes, int(codes.max()) + 1)
            tested: NDArray[np.intp] = confusion_matrix(codes, svm.predict(X_test), n_classes)
            return tested
        rng = check_random_state(self.random_state)
        confusion = np.zeros((n_classes, n_classes), dtype=np.intp)
        for asked in self._parts_to_ask(y, rng):
            blind = self._machines(X[~asked], y[~asked])
            confusion += confusion_matrix(y[asked], blind.predict(X[asked]), n_classes)
        return confusion

    def _coded_test_part(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Test part with the codes of the training part; classes that are not in it come after."""
        X_test, y_test = self._test_part
        X_test = validate_data(self, X_test, dtype=np.float64, accept_sparse=self._sparse_format(), reset=False)
        labels = np.asarray(y_test).tolist()
        check_consistent_length(X_test, labels)
        known = self.classes_.tolist()
        code_of = {label: code for code, label in enumerate([*known, *sorted(set(labels) - set(known))])}
        return X_test, np.array([code_of[label] for label in labels], dtype=np.intp)

    def _parts_to_ask(self, y: NDArray[np.intp], rng: np.random.RandomState) -> list[NDArray[np.bool_]]:
        """Choose the samples whose classes are asked for, the same share of each class in every part."""
        order = rng.permutation(len(y))
        order = order[np.argsort(y[order], kind="stable")]
        if self.credit_on == "cross-validation":
            fold = np.empty(len(y), dtype=np.intp)
            fold[order] = np.arange(len(y)) % self.n_folds
            return [fold == each for each in range(self.n_folds) if (fold == each).any()]
        held_out = np.zeros(len(y), dtype=bool)
        for members in np.split(order, np.flatnonzero(np.diff(y[order])) + 1):
            held_out[members[: min(round(self.validation_fraction * len(members)), len(members) - 1)]] = True
        if not held_out.any():
            raise ValueError(
                f"{self.method}: no class has so many samples that a fraction of {self.validation_fraction:g} of them "
                f"can be held out of n_samples={len(y)}; use more samples or a larger validation_fraction"
            )
        return [held_out]


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
    alpha, places = np.abs(coefficients), support_vectors
    if kernel.is_linear:  # the gradient is the same everywhere
        alpha, places = alpha.sum(keepdims=True), support_vectors[:1]
    steepness = np.abs(kernel.input_gradient(support_vectors, places, coefficients))
    counts = steepness @ ranges > noise
    influence: NDArray[np.float64] = alpha[counts] @ steepness[counts]
    return influence
