"""Gradient ascent on the evidence, along the logarithms of the hyperparameters."""

from __future__ import annotations

import functools
import hashlib
import pickle
import weakref
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from fsvm_cli.evidence.hybrid_monte_carlo import SamplingError
from fsvm_cli.evidence.sampled_evidence import Hyperparameters, SampledEvidence, SamplerReport
from fsvm_cli.numerics import quantised
from fsvm_cli.quasi_newton import minimise_quantised

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.evidence.gradient import EvidenceGradient
    from fsvm_cli.evidence.losses import Loss
    from fsvm_cli.evidence.parameters import Rule
    from fsvm_cli.quasi_newton import Minimum
    from fsvm_cli.svm.compiled import Array

MAX_LOG_CHANGE = 10.0
"""Largest distance of a logarithm from its start: the hyperparameter changes by a factor of 22,000 at most."""
LOG_SPACING, VALUE_SPACING, SLOPE_SPACING = 2.0**-20, 2.0**-32, 2.0**-20
"""Of the logarithms, counted from the start; by the rule "evidence", of its values and slopes, in a unit in which the
largest slope at the start is the length of the first step. Processors differ by 1e-13 in values and 1e-12 in slopes, at
the most, and the Monte Carlo errors of slopes are larger than their spacing."""
FIRST_LENGTH_SCALE_INDEX = 3
"""Where length scales begin among the logarithms."""
MIN_LOG_CHANGE = 0.01
"""An ascent that ends with all length scales nearer to their start has not distinguished the features: in the unit of
the length scales all samples are then in one place, or each is far from all others."""
MAX_LOG_STEP = 1.0
"""By how much a logarithm changes in one step by the rule "evidence", at the most: a factor of e. On a plateau
the curvature is uninformative, and a long step may carry C past the region in which the evidence varies."""
STEPS_TO_RAISE_EVIDENCE = 3
"""Steps that together have to raise the evidence: a single one may fail to by chance."""
MIN_LOG_EVIDENCE_GAIN = 1.0
"""Of ln Q(Y | X): a ratio of evidences below e is "not worth more than a bare mention" (R. E. Kass and A. E. Raftery,
"Bayes Factors", Journal of the American Statistical Association 90, 1995)."""
BLIND_THETAS = np.linspace(-4.0, 4.0, 4001)
BLIND_STRENGTHS = np.exp(np.linspace(-8.0, 4.0, 49))
BLIND_VARIANCES = np.exp(np.linspace(-6.0, 4.0, 21))
"""Where a constant θ is integrated over, and the C and k_off of which the best is taken."""
LOG_EVIDENCE_ROUNDING = 1e-9
"""Largest rounding error of a value of 1/n ln Q from a product of matrices."""
MAX_CACHED_GRADIENTS = 2048
"""As many as two ascents of 1,000 steps take. Ascents that differ only in where they stop, such as those to 30 and to
15 % of the peak, share their first steps."""


@dataclass(frozen=True)
class AscentSettings:
    """How the ascent steps and when it ends.

    Attributes
    ----------
    rule : {"magnitude", "evidence"}
        See `ascend`.
    step : float
        The change of the logarithm with the largest derivative in the first step, > 0.
    decay : float
        After how many steps the step is half of that, > 0: η_t = step / (1 + t / decay). For the rule "magnitude".
    stop : float
        That rule ends the ascent when `AscentPath.magnitude` falls below it; 0.3 for most data of Gold et al. (2005),
        0.15 for their splice.
    max_steps : int
        >= 0.
    common_length_scale : bool
        Whether all features keep the length scale of one.
    """

    rule: Rule = "magnitude"
    step: float = 0.3
    decay: float = 40.0
    stop: float = 0.3
    max_steps: int = 100
    common_length_scale: bool = False


@dataclass(frozen=True, eq=False)
class AscentPath:
    """Where an ascent went; the last row is its end.

    Attributes
    ----------
    logarithms : (n_rows, 3 + d) array
        See `Hyperparameters.logarithms`.
    gradient, error : (n_rows, 3 + d) arrays
    resolved : (n_rows, 3 + d) array of bool
        See `EvidenceGradient`.
    magnitude : (n_rows,) array
        The mean over the length scales of |∂E/∂ln l_a|, each relative to the largest that it has been: 1 at the start.
    reports : tuple of SamplerReport
        One per row.
    stopped : bool
        Whether the stopping rule held at the end.
    blind : float
        1/n ln Q(Y | X) of a machine that uses no feature; see `blind_log_evidence`.
    n_samples : int
    stands_out : bool
        Whether it ended higher than ascents on permuted labels; true where none were made.
    """

    logarithms: Array
    gradient: Array
    error: Array
    resolved: npt.NDArray[np.bool_]
    magnitude: Array
    reports: tuple[SamplerReport, ...]
    stopped: bool
    blind: float
    n_samples: int
    stands_out: bool = True

    def up_to(self, step: int) -> AscentPath:
        """Return the path that ends at a step, by a rule that chose it."""
        kept = slice(step + 1)
        return replace(
            self,
            logarithms=self.logarithms[kept],
            gradient=self.gradient[kept],
            error=self.error[kept],
            resolved=self.resolved[kept],
            magnitude=self.magnitude[kept],
            reports=self.reports[kept],
            stopped=True,
        )

    @property
    def converged(self) -> bool:
        """Whether it ended by its rule, at hyperparameters better than those of a machine that uses no feature."""
        return self.stopped and not self.is_blind and self.stands_out

    @property
    def gain(self) -> float:
        """By how much ln Q(Y | X) at the end exceeds that of a machine that uses no feature; NaN for chains."""
        return self.n_samples * (self.reports[-1].log_evidence - self.blind)

    @property
    def is_blind(self) -> bool:
        """Whether that is below `MIN_LOG_EVIDENCE_GAIN`; False for chains, which do not estimate the evidence."""
        return self.gain < MIN_LOG_EVIDENCE_GAIN

    @property
    def end(self) -> Hyperparameters:
        """The hyperparameters that were found."""
        return Hyperparameters.from_logarithms(self.logarithms[-1])

    @property
    def at_bound(self) -> npt.NDArray[np.bool_]:
        """Which hyperparameters were kept from running away, shape (3 + d,)."""
        kept: npt.NDArray[np.bool_] = np.abs(self.logarithms[-1] - self.logarithms[0]) >= MAX_LOG_CHANGE
        return kept

    @property
    def is_unmoved(self) -> bool:
        """Whether the rule ended the ascent with all length scales where they began."""
        changes = np.abs(self.logarithms[-1] - self.logarithms[0])[FIRST_LENGTH_SCALE_INDEX:]
        return self.stopped and bool((changes < MIN_LOG_CHANGE).all())

    @property
    def within_error(self) -> npt.NDArray[np.bool_]:
        """At which rows the whole gradient is smaller than its error, and its direction noise, shape (n_rows,)."""
        lost: npt.NDArray[np.bool_] = np.linalg.norm(self.gradient, axis=1) < np.linalg.norm(self.error, axis=1)
        return lost


def ascend(
    evidence: SampledEvidence, start: Hyperparameters, settings: AscentSettings, rng: np.random.Generator
) -> AscentPath:
    """Climb the evidence from some hyperparameters: C, for losses that have one, and every parameter of the kernel.

    By the rule "magnitude", steps do not use values of the evidence, which chains do not estimate. They are ln λ ← ln λ
    + η_t g / max_λ |g|. Gold et al. (2005) do not state theirs; their stopping rule, section 5 and Figure 1, is the
    magnitude of the length scales' gradients, each relative to its peak, and the threshold at which it is best differs
    from data to data. On a plateau it may hold at once: all gradients by length scales shrink with C.

    The rule "evidence" has no threshold. Weighted draws from the same random numbers make the lower bound on the
    evidence a smooth function, which the steps of L-BFGS climb (`minimise_quantised`), none longer than `MAX_LOG_STEP`.
    They end when `STEPS_TO_RAISE_EVIDENCE` of them together raise the evidence by less than `MIN_LOG_EVIDENCE_GAIN`, or
    by less than its Monte Carlo error. This rule does not apply while the evidence is no better than that of a machine
    that uses no feature (`blind_log_evidence`; ln 1/2 per sample for equal classes): C falls on such a plateau, and
    with it all other slopes. There the slope by each logarithm, C, k0 and k_off among them, must have been so small for
    as many steps that the whole way to `MAX_LOG_CHANGE` would gain less than `MIN_LOG_EVIDENCE_GAIN`.

    The evidence of V V' is unsuitable: it keeps rising with k0, since it lacks the variance that V V' loses. So is the
    gradient "mixed", which belongs to neither kernel.

    Parameters
    ----------
    evidence : SampledEvidence
    start : Hyperparameters
    settings : AscentSettings
    rng : numpy.random.Generator
        Of the sampler.

    Returns
    -------
    AscentPath

    Raises
    ------
    SamplingError
        If at the start, or by the rule "magnitude" anywhere, a chain never moved, or a few draws have all the weight,
        or a gradient is no number.
    """
    track = _Track(evidence, settings, start.logarithms)
    return (_by_evidence if settings.rule == "evidence" else _by_magnitude)(track, rng)


def blind_log_evidence(y: Array, loss: Loss) -> float:
    """Return the evidence of a machine that uses no feature, for its best C and k_off.

    Parameters
    ----------
    y : (n,) array
        Labels, -1 or +1.
    loss : Loss

    Returns
    -------
    float
        1/n ln ∫ N(θ; 0, k_off) Π_i Q(y_i | θ) dθ, by the trapezoidal rule, and at least ln 1/2, which is the limit for
        C and k_off to 0. Largest where one class is rare; what the evidence exceeds it by is due to the features.
    """
    return _blind_log_evidence(int(np.count_nonzero(y > 0)), len(y), loss)


@functools.lru_cache(maxsize=256)
def _blind_log_evidence(n_positive: int, n: int, loss: Loss) -> float:
    losses = n_positive * loss.value(BLIND_THETAS) + (n - n_positive) * loss.value(-BLIND_THETAS)
    log_priors = -0.5 * (BLIND_THETAS**2 / BLIND_VARIANCES[:, None] + np.log(2.0 * np.pi * BLIND_VARIANCES)[:, None])
    log_priors += np.log(BLIND_THETAS[1] - BLIND_THETAS[0])
    strengths = BLIND_STRENGTHS if loss.has_strength else np.ones(1)
    normalisers = np.array([loss.log_normaliser(float(C)) for C in strengths])
    # All integrals at once are one product of matrices, whose last digits depend on the processor: it selects those
    # that are then summed in an order that does not.
    least = losses.min()
    integrals = np.exp(log_priors) @ np.exp(-strengths * (losses - least)[:, None])
    nearly = (np.log(integrals.max(axis=0)) - strengths * least) / n + normalisers
    best: float = max(
        float(logsumexp(log_priors - C * losses, axis=1).max()) / n + float(normaliser)
        for C, normaliser, value in zip(strengths, normalisers, nearly, strict=True)
        if value > nearly.max() - LOG_EVIDENCE_ROUNDING
    )
    return max(best, float(np.log(0.5)))


class _ByContent:
    """An evidence that equals others of the same samples, labels and settings.

    It does not keep the evidence alive: the cache would keep the samples of all ascents in memory.
    """

    def __init__(self, evidence: SampledEvidence) -> None:
        self.evidence = weakref.ref(evidence)
        self._digest = type(evidence), hashlib.blake2b(pickle.dumps(list(vars(evidence).values()))).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByContent) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)


@functools.lru_cache(MAX_CACHED_GRADIENTS)
def _gradient_at(
    content: _ByContent, logarithms: bytes, bit_generator: bytes
) -> tuple[EvidenceGradient, SamplerReport, Any]:
    """Return what `SampledEvidence.gradient_at` does, and the state in which it leaves the random numbers."""
    rng = np.random.Generator(pickle.loads(bit_generator))  # noqa: S301 - pickled by `_Track.at`
    evidence = content.evidence()
    assert evidence is not None, "the ascent that asks holds it"
    gradient, report = evidence.gradient_at(Hyperparameters.from_logarithms(np.frombuffer(logarithms)), rng)
    return gradient, report, rng.bit_generator.state


@dataclass(eq=False)
class _Track:
    """The rows of a path, as they come."""

    evidence: SampledEvidence
    settings: AscentSettings
    first: Array
    rows: list[tuple[Array, EvidenceGradient, SamplerReport]] = field(default_factory=list)
    magnitudes: list[float] = field(default_factory=list)
    _peaks: Array = field(default_factory=lambda: np.zeros(1))
    blind: float = field(init=False)
    _content: _ByContent = field(init=False)

    def __post_init__(self) -> None:
        self.blind = blind_log_evidence(self.evidence.y, self.evidence.loss)
        self._content = _ByContent(self.evidence)

    def spaced(self, logarithms: Array) -> Array:
        """Return the nearest logarithms to which an ascent may come, the same on every processor."""
        return self.first + quantised(logarithms - self.first, LOG_SPACING)

    def at(self, logarithms: Array, rng: np.random.Generator) -> tuple[EvidenceGradient, SamplerReport]:
        """Look at the evidence and its gradient."""
        before = pickle.dumps(rng.bit_generator)
        gradient, report, rng.bit_generator.state = _gradient_at(self._content, logarithms.tobytes(), before)
        if not np.isfinite(gradient.value).all():
            raise SamplingError("the gradient of the evidence is no number: scale the features first")
        return gradient, report

    def append(self, logarithms: Array, gradient: EvidenceGradient, report: SamplerReport) -> None:
        """Add a row."""
        sizes = np.abs(gradient.value[FIRST_LENGTH_SCALE_INDEX:])
        self._peaks = peaks = np.maximum(self._peaks, sizes)
        self.rows.append((logarithms, gradient, report))
        # A feature that is constant has no gradient, ever.
        self.magnitudes.append(float(np.mean(sizes[peaks > 0.0] / peaks[peaks > 0.0])) if peaks.any() else 0.0)

    def free(self, gradient: Array) -> Array:
        """Return the part of a gradient along which hyperparameters may move."""
        free = gradient.copy()
        free[0] *= self.evidence.loss.has_strength
        if self.settings.common_length_scale:
            free[FIRST_LENGTH_SCALE_INDEX:] = free[FIRST_LENGTH_SCALE_INDEX:].mean()
        return free

    def rises_no_more(self) -> bool:
        """Whether the last steps have not raised the evidence, and on a plateau all slopes are too small."""
        if len(self.rows) <= STEPS_TO_RAISE_EVIDENCE:
            return False
        worth = MIN_LOG_EVIDENCE_GAIN / len(self.evidence.y)
        last = self.rows[-1 - STEPS_TO_RAISE_EVIDENCE :]
        before, now = last[0][2], last[-1][2]
        error = np.hypot(before.log_evidence_error, now.log_evidence_error)
        if now.log_evidence - before.log_evidence >= max(worth, error):
            return False
        slope = max(float(np.abs(self.free(gradient.value)).max()) for _, gradient, _ in last[1:])
        return now.log_evidence - self.blind >= worth or slope * MAX_LOG_CHANGE < worth

    def path(self, *, stopped: bool) -> AscentPath:
        """Join the rows."""
        logarithms, gradients, reports = zip(*self.rows, strict=True)
        return AscentPath(
            np.array(logarithms),
            np.array([gradient.value for gradient in gradients]),
            np.array([gradient.error for gradient in gradients]),
            np.array([gradient.resolved for gradient in gradients]),
            np.array(self.magnitudes),
            reports,
            stopped,
            self.blind,
            len(self.evidence.y),
        )


def _by_magnitude(track: _Track, rng: np.random.Generator) -> AscentPath:
    settings = track.settings
    here = track.first
    while True:
        gradient, report = track.at(here, rng)
        track.append(here, gradient, report)
        stopped = track.magnitudes[-1] < settings.stop
        if stopped or len(track.rows) > settings.max_steps:
            return track.path(stopped=stopped)
        length = settings.step / (1.0 + (len(track.rows) - 1) / settings.decay)
        slope = track.free(gradient.value)
        moved = track.spaced(here + length * slope / (np.abs(slope).max() or 1.0))
        here = np.clip(moved, track.first - MAX_LOG_CHANGE, track.first + MAX_LOG_CHANGE)


def _by_evidence(track: _Track, rng: np.random.Generator) -> AscentPath:
    """Climb by a quasi-Newton method; the first step is as long as that of the other rule."""
    seed, settings, first = int(rng.integers(2**63)), track.settings, track.first
    seen: dict[bytes, tuple[EvidenceGradient, SamplerReport]] = {}

    def look(change: Array) -> tuple[EvidenceGradient, SamplerReport]:
        key = change.tobytes()
        if key not in seen:
            seen[key] = track.at(first + change, np.random.default_rng(seed))
            if not np.isfinite(seen[key][1].log_evidence):
                raise SamplingError("the rule 'evidence' needs its value, which chains do not know")
        return seen[key]

    def descended(change: Array) -> tuple[float, Array]:
        try:
            gradient, report = look(change)
        except SamplingError:
            # Too far: the line search goes back to where draws estimate the evidence.
            return np.inf, np.zeros_like(change)
        value, slope = -report.log_evidence / unit, -track.free(gradient.value) / unit
        return float(quantised(value, VALUE_SPACING)), quantised(slope, SLOPE_SPACING)

    def rises_no_more(here: Minimum) -> bool:
        track.append(first + here.x, *look(here.x))
        return track.rises_no_more()

    start = np.zeros_like(first)
    gradient, report = look(start)
    track.append(first, gradient, report)
    # The first step is the slope: in this unit of the evidence its largest component is `step`.
    unit = (np.abs(track.free(gradient.value)).max() or 1.0) / settings.step
    found = minimise_quantised(
        descended,
        start,
        lower=-MAX_LOG_CHANGE,
        upper=MAX_LOG_CHANGE,
        spacing=LOG_SPACING,
        max_iterations=settings.max_steps,
        smallest_fall=0.0,
        smallest_slope=0.0,
        first_step=np.inf,
        longest_step=MAX_LOG_STEP,
        is_enough=rises_no_more,
    )
    # It also ends where no step along its direction leads higher.
    return track.path(stopped=found.ended)
