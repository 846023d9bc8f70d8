"""Hybrid Monte Carlo: the paper's single chain, and many chains that move together in the posterior's own metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fsvm_cli.errors import FsvmError
from fsvm_cli.evidence.posterior import gaussian_approximation, posterior_mode
from fsvm_cli.numerics import quantised

if TYPE_CHECKING:
    from fsvm_cli.evidence.posterior import Posterior
    from fsvm_cli.svm.compiled import Array

MOST_STEPS = 32
"""Where steps must be so short that it takes more, the posterior is not what the metric was made for."""
ADAPTATION = 2.0
"""How much ln Δτ grows with the acceptance at the first trajectory; later ones count as one over the root of their
number. The end of the warm-up takes the mean of its second half."""
SPACING = 2.0**-4
"""Of the binary logarithms of adapted steps. The step hangs on the acceptance of all chains, and their paths on the
step: a last digit would become another result within a dozen trajectories."""
CAREFUL_EVERY, CAREFUL = 4, 0.1
"""Of an adaptive warm-up, every so many trajectories have steps shorter by this factor, and are not adapted to: they
free chains that began where the posterior is steep."""
TOO_IMPROBABLE = 3.0
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
        τ of a trajectory, which takes as many leapfrog steps as come nearest to it, but at most `MOST_STEPS`.
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
        return min(max(round(self.time / step), 1), MOST_STEPS)


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
        warm-up goes on with steps shorter by `CAREFUL`, and the chains draw again.

    Raises
    ------
    SamplingError
        If a chain accepted none of its trajectories.
    """
    state = _start(posterior, settings, rng)
    step = _warm_up(state, settings, rng)
    draws = _draw(state, step, settings, rng)
    if settings.acceptance is not None and not draws.acceptance.all():
        # A chain that has not moved is still where it began: its warm-up has been too short.
        for _ in range(settings.n_warm_up):
            state.advance(CAREFUL * step, settings.n_steps(step), settings, rng)
        draws = _draw(state, step, settings, rng)
    if not draws.acceptance.all():
        stuck = int(np.count_nonzero(draws.acceptance == 0))
        remedy = "chains whose step is adapted" if settings.acceptance is None else "weighted draws"
        raise SamplingError(
            f"{stuck} of {settings.n_chains} chains accepted none of {settings.n_draws} trajectories of "
            f"{settings.n_steps(step)} steps of {step:.2g}, which are too long here; choose {remedy}"
        )
    return draws


def _draw(state: _State, step: float, settings: SamplerSettings, rng: np.random.Generator) -> Draws:
    points = np.empty((settings.n_draws, *state.b.T.shape))
    energies = np.empty((settings.n_draws, settings.n_chains))
    moves = np.zeros(settings.n_chains)
    for t in range(settings.n_draws):
        before = state.b
        state.advance(step, settings.n_steps(step), settings, rng)
        points[t] = state.b.T
        energies[t] = state.potential + 0.5 * (state.momenta**2).sum(axis=0)
        moves += (state.b != before).any(axis=0)
    return Draws(points, moves / settings.n_draws, energies, step)


def _warm_up(state: _State, settings: SamplerSettings, rng: np.random.Generator) -> float:
    """Advance the chains, and return the step that their acceptance asks for."""
    step, log_steps = settings.step, [math.log(settings.step)]
    for t in range(settings.n_warm_up):
        if settings.acceptance is None:
            state.advance(step, settings.n_steps(step), settings, rng)
        elif t % CAREFUL_EVERY == 0:
            state.advance(CAREFUL * step, settings.n_steps(step), settings, rng)
        else:
            probability = state.advance(step, settings.n_steps(step), settings, rng)
            excess = float(probability.mean()) - settings.acceptance
            log_steps.append(log_steps[-1] + ADAPTATION * excess / math.sqrt(len(log_steps)))
            step = _adapted(log_steps[-1])
    return step if settings.acceptance is None else _adapted(float(np.mean(log_steps[len(log_steps) // 2 :])))


def _adapted(log_step: float) -> float:
    return float(2.0 ** quantised(log_step / math.log(2.0), SPACING))


@dataclass(eq=False)
class _State:
    """Where all chains are.

    Attributes
    ----------
    posterior : Posterior
    root : (p, p) array or None
        A root of the inverse covariance of the momenta; None: the unit matrix.
    b, momenta, force : (p, n_chains) arrays
        Momenta are those that `root` makes white.
    potential : (n_chains,) array
    """

    posterior: Posterior
    root: Array | None
    b: Array
    momenta: Array
    force: Array
    potential: Array

    def advance(self, step: float, n_steps: int, settings: SamplerSettings, rng: np.random.Generator) -> Array:
        """Move each chain along one trajectory, or leave it; return the probabilities of moving, shape (n_chains,)."""
        self._refresh(settings, rng)
        jittered = step * (1.0 + settings.jitter * rng.uniform(-1.0, 1.0))
        with np.errstate(over="ignore", invalid="ignore"):  # a trajectory that flies off is not accepted
            b, momenta, force = self._trajectory(jittered, n_steps)
            potential = self.posterior.potential(b)
            lost = self.potential - potential + 0.5 * (self.momenta**2 - momenta**2).sum(axis=0)
        probability = np.exp(np.minimum(np.where(np.isnan(lost), -np.inf, lost), 0.0))
        accepted = rng.random(len(probability)) < probability
        self.b = np.where(accepted, b, self.b)
        self.force = np.where(accepted, force, self.force)
        self.potential = np.where(accepted, potential, self.potential)
        # A chain that is sent back turns round: with momenta that are kept, balance asks for it.
        self.momenta = np.where(accepted, momenta, -self.momenta)
        return probability

    def _refresh(self, settings: SamplerSettings, rng: np.random.Generator) -> None:
        p, n_chains = self.momenta.shape
        if settings.refreshed == "all":
            self.momenta = rng.standard_normal((p, n_chains))
        else:
            self.momenta[rng.integers(p, size=n_chains), np.arange(n_chains)] = rng.standard_normal(n_chains)

    def _trajectory(self, step: float, n_steps: int) -> tuple[Array, Array, Array]:
        """Leapfrog along db/dτ = R q, dq/dτ = R' force, with q the white momenta and R the root."""
        b, force = self.b, self.force
        momenta = self.momenta + 0.5 * step * self._pushed(force)
        for left in range(n_steps - 1, -1, -1):
            b = b + step * (momenta if self.root is None else self.root @ momenta)
            force = self.posterior.force(b)
            momenta = momenta + (step if left else 0.5 * step) * self._pushed(force)
        return b, momenta, force

    def _pushed(self, force: Array) -> Array:
        return force if self.root is None else self.root.T @ force


def _start(posterior: Posterior, settings: SamplerSettings, rng: np.random.Generator) -> _State:
    p, n_chains = posterior.V.shape[1], settings.n_chains
    root = None
    if settings.preconditioned:
        nearby = gaussian_approximation(posterior)
        root, centre = nearby.root, nearby.mean[:, None]
        white = rng.standard_normal((p, n_chains))
        b = centre + root @ white
        risen = posterior.potential(b) - posterior.potential(centre)
        b = np.where(risen > 0.5 * (white**2).sum(axis=0) + TOO_IMPROBABLE, centre, b)
    else:
        b = np.repeat(posterior_mode(posterior)[:, None], n_chains, axis=1)
    return _State(posterior, root, b, rng.standard_normal((p, n_chains)), posterior.force(b), posterior.potential(b))
