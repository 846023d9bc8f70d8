"""What fitted machines on kernels have in common: how they predict."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fsvm_cli.svm.one_vs_rest import TIE_TOLERANCES, predict_codes

if TYPE_CHECKING:
    import numpy.typing as npt
    from sklearn.utils import Tags

    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.labels import Codes
    from fsvm_cli.svm.solvers.dual import Array


class KernelMachine(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are expansions of kernels over support vectors; `fit` is for its subclasses.

    Attributes
    ----------
    classes_ : (n_classes,) array
    class_counts_ : (n_classes,) array
        Training samples of each class, which decide ties.
    support_vectors_ : (n_support, n_features) array or matrix
    dual_coef_ : (n_machines, n_support) array
    intercept_, output_factors_ : (n_machines,) array
    machine_kernels_ : tuple of Kernel
        One for each machine.
    """

    tolerance: float

    def decision_function(self, X: Any) -> Array:
        """Return the scaled scores: (n,) for two classes, positive for `classes_[1]`; else (n, n_machines)."""
        values = self._decision_values(X)
        return values[0] if len(self.classes_) == 2 else values.T

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class labels, shape (n,); ties by the rule of `fsvm_cli.svm.predict_codes`."""
        values = self._decision_values(X)
        tie_widths = TIE_TOLERANCES * self.tolerance * self.output_factors_
        labels: npt.NDArray[Any] = self.classes_[self._decided(values, tie_widths)]
        return labels

    def input_gradient(self, X: Any) -> Array:
        """Return the gradient of each machine's unscaled score at each row, shape (n_machines, n, n_features)."""
        X = self._evaluation_samples(X)
        machines = zip(self.machine_kernels_, self.dual_coef_, strict=True)
        return np.stack([kernel.input_gradient(self.support_vectors_, X, c) for kernel, c in machines])

    @property
    def coef_(self) -> Array:
        """Normal vector of each machine, shape (n_machines, n_features); only linear machines have one."""
        check_is_fitted(self)
        if not all(kernel.is_linear for kernel in self.machine_kernels_):
            raise AttributeError("coef_ is only there with a linear kernel")
        machines = zip(self.machine_kernels_, self.dual_coef_, strict=True)
        where = self.support_vectors_[:1]
        return np.stack([kernel.input_gradient(self.support_vectors_, where, c)[0] for kernel, c in machines])

    @abstractmethod
    def _kernels_asked_for(self) -> list[Kernel]:
        """List the kernels that the parameters name."""

    def _decided(self, values: Array, tie_widths: Array) -> Codes:
        """Choose the class of each sample by the scores of machines of one class against the rest."""
        return predict_codes(values, self.class_counts_, tie_widths)

    def _decision_values(self, X: Any) -> Array:
        X = self._evaluation_samples(X)
        values = np.empty((len(self.dual_coef_), X.shape[0]))
        for kernel in dict.fromkeys(self.machine_kernels_):
            own = [m for m, of_machine in enumerate(self.machine_kernels_) if of_machine == kernel]
            values[own] = kernel.expansion_in_blocks(self.support_vectors_, X, self.dual_coef_[own])
        values += self.intercept_[:, None]
        scaled: Array = values * self.output_factors_[:, None]
        return scaled

    def _evaluation_samples(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._validated_rows(X)

    def _validated_rows(self, X: Any) -> Any:
        return validate_data(self, X, dtype=np.float64, accept_sparse=self._sparse_formats(), reset=False)

    def _sparse_formats(self) -> str | bool:
        return "csr" if all(kernel.accepts_sparse for kernel in self._kernels_asked_for()) else False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse_formats() == "csr"
        return tags
