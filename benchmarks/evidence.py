"""Averages over the posterior of a Bayesian machine, per effective draw, beside those of other samplers."""

from __future__ import annotations

import importlib.util
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Comparison, timed
from benchmarks.real_data import standardised
from benchmarks.tuning import splice_like
from fsvm_cli.evidence.ascent import AscentSettings, ascend
from fsvm_cli.evidence.diagnostics import effective_sample_size
from fsvm_cli.evidence.hybrid_monte_carlo import PAPER_SETTINGS, SamplerSettings, sample
from fsvm_cli.evidence.importance import ImportanceSettings, importance_averages
from fsvm_cli.evidence.kernels import ArdKernel, nystroem_factor
from fsvm_cli.evidence.losses import Hinge
from fsvm_cli.evidence.posterior import Posterior
from fsvm_cli.evidence.sampled_evidence import Hyperparameters, SampledEvidence
from fsvm_cli.svm.nystroem import choose_landmarks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS, RANK, LANDMARKS = 2117, 20, 200
EFFECTIVE = 1000
"""Draws that the times are of, each worth an independent one."""
PARTS_OF_ASCENT = (0.0, 0.5, 1.0)
"""Where along an ascent samplers are compared: its start, its middle and its end."""
PAPERS_CHAIN = replace(PAPER_SETTINGS, n_warm_up=1000, n_draws=1000)
"""A twentieth of the paper's 40,000 trajectories; the second half of them counts, as in the paper."""


def splice(n: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows of splice, or of sequences like it, with labels of -1 and 1."""
    X, y = standardised("splice", "agct") or splice_like(n)
    return X[:n], np.where(y[:n] == 1, 1.0, -1.0)


def start(n_features: int) -> Hyperparameters:
    """Return where an ascent begins."""
    return Hyperparameters(1.0, ArdKernel(1.0, 1.0, (float(np.sqrt(n_features)),) * n_features))


def first_posterior(X: np.ndarray, y: np.ndarray) -> Posterior:
    """Return the posterior at the start of the ascent."""
    landmarks = choose_landmarks(len(X), LANDMARKS, np.random.default_rng(0))
    return Posterior(nystroem_factor(start(X.shape[1]).kernel, X, landmarks, RANK).V, y, 1.0, Hinge())


def posteriors_along_an_ascent(X: np.ndarray, y: np.ndarray) -> list[Posterior]:
    """Return the posteriors at `PARTS_OF_ASCENT`, by the exact gradient from weighted draws, to the end by its rule."""
    landmarks = choose_landmarks(len(X), LANDMARKS, np.random.default_rng(0))
    evidence = SampledEvidence(X, y, Hinge(), landmarks, RANK, (ImportanceSettings(),), "exact")
    path = ascend(evidence, start(X.shape[1]), AscentSettings(stop=0.15), np.random.default_rng(1))
    rows = [round(part * (len(path.logarithms) - 1)) for part in PARTS_OF_ASCENT]
    return [evidence.posterior_at(Hyperparameters.from_logarithms(path.logarithms[row]))[1] for row in rows]


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


def peers(posterior: Posterior) -> Iterator[tuple[str, float, float]]:
    """Yield the name of each peer, its seconds per `EFFECTIVE` draws, and by how much ours should be faster.

    The paper's chain has its warm-up counted, as have ours; the others have not.
    """
    yield "the paper's single chain in numpy", seconds_of_chains(posterior, PAPERS_CHAIN), 25.0
    for (name, seconds), target in zip(nuts_seconds(posterior).items(), (4.0, 100.0), strict=False):
        yield name, seconds, target


def nuts_seconds(posterior: Posterior) -> dict[str, float]:
    """Return the seconds per `EFFECTIVE` draws of BlackJAX and of NumPyro, in this order, where both are installed."""
    if not all(map(importlib.util.find_spec, ("blackjax", "numpyro"))):
        return {}
    from benchmarks import nuts  # noqa: PLC0415 - JAX is installed on Linux only

    found = {}
    for name, chain in (("BlackJAX", nuts.by_blackjax), ("NumPyro", nuts.by_numpyro)):
        points, seconds = chain(posterior)
        found[f"NUTS of {name} after its warm-up"] = seconds * EFFECTIVE / float(effective_sample_size(points).min())
    return found


def comparisons() -> Iterator[Comparison]:
    """Yield the rows of samplers, by the processor's clock."""
    posterior = first_posterior(*splice())
    ours: dict[str, Callable[[], float]] = {
        "weighted draws": lambda: seconds_of_weighted_draws(posterior),
        "64 chains": lambda: seconds_of_chains(posterior, SamplerSettings()),
    }
    medians = {name: float(np.median([seconds() for _ in range(5)])) for name, seconds in ours.items()}
    for peer, peer_seconds, target in peers(posterior):
        for name, median in medians.items():
            work = f"{EFFECTIVE} effective draws, posterior of splice {len(posterior.y)} x {RANK}, {name}"
            yield Comparison(work, peer, peer_seconds, median, peer_seconds / median, target, 0.0, 0.0)
    yield from along_an_ascent()


def along_an_ascent() -> Iterator[Comparison]:
    """Yield the rows of chains at `PARTS_OF_ASCENT`: the seconds of all these posteriors together."""
    posteriors = posteriors_along_an_ascent(*splice())
    ours = [float(np.median([seconds_of_chains(each, SamplerSettings()) for _ in range(5)])) for each in posteriors]
    theirs = [nuts_seconds(each) for each in posteriors]
    work = f"64 chains at {len(posteriors)} steps of an ascent on splice {len(posteriors[0].y)} x {RANK}"
    for peer, target in zip(theirs[0], (20.0, 100.0), strict=False):
        seconds = [each[peer] for each in theirs]
        ratios = ", ".join(f"{a / b:.1f}" for a, b in zip(seconds, ours, strict=True))
        note = f"{ratios} times as fast at its start, middle and end; for {EFFECTIVE} effective draws each"
        total = sum(ours)
        yield Comparison(work, peer, sum(seconds), total, sum(seconds) / total, target, 0.0, 0.0, note)
