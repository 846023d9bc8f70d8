"""Chains of BlackJAX on a posterior: another leapfrog, with forces by automatic differentiation.

`python -m tests.evidence.blackjax_draws PROBLEM DRAWS` runs on its own, since JAX keeps threads that no fork survives.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.evidence.posterior import Posterior

STEP, N_STEPS = 0.25, 6
N_CHAINS, N_WARM_UP, N_DRAWS = 4, 200, 2500


def blackjax_draws(posterior: Posterior, folder: Path) -> np.ndarray:
    """Draw (N_DRAWS, N_CHAINS, p) points from the posterior of a hinge loss."""
    problem, draws = folder / "problem.npz", folder / "draws.npy"
    np.savez(problem, signed=posterior.y[:, None] * posterior.V, C=posterior.C)
    command = [sys.executable, "-m", "tests.evidence.blackjax_draws", str(problem), str(draws)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    points: np.ndarray = np.load(draws)
    return points


def _draw(signed: np.ndarray, C: float) -> np.ndarray:
    import blackjax  # noqa: PLC0415 - only the process of its own needs them
    import jax  # noqa: PLC0415
    import jax.numpy as jnp  # noqa: PLC0415

    jax.config.update("jax_enable_x64", True)
    p = signed.shape[1]

    def log_posterior(b: jax.Array) -> jax.Array:
        return -0.5 * b @ b - C * jnp.maximum(0.0, 1.0 - signed @ b).sum()

    sampler = blackjax.hmc(log_posterior, STEP, jnp.ones(p), N_STEPS)

    def advance(state: object, key: jax.Array) -> tuple[object, jax.Array]:
        state, _ = sampler.step(key, state)
        return state, state.position

    @jax.jit
    def chain(key: jax.Array) -> jax.Array:
        keys = jax.random.split(key, N_WARM_UP + N_DRAWS)
        return jax.lax.scan(advance, sampler.init(jnp.zeros(p)), keys)[1][N_WARM_UP:]

    return np.stack([chain(key) for key in jax.random.split(jax.random.key(0), N_CHAINS)], axis=1)


if __name__ == "__main__":
    with np.load(sys.argv[1]) as stored:
        np.save(sys.argv[2], _draw(stored["signed"], float(stored["C"])))
