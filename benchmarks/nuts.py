"""Chains of the No-U-Turn sampler by BlackJAX and NumPyro, on the posterior of a hinge loss; warm-up is not timed."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import numpy as np

# As in a trial, one thread; read when JAX is imported.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import blackjax
import jax
import jax.numpy as jnp
from numpyro.infer import MCMC, NUTS

from benchmarks.harness import timed

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.evidence.posterior import Posterior

N_WARM_UP, N_DRAWS = 500, 1000


def log_density(posterior: Posterior) -> Callable[[jax.Array], jax.Array]:
    """Return ln Q(b | D) but for a constant."""
    signed, C = jnp.asarray(posterior.y[:, None] * posterior.V), posterior.C
    return lambda b: -0.5 * b @ b - C * jnp.maximum(0.0, 1.0 - signed @ b).sum()


def by_blackjax(posterior: Posterior) -> tuple[np.ndarray, float]:
    """Return the draws of a chain, (N_DRAWS, 1, p), and their processor seconds."""
    density, start = log_density(posterior), jnp.zeros(posterior.V.shape[1])
    adapted, _ = blackjax.window_adaptation(blackjax.nuts, density).run(jax.random.key(0), start, N_WARM_UP)
    sampler = blackjax.nuts(density, **adapted.parameters)

    def advance(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        state, _ = sampler.step(key, state)
        return state, state.position

    @jax.jit
    def chain(key: jax.Array) -> jax.Array:
        return jax.lax.scan(advance, adapted.state, jax.random.split(key, N_DRAWS))[1]

    chain(jax.random.key(1)).block_until_ready()  # compiles
    draws, seconds = timed(lambda: chain(jax.random.key(2)).block_until_ready(), time.process_time)
    return np.asarray(draws, dtype=np.float64)[:, None], seconds


def by_numpyro(posterior: Posterior) -> tuple[np.ndarray, float]:
    """Return the draws of a chain, (N_DRAWS, 1, p), and their processor seconds."""
    density = log_density(posterior)
    chain = MCMC(
        NUTS(potential_fn=lambda b: -density(b)), num_warmup=N_WARM_UP, num_samples=N_DRAWS, progress_bar=False
    )
    chain.warmup(jax.random.key(0), init_params=jnp.zeros(posterior.V.shape[1]))

    def draw(seed: int) -> jax.Array:
        chain.run(jax.random.key(seed))
        draws: jax.Array = chain.get_samples().block_until_ready()
        return draws

    draw(1)  # compiles
    chain.post_warmup_state = chain.last_state
    draws, seconds = timed(lambda: draw(2), time.process_time)
    return np.asarray(draws, dtype=np.float64)[:, None], seconds
