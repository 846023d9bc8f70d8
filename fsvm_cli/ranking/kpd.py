"""Kernel parameter descent, KPD-SVM, kpd2018."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Lt, MinLen

from fsvm_cli.evaluation.folds import stratified_folds
from fsvm_cli.ranking.kernel_descent import (
    DescentPath,
    DescentSettings,
    Objective,
    Penalty,
    PenaltyName,
    Variant,
    descend,
    descent_kernel,
    kernel_at,
    path_table,
    starting_weights,
    survival,
)
from fsvm_cli.ranking.machine_ranker import MachineRanker
from fsvm_cli.svm import SVM, Kernel
from fsvm_cli.svm.labels import machine_labels
from fsvm_cli.svm.multiclass import TIE_TOLERANCES, predict_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.svm.kernels.additive import ScaledKernel
    from fsvm_cli.svm.paths.folds import Fold

Strength = Annotated[float, Gt(0)]
Step = Annotated[float, Gt(0)] | Literal["automatic"]


class Choice(NamedTuple):
    """What is chosen on the training data."""

    strength: float
    max_step: float | Literal["automatic"]


class KernelParameterDescent(MachineRanker):
    """Descend along the feature weights of a kernel, and drop each feature whose weight comes near zero.

    With v ≥ 0 the weights of the features in the kernel and H_ik = y_i y_k K_v(x_i, x_k), the descent makes small

        J(v) = max_α [Σ_i α_i - ½ α'H(v)α] + C₂ f(v),    0 ≤ α_i ≤ C,  Σ_i α_i y_i = 0,

    where f is Σ_j (1 - exp(-β v_j)), about the number of features ("l0"), Σ_j v_j ("l1") or ½ Σ_j v_j² ("l2"). The
    kernels are exp(-½ Σ_j v_j² Δ_j²), exp(-Σ_j v_j |Δ_j|) and (offset + Σ_j v_j x_j x'_j)^degree. It begins at the
    width of the given kernel. A feature whose weight falls below ε is eliminated. Scale the features first.

    The score of a feature is the part of the descent that it survived; those that go in the same iteration, or that
    are left at the end, are ordered by their weights. Several classes are separated one against the rest, each with a
    descent of its own, and the scores averaged. O(n² d) per iteration, some hundred to a thousand iterations.

    Use it with the kernel that will classify, where features act together and it is open how many to keep; not on
    thousands of samples, nor for the linear kernel, for which it is not defined.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        Gaussian, Laplace or polynomial.
    C : float, default=1.0
        Upper bound of alpha.
    penalty : {"l0", "l1", "l2"}, default="l0"
        f, which grows with the weights: like their number, their sum, or the sum of their squares.
    strength : float or tuple of float, default=1.0
        C₂, in units of the dual optimum at the start over the number of features, so that its size does not depend on
        the scale of the kernel, C or the number of samples. Of several values the one whose machine, with the weights
        at the end of the descent, classifies best in cross-validation on the training data; of equals the largest.
    folds : int, default=3
        Of that cross-validation, at least 2, and no more than samples in the smallest class.
    sharpness : float, default=5.0
        β, in units of one over the starting weight.
    threshold : float, default=0.01
        ε, between 0 and 1, in units of the starting weight.
    max_step : float, "automatic" or tuple of them, default="automatic"
        θ, in units of the first automatic step, so that its size does not depend on that of the weights; "automatic",
        the largest, for the automatic step alone. A small one ends the descent before many weights are 0. Of several
        values the one that is best in the same cross-validation, with the `strength` that is best with the largest.
    inner_iterations : int, default=1
        Steps before the machine is trained again.
    relative_change : float, default=1e-3
        ζ_relative: the descent ends when the weights change by less in the 1-norm, as a part of their sum.
    absolute_change : float, default=1e-6
        ζ_absolute: the descent ends when the weights change by less in the 1-norm.
    max_iterations : int, default=2000
        Steps of a descent, at most.
    variant : {"saddle", "as-printed"}, default="saddle"
        "as-printed" descends ½ α'H(v)α + C₂ f(v) instead, which is small where the classes are alike.
    tolerance : float, default=1e-6
        Relative duality gap of the machines.
    solver : str, default="auto"
    random_state : int, RandomState or None, default=0
        Of the folds.
    n_features_to_select : int or None, default=None
        Size of the selected subset; half of the features where None.
    tie_seed : int, default=0
        Breaks ties among features at random.

    Attributes
    ----------
    path_ : tuple of DescentPath
        Weights, objective and number of active features along the descent of each machine.
    strength_ : float
        The `strength` of these descents.
    max_step_ : float or "automatic"
        Their `max_step`.
    diagnostics_ : dict
        Table `path`: the same descents below each other, see `path_table`.
    converged_ : bool
        Whether all machines reached their duality gap, and all descents a stopping rule.

    Notes
    -----
    Source: kpd2018, with these corrections. Its objective (14) lacks the maximisation over α and has the sign of the
    quadratic term wrong: it rewards kernels that cannot tell the classes apart. Equations (21) and (23) are gradients
    of J all the same, (23) with an absolute value that the print lacks, and as a derivative by γ_j; (22) has the wrong
    sign. The automatic step divides by the median of |∂_j J| over the active features: the printed median without
    absolute value may be negative. The absolute stopping rule bounds the change, not the norm, of the weights.

    Ours: a step that would raise J is halved. With the polynomial kernel J falls without end as all weights grow, so
    their sum is held; the "l1" penalty then has no say. The paper gives neither C₂, θ, ε, β, ζ nor the start; θ is
    measured in first automatic steps.

    See Also
    --------
    RecursiveFeatureElimination : Its rival in the source.

    References
    ----------
    - kpd2018: KPD-SVM, kernel parameter descent, PRCV 2018; in full in `Ranker`.

    Examples
    --------
    >>> from fsvm_cli import KernelParameterDescent
    >>> KernelParameterDescent().fit([[0, 3], [1, 1], [0, 2], [5, 3], [6, 1], [5, 2]], list("aaabbb")).ranking_.tolist()
    [1, 2]
    """

    method = "kpd"
    pair_matrices = 6
    passed_down = MachineRanker.passed_down | {"random_state"}
    cross_validates = True

    kernel: str | Kernel = "gaussian"
    penalty: PenaltyName = "l0"
    strength: Strength | Annotated[tuple[Strength, ...], MinLen(1)] = 1.0
    folds: Annotated[int, Ge(2)] = 3
    sharpness: Annotated[float, Gt(0)] = 5.0
    threshold: Annotated[float, Gt(0), Lt(1)] = 0.01
    max_step: Step | Annotated[tuple[Step, ...], MinLen(1)] = "automatic"
    inner_iterations: Annotated[int, Ge(1)] = 1
    relative_change: Annotated[float, Ge(0)] = 1e-3
    absolute_change: Annotated[float, Ge(0)] = 1e-6
    max_iterations: Annotated[int, Ge(1)] = 2000
    variant: Variant = "saddle"
    random_state: int | np.random.RandomState | None = 0

    @classmethod
    def check_kernel(cls, kernel: Kernel) -> None:
        """Refuse a kernel whose features have no weights to descend along; as in `MachineRanker`."""
        descent_kernel(kernel)

    def _scores(
        self, X: NDArray[np.float64], y: NDArray[np.intp], n_classes: int, groups: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        kernel = descent_kernel(self.kernel_object(X))
        strengths, steps = self._candidates()
        chosen = Choice(strengths[0], steps[0])
        if len(strengths) + len(steps) > 2:
            folds = stratified_folds(y, self.folds, self.random_state, groups=groups, caller=self.method)
            chosen = self._best_choice(kernel, X, y, folds)
        self.strength_, self.max_step_ = chosen
        self.chosen_ |= {"strength": chosen.strength} if len(strengths) > 1 else {}
        self.chosen_ |= {"max_step": chosen.max_step} if len(steps) > 1 else {}
        labels, _ = machine_labels(y, n_classes)
        self.path_ = tuple(self._descent(kernel, X, signs, chosen, certified=True) for signs in labels)
        self.converged_ = all(path.converged for path in self.path_)
        at_the_end = np.array([path.weights[-1] > 0 for path in self.path_])
        self.chosen_["n_active"] = int(np.count_nonzero(at_the_end.any(axis=0)))
        self.diagnostics_["path"] = path_table(self.path_, self._feature_names())
        scores: NDArray[np.float64] = np.mean([survival(path) for path in self.path_], axis=0)
        return scores

    def _put_back(self, scores: NDArray[np.float64]) -> None:
        """Give constant columns the weight 0."""
        paths = []
        for path in self.path_:
            weights = np.zeros((len(path.weights), len(scores)))
            weights[:, self._columns] = path.weights
            paths.append(replace(path, weights=weights))
        self.path_ = tuple(paths)

    def _descent(
        self,
        kernel: ScaledKernel,
        X: NDArray[np.float64],
        labels: NDArray[np.float64],
        choice: Choice,
        *,
        certified: bool,
    ) -> DescentPath:
        start = starting_weights(kernel, X.shape[1])
        unit = float(np.median(start))
        free = Objective(
            X=X,
            y=labels,
            kernel=kernel,
            C=self.C,
            penalty=Penalty(self.penalty, 0.0, self.sharpness / unit),
            variant="saddle",
            tolerance=self.tolerance,
            solver=self.solver,
            certified=certified,
        )
        unit_strength = free.at(start, np.zeros(len(X))).objective / len(start)
        penalty = replace(free.penalty, strength=choice.strength * unit_strength)
        settings = DescentSettings(
            threshold=self.threshold * unit,
            max_step=longest(choice.max_step),
            inner_iterations=self.inner_iterations,
            relative_change=self.relative_change,
            absolute_change=self.absolute_change,
            max_iterations=self.max_iterations,
        )
        return descend(replace(free, penalty=penalty, variant=self.variant), start, settings)

    def _candidates(self) -> tuple[list[float], list[float | Literal["automatic"]]]:
        """Return the values of `strength` and `max_step`, each the largest first."""
        strengths = self.strength if isinstance(self.strength, list | tuple) else (self.strength,)
        steps = self.max_step if isinstance(self.max_step, list | tuple) else (self.max_step,)
        return sorted(strengths, reverse=True), sorted(steps, key=longest, reverse=True)

    def _best_choice(
        self, kernel: ScaledKernel, X: NDArray[np.float64], y: NDArray[np.intp], folds: Sequence[Fold]
    ) -> Choice:
        """Choose the strength at the first of the steps, then the step; of equals the first."""
        strengths, steps = self._candidates()
        n_right: dict[Choice, int] = {}
        for strength in strengths:
            choice = Choice(strength, steps[0])
            n_right[choice] = self._n_right(kernel, X, y, choice, folds)
        best = max(n_right, key=n_right.__getitem__)
        for step in steps[1:]:
            choice = Choice(best.strength, step)
            n_right[choice] = self._n_right(kernel, X, y, choice, folds)
        return max(n_right, key=n_right.__getitem__)

    def _n_right(
        self, kernel: ScaledKernel, X: NDArray[np.float64], y: NDArray[np.intp], choice: Choice, folds: Sequence[Fold]
    ) -> int:
        """Count the left-out samples that the machines of a choice predict."""
        n_right = 0
        for train, test in folds:
            labels, counts = machine_labels(y[train], int(y.max()) + 1)
            decision = np.array([self._decision(kernel, X[train], signs, X[test], choice) for signs in labels])
            predicted = predict_codes(decision, counts, TIE_TOLERANCES * self.tolerance)
            n_right += int(np.count_nonzero(predicted == y[test]))
        return n_right

    def _decision(
        self,
        kernel: ScaledKernel,
        X: NDArray[np.float64],
        labels: NDArray[np.float64],
        X_left_out: NDArray[np.float64],
        choice: Choice,
    ) -> NDArray[np.float64]:
        """Return the scores of left-out samples by the machine at the end of the descent."""
        end = self._descent(kernel, X, labels, choice, certified=False).weights[-1]
        svm = SVM(kernel_at(kernel, end), self.C, self.tolerance, self.solver, on_failure="flag").fit(X, labels)
        decision: NDArray[np.float64] = svm.decision_function(X_left_out)
        return decision


def longest(max_step: float | Literal["automatic"]) -> float:
    """Return the bound on the step, infinity for the automatic one alone."""
    return np.inf if max_step == "automatic" else max_step
