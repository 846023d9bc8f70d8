"""The certified machine in scikit-learn's manner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fsvm_cli.svm.additive_kernel import Kernel
from fsvm_cli.svm.kernels import kernel_from_name
from fsvm_cli.svm.one_vs_rest import TIE_TOLERANCES, Codes, decision_values, fit_one_vs_rest, predict_codes

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from fsvm_cli.svm.dual import Array, Solver


class SVM(ClassifierMixin, BaseEstimator):
    """Support vector machine with a certificate; several classes one-vs-rest.

    Parameters
    ----------
    kernel : str or Kernel
        A name from `KERNELS` (with its default parameters) or a kernel object.
    C : float
        Upper bound of alpha, > 0; infinity asks for a hard margin.
    tolerance : float
        The relative duality gap of every machine, > 0.
    solver : {"auto", "smo", "interior-point", "libsvm"}
        As in `fsvm_cli.svm.solve`.
    on_failure : {"raise", "flag"}
        Whether a machine that misses its gap raises `ConvergenceError` or is recorded in `converged_`.

    Attributes
    ----------
    classes_ : (n_classes,) array
        Labels; code i stands for `classes_[i]`.
    class_counts_ : (n_classes,) array of int
        Training samples per class.
    support_ : (n_support,) array of int
        Training rows with alpha > 0 in at least one machine.
    support_vectors_ : (n_support, n_features) array or CSR matrix
        Those rows.
    dual_coef_ : (n_machines, n_support) array
        alpha_i y_i; one machine for two classes, with `classes_[1]` as +1, else one per class.
    intercept_ : (n_machines,) array
        Bias of each machine.
    margin_vectors_ : tuple of (n_m,) arrays of int
        For each machine the training rows with 0 < alpha < C.
    duality_gap_ : (n_machines,) array
        Relative.
    converged_ : (n_machines,) array of bool
        Whether the gap is within `tolerance`.
    n_iter_ : (n_machines,) array of int
        Iterations of each machine's solvers.
    n_features_in_ : int
    feature_names_in_ : (n_features,) array of str
        Where `X` had string column names.
    """

    def __init__(
        self,
        kernel: str | Kernel = "linear",
        C: float = 1.0,
        tolerance: float = 1e-6,
        solver: Solver = "auto",
        on_failure: Literal["raise", "flag"] = "raise",
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tolerance = tolerance
        self.solver = solver
        self.on_failure = on_failure

    def fit(self, X: Any, y: npt.ArrayLike) -> Self:
        """Fit the machines.

        Parameters
        ----------
        X : (n, n_features) array, data frame or (inner-product kernels) sparse matrix
        y : (n,) array
            Class labels.

        Raises
        ------
        ValueError
            If the input is not fit for classification, holds one class only, or a parameter is out of range.
        ConvergenceError
            If a machine misses its gap and `on_failure` is "raise".
        """
        kernel = self._kernel()
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse=self._sparse_formats(kernel))
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds {len(self.classes_)} class only; a machine needs at least two classes")
        machines = fit_one_vs_rest(
            kernel.gram(X, X),
            codes,
            self.C,
            len(self.classes_),
            tolerance=self.tolerance,
            solver=self.solver,
            on_failure=self.on_failure,
        )
        solutions = [found for found in machines.solutions if found is not None]
        self.class_counts_ = machines.class_counts
        self.support_ = np.flatnonzero((machines.coefficients != 0).any(axis=0))
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = machines.coefficients[:, self.support_]
        self.intercept_ = machines.bias
        self.margin_vectors_ = tuple(np.flatnonzero((s.alpha > 0) & (s.alpha < self.C)) for s in solutions)
        self.duality_gap_ = np.array([s.duality_gap for s in solutions])
        self.converged_ = np.array([s.converged for s in solutions])
        self.n_iter_ = np.array([s.iterations for s in solutions])
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the scores: (n,) for two classes, positive for `classes_[1]`; else (n, n_classes)."""
        values = self._decision_values(X)
        return values[0] if len(self.classes_) == 2 else values.T

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class labels, shape (n,); ties by the rule of `fsvm_cli.svm.predict_codes`."""
        codes: Codes = predict_codes(self._decision_values(X), self.class_counts_, TIE_TOLERANCES * self.tolerance)
        labels: npt.NDArray[Any] = self.classes_[codes]
        return labels

    def input_gradient(self, X: Any) -> Array:
        """Return the gradient of each machine's score at each row of `X`, shape (n_machines, n, n_features)."""
        kernel, X = self._evaluation_samples(X)
        return np.stack([kernel.input_gradient(self.support_vectors_, X, c) for c in self.dual_coef_])

    def _decision_values(self, X: Any) -> Array:
        kernel, X = self._evaluation_samples(X)
        return decision_values(self.dual_coef_, self.intercept_, kernel.gram(self.support_vectors_, X))

    def _evaluation_samples(self, X: Any) -> tuple[Kernel, Any]:
        check_is_fitted(self)
        kernel = self._kernel()
        return kernel, validate_data(self, X, dtype=np.float64, accept_sparse=self._sparse_formats(kernel), reset=False)

    def _kernel(self) -> Kernel:
        return self.kernel if isinstance(self.kernel, Kernel) else kernel_from_name(self.kernel)

    @staticmethod
    def _sparse_formats(kernel: Kernel) -> str | bool:
        return "csr" if kernel.statistic.accepts_sparse else False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._kernel().statistic.accepts_sparse
        return tags
