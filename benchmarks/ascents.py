"""Gradients of the evidence and ascents along them, against limits in seconds and the growth that they may have."""

from __future__ import annotations

import time
import tracemalloc
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.evidence import LANDMARKS, PAPERS_CHAIN, RANK, ROWS, first_posterior, splice, start
from benchmarks.harness import Comparison, against_a_limit, median_seconds, timed
from benchmarks.real_data import standardised
from benchmarks.tuning import sonar_like, splice_like
from fsvm_cli.evidence.diagnostics import effective_sample_size
from fsvm_cli.evidence.hybrid_monte_carlo import PAPER_SETTINGS, sample
from fsvm_cli.evidence.importance import ImportanceSettings, importance_averages
from fsvm_cli.evidence.losses import Hinge
from fsvm_cli.evidence.sampled_evidence import SampledEvidence
from fsvm_cli.ranking.ard import AutomaticRelevance
from fsvm_cli.svm.nystroem import choose_landmarks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZES = (500, 1000, 2000, 4000, 8000)
"""Rows at which the growth is shown."""
GIGABYTES = 2.0
"""That the largest of them may take."""
DRAWS = ImportanceSettings(n_pairs=128)
"""Twice those of a step: with them a gradient of splice is as precise as by the 20,000 states that the paper keeps."""
BY_THE_BOUND: dict[str, Any] = {"approximation": "bound", "n_eigenvectors": 40, "rule": "evidence"}
BY_MAGNITUDE: dict[str, Any] = {"n_eigenvectors": RANK, "rule": "magnitude"}


def gradient(X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    """Return what estimates the gradient of the paper once, with all that it takes."""
    landmarks = choose_landmarks(len(X), LANDMARKS, np.random.default_rng(0))
    evidence = SampledEvidence(X, y, Hinge(), landmarks, RANK, (DRAWS,), "mixed")
    return lambda: evidence.gradient_at(start(X.shape[1]), np.random.default_rng(1))


def one_gradient() -> Comparison:
    """Time a gradient on two thirds of splice; its draws are to be worth those that the paper keeps."""
    X, y = splice()
    here = first_posterior(X, y)
    drawn = importance_averages(here, DRAWS, np.random.default_rng(1)).effective_size
    chain = sample(here, PAPERS_CHAIN, np.random.default_rng(1)).points
    kept = float(effective_sample_size(chain).min()) * PAPER_SETTINGS.n_draws / len(chain)
    note = f"{drawn:.0f} effective draws; the 20,000 states of the paper's chain are worth {kept:.0f}"
    seconds = median_seconds(gradient(X, y), clock=time.process_time)
    return against_a_limit(f"one gradient of the evidence, splice {ROWS} x {X.shape[1]}", 1.0, seconds, note)


def tuning(
    name: str, version: str, limit: float, like: tuple[np.ndarray, np.ndarray], stop: float
) -> Iterator[Comparison]:
    """Yield the times of whole ascents on two thirds of some data, by each way to climb."""
    at_hand = standardised(name, version)
    X, y = at_hand or like
    n_train = round(2 * len(y) / 3) if at_hand else len(y)
    chosen = np.random.default_rng(0).permutation(len(y))[:n_train]
    ways: dict[str, dict[str, Any]] = {
        "the paper": BY_MAGNITUDE | {"approximation": "mixed", "stop": stop},
        "the exact gradient": BY_MAGNITUDE | {"approximation": "exact", "stop": stop},
        "the bound": BY_THE_BOUND,
    }
    for way, settings in ways.items():
        ranker = AutomaticRelevance(random_state=0, n_permutations=0, **settings)
        _, seconds = timed(partial(ranker.fit, X[chosen], y[chosen]), time.process_time)
        end = "ended by its rule" if ranker.converged_ else "ran out of steps"
        work = f"one ascent, {'' if at_hand else 'like '}{name} {n_train} x {X.shape[1]}, by {way}"
        note = f"{ranker.chosen_['steps']} steps, {end}"
        yield against_a_limit(work, limit, seconds, note)


def growth(what: str, power: int, work_on: Callable[[np.ndarray, np.ndarray], Callable[[], object]]) -> Comparison:
    """Compare the time of the most rows with what a power of their number makes of the time of the fewest."""
    works = [work_on(*splice_like(n)) for n in SIZES]
    seconds = [median_seconds(work, clock=time.process_time) for work in works]
    slope = np.polyfit(np.log(SIZES), np.log(seconds), 1)[0]
    tracemalloc.start()
    works[-1]()
    peak = tracemalloc.get_traced_memory()[1] / 1e9
    tracemalloc.stop()
    allowed = seconds[0] * (SIZES[-1] / SIZES[0]) ** power
    times = ", ".join(f"{each:.2g}" for each in seconds)
    note = f"{times} s for {SIZES[0]} to {SIZES[-1]} rows: n^{slope:.2f}; {peak:.2f} of {GIGABYTES:g} GB at the most"
    peer = f"n^{power}, from {SIZES[0]} rows"
    work, ratio = f"{what}, {SIZES[-1]} x 60", allowed / seconds[-1]
    return Comparison(work, peer, allowed, seconds[-1], ratio, 1.0, 0.0, 0.0, note, is_rival=False)


def weighted_draws(X: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    """Return what averages over the posterior once."""
    here = first_posterior(X, y)
    return lambda: importance_averages(here, DRAWS, np.random.default_rng(1))


def comparisons() -> Iterator[Comparison]:
    """Yield the rows of gradients and ascents."""
    yield one_gradient()
    yield from tuning("ionosphere", "without-constant", 5.0, sonar_like(), 0.3)
    yield from tuning("splice", "agct", 60.0, splice_like(ROWS), 0.15)
    yield growth("weighted draws", 1, weighted_draws)
    yield growth("one gradient of the evidence", 2, gradient)
