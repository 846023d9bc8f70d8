"""Hybrid Monte Carlo: the paper's single chain, and many chains that move together in the posterior's own metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from fsvm_cli.errors import FsvmError
from fsvm_cli.evidence.posterior import posterior_mode
from fsvm_cli.numerics import quantised

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.evidence.posterior import Posterior
    from fsvm_cli.svm.compiled import Array

MAX_LEAPFROG_STEPS = 32
"""Of one trajectory. Where shorter steps are needed, the metric does not fit the posterior."""
ADAPTATION_RATE = 2.0
"""How much ln Δτ grows with the acceptance at the first trajectory; later ones count as one over the root of their
number. The end of the warm-up takes the mean of its second half."""
LOG2_STEP_SPACING = 2.0**-4
"""Spacing of the binary logarithms of adapted steps. The step depends on the acceptance of all chains, and their paths
on the step: a difference in the last digit would change the result within a dozen trajectories."""
SHORT_TRAJECTORY_INTERVAL, SHORT_STEP_FACTOR = 4, 0.1
"""Every fourth trajectory of an adaptive warm-up has steps shorter by this factor, to which nothing adapts: these free
chains that began where the posterior is steep."""
MAX_LOG_DENSITY_DEFICIT = 3.0
"""A chain whose first point is e^3 times less probable, against the centre, than the normal approximation has it,
begins at the centre. At the edge of the trigonometric likelihood no leapfrog step would be short enough."""


class SamplingError(FsvmError):
    """A chain that never moved: its draws are one point, and no averages over the posterior."""


@dataclass(frozen=True)
class SamplerSettings:
    """How the posterior is sampled.

    Attributes
    ----------
    n_chains : int
        Chains that advance together.
    n_warm_up : int
        Trajectories of each that are not kept.
    n_draws : int
        Trajectories of each whose ends are kept.
    step : float
        Δτ of the leapfrog, where it begins if it is adapted.
    time : float
        τ of a trajectory, which takes as many leapfrog steps as come nearest to it, but at most `MAX_LEAPFROG_STEPS`.
    preconditioned : bool
        Whether momenta have the inverse covariance of `gaussian_approximation` for their covariance, in which the
        posterior is about round, and chains begin at draws from it. If not, momenta are white and chains begin at the
        mode.
    refreshed : {"all", "one"}
        Which momenta are drawn anew before a trajectory: all of each chain, or one at random.
    jitter : float
        Each trajectory's step is drawn within this part of `step`, so that no trajectory is a whole number of
        periods, and some steps are short enough for where the likelihood is steep. At least 0, less than 1. (What the
        paper calls jitter, the σ of its section 3.1, is added to a kernel in a proof, and in no computation.)
    acceptance : float or None
        The mean acceptance to which the step is adapted during the warm-up, and there only; None: it is not.
    """

    n_chains: int = 64
    n_warm_up: int = 40
    n_draws: int = 60
    step: float = 0.45
    time: float = 1.8
    preconditioned: bool = True
    refreshed: Literal["all", "one"] = "all"
    jitter: float = 0.5
    acceptance: float | None = 0.75

    def n_steps(self, step: float) -> int:
        """Return the number of leapfrog steps of this length in a trajectory."""
        return min(max(round(self.time / step), 1), MAX_LEAPFROG_STEPS)


PAPER_SETTINGS = SamplerSettings(
    n_chains=1,
    n_warm_up=20_000,
    n_draws=20_000,
    step=0.05,
    time=0.5,
    preconditioned=False,
    refreshed="one",
    jitter=0.0,
    acceptance=None,
)
"""Those of Gold et al. (2005), section 2.1: 40,000 trajectories, of which the second half is kept."""


@dataclass(frozen=True, eq=False)
class Draws:
    """What a sampler drew.

    Attributes
    ----------
    points : (n_draws, n_chains, p) array
        The b.
    acceptance : (n_chains,) array
        The part of the kept trajectories that was accepted.
    energies : (n_draws, n_chains) array
        Potential and kinetic energy at each draw.
    step : float
        Δτ after adaptation.
    """

    points: Array
    acceptance: Array
    energies: Array
    step: float


def sample(posterior: Posterior, settings: SamplerSettings, rng: np.random.Generator) -> Draws:
    """Draw from the posterior by Hybrid Monte Carlo, Gold et al. (2005), equations (19) to (21).

    Parameters
    ----------
    posterior : Posterior
    settings : SamplerSettings
    rng : numpy.random.Generator

    Returns
    -------
    Draws
        O(n p n_chains) per leapfrog step. Where the step is adapted and a chain does not move, none of them count: the
        warm-up goes on with steps shorter by `SHORT_STEP_FACTOR`, and the chains draw again.

    Raises
    ------
    SamplingError
        If a chain accepted none of its trajectories.
    """
    state = _start(posterior, settings, rng)
    state, step = _warm_up(rng, state, posterior, settings)
    state, draws = _draw(rng, state, posterior, settings, step)
    if settings.acceptance is not None and not draws.acceptance.all():
        # A chain that has not moved is still where it began: its warm-up has been too short.
        for _ in range(settings.n_warm_up):
            n_steps = settings.n_steps(step)
            state, _ = advance(rng, state, posterior, settings, step=SHORT_STEP_FACTOR * step, n_steps=n_steps)
        state, draws = _draw(rng, state, posterior, settings, step)
    if not draws.acceptance.all():
        stuck = int(np.count_nonzero(draws.acceptance == 0))
        remedy = "chains whose step is adapted" if settings.acceptance is None else "weighted draws"
        raise SamplingError(
            f"{stuck} of {settings.n_chains} chains accepted none of {settings.n_draws} trajectories of "
            f"{settings.n_steps(step)} steps of {step:.2g}, which are too long here; choose {remedy}"
        )
    return draws


class ChainState(NamedTuple):
    """Where all chains are; nothing in it is changed by a trajectory.

    Attributes
    ----------
    root : (p, p) array or None
        A root of the inverse covariance of the momenta; None: the unit matrix.
    b, momenta, force : (p, n_chains) arrays
        Momenta are those that `root` makes white.
    potential : (n_chains,) array
    """

    root: Array | None
    b: Array
    momenta: Array
    force: Array
    potential: Array


class TrajectoryInfo(NamedTuple):
    """What became of one trajectory of each chain.

    Attributes
    ----------
    acceptance : (n_chains,) array
        The probabilities with which the ends were accepted.
    has_moved : (n_chains,) array of bool
    energy : (n_chains,) array
        Potential and kinetic energy after it.
    """

    acceptance: Array
    has_moved: npt.NDArray[np.bool_]
    energy: Array


def advance(
    rng: np.random.Generator,
    state: ChainState,
    posterior: Posterior,
    settings: SamplerSettings,
    *,
    step: float,
    n_steps: int,
) -> tuple[ChainState, TrajectoryInfo]:
    """Move each chain along one trajectory of leapfrog steps, or leave it, Gold et al. (2005), section 2.1.

    Parameters
    ----------
    rng : numpy.random.Generator
    state : ChainState
    posterior : Posterior
    settings : SamplerSettings
        Its `refreshed` and `jitter`.
    step : float
        Δτ before jitter, > 0.
    n_steps : int
        >= 1.

    Returns
    -------
    ChainState, TrajectoryInfo
        O(n p n_chains) per leapfrog step.
    """
    started = _refreshed(rng, state.momenta, settings)
    jittered = step * (1.0 + settings.jitter * rng.uniform(-1.0, 1.0))
    with np.errstate(over="ignore", invalid="ignore"):  # a trajectory that diverges is not accepted
        b, momenta, force = _trajectory(posterior, state._replace(momenta=started), jittered, n_steps)
        potential = posterior.potential(b)
        lost = state.potential - potential + 0.5 * (started**2 - momenta**2).sum(axis=0)
    probability = np.exp(np.minimum(np.where(np.isnan(lost), -np.inf, lost), 0.0))
    accepted = rng.random(len(probability)) < probability
    moved = ChainState(
        state.root,
        np.where(accepted, b, state.b),
        # The momenta of a rejected trajectory are reversed: with momenta that are kept, detailed balance requires it.
        np.where(accepted, momenta, -started),
        np.where(accepted, force, state.force),
        np.where(accepted, potential, state.potential),
    )
    energy = moved.potential + 0.5 * (moved.momenta**2).sum(axis=0)
    return moved, TrajectoryInfo(probability, (moved.b != state.b).any(axis=0), energy)


def _refreshed(rng: np.random.Generator, momenta: Array, settings: SamplerSettings) -> Array:
    p, n_chains = momenta.shape
    if settings.refreshed == "all":
        return rng.standard_normal((p, n_chains))
    refreshed = momenta.copy()
    refreshed[rng.integers(p, size=n_chains), np.arange(n_chains)] = rng.standard_normal(n_chains)
    return refreshed


def _trajectory(posterior: Posterior, state: ChainState, step: float, n_steps: int) -> tuple[Array, Array, Array]:
    """Leapfrog along db/dτ = R q, dq/dτ = R' force, with q the white momenta and R the root."""
    root, b = state.root, state.b

    def pushed(force: Array) -> Array:
        return force if root is None else root.T @ force

    momenta, force = state.momenta + 0.5 * step * pushed(state.force), state.force
    for left in range(n_steps - 1, -1, -1):
        b = b + step * (momenta if root is None else root @ momenta)
        force = posterior.force(b)
        momenta = momenta + (step if left else 0.5 * step) * pushed(force)
    return b, momenta, force


def _draw(
    rng: np.random.Generator, state: ChainState, posterior: Posterior, settings: SamplerSettings, step: float
) -> tuple[ChainState, Draws]:
    points = np.empty((settings.n_draws, *state.b.T.shape))
    energies = np.empty((settings.n_draws, settings.n_chains))
    moves = np.zeros(settings.n_chains)
    for t in range(settings.n_draws):
        state, info = advance(rng, state, posterior, settings, step=step, n_steps=settings.n_steps(step))
        points[t] = state.b.T
        energies[t] = info.energy
        moves += info.has_moved
    return state, Draws(points, moves / settings.n_draws, energies, step)


def _warm_up(
    rng: np.random.Generator, state: ChainState, posterior: Posterior, settings: SamplerSettings
) -> tuple[ChainState, float]:
    """Advance the chains, and return their states and the step that follows from their acceptance."""
    step, log_steps = settings.step, [math.log(settings.step)]
    for t in range(settings.n_warm_up):
        is_careful = settings.acceptance is not None and t % SHORT_TRAJECTORY_INTERVAL == 0
        taken = SHORT_STEP_FACTOR * step if is_careful else step
        state, info = advance(rng, state, posterior, settings, step=taken, n_steps=settings.n_steps(step))
        if settings.acceptance is not None and not is_careful:
            excess = float(info.acceptance.mean()) - settings.acceptance
            log_steps.append(log_steps[-1] + ADAPTATION_RATE * excess / math.sqrt(len(log_steps)))
            step = _adapted(log_steps[-1])
    if settings.acceptance is None:
        return state, step
    return state, _adapted(float(np.mean(log_steps[len(log_steps) // 2 :])))


def _adapted(log_step: float) -> float:
    return float(2.0 ** quantised(log_step / math.log(2.0), LOG2_STEP_SPACING))


def _start(posterior: Posterior, settings: SamplerSettings, rng: np.random.Generator) -> ChainState:
    p, n_chains = posterior.V.shape[1], settings.n_chains
    root = None
    if settings.preconditioned:
        nearby = posterior.nearby
        root, centre = nearby.root, nearby.mean[:, None]
        white = rng.standard_normal((p, n_chains))
        b = centre + root @ white
        risen = posterior.potential(b) - posterior.potential(centre)
        b = np.where(risen > 0.5 * (white**2).sum(axis=0) + MAX_LOG_DENSITY_DEFICIT, centre, b)
    else:
        b = np.repeat(posterior_mode(posterior)[:, None], n_chains, axis=1)
    return ChainState(root, b, rng.standard_normal((p, n_chains)), posterior.force(b), posterior.potential(b))
