"""Averages over the posterior of a Bayesian machine, per effective draw, beside the single chain of the paper."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Comparison, timed
from benchmarks.real_data import standardised
from benchmarks.tuning import splice_like
from fsvm_cli.evidence.ard_kernel import ArdKernel
from fsvm_cli.evidence.convergence import effective_sample_size
from fsvm_cli.evidence.hinge import Hinge
from fsvm_cli.evidence.hybrid_monte_carlo import PAPER_SETTINGS, SamplerSettings, sample
from fsvm_cli.evidence.importance import ImportanceSettings, importance_averages
from fsvm_cli.evidence.nystroem import choose_landmarks, nystroem_factor
from fsvm_cli.evidence.posterior import Posterior

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS, RANK, LANDMARKS = 2117, 20, 200
EFFECTIVE = 1000
"""Draws that the times are of, each worth an independent one."""
TRAJECTORIES = 2000
"""Of the paper's 40,000; the second half of them counts, as in the paper."""


def splice_posterior() -> Posterior:
    """Return the posterior at the start of the ascent, of as many rows as two thirds of splice."""
    at_hand = standardised("splice", "agct")
    X, y = at_hand or splice_like()
    X, y = X[:ROWS], np.where(y[:ROWS] == 1, 1.0, -1.0)
    kernel = ArdKernel(1.0, 1.0, (float(np.sqrt(X.shape[1])),) * X.shape[1])
    landmarks = choose_landmarks(len(X), LANDMARKS, np.random.default_rng(0))
    return Posterior(nystroem_factor(kernel, X, landmarks, RANK).V, y, 1.0, Hinge())


def seconds_of_chains(posterior: Posterior, settings: SamplerSettings) -> float:
    """Return the seconds per `EFFECTIVE` draws of the coordinate that moves least, warm-up counted."""
    draws, seconds = timed(lambda: sample(posterior, settings, np.random.default_rng(1)), time.process_time)
    return seconds * EFFECTIVE / float(effective_sample_size(draws.points).min())


def seconds_of_weighted_draws(posterior: Posterior) -> float:
    """Return the seconds per `EFFECTIVE` draws, with the averages and the normal distribution that they come from."""
    found, seconds = timed(
        lambda: importance_averages(posterior, ImportanceSettings(), np.random.default_rng(1)), time.process_time
    )
    return seconds * EFFECTIVE / found.effective_size


def comparisons() -> Iterator[Comparison]:
    """Yield the rows of samplers, by the processor's clock."""
    posterior = splice_posterior()
    peer = seconds_of_chains(posterior, replace(PAPER_SETTINGS, n_warm_up=TRAJECTORIES // 2, n_draws=TRAJECTORIES // 2))
    ours: dict[str, Callable[[], float]] = {
        "weighted draws": lambda: seconds_of_weighted_draws(posterior),
        "64 chains": lambda: seconds_of_chains(posterior, SamplerSettings()),
    }
    for name, seconds in ours.items():
        median = float(np.median([seconds() for _ in range(5)]))
        work = f"{EFFECTIVE} effective draws, posterior of splice {len(posterior.y)} x {RANK}, {name}"
        yield Comparison(work, "the paper's single chain in numpy", peer, median, peer / median, 25.0, 0.0, 0.0)
