"""Automatic relevance determination by the evidence of a Bayesian support vector machine, gold2005."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt
from sklearn.utils import check_random_state

from fsvm_cli.evidence.ard_kernel import ArdKernel
from fsvm_cli.evidence.ascent import FIRST_LENGTH_SCALE, AscentPath, AscentSettings, ascend
from fsvm_cli.evidence.gradient import Approximation  # noqa: TC001 - the parameter's annotation is read
from fsvm_cli.evidence.hinge import Hinge
from fsvm_cli.evidence.hybrid_monte_carlo import PAPER_SETTINGS, SamplerSettings
from fsvm_cli.evidence.importance import ImportanceSettings
from fsvm_cli.evidence.nystroem import choose_landmarks
from fsvm_cli.evidence.sampled_evidence import Hyperparameters, SampledEvidence
from fsvm_cli.evidence.squared_hinge import SquaredHinge
from fsvm_cli.evidence.trigonometric import Trigonometric
from fsvm_cli.ranking.base import Ranker
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.evidence.loss import Loss

LOSSES: dict[str, Loss] = {"hinge": Hinge(), "squared-hinge": SquaredHinge(), "trigonometric": Trigonometric()}
CHAINS = SamplerSettings(n_warm_up=15, n_draws=30)
"""Chains begin near the posterior, and the errors of one step's gradient are made up for by the next: few will do."""
SAMPLERS: dict[str, tuple[SamplerSettings | ImportanceSettings, ...]] = {
    "weighted": (ImportanceSettings(), CHAINS),
    "chains": (CHAINS,),
    "paper": (PAPER_SETTINGS,),
}


class AutomaticRelevance(Ranker):
    """Tune a length scale for each feature by the evidence of a Bayesian machine: short ones are relevant.

    The machine is the mode of a posterior, Q(θ | D) ∝ Q(θ) Π_i κ(C) exp(-C l(y_i θ(x_i))), whose prior is the
    Gaussian process with the kernel

        K(x, x') = k₀ exp(-½ Σ_a (x_a - x'_a)² / l_a²) + k_off.

    From C = k₀ = k_off = 1 and l_a = √d, all of them climb along the gradient of the evidence Q(Y | X), which is an
    average over the posterior. The score of a feature is its relevance, the share ω_a = l_a⁻² / Σ_b l_b⁻². Scale the
    features first; one that is constant has no relevance.

    The Gram matrix is approximated by p eigenvectors of m of the n samples, and averages are taken over 2048 weighted
    draws, or Hybrid Monte Carlo. Several classes are separated one against the rest, and the relevances averaged. Each
    step of the ascent is O(n p) per draw, and besides O(n²(p + d)) for the mixed gradient, O(n m (p + d)) for the exact
    one; some ten to fifty steps.

    Use it where few of many features matter, in any shape; not on thousands of features, nor where a ranking has to
    come without random numbers.

    Parameters
    ----------
    loss : {"hinge", "squared-hinge", "trigonometric"}, default="hinge"
        l, of the margin yθ. "trigonometric" is that of Chu, Keerthi and Ong (2003), with which C stays 1.
    approximation : {"mixed", "exact"}, default="mixed"
        "mixed" takes the derivative of the whole Gram matrix with the inverse of the approximate one, as the paper
        does; "exact" is the gradient of the evidence of the approximate matrix.
    n_landmarks : int, default=200
        m, at least 1; all samples where there are no more.
    n_eigenvectors : int, default=20
        p, at least 1; fewer are used where the landmarks have no more.
    stop : float, default=0.3
        Between 0 and 1. The ascent ends when the gradients by the length scales have fallen to this part of their
        peaks, on average. The paper has 0.3 for most of its data, 0.15 for splice, by the test error.
    max_steps : int, default=100
        Of the ascent, at least 0.
    step : float, default=0.3
        By how much the logarithm with the largest derivative changes in the first step.
    decay : float, default=40.0
        After how many steps the step is half of that.
    sampler : {"weighted", "chains", "paper"}, default="weighted"
        "weighted": draws from the normal distribution nearest to the posterior, weighted; where few of them count, as
        often with the trigonometric loss, chains. "chains": 64 chains in the metric of the posterior, whose step adapts
        to their acceptance. "paper": one chain of 40,000 trajectories of 10 steps of 0.05, of which the first half is
        left out.
    random_state : int, RandomState or None, default=None
        Of the landmarks and the sampler.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.

    Attributes
    ----------
    path_ : tuple of AscentPath
        Hyperparameters and gradients along the ascent of each machine.
    diagnostics_ : dict
        Table `ascent`: the same below each other, with what the sampler reports; see `ascent_table`.
    converged_ : bool
        Whether the ascents of all machines reached the stopping rule.

    Notes
    -----
    Source: gold2005, with these corrections. (9) lacks the prime of l'. (17) lacks a division by the eigenvalue, the
    columns of V are the approximate eigenvectors times the root of their eigenvalues, not divided by it, and (21)
    lacks the minus before the loss: with the force as printed no trajectory is accepted. κ(C), which the paper does
    not give, is the largest factor at which the probabilities of both classes never sum to more than 1.

    Ours: the paper states neither start nor step of its ascent; here all logarithms change in proportion to their
    derivatives. No hyperparameter leaves its start by more than a factor of e¹⁰. As k₀ grows the step of the paper's
    chain soon accepts nothing; a chain that never moved is an error. Weighted draws take a fraction of the time, and
    unlike chains do not multiply rounding: a chain's draws are others on another processor.

    See Also
    --------
    KernelParameterDescent : Tunes one weight per feature by the dual objective.

    References
    ----------
    - gold2005: C. Gold, A. Holub and P. Sollich, Neural Networks 18, 2005; in full in `Ranker`.
    - W. Chu, S. S. Keerthi and C. J. Ong, "Bayesian Trigonometric Support Vector Classifier", Neural Computation 15,
      2003, pages 2227-2254.

    Examples
    --------
    >>> from fsvm_cli import AutomaticRelevance
    >>> X, y = [[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")
    >>> AutomaticRelevance(max_steps=3, random_state=0).fit(X, y).ranking_.tolist()
    [1, 2]
    """

    method = "ard"
    scores_are_shares = True
    handed_down = frozenset({"random_state"})

    loss: Literal["hinge", "squared-hinge", "trigonometric"] = "hinge"
    approximation: Approximation = "mixed"
    n_landmarks: Annotated[int, Ge(1)] = 200
    n_eigenvectors: Annotated[int, Ge(1)] = 20
    stop: Annotated[float, Gt(0), Lt(1)] = 0.3
    max_steps: Annotated[int, Ge(0)] = 100
    step: Annotated[float, Gt(0)] = 0.3
    decay: Annotated[float, Gt(0)] = 40.0
    sampler: Literal["weighted", "chains", "paper"] = "weighted"
    random_state: int | np.random.RandomState | None = None

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        landmarks = choose_landmarks(len(X), self.n_landmarks, rng)
        start = Hyperparameters(1.0, ArdKernel(1.0, 1.0, (float(np.sqrt(X.shape[1])),) * X.shape[1]))
        settings = AscentSettings(self.step, self.decay, self.stop, self.max_steps)
        evidence = [
            SampledEvidence(
                X, signs, LOSSES[self.loss], landmarks, self.n_eigenvectors, SAMPLERS[self.sampler], self.approximation
            )
            for signs in machine_labels(y, n_classes)[0]
        ]
        self.path_ = tuple(ascend(each, start, settings, rng) for each in evidence)
        self.converged_ = all(path.stopped for path in self.path_)
        self.diagnostics_["ascent"] = ascent_table(self.path_, self._feature_names())
        varies = np.not_equal(X, X[0]).any(axis=0)
        shares: NDArray[np.float64] = np.mean(
            [relevance(np.array(path.end.kernel.length_scales), varies) for path in self.path_], axis=0
        )
        return shares


def relevance(length_scales: NDArray[np.float64], varies: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the share of each feature in the exponent of the kernel, gold2005, equation (22).

    Parameters
    ----------
    length_scales : ndarray, shape (n_features,)
    varies : ndarray of bool, shape (n_features,)
        A feature that does not has no part in the exponent, whatever its length scale.

    Returns
    -------
    ndarray, shape (n_features,)
        ω_a = l_a⁻² / Σ_b l_b⁻², which sum to 1; zeros where no feature varies.
    """
    inverse_squares = np.where(varies, length_scales**-2.0, 0.0)
    shares: NDArray[np.float64] = inverse_squares / (inverse_squares.sum() or 1.0)
    return shares


def ascent_table(paths: Sequence[AscentPath], feature_names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Write ascents as a table.

    Parameters
    ----------
    paths : sequence of AscentPath
        Of each machine.
    feature_names : sequence of str

    Returns
    -------
    dict of str to ndarray
        Columns `machine` and `step` (from 0), `C`, `k0`, `k_off`, `magnitude` (what the stopping rule looks at),
        `resolved` (the part of the derivatives that are larger than their Monte Carlo errors); of the sampler
        `acceptance`, `leapfrog_step`, `r_hat`, `effective_size` and `log_evidence` (per sample), NaN where it has
        none; and for each feature "length scale of NAME", "gradient of NAME" (of the log evidence per sample, by the
        logarithm of the length scale) and "error of NAME".
        Rows of all machines are below each other.
    """
    lengths = [len(path.magnitude) for path in paths]
    values = np.exp(np.concatenate([path.logarithms for path in paths]))
    gradient = np.concatenate([path.gradient for path in paths])
    error = np.concatenate([path.error for path in paths])
    reports = np.array([report for path in paths for report in path.reports])
    first = FIRST_LENGTH_SCALE
    columns: dict[str, NDArray[Any]] = {
        "machine": np.repeat(np.arange(len(paths)), lengths),
        "step": np.concatenate([np.arange(length) for length in lengths]),
        **dict(zip(("C", "k0", "k_off"), values.T, strict=False)),
        "magnitude": np.concatenate([path.magnitude for path in paths]),
        "resolved": (np.abs(gradient) > error).mean(axis=1),
        **dict(zip(("acceptance", "leapfrog_step", "r_hat", "effective_size", "log_evidence"), reports.T, strict=True)),
    }
    for name, length_scale, slope, deviation in zip(
        feature_names, values.T[first:], gradient.T[first:], error.T[first:], strict=True
    ):
        columns |= {
            f"length scale of {name}": length_scale,
            f"gradient of {name}": slope,
            f"error of {name}": deviation,
        }
    return columns
