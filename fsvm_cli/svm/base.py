"""Base classes of the classifiers that are made of binary machines."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fsvm_cli.numerics import check_input_range, one_blas_thread
from fsvm_cli.svm.labels import machine_labels
from fsvm_cli.svm.multiclass import TIE_TOLERANCES, predict_codes
from fsvm_cli.svm.training_set import certified_decision_values
from fsvm_cli.validation import validated

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.labels import Codes
    from fsvm_cli.svm.large.linear_machine import LinearMachine


class BinaryMachines(ClassifierMixin, BaseEstimator):
    """A classifier with one machine for two classes, else several; `fit` is for its subclasses.

    Attributes
    ----------
    classes_ : (n_classes,) array
    class_counts_ : (n_classes,) array
        Training samples of each class, which decide ties.
    """

    def decision_function(self, X: Any) -> Array:
        """Return the machines' scores: (n,) for two classes, positive for `classes_[1]`; else (n, n_machines)."""
        values = self._decision_values(self._evaluation_samples(X))
        return values[0] if len(self.classes_) == 2 else values.T

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class labels, shape (n,); ties by the rule of `fsvm_cli.svm.predict_codes`."""
        values = self._decision_values(self._evaluation_samples(X))
        labels: npt.NDArray[Any] = self.classes_[self._decided(values)]
        return labels

    @abstractmethod
    def _decision_values(self, X: Any) -> Array:
        """Return the scores of samples that have been checked, shape (n_machines, n)."""

    @abstractmethod
    def _tie_widths(self) -> float | Array:
        """Return the width within which scores are a tie, that of all machines or of each."""

    def _decided(self, values: Array) -> Codes:
        """Choose the class of each sample by the scores of machines of one class against the rest."""
        return predict_codes(values, self.class_counts_, self._tie_widths())

    def _to_learn(self, X: Any, y: Any) -> tuple[Any, Codes]:
        """Check what is to be learned, keep its classes, and return the samples with the codes of their classes.

        Raises
        ------
        ValueError
            If the input is not fit for classification, or holds one class only.
        """
        X, y = validated(self, X, y, accept_sparse=self._sparse_formats())
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds {len(self.classes_)} class only; a machine needs at least two classes")
        return X, codes

    def _evaluation_samples(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._validated_rows(X)

    def _validated_rows(self, X: Any) -> Any:
        return validate_data(self, X, dtype=np.float64, accept_sparse=self._sparse_formats(), reset=False)

    def _sparse_formats(self) -> str | bool:
        """Name the sparse matrices that are taken as they are."""
        return False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse_formats() == "csr"
        return tags


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
    on_failure: Literal["warn", "raise", "flag"]
    duality_gap_: Array
    converged_: NDArray[np.bool_]
    _linear_machines: Sequence[LinearMachine | None] = ()
    _sharp_machines: Sequence[int] = ()

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

    def _goes_on_after_failure(self, bounds: npt.ArrayLike) -> bool:
        """Tell whether a machine that misses its gap is kept; there is none where a hard margin does not exist."""
        return self.on_failure == "flag" or (self.on_failure == "warn" and bool(np.isfinite(bounds).all()))

    def _warn_of_failure(self) -> None:
        """Warn of machines that missed their gap, unless that is only to be recorded."""
        missed = self.duality_gap_[~self.converged_]
        if self.on_failure == "warn" and len(missed):
            from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - slow to import, and seldom needed

            warnings.warn(
                f"{len(missed)} of {len(self.converged_)} machines missed the duality gap of {self.tolerance:g}, by "
                f"the largest at {missed.max():.1e}: scale the features, or lower C",
                ConvergenceWarning,
                stacklevel=4,
            )

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
        """Return the scores of samples that have been checked."""
        return certified_decision_values(
            self.machine_kernels_,
            self.support_vectors_,
            self.dual_coef_,
            self.intercept_,
            X,
            linear_machines=self._linear_machines,
            sharp_machines=self._sharp_machines,
        )

    def _tie_widths(self) -> Array:
        widths: Array = TIE_TOLERANCES * self.tolerance * self.output_factors_
        return widths

    def _sparse_formats(self) -> str | bool:
        return "csr" if all(kernel.accepts_sparse for kernel in self._kernels_asked_for()) else False


TOLERANCE = 1e-6
"""The relative duality gap of the machines."""


class BinaryMachine(Protocol):
    """What separates one class from the rest."""

    def decision_function(self, X: Array) -> Array:
        """Return (n,) values, positive for the class."""


class TunedMachines(BinaryMachines):
    """A classifier with a binary machine for each class, or one for two classes; subclasses tune them in `_tune`.

    Attributes
    ----------
    classes_, class_counts_
        As of `BinaryMachines`.
    machines_ : sequence of BinaryMachine
    """

    machines_: Sequence[BinaryMachine]

    @one_blas_thread()
    def fit(self, X: Any, y: Any) -> Self:
        """Tune and train the machines.

        Parameters
        ----------
        X : (n, n_features) array or data frame
        y : (n,) array
            Class labels.

        Raises
        ------
        ValueError
            If the input is not fit for classification, holds one class only, has all samples in one place, or a
            parameter is out of range.
        """
        X, codes = self._to_learn(X, y)
        check_input_range(X, getattr(self, "feature_names_in_", None))
        self._tune(X, self._labels(codes))
        return self

    @abstractmethod
    def _tune(self, X: Array, labels: Array) -> None:
        """Tune and train a machine for each row of labels (n_machines, n), which are -1 or +1."""

    def _labels(self, codes: Codes) -> Array:
        """Count the classes, and return the labels of each machine, shape (n_machines, n)."""
        labels, self.class_counts_ = machine_labels(codes, len(self.classes_))
        return labels

    def _decision_values(self, X: Array) -> Array:
        return np.array([machine.decision_function(X) for machine in self.machines_])

    def _tie_widths(self) -> float:
        return TIE_TOLERANCES * TOLERANCE
