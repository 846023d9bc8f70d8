"""Automatic relevance determination by the evidence of a Bayesian support vector machine, gold2005."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.evidence.tuning import TunedByEvidence, ascent_table, control_table, mean_relevance, what_was_chosen
from fsvm_cli.ranking.base import Ranker
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class AutomaticRelevance(TunedByEvidence, Ranker):
    """Tune a length scale for each feature by the evidence of a Bayesian machine: short ones are relevant.

    The machine is the mode of a posterior, Q(θ | D) ∝ Q(θ) Π_i κ(C) exp(-C l(y_i θ(x_i))), (4) and (7) of gold2005,
    whose prior is the Gaussian process with the kernel

        K(x, x') = k₀ exp(-½ Σ_a (x_a - x'_a)² / l_a²) + k_off, (3).

    From C = k₀ = k_off = 1 and l_a = √d, all of them climb along the gradient (8), (9) of the evidence Q(Y | X), which
    is an average over the posterior. The score of a feature is its relevance (22), ω_a = l_a⁻² / Σ_b l_b⁻². Scale the
    features first; one that is constant has no relevance.

    The Gram matrix is approximated by p eigenvectors of m of the n samples, and averages are taken over 2048 weighted
    draws, or Hybrid Monte Carlo. Several classes are separated one against the rest, and the relevances averaged. Each
    step of the ascent is O(n p) per draw, and besides O(n²(p + d)) for the mixed gradient, O(n m (p + d)) for the exact
    one; some ten to fifty steps. Ascents on permuted labels, which mostly end after some ten steps, beside that of each
    machine say whether anything stands out.

    Use it where few of many features matter, in any shape; not on thousands of features, nor where a ranking has to
    come without random numbers.

    Parameters
    ----------
    loss : {"hinge", "squared-hinge", "trigonometric"}, default="hinge"
        l, of the margin yθ. "trigonometric" is that of Chu, Keerthi and Ong (2003), with which C stays 1; it needs the
        rule "magnitude" with "exact" or "mixed".
    approximation : {"mixed", "exact", "bound"}, default="bound"
        "mixed" takes the derivative of the whole Gram matrix with the inverse of the approximate one, as the paper
        does, which is the gradient of no function: an ascent along it may wander. "exact" is the gradient of the
        evidence of the approximate matrix, and takes a fraction of the time; "bound" that of a lower bound on the
        evidence of the whole matrix, which counts what the approximate one has lost (not for the trigonometric loss).
    n_landmarks : int, default=200
        m, at least 1; all samples where there are no more.
    n_eigenvectors : int, default=40
        p, at least 1; the paper has 20. Fewer are used where the landmarks have no more.
    rule : {"magnitude", "evidence"}, default="evidence"
        "evidence": quasi-Newton steps that climb the bound, none by more than a factor of e, until three of them
        together do not raise the evidence by a factor of e, nor by its Monte Carlo error; where it is still no better
        than that of a machine that looks at no feature, until no slope promises anything; for "bound" with "weighted".
        "magnitude": steps along the gradient that get shorter, until the gradients by the length scales have fallen to
        `stop`; the paper's, with "mixed". Where many columns are noise it may end before any length scale has moved.
    stop : float, default=0.3
        Between 0 and 1. The part of their peaks, on average, to which the gradients fall. The paper has 0.3 for most of
        its data, 0.15 for splice, by the test error.
    max_steps : int, default=100
        Of the ascent, at least 0.
    step : float, default=0.3
        By how much the logarithm with the largest derivative changes in the first step.
    decay : float, default=40.0
        After how many steps the step is half of that, with the rule "magnitude".
    sampler : {"weighted", "chains", "paper"}, default="weighted"
        "weighted": draws from the normal distribution nearest to the posterior, weighted; where few of them count, as
        often with the trigonometric loss, chains. "chains": 16 chains in the metric of the posterior, whose step adapts
        to their acceptance. "paper": one chain of 40,000 trajectories of 10 steps of 0.05, of which the first half is
        left out. With approximation "bound" only "weighted", without chains, for chains would amplify rounding there.
    n_permutations : int, default=19
        Ascents on permuted labels beside each machine's, at most, at least 0. They end where one of them is as high,
        or after three where all are lower by 20 in ln Q(Y | X). By chance alone a machine is above 19 of them once in
        20 times at the most. One that ends blind is compared with none.
    random_state : int, RandomState or None, default=0
        Of the landmarks and the sampler.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Attributes
    ----------
    path_ : tuple of AscentPath
        Hyperparameters and gradients along the ascent of each machine.
    diagnostics_ : dict
        Table `ascent`: the same below each other, with what the sampler reports; see `ascent_table`. Table `control`:
        the ends with the labels as they are and with permuted ones, and the relevances there; see `control_table`.
    chosen_ : dict
        `steps` of all ascents together; `hyperparameters at bounds`, where any were kept from running away; `steps
        within their error`, where any had a gradient smaller than its Monte Carlo error; `ascents without a length
        scale moved`, where features are off the scale of the kernel; `ascents that ended blind`, where any are no
        better than machines that look at no feature, and `ascents no higher than with permuted labels`: their
        relevances are no finding; `length scales below their feature's steps`, where any feature with few values has
        one on which the kernel does not depend: how large its relevance is says nothing.
    converged_ : bool
        Whether the ascents of all machines reached the stopping rule, and none ended blind, or no higher than with
        permuted labels.

    Notes
    -----
    Source: gold2005, with these corrections. (9) lacks the prime of l'. (17) lacks a division by the eigenvalue, the
    columns of V are the approximate eigenvectors times the root of their eigenvalues, not divided by it, and (21)
    lacks the minus before the loss: with the force as printed no trajectory is accepted. κ(C), which the paper does
    not give, is the largest factor at which the probabilities of both classes never sum to more than 1.

    Ours: the paper states neither start nor step of its ascent; here all logarithms change in proportion to their
    derivatives. No hyperparameter leaves its start by more than a factor of e¹⁰; how many would, `chosen_` says. As k₀
    grows the step of the paper's chain soon accepts nothing; a chain that never moved is an error. Weighted draws take
    a fraction of the time, and tell the evidence, which chains do not.
    The evidence of the approximate matrix goes on rising with k₀, since it knows nothing of the variance that its
    eigenvectors lose; the bound has a maximum.

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
    pair_matrices = 8
    scores_are_shares = True
    passed_down = frozenset({"random_state"})

    random_state: int | np.random.RandomState | None = 0

    def _scores(self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
        labels, _ = machine_labels(y, n_classes)
        self.path_, controls = self._ascents(X, labels, self.random_state, common_length_scale=False)
        self.converged_ = all(path.converged for path in self.path_)
        self.chosen_ |= what_was_chosen(self.path_, X)
        self.diagnostics_["ascent"] = ascent_table(self.path_, self._feature_names())
        self.diagnostics_["control"] = control_table(controls, X, self._feature_names())
        return mean_relevance(self.path_, X)
