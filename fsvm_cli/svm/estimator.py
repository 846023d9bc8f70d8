"""The certified machine as a scikit-learn estimator, with calibrated probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fsvm_cli.numerics import one_blas_thread
from fsvm_cli.svm.base import KernelMachine
from fsvm_cli.svm.costs import unit_of_c, weights_of
from fsvm_cli.svm.kernels.registry import as_kernel, kernel_for
from fsvm_cli.svm.multiclass import (
    TIE_TOLERANCES,
    OneVsRest,
    OutputScaling,
    fit_one_vs_one,
    fit_one_vs_rest,
    output_factors,
    pairs_of,
    votes,
)
from fsvm_cli.svm.training_set import training_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.costs import ClassWeight, CUnit
    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.labels import Codes
    from fsvm_cli.svm.solvers.dual import Solver
    from fsvm_cli.svm.training_set import TrainingSet

CALIBRATION_FOLDS = 5


def asked_for_probability(machine: Any) -> Literal[True]:
    """Return True where a machine has `predict_proba`.

    Raises
    ------
    AttributeError
        If it has not.
    """
    if not machine.probability:
        raise AttributeError("predict_proba is there with probability=True only, which calibrates it in fit")
    return True


def calibrated(machine: Any, X: Any, y: npt.ArrayLike, sample_weight: Array | None) -> Any:
    """Fit scikit-learn's calibration of a machine: one sigmoid per class, on the scores of left-out samples.

    Parameters
    ----------
    machine : SVM
    X : (n, n_features) array or CSR matrix
    y : (n,) array
        Class labels.
    sample_weight : (n,) array, optional

    Raises
    ------
    ValueError
        If a class has a single sample.
    """
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415 - slow to import, and seldom needed

    folds = min(CALIBRATION_FOLDS, int(np.unique(np.asarray(y), return_counts=True)[1].min()))
    if folds < 2:
        raise ValueError("probability needs two samples of each class or more, to leave some out")
    plain = clone(machine).set_params(probability=False)
    return CalibratedClassifierCV(plain, cv=folds, ensemble=False).fit(X, y, sample_weight=sample_weight)


DECISION_SHAPES = ("ovr", "ovo")


class SVM(KernelMachine):
    """Support vector machine with a certificate; several classes one-vs-rest, or one-vs-one.

    Parameters
    ----------
    kernel : str or Kernel
        A name from `KERNELS` or a kernel object. Of a Gaussian or Laplace kernel by its name, theta is in proportion to
        the distances between the training samples (`machine_kernels_` tells) where it is not said.
    C : float
        Upper bound of alpha, > 0, in units of `C_unit`; infinity asks for a hard margin.
    tolerance : float
        The relative duality gap of every machine, > 0.
    solver : {"auto", "smo", "interior-point", "libsvm", "feature-space", "coordinate-ascent", "decomposition"}
        As in `fsvm_cli.svm.solve`; "auto" takes "feature-space" for linear machines on more than 1,000 samples,
        "coordinate-ascent" for those on more than 5,000 sparse ones, and "decomposition", which makes no matrix of all
        pairs, for others on more than 10,000.
    on_failure : {"warn", "raise", "flag"}
        Whether a machine that misses its gap is warned of, raises `ConvergenceError`, or is in `converged_` alone. A
        hard margin that does not exist is an error unless it is "flag".
    class_kernels : mapping of class label to str or Kernel, optional
        Kernels of the machines of single classes, of at least three, where they differ from `kernel`.
    output_scaling : {"none", "times-margin", "divided-by-margin"}
        What the machines' outputs are multiplied or divided by before they are compared. Times the margin, 1/‖w‖, an
        output is a distance to the hyperplane; with kernels of several kinds, outputs lie in several spaces.
    theta : float, optional
        Of a Gaussian or Laplace kernel by its name.
    degree : int, optional
        Of a polynomial or ANOVA kernel by its name.
    class_weight : mapping of class label to float, or "balanced", optional
        What C is multiplied by for the samples of a class; "balanced" is n / (n_classes * samples of the class).
    decision_function_shape : {"ovr", "ovo"}
        Of more than two classes: a machine for each class against the rest, or one for each pair, which vote. Where a
        class lies between others, as in linear iris, no plane cuts it from the rest, and pairs do much better.
    probability : bool
        Whether `fit` calibrates `predict_proba`, at six times the time.
    cache_mb : float, optional
        Megabytes for kernel values in "decomposition"; a quarter of the free memory where it is None.
    C_unit : {"none", "mean-diagonal"}
        "mean-diagonal": C is given in units of 1 / mean of K(x, x) over the samples that a machine is trained on, each
        machine with its own kernel, so that it does not depend on the scale of kernel and features.

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
        alpha_i y_i; one machine for two classes, with `classes_[1]` as +1, else one per class, or per pair of
        classes with the first of them as +1.
    intercept_ : (n_machines,) array
        Bias of each machine. Of columns far from the origin, `decision_function` subtracts a centre first: the plain
        sum of `coef_` times a row and this loses digits there that it keeps.
    margin_vectors_ : tuple of (n_m,) arrays of int
        For each machine the training rows with 0 < alpha < C, where C is that of the sample.
    coef_ : (n_machines, n_features) array
        Of linear machines: their normal vectors, by which they decide.
    duality_gap_ : (n_machines,) array
        Relative. Of a linear machine it is an upper bound of the gap of what `decision_function` computes, `coef_` and
        `dual_coef_`, rounding included; of others that of the expansion over the support vectors, before
        `output_factors_`.
    converged_ : (n_machines,) array of bool
        Whether the gap is within `tolerance`.
    n_iter_ : (n_machines,) array of int
        Iterations of each machine's solvers.
    solver_ : tuple of str
        The solver that finished each machine.
    machine_kernels_ : tuple of Kernel
        Of each machine.
    output_factors_ : (n_machines,) array
        What `output_scaling` multiplies the outputs by.
    machine_C_ : (n_machines,) array
        Upper bound of alpha of each machine, without `C_unit` and before weights multiply it.
    calibrated_ : CalibratedClassifierCV
        Where `probability` asks for it.
    n_features_in_ : int
    feature_names_in_ : (n_features,) array of str
        Where `X` had string column names.

    See Also
    --------
    GradientAngle : Ranks features by the gradient of such a machine.

    References
    ----------
    - L. Hermes and J. M. Buhmann, "Feature Selection for Support Vector Machines", International Conference on
      Pattern Recognition (ICPR), 2000; here hermes2000.

    Examples
    --------
    >>> from fsvm_cli import SVM
    >>> X = [[0, 3], [1, 1], [0, 2], [1, 4], [5, 3], [6, 1], [5, 2], [6, 4]]
    >>> machine = SVM(C=10).fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> machine.predict([[0, 0], [6, 6]]).tolist(), bool(machine.converged_.all())
    ([0, 1], True)
    """

    def __init__(  # noqa: PLR0917 - scikit-learn's estimators take their parameters in place or by name
        self,
        kernel: str | Kernel = "linear",
        C: float = 1.0,
        tolerance: float = 1e-6,
        solver: Solver = "auto",
        on_failure: Literal["warn", "raise", "flag"] = "warn",
        class_kernels: Mapping[Any, str | Kernel] | None = None,
        output_scaling: OutputScaling = "none",
        theta: float | None = None,
        degree: int | None = None,
        class_weight: ClassWeight | None = None,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        probability: bool = False,
        cache_mb: float | None = None,
        C_unit: CUnit = "none",
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tolerance = tolerance
        self.solver = solver
        self.on_failure = on_failure
        self.class_kernels = class_kernels
        self.output_scaling = output_scaling
        self.theta = theta
        self.degree = degree
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.probability = probability
        self.cache_mb = cache_mb
        self.C_unit = C_unit

    @one_blas_thread()
    def fit(self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Fit the machines.

        Parameters
        ----------
        X : (n, n_features) array, data frame or (inner-product kernels) sparse matrix
        y : (n,) array
            Class labels.
        sample_weight : (n,) array, optional
            What C is multiplied by for each sample, >= 0. One of weight 0 does not take part.

        Raises
        ------
        ValueError
            If the input is not fit for classification, holds one class only, or a parameter is out of range.
        ConvergenceError
            If a machine misses its gap and `on_failure` is "raise".
        """
        X, codes = self._to_learn(X, y)
        self._check_choices()
        weights = weights_of(codes, self.classes_, self.class_weight, sample_weight)
        if self.probability:
            self.calibrated_ = calibrated(
                self, X, self.classes_[codes], weights_of(codes, self.classes_, None, sample_weight)
            )
        rows = None
        if weights is not None and not weights.all():
            rows = np.flatnonzero(weights)
            X, codes, weights = X[rows], codes[rows], weights[rows]
        self.machine_kernels_ = self._machine_kernels(X)
        self.machine_C_ = self.C * self._units(X, codes)
        bounds = np.multiply.outer(self.machine_C_, np.ones(len(codes)) if weights is None else weights)
        sets = {
            kernel: training_set(kernel, X, self.solver, self.cache_mb)
            for kernel in dict.fromkeys(self.machine_kernels_)
        }
        machines = self._machines([sets[kernel] for kernel in self.machine_kernels_], codes, bounds)
        solutions = [found for found in machines.solutions if found is not None]
        self.class_counts_ = machines.class_counts
        support = np.flatnonzero((machines.coefficients != 0).any(axis=0))
        self.support_vectors_ = X[support]
        self.dual_coef_ = machines.coefficients[:, support]
        self._linear_machines, self._sharp_machines = machines.linear_machines, machines.sharp_machines
        self.intercept_ = np.array(
            [b if own is None else own.intercept for b, own in zip(machines.bias, self._linear_machines, strict=True)]
        )
        alphas = np.abs(machines.coefficients)
        margin_vectors = [np.flatnonzero((a > 0) & (a < C)) for a, C in zip(alphas, bounds, strict=True)]
        self.support_ = support if rows is None else rows[support]
        self.margin_vectors_ = tuple(own if rows is None else rows[own] for own in margin_vectors)
        self.duality_gap_ = np.array([s.duality_gap for s in solutions])
        self.converged_ = np.array([s.converged for s in solutions])
        self.n_iter_ = np.array([s.iterations for s in solutions])
        self.solver_ = tuple(s.solver for s in solutions)
        self.output_factors_ = np.ones(len(self.machine_kernels_))
        if self.output_scaling != "none":
            of_machine = zip(self.machine_kernels_, machines.coefficients, strict=True)
            outputs = np.array([sets[kernel].outputs(c[None])[0] for kernel, c in of_machine])
            squares = np.einsum("mi,mi->m", outputs, machines.coefficients)
            self.output_factors_ = output_factors(
                np.sqrt(np.maximum(squares, 0.0)),
                np.ptp(outputs, axis=1),
                self.output_scaling,
                TIE_TOLERANCES * self.tolerance,
            )
        self._warn_of_failure()
        return self

    def _check_choices(self) -> None:
        """Refuse choices that do not exist, or do not go together."""
        choices = (
            ("output_scaling", get_args(OutputScaling)),
            ("decision_function_shape", DECISION_SHAPES),
            ("on_failure", ("warn", "raise", "flag")),
        )
        for name, allowed in choices:
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}")
        if self._has_pairs and (self.class_kernels or self.output_scaling != "none"):
            raise ValueError(
                "class_kernels and output_scaling are of machines of one class against the rest; leave them out, or "
                "decision_function_shape='ovo'"
            )
        if self._has_pairs and self.probability:
            raise ValueError(
                "probability is calibrated for each class against the rest; leave it out, or decision_function_shape"
            )

    @property
    def coef_(self) -> Array:
        """Normal vector of each machine, shape (n_machines, n_features), by which it decides; of linear machines."""
        check_is_fitted(self)
        normals = [machine.coef for machine in self._linear_machines if machine is not None]
        if len(normals) < len(self._linear_machines):
            raise AttributeError("coef_ is only there with a linear kernel")
        return np.array(normals)

    def input_gradient(self, X: Any) -> Array:  # noqa: D102 - as in KernelMachine
        if None in self._linear_machines:
            return super().input_gradient(X)
        n = self._evaluation_samples(X).shape[0]
        return np.repeat(self.coef_[:, None, :], n, axis=1)

    @property
    def _has_pairs(self) -> bool:
        return self.decision_function_shape == "ovo" and len(self.classes_) > 2

    def _units(self, X: Any, codes: Codes) -> Array:
        """Return the unit of the C of each machine, shape (n_machines,)."""
        if self._has_pairs and self.C_unit != "none":
            rows = [np.isin(codes, pair) for pair in pairs_of(len(self.classes_))]
            return np.array([unit_of_c(self.C_unit, self.machine_kernels_[0], X[own]) for own in rows])
        units = {kernel: unit_of_c(self.C_unit, kernel, X) for kernel in dict.fromkeys(self.machine_kernels_)}
        return np.array([units[kernel] for kernel in self.machine_kernels_])

    def _machines(self, sets: list[TrainingSet], codes: Codes, bounds: Array) -> OneVsRest:
        settings: dict[str, Any] = {
            "tolerance": self.tolerance,
            "solver": self.solver,
            "on_failure": "flag" if self._goes_on_after_failure(bounds) else "raise",
        }
        if self._has_pairs:
            return fit_one_vs_one(sets[0], codes, bounds, len(self.classes_), **settings)
        return fit_one_vs_rest(sets, codes, bounds, len(self.classes_), **settings)

    @available_if(asked_for_probability)
    def predict_proba(self, X: Any) -> Array:
        """Return the calibrated probability of each class, shape (n, n_classes).

        Calibrated by Platt's sigmoid on the scores of samples that were left out, in five folds (fewer for small
        classes). The likeliest class need not be the predicted one.
        """
        X = self._evaluation_samples(X)
        probabilities: Array = self.calibrated_.predict_proba(X)
        return probabilities

    def _machine_kernels(self, X: Any) -> tuple[Kernel, ...]:
        """Give each machine its kernel."""
        own = {label: kernel_for(kernel, X) for label, kernel in (self.class_kernels or {}).items()}
        classes = self.classes_.tolist()
        if own and len(classes) == 2:
            raise ValueError("two classes share one machine; give it its kernel by 'kernel', not by 'class_kernels'")
        if unknown := [label for label in own if label not in classes]:
            raise ValueError(f"class_kernels names {unknown[0]!r}, which is no class of y")
        kernel = kernel_for(self.kernel, X, theta=self.theta, degree=self.degree)
        if self._has_pairs:
            return (kernel,) * len(pairs_of(len(classes)))
        return tuple(own.get(label, kernel) for label in (classes[1:] if len(classes) == 2 else classes))

    def _kernels_asked_for(self) -> list[Kernel]:
        return [*map(as_kernel, [self.kernel, *(self.class_kernels or {}).values()])]

    def _decided(self, values: Array) -> Codes:
        if self._has_pairs:  # whose scores are never multiplied
            return votes(values, self.class_counts_, TIE_TOLERANCES * self.tolerance)
        return super()._decided(values)
