"""What fitted machines on kernels have in common: their scores, and the gradients of these."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fsvm_cli.svm.binary_machines import BinaryMachines
from fsvm_cli.svm.one_vs_rest import TIE_TOLERANCES

if TYPE_CHECKING:
    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.solvers.dual import Array


class KernelMachine(BinaryMachines):
    """A classifier whose scores are expansions of kernels over support vectors; `fit` is for its subclasses.

    Attributes
    ----------
    classes_, class_counts_
        As of `BinaryMachines`.
    support_vectors_ : (n_support, n_features) array or matrix
    dual_coef_ : (n_machines, n_support) array
    intercept_, output_factors_ : (n_machines,) array
    machine_kernels_ : tuple of Kernel
        One for each machine.
    """

    tolerance: float

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

    def unscaled_scores(self, X: Any) -> Array:
        """Return the score of each machine at each row before `output_factors_`, shape (n_machines, n)."""
        return self._unscaled(self._evaluation_samples(X))

    @abstractmethod
    def _kernels_asked_for(self) -> list[Kernel]:
        """List the kernels that the parameters name."""

    def _decision_values(self, X: Any) -> Array:
        scaled: Array = self._unscaled(X) * self.output_factors_[:, None]
        return scaled

    def _unscaled(self, X: Any) -> Array:
        """Return the scores of samples that have been checked, by expansions over the support vectors."""
        values = np.empty((len(self.dual_coef_), X.shape[0]))
        for kernel in dict.fromkeys(self.machine_kernels_):
            own = [m for m, of_machine in enumerate(self.machine_kernels_) if of_machine == kernel]
            values[own] = kernel.expansion_in_blocks(self.support_vectors_, X, self.dual_coef_[own])
        values += self.intercept_[:, None]
        return values

    def _tie_widths(self) -> Array:
        widths: Array = TIE_TOLERANCES * self.tolerance * self.output_factors_
        return widths

    def _sparse_formats(self) -> str | bool:
        return "csr" if all(kernel.accepts_sparse for kernel in self._kernels_asked_for()) else False
