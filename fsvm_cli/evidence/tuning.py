"""Tuning of the hyperparameters of a Bayesian machine by ascents on the evidence, and tables of these ascents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from fsvm_cli.evidence.ascent import FIRST_LENGTH_SCALE_INDEX, MIN_LOG_EVIDENCE_GAIN, AscentPath, AscentSettings, ascend
from fsvm_cli.evidence.hybrid_monte_carlo import PAPER_SETTINGS, SamplerSettings
from fsvm_cli.evidence.importance import ImportanceSettings
from fsvm_cli.evidence.kernels import ArdKernel
from fsvm_cli.evidence.losses import Hinge, SquaredHinge, Trigonometric
from fsvm_cli.evidence.parameters import (
    AT_BOUNDS,
    BLIND,
    NOT_APART,
    ROUGH,
    SATURATED,
    UNMOVED,
    WITHIN_ERROR,
    TuningParameters,
)
from fsvm_cli.evidence.sampled_evidence import Hyperparameters, SampledEvidence, SamplerReport
from fsvm_cli.svm.nystroem import choose_landmarks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.evidence.losses import Loss
    from fsvm_cli.evidence.posterior import Posterior

LOSSES: dict[str, Loss] = {"hinge": Hinge(), "squared-hinge": SquaredHinge(), "trigonometric": Trigonometric()}
CHAIN_SETTINGS = SamplerSettings(n_chains=16, n_warm_up=15, n_draws=120)
"""Chains begin near the posterior, and the next step corrects the gradient's error: a few chains are enough. With
more and shorter ones R-hat would exceed 1.05 however well they agree, for lack of draws in each."""
BOUND_SAMPLERS = (ImportanceSettings(),)
"""The same number of draws at every point: with more the objective would change during a line search. Chains, the
second choice elsewhere, do not estimate the value that the rule 'evidence' climbs, and on a `BlurredLoss` of small
spreads they amplify the last digits: by 1e8 in one gradient on samples of a lattice, where with the plain loss they do
not."""
NEGLIGIBLE_KERNEL_VALUE = 1e-12
"""Below this value of the kernel's exponential a pair of samples contributes only rounding to a gradient."""
MIN_PERMUTATIONS, CLEAR_LOG_EVIDENCE_GAP = 3, 20.0
"""Ascents on permuted labels after which no more are made if all ended lower by this gap, in ln Q(Y | X)."""
SATURATED_KERNEL_FACTOR = 0.01
"""Below this value of its factor in the kernel, values of a feature that are next to each other are as far apart as
they can be."""
SAMPLERS: dict[str, tuple[SamplerSettings | ImportanceSettings, ...]] = {
    "weighted": (ImportanceSettings(), CHAIN_SETTINGS),
    "chains": (CHAIN_SETTINGS,),
    "paper": (PAPER_SETTINGS,),
}


class Control(NamedTuple):
    """An ascent on permuted labels of one machine.

    Attributes
    ----------
    machine, permutation : int
        Permutation 0 is that of the labels as they are.
    path : AscentPath
    """

    machine: int
    permutation: int
    path: AscentPath


class TunedByEvidence(TuningParameters):
    """What estimators whose hyperparameters climb the evidence have in common; see `AutomaticRelevance`."""

    def _ascents(
        self, X: NDArray[np.float64], labels: NDArray[np.float64], random_state: Any, *, common_length_scale: bool
    ) -> tuple[tuple[AscentPath, ...], list[Control]]:
        """Tune one machine for each row of labels, which are -1 or +1, and others on permuted labels beside them.

        From C = k0 = k_off = 1, which the paper leaves open, and l_a = √d as in its section 5.
        """
        if self.approximation == "bound" and self.loss == "trigonometric":
            raise ValueError(
                "approximation 'bound' averages the loss over normal distributions, which the trigonometric loss, "
                "infinite below -1, does not have; choose rule 'magnitude' with 'exact' or 'mixed', or another loss"
            )
        climbs = self.rule == "evidence"
        if climbs and (self.approximation, self.sampler) != ("bound", "weighted"):
            raise ValueError(
                "rule 'evidence' climbs the value of the bound: it needs approximation 'bound' and sampler 'weighted'; "
                "with others choose rule 'magnitude'"
            )
        if self.approximation == "bound" and self.sampler != "weighted":
            raise ValueError(
                f"sampler '{self.sampler}' cannot sample the posterior of approximation 'bound': where its narrowly "
                "averaged losses bend, chains amplify rounding, and other processors have other results; choose "
                "sampler 'weighted', or approximation 'exact' or 'mixed'"
            )
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        machines = self._evidences(X, labels, rng)
        d = X.shape[1]
        start = Hyperparameters(1.0, ArdKernel(1.0, 1.0, (float(np.sqrt(d)),) * d))
        _refuse_lonely(start.kernel, X[machines[0].landmarks])
        settings = AscentSettings(self.rule, self.step, self.decay, self.stop, self.max_steps, common_length_scale)
        paths = [ascend(each, start, settings, rng) for each in machines]
        controls: list[Control] = []
        for number, (machine, path) in enumerate(zip(machines, paths, strict=True)):
            controls.append(Control(number, 0, path))
            beside = self._on_permuted_labels(machine, path, start, settings, rng)
            controls += [Control(number, k, each) for k, each in enumerate(beside, start=1)]
            paths[number] = replace(path, stands_out=not any(_is_as_high(each, path) for each in beside))
        return tuple(paths), controls

    def _on_permuted_labels(
        self,
        machine: SampledEvidence,
        path: AscentPath,
        start: Hyperparameters,
        settings: AscentSettings,
        rng: np.random.Generator,
    ) -> list[AscentPath]:
        """Repeat an ascent on permuted labels, until one ends as high or all end so much lower that no more are needed.

        That the labels as they are end highest of 1 + `n_permutations` has, where features say nothing of them, the
        probability 1 / (1 + `n_permutations`) at the most: all orders are as likely. An ascent that ended blind, or
        whose evidence chains do not tell, is beside none.
        """
        found: list[AscentPath] = []
        if path.is_blind or np.isnan(path.gain):
            return found
        for _ in range(self.n_permutations):
            found.append(ascend(replace(machine, y=rng.permutation(machine.y)), start, settings, rng))
            highest = max((each.gain for each in found if not np.isnan(each.gain)), default=-np.inf)
            is_clear = len(found) >= MIN_PERMUTATIONS and path.gain - highest > CLEAR_LOG_EVIDENCE_GAP
            if _is_as_high(found[-1], path) or is_clear:
                break
        return found

    def posteriors(
        self,
        X: NDArray[np.float64],
        labels: NDArray[np.float64],
        paths: Sequence[AscentPath],
        rng: np.random.Generator,
    ) -> list[Posterior]:
        """Return the posteriors at the ends of ascents, with landmarks drawn anew; arrays as for the ascents."""
        machines = self._evidences(X, labels, rng)
        return [machine.posterior_at(path.end)[1] for machine, path in zip(machines, paths, strict=True)]

    def _evidences(
        self, X: NDArray[np.float64], labels: NDArray[np.float64], rng: np.random.Generator
    ) -> list[SampledEvidence]:
        landmarks = choose_landmarks(len(X), self.n_landmarks, rng)
        samplers = BOUND_SAMPLERS if self.approximation == "bound" else SAMPLERS[self.sampler]
        loss = LOSSES[self.loss]
        return [
            SampledEvidence(X, y, loss, landmarks, self.n_eigenvectors, samplers, self.approximation) for y in labels
        ]


def _is_as_high(control: AscentPath, path: AscentPath) -> bool:
    """Whether an ascent on permuted labels ends as high, to within `MIN_LOG_EVIDENCE_GAIN`."""
    return control.gain > path.gain - MIN_LOG_EVIDENCE_GAIN


def _refuse_lonely(kernel: ArdKernel, samples: NDArray[np.float64]) -> None:
    """Refuse samples of which each is so far from all others that their Gram matrix does not depend on the features."""
    likeness = kernel.shape.gram(samples, samples)
    if len(samples) > 1 and (likeness[~np.eye(len(samples), dtype=bool)] < NEGLIGIBLE_KERNEL_VALUE).all():
        raise ValueError(
            "in units of the length scales that the ascent begins with, each sample is so far from all others that the "
            "evidence has no slope: scale the features first, for example to unit variance"
        )


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


def mean_relevance(paths: Sequence[AscentPath], X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the machines of the `relevance` that their ascents ended with, shape (n_features,)."""
    varies = np.not_equal(X, X[0]).any(axis=0)
    shares: NDArray[np.float64] = np.mean(
        [relevance(np.array(path.end.kernel.length_scales), varies) for path in paths], axis=0
    )
    return shares


def _saturated(paths: Sequence[AscentPath], X: NDArray[np.float64]) -> int:
    """Count features whose length scale a machine has made so short that the kernel does not depend on it any more."""
    gaps = np.array([np.diff(np.unique(column)).min(initial=np.inf) for column in X.T])
    varies = np.isfinite(gaps)
    shortest = np.min([path.end.kernel.length_scales for path in paths], axis=0)
    return int(np.count_nonzero(np.exp(-0.5 * (gaps[varies] / shortest[varies]) ** 2) < SATURATED_KERNEL_FACTOR))


def what_was_chosen(paths: Sequence[AscentPath], X: NDArray[np.float64]) -> dict[str, float | int | str]:
    """Return the number of steps of all ascents, and the count of each of `CAVEATS` that occurred."""
    chosen: dict[str, float | int | str] = {"steps": sum(len(path.magnitude) - 1 for path in paths)}
    counts = {
        AT_BOUNDS: sum(int(np.count_nonzero(path.at_bound)) for path in paths),
        WITHIN_ERROR: sum(int(np.count_nonzero(path.within_error)) for path in paths),
        ROUGH: sum(report.is_rough for path in paths for report in path.reports),
        UNMOVED: sum(path.is_unmoved for path in paths),
        BLIND: sum(path.is_blind for path in paths),
        NOT_APART: sum(not path.stands_out for path in paths),
        SATURATED: _saturated(paths, X),
    }
    return chosen | {name: count for name, count in counts.items() if count}


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
        Columns `machine` and `step` (from 0), `C`, `k0`, `k_off`, `magnitude` (what the rule of that name uses),
        `resolved` (the part of the derivatives whose sign is known, see `EvidenceGradient`); those of
        `SamplerReport`, NaN where the sampler has none; and for each feature "length scale of NAME", "gradient of NAME"
        (of the log evidence per sample, by the logarithm of the length scale) and "error of NAME".
        Rows of all machines are below each other.
    """
    lengths = [len(path.magnitude) for path in paths]
    values = np.exp(np.concatenate([path.logarithms for path in paths]))
    gradient = np.concatenate([path.gradient for path in paths])
    error = np.concatenate([path.error for path in paths])
    reports = np.array([report for path in paths for report in path.reports])
    first = FIRST_LENGTH_SCALE_INDEX
    columns: dict[str, NDArray[Any]] = {
        "machine": np.repeat(np.arange(len(paths)), lengths),
        "step": np.concatenate([np.arange(length) for length in lengths]),
        **dict(zip(("C", "k0", "k_off"), values.T, strict=False)),
        "magnitude": np.concatenate([path.magnitude for path in paths]),
        "resolved": np.concatenate([path.resolved.mean(axis=1) for path in paths]),
        **dict(zip(SamplerReport._fields, reports.T, strict=True)),
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


def control_table(
    controls: Sequence[Control], X: NDArray[np.float64], feature_names: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Write the ends of ascents beside those on permuted labels as a table.

    Returns
    -------
    dict of str to ndarray
        Columns `machine`, `permutation` (0: the labels as they are), `steps`, `log_evidence` (1/n ln Q(Y | X) at the
        end, or its bound), `gain` (of ln Q(Y | X), above a machine that uses no feature), and "relevance of NAME".
    """
    paths = [control.path for control in controls]
    columns: dict[str, NDArray[Any]] = {
        "machine": np.array([control.machine for control in controls]),
        "permutation": np.array([control.permutation for control in controls]),
        "steps": np.array([len(path.magnitude) - 1 for path in paths]),
        "log_evidence": np.array([path.reports[-1].log_evidence for path in paths]),
        "gain": np.array([path.gain for path in paths]),
    }
    shares = np.array([mean_relevance([path], X) for path in paths])
    return columns | {f"relevance of {name}": share for name, share in zip(feature_names, shares.T, strict=True)}
