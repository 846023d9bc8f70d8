"""The Bayesian support vector machine as a scikit-learn estimator, trained on the whole Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from fsvm_cli.evidence.hybrid_monte_carlo import SamplerSettings, sample
from fsvm_cli.evidence.kernels import nystroem_factor
from fsvm_cli.evidence.losses import Hinge, SquaredHinge
from fsvm_cli.evidence.posterior import Posterior, posterior_mode
from fsvm_cli.evidence.sampled_evidence import Hyperparameters
from fsvm_cli.evidence.tuning import (
    LOSSES,
    TunedByEvidence,
    ascent_table,
    control_table,
    mean_relevance,
    what_was_chosen,
)
from fsvm_cli.numerics import one_blas_thread, refusing_overflow
from fsvm_cli.svm.base import TOLERANCE, TunedMachines
from fsvm_cli.svm.labels import machine_labels
from fsvm_cli.svm.solvers.certificate import stated
from fsvm_cli.svm.solvers.dual import DualProblem
from fsvm_cli.svm.solvers.solve import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.evidence.ascent import AscentPath
    from fsvm_cli.evidence.losses import Loss
    from fsvm_cli.evidence.parameters import LengthScales, ValidationShare
    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.weighted_sum import WeightedSum


@dataclass(frozen=True, eq=False)
class MapMachine:
    """The most probable θ(x) = Σ_i coefficients_i K(x_i, x); there is no bias beside k_off.

    Attributes
    ----------
    kernel : WeightedSum
    X : (n, d) array
        Training samples.
    coefficients : (n,) array
        y_i α_i.
    duality_gap : float
        Relative; 0 for the trigonometric loss, which Newton steps train. Where the rounding of kernel values may take
        it above the tolerance, that of the computed θ, and missed.
    converged : bool
        Whether the gap was reached.
    """

    kernel: WeightedSum
    X: Array
    coefficients: Array
    duality_gap: float
    converged: bool

    def decision_function(self, A: Array) -> Array:
        """Return θ of samples (n_a, d), shape (n_a,)."""
        values: Array = self.kernel.expansion(self.X, A, self.coefficients[None])[0]
        return values


def train_map_machine(
    X: Array, y: Array, loss: Loss, hyperparameters: Hyperparameters, tolerance: float = 1e-6
) -> MapMachine:
    """Train the machine of some hyperparameters; a gap that it misses is noted, not raised.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
        Labels, -1 or +1.
    loss : Loss
    hyperparameters : Hyperparameters
    tolerance : float
        The relative duality gap to reach, > 0.

    Returns
    -------
    MapMachine
        O(n^2) numbers at once.
    """
    kernel, C = hyperparameters.kernel.kernel, hyperparameters.C
    if not isinstance(loss, Hinge | SquaredHinge):
        everything = nystroem_factor(hyperparameters.kernel, X, np.arange(len(X)), len(X))
        posterior = Posterior(everything.V, y, C, loss)
        margins = posterior.margins(posterior_mode(posterior)[:, None])[:, 0]
        # Where the posterior is largest, K^(-1) θ = -C Y l'(Yθ).
        return MapMachine(kernel, X, -C * y * loss.slope(margins), 0.0, converged=True)
    is_hinge = isinstance(loss, Hinge)
    bound, ridge = (C, 0.0) if is_hinge else (np.inf, 1.0 / C)
    gram, rounding = kernel.gram(X, X), kernel.rounding(X).of_machine()
    problem = DualProblem(gram, y, bound, equality=False, ridge=ridge)
    found = solve(problem, tolerance=tolerance, on_failure="flag")
    predicting = DualProblem(gram, y, bound, equality=False, ridge=ridge, rounding=rounding)
    found = stated(predicting, found, tolerance)
    support = np.flatnonzero(found.alpha)
    return MapMachine(kernel, X[support], (y * found.alpha)[support], float(found.duality_gap), bool(found.converged))


@dataclass(eq=False, repr=False)
class BayesianSVM(TunedByEvidence, TunedMachines):
    """Support vector machine whose C and kernel are tuned by the evidence, with a length scale for each feature.

    The machine is the mode of a posterior, Q(θ | D) ∝ Q(θ) Π_i κ(C) exp(-C l(y_i θ(x_i))), (4) and (7) of gold2005,
    whose prior is the Gaussian process with the kernel (3),
    K(x, x') = k₀ exp(-½ Σ_a (x_a - x'_a)² / l_a²) + k_off. C, k₀, k_off and the length scales
    climb the gradient of the evidence Q(Y | X), which is estimated by draws from the posterior with an approximate
    Gram matrix; the machine itself is trained on the whole one. Several classes are separated one against the rest,
    each machine with hyperparameters of its own. Scale the features first.

    Parameters
    ----------
    loss, approximation, n_landmarks, n_eigenvectors, rule, stop, max_steps, step, decay, sampler, n_permutations
        As in `AutomaticRelevance`.
    length_scales : {"per-feature", "common"}, default="per-feature"
        Whether each feature has a length scale of its own, or all have one.
    validation_share : float, default=0
        Share of the samples that is withheld from the ascents, at least 0 and below 1. Each ascent then ends at the
        step whose machine, trained on the other samples, errs on the fewest of these, of equals at the first; the
        machine is trained on all samples with the hyperparameters of that step. Gold and Sollich tried it in place of
        the rule "magnitude" (gold2005, section 5) and do not say how large a share they withheld. 0: the ascents end
        by their rule.
    random_state : int, RandomState or None, default=None
        Of the landmarks, the sampler and the samples that are withheld.

    Attributes
    ----------
    classes_ : (n_classes,) array
    hyperparameters_ : tuple of Hyperparameters
        Of each machine: C, and the kernel with its k0, k_off and length scales.
    relevance_ : (n_features,) array
        ω_a = l_a⁻² / Σ_b l_b⁻², the mean over the machines.
    path_ : tuple of AscentPath
        Hyperparameters and gradients along the ascent of each machine.
    diagnostics_ : dict
        Tables `ascent`, the same below each other, with what the sampler reports, and `control`, the ends beside those
        on permuted labels; see `AutomaticRelevance`.
    chosen_ : dict
        As in `AutomaticRelevance`.
    duality_gap_ : (n_machines,) array
        Relative.
    converged_ : (n_machines,) array of bool
        Whether the machine reached its gap, and its ascent the stopping rule, at an evidence that is better than that
        of a machine that uses no feature, and than with permuted labels.
    n_features_in_ : int
    feature_names_in_ : (n_features,) array of str
        Where `X` had string column names.

    See Also
    --------
    AutomaticRelevance : Ranks features by these length scales.

    Notes
    -----
    `fit` raises a SamplingError if a chain never moved, or a few weighted draws have all the weight.

    References
    ----------
    - C. Gold, A. Holub and P. Sollich, "Bayesian Approach to Feature Selection and Parameter Tuning for Support Vector
      Machine Classifiers", Neural Networks 18, 2005; here gold2005.
    - W. Chu, S. S. Keerthi and C. J. Ong, "Bayesian Trigonometric Support Vector Classifier", Neural Computation 15,
      2003, pages 2227-2254: the loss "trigonometric".

    Examples
    --------
    >>> from fsvm_cli import BayesianSVM
    >>> X, y = [[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")
    >>> machine = BayesianSVM(max_steps=3, random_state=0).fit(X, y)
    >>> machine.predict([[0, 0], [6, 6]]).tolist(), bool(machine.relevance_[0] > machine.relevance_[1])
    (['a', 'b'], True)
    """

    length_scales: LengthScales = "per-feature"
    validation_share: ValidationShare = 0.0
    random_state: int | np.random.RandomState | None = None

    def _tune(self, X: Array, labels: Array) -> None:
        with refusing_overflow("the Bayesian machine"):
            common = self.length_scales == "common"
            kept, withheld = self._parts(labels)
            self.path_, controls = self._ascents(
                X[kept], labels[:, kept], self.random_state, common_length_scale=common
            )
            if len(withheld):
                self.path_ = tuple(
                    path.up_to(self._best_step(path, X, y, kept, withheld))
                    for path, y in zip(self.path_, labels, strict=True)
                )
            self.hyperparameters_ = tuple(path.end for path in self.path_)
            self._train(X, labels)
        self.relevance_ = mean_relevance(self.path_, X)
        self.chosen_ = what_was_chosen(self.path_, X)
        listed = getattr(self, "feature_names_in_", [f"x{a}" for a in range(X.shape[1])])
        self.diagnostics_ = {
            "ascent": ascent_table(self.path_, listed),
            "control": control_table(controls, X, listed),
        }
        self.converged_ &= np.array([path.converged for path in self.path_])

    def _parts(self, labels: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Divide the samples into those of the ascents and those that are withheld, stratified by class."""
        n = labels.shape[1]
        if not self.validation_share:
            return np.arange(n), np.arange(0)
        classes = np.where(labels > 0, np.arange(1, len(labels) + 1)[:, None], 0).max(axis=0)
        kept, withheld = train_test_split(
            np.arange(n), test_size=self.validation_share, stratify=classes, random_state=self.random_state
        )
        return np.sort(kept), np.sort(withheld)

    def _best_step(
        self, path: AscentPath, X: Array, y: Array, kept: NDArray[np.intp], withheld: NDArray[np.intp]
    ) -> int:
        """Return the step of an ascent whose machine errs on the fewest withheld samples, of equals the first."""
        loss, n_wrong = LOSSES[self.loss], []
        for logarithms in path.logarithms:
            found = Hyperparameters.from_logarithms(logarithms)
            decision = train_map_machine(X[kept], y[kept], loss, found, TOLERANCE).decision_function(X[withheld])
            n_wrong.append(np.count_nonzero((decision > 0) != (y[withheld] > 0)))
        return int(np.argmin(n_wrong))

    def _train(self, X: Array, labels: Array) -> None:
        loss = LOSSES[self.loss]
        found = [
            train_map_machine(X, y, loss, each, TOLERANCE)
            for y, each in zip(labels, self.hyperparameters_, strict=True)
        ]
        self.machines_: tuple[MapMachine, ...] = tuple(found)
        self.duality_gap_ = np.array([machine.duality_gap for machine in found])
        self.converged_ = np.array([machine.converged for machine in found])

    @one_blas_thread()
    def posterior_draws(
        self,
        X: Any,
        y: Any,
        *,
        n_chains: int = 4,
        n_draws: int = 1000,
        n_warm_up: int = 200,
        random_state: int | np.random.RandomState | None = None,
    ) -> list[dict[str, dict[str, Array]]]:
        """Draw from the posterior of each machine, with the hyperparameters that were found and landmarks drawn anew.

        By Hybrid Monte Carlo, gold2005, equations (19) to (21), in the metric of the posterior's normal approximation
        and with a step that adapts during the warm-up.

        Parameters
        ----------
        X : (n, n_features) array or data frame
            As in `fit`.
        y : (n,) array
            Class labels, of the classes of `fit`.
        n_chains, n_draws, n_warm_up : int
            Chains, the draws that are kept of each, at least 4, and those before that are not.
        random_state : int, RandomState or None, default=None
            Of the landmarks and the chains.

        Returns
        -------
        list of dict
            For each machine what `arviz.from_dict` takes. Group "posterior" has "theta", the latent function at the
            samples, (n_chains, n_draws, n), and "b", its coordinates with a white prior, (n_chains, n_draws, p), where
            p is at most `n_eigenvectors`; group "sample_stats" has "energy", (n_chains, n_draws).

        Raises
        ------
        ValueError
            If a label is of no class of `fit`, or a number is too small.
        SamplingError
            If a chain never moved.
        """
        check_is_fitted(self)
        for name, number, least in (("n_chains", n_chains, 1), ("n_draws", n_draws, 4), ("n_warm_up", n_warm_up, 0)):
            if number < least:
                raise ValueError(f"{name} is {number}; it has to be at least {least}")
        X, y = validate_data(self, X, y, reset=False, dtype=np.float64)
        if strange := sorted(set(y.tolist()) - set(self.classes_.tolist()), key=str):
            raise ValueError(f"y holds {strange[0]!r}, which is no class that the machine was fitted to")
        labels, _ = machine_labels(np.searchsorted(self.classes_, y), len(self.classes_))
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        settings = SamplerSettings(n_chains=n_chains, n_warm_up=n_warm_up, n_draws=n_draws)
        found = []
        for evidence, each in zip(self._evidences(X, labels, rng), self.hyperparameters_, strict=True):
            posterior = evidence.posterior_at(each)[1]
            draws = sample(posterior, settings, rng)
            b = draws.points.transpose(1, 0, 2)
            found.append(
                {"posterior": {"theta": b @ posterior.V.T, "b": b}, "sample_stats": {"energy": draws.energies.T}}
            )
        return found

    def trained_on(self, X: Array, y: NDArray[Any], features: Sequence[int]) -> BayesianSVM:
        """Train with the hyperparameters that were found, but on some of the features only.

        Parameters
        ----------
        X : (n, n_features) array
            All features.
        y : (n,) array
            Class labels; the classes of `fit`.
        features : sequence of int

        Returns
        -------
        BayesianSVM
            Which takes samples with these features only.
        """
        check_is_fitted(self)
        machine = BayesianSVM(**self.get_params())
        machine.n_features_in_ = len(features)
        machine.hyperparameters_ = tuple(_restricted(each, features) for each in self.hyperparameters_)
        machine.classes_ = self.classes_
        machine._train(X[:, features], machine._labels(np.searchsorted(self.classes_, y)))
        return machine


def _restricted(hyperparameters: Hyperparameters, features: Sequence[int]) -> Hyperparameters:
    kernel = hyperparameters.kernel
    kept = tuple(kernel.length_scales[feature] for feature in features)
    return replace(hyperparameters, kernel=replace(kernel, length_scales=kept))
