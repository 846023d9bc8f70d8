"""A Gram matrix as V V' with a thin V, from the columns of a few samples.

Support vector machines on an approximate Gram matrix, for more samples than the exact ones take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import scipy.linalg
from sklearn.utils import check_random_state

from fsvm_cli.memory_check import check_memory
from fsvm_cli.numerics import one_blas_thread
from fsvm_cli.svm.base import KernelMachine
from fsvm_cli.svm.costs import weights_of
from fsvm_cli.svm.kernels.base import Kernel
from fsvm_cli.svm.kernels.linear import Linear
from fsvm_cli.svm.kernels.registry import kernel_for, kernel_from_name
from fsvm_cli.svm.multiclass import fit_one_vs_rest
from fsvm_cli.svm.training_set import LinearTrainingSet

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.costs import ClassWeight

SMALLEST_EIGENVALUE = 1e-12
"""In units of the largest. Below it an eigenvector is rounding, as where samples are equal or features are constant."""


@dataclass(frozen=True, eq=False)
class LowRankGram:
    """V = K_nm U Λ^(-1/2), where U Λ U' is the Gram matrix K_mm of the m landmarks, cut to its p largest eigenvalues.

    Attributes
    ----------
    cross : (n, m) array
        K_nm.
    eigenvalues, eigenvectors : (m,) and (m, m) arrays
        Of K_mm, the largest first.
    V : (n, p) array
    """

    cross: Array
    eigenvalues: Array
    eigenvectors: Array
    V: Array

    @property
    def rank(self) -> int:
        """The number p of columns of V."""
        return int(self.V.shape[1])

    @property
    def inverse_roots(self) -> Array:
        """The F (m, p) = U Λ^(-1/2) with V = K_nm F."""
        leading: Array = self.eigenvectors[:, : self.rank] / np.sqrt(self.eigenvalues[: self.rank])
        return leading


def low_rank_gram(kernel: Kernel, X: Any, landmarks: npt.NDArray[np.intp], rank: int) -> LowRankGram:
    """Approximate the Gram matrix of samples by the Nyström method.

    Parameters
    ----------
    kernel : Kernel
        Positive semidefinite.
    X : (n, d) array or CSR matrix
    landmarks : (m,) array of int
        Rows of X, each once; all of them for the full Gram matrix. See `choose_landmarks`.
    rank : int
        The number p of eigenvectors to keep, >= 1; fewer are kept where the landmarks have no more, and where the
        rest are rounding.

    Returns
    -------
    LowRankGram
        O(n m (d + p) + m^3). The full Gram matrix less V V' is positive semidefinite.
    """
    cross = kernel.gram(X, X[landmarks])
    values, vectors = scipy.linalg.eigh(cross[landmarks])
    values, vectors = values[::-1].copy(), vectors[:, ::-1].copy()
    # Rounding must not turn them round: draws in their coordinates would be others.
    vectors *= np.where(np.arange(1, len(landmarks) + 1) @ vectors < 0.0, -1.0, 1.0)
    kept = min(rank, int(np.count_nonzero(values > SMALLEST_EIGENVALUE * values[0])))
    V = cross @ (vectors[:, :kept] / np.sqrt(values[:kept]))
    return LowRankGram(cross, values, vectors, V)


def choose_landmarks(n_samples: int, n_landmarks: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return rows drawn without replacement, in ascending order; all where there are no more than asked for."""
    size = min(n_samples, n_landmarks)
    return np.sort(rng.choice(n_samples, size=size, replace=False)).astype(np.intp)


LANDMARK_MATRICES = 3
"""Of a row for each sample and a column for each landmark, that are held at a time."""
MAX_DISTANCE_PAIRS = 100_000_000
"""Kernel values that the distance from the exact machine may take: all pairs of 10,000 support vectors."""
MIN_DRAWN_ROWS = 100
"""Support vectors that are drawn where there are more pairs: the error of their mean would be unknown with fewer."""


class Distance(NamedTuple):
    """How far a machine may be from the exact one, in units of its dual objective.

    Attributes
    ----------
    share : float
        Below 1. The exact optimum lies between (1 - share) of the objective and the objective itself, but for the
        duality gap.
    error : float
        Standard error of `share`; 0 where all pairs of support vectors were taken.
    """

    share: float
    error: float


class NystroemSVM(KernelMachine):
    """Support vector machine on a Gram matrix of low rank; several classes one-vs-rest.

    A few samples are drawn as landmarks. K_nm K_mm⁻¹ K_mn, made of the kernel between all samples and the landmarks,
    takes the place of the Gram matrix, so that the machine is a linear one with a feature for each landmark: O(n m²)
    operations a step and O(n m) memory. It is solved to a duality gap as any other, and then bounds how far the optimum
    of the exact problem may lie: the approximate Gram matrix is the smaller one, hence its optimum an upper bound of
    the exact one, and the exact dual objective at the same alpha, or a part of it, a lower one. Scale the features
    first.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        Positive semidefinite; as in `SVM`.
    C : float, default=1.0
        Upper bound of alpha, > 0.
    n_landmarks : int, default=500
        At least 1. With all samples the machine is the exact one.
    tolerance : float, default=1e-6
        The relative duality gap of every machine's approximate problem, > 0.
    on_failure : {"warn", "raise", "flag"}, default="warn"
    theta, degree
        As in `SVM`.
    class_weight : mapping of class label to float, or "balanced", optional
        What C is multiplied by for the samples of a class.
    random_state : int, RandomState or None, default=None
        Of the landmarks, and of the support vectors that the distance is estimated from.

    Attributes
    ----------
    classes_, class_counts_, intercept_, converged_, n_iter_, machine_kernels_
        As in `SVM`.
    duality_gap_ : (n_machines,) array
        Relative, of the machine on the columns of V, where V V' is the approximate Gram matrix. What rounding does to
        the expansion over the landmarks is not in it.
    landmarks_ : (m,) array of int
        Training rows.
    support_vectors_ : (m, n_features) array or CSR matrix
        The landmarks: scores are expansions over them.
    dual_coef_ : (n_machines, m) array
        Their coefficients.
    rank_ : int
        Of the approximate Gram matrix: landmarks less what is rounding.
    distance_ : tuple of Distance
        Of each machine from the exact one.
    n_features_in_ : int
    feature_names_in_ : (n_features,) array of str
        Where `X` had string column names.

    See Also
    --------
    SVM : The exact machine.
    BayesianSVM : Approximates its posterior in the same way.

    References
    ----------
    - C. K. I. Williams and M. Seeger, "Using the Nyström Method to Speed Up Kernel Machines", Advances in Neural
      Information Processing Systems 13, 2001.

    Examples
    --------
    >>> from fsvm_cli import NystroemSVM
    >>> X = [[0, 3], [1, 1], [0, 2], [1, 4], [5, 3], [6, 1], [5, 2], [6, 4]]
    >>> machine = NystroemSVM(n_landmarks=4, random_state=0).fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> machine.predict([[0, 2], [6, 2]]).tolist(), 0 < machine.distance_[0].share < 1
    ([0, 1], True)
    """

    def __init__(  # noqa: PLR0917 - scikit-learn's estimators take their parameters in place or by name
        self,
        kernel: str | Kernel = "gaussian",
        C: float = 1.0,
        n_landmarks: int = 500,
        tolerance: float = 1e-6,
        on_failure: Literal["warn", "raise", "flag"] = "warn",
        theta: float | None = None,
        degree: int | None = None,
        class_weight: ClassWeight | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.n_landmarks = n_landmarks
        self.tolerance = tolerance
        self.on_failure = on_failure
        self.theta = theta
        self.degree = degree
        self.class_weight = class_weight
        self.random_state = random_state

    @one_blas_thread()
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
            If the input is not fit for classification, holds one class only, a parameter is out of range, the kernel
            is indefinite, or there is no memory for that many landmarks.
        ConvergenceError
            If a machine misses its gap and `on_failure` is "raise".
        """
        X, codes = self._to_learn(X, y)
        if self.n_landmarks < 1:
            raise ValueError(f"n_landmarks must be at least 1, not {self.n_landmarks}")
        kernel = kernel_for(self.kernel, X, theta=self.theta, degree=self.degree)
        if not kernel.positive_semidefinite:
            raise ValueError(f"the kernel {kernel!r} is indefinite, and has no Gram matrix of low rank; take another")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        self.landmarks_ = choose_landmarks(X.shape[0], self.n_landmarks, rng)
        work = f"{X.shape[0]:,} rows with {len(self.landmarks_):,} landmarks"
        check_memory(
            work, 8 * LANDMARK_MATRICES * X.shape[0] * len(self.landmarks_), "take fewer landmarks, or draw fewer rows"
        )
        weights = weights_of(codes, self.classes_, self.class_weight, None)
        bounds = self.C if weights is None else self.C * weights
        gram = low_rank_gram(kernel, X, self.landmarks_, len(self.landmarks_))
        machines = fit_one_vs_rest(
            LinearTrainingSet(Linear(), gram.V, "feature-space"),
            codes,
            bounds,
            len(self.classes_),
            tolerance=self.tolerance,
            on_failure="flag" if self._goes_on_after_failure(bounds) else "raise",
        )
        solutions = [found for found in machines.solutions if found is not None]
        fitted = [found for found in machines.linear_machines if found is not None]
        self.class_counts_ = machines.class_counts
        self.support_vectors_ = X[self.landmarks_]
        self.dual_coef_ = np.array([machine.coef for machine in fitted]) @ gram.inverse_roots.T
        self.intercept_ = np.array([machine.intercept for machine in fitted])
        self.machine_kernels_ = (kernel,) * len(solutions)
        self.output_factors_ = np.ones(len(solutions))
        self.rank_ = gram.rank
        self.duality_gap_ = np.array([found.duality_gap for found in solutions])
        self.converged_ = np.array([found.converged for found in solutions])
        self.n_iter_ = np.array([found.iterations for found in solutions])
        self.distance_ = tuple(
            distance_from_exact(kernel, X, gram.V, coefficients, rng) for coefficients in machines.coefficients
        )
        self._warn_of_failure()
        return self

    def _kernels_asked_for(self) -> list[Kernel]:
        return [self.kernel if isinstance(self.kernel, Kernel) else kernel_from_name(self.kernel)]


def distance_from_exact(kernel: Kernel, X: Any, V: Array, coefficients: Array, rng: np.random.Generator) -> Distance:
    """Bound how far the optimum of a machine on V V' is from that of the machine on the Gram matrix K.

    At t c, where c are the coefficients of the former and 0 <= t <= 1, the dual objective with K is
    t Σ|c_i| - ½ t² c'Kc. The largest of these is a lower bound of the exact optimum. Where there are too many pairs of
    support vectors for c'(K - V V')c, rows of that form are drawn in proportion to |c|, and their mean is taken.

    Parameters
    ----------
    kernel : Kernel
    X : (n, d) array or CSR matrix
    V : (n, p) array
    coefficients : (n,) array
        alpha_i y_i at the optimum with V V'.
    rng : Generator

    Returns
    -------
    Distance
    """
    support = np.flatnonzero(coefficients)
    if not len(support):
        return Distance(0.0, 0.0)
    own = coefficients[support]
    total = float(np.abs(own).sum())
    normal = own @ V[support]
    n_drawn = max(MAX_DISTANCE_PAIRS // len(support), MIN_DRAWN_ROWS)
    draws = n_drawn < len(support)
    rows = rng.choice(len(support), n_drawn, p=np.abs(own) / total) if draws else np.arange(len(support))
    lost = kernel.expansion_in_blocks(X[support], X[support[rows]], own[None])[0] - V[support[rows]] @ normal
    terms = total * np.sign(own[rows]) * lost if draws else len(support) * own * lost
    approximate = float(normal @ normal)
    exact = approximate + max(float(terms.mean()), 0.0)
    error = float(terms.std(ddof=1)) / np.sqrt(n_drawn) if draws else 0.0
    t = min(1.0, total / exact) if exact > 0.0 else 1.0
    objective = total - 0.5 * approximate
    return Distance(1.0 - t * (total - 0.5 * t * exact) / objective, 0.5 * t**2 * float(error) / objective)
