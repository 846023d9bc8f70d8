"""`python -m benchmarks.overhead [processes|dask|dask:8 ...]`: what the runner itself costs, by trials that do nothing.

Plan, dispatch and store are timed apart from any support vector machine; each row is a process of its own, so that
its peak of memory is its own too.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from fsvm_cli.config_io import parse_document, validate
from fsvm_cli.experiment.outcome import Outcome
from fsvm_cli.experiment.plan import plan
from fsvm_cli.experiment.running import TrialResult
from fsvm_cli.runner.dask_pool import DaskPool
from fsvm_cli.runner.missing import missing_tasks
from fsvm_cli.runner.pools import ProcessPool, SerialPool
from fsvm_cli.runner.run import Job, run
from fsvm_cli.runner.tasks import Task
from fsvm_cli.spec.config import LoadedConfig
from fsvm_cli.spec.schema import Config
from fsvm_cli.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.runner.pools import Pool
    from fsvm_cli.store.store import Entry

    Work = Callable[[Sequence[Task]], list[TrialResult]]

SIZES = (10**3, 10**4, 10**5)
POOLS = ("serial", "processes", "dask")
TARGETS = {"serial": 0.2, "processes": 0.2, "dask": 0.5}
"""Milliseconds per trial; those of processes and Dask are the project's aims."""
RESUME_TARGET = 2.0
N_LONG_TRIALS = 20
CONFIG = """
title: Trials that do nothing
dataset: wine
scaling: standard
classifier: {{kernel: linear, C: 10}}
protocol: {{splits: {n_trials}, train: 2/3, seed: 2000}}
rankings: [{{method: average-separation}}]
subsets: all
"""
CONFUSION = np.array([[20, 1, 0], [0, 23, 1], [0, 0, 14]])


def experiment_of(n_trials: int) -> Experiment:
    """Plan an experiment of so many trials."""
    document = parse_document(CONFIG.format(n_trials=n_trials), "overhead")
    return plan(LoadedConfig("overhead", Path(), validate(document, Config), document), print)


def do_nothing(tasks: Sequence[Task]) -> list[TrialResult]:
    """Answer with outcomes of the size that real ones have."""
    return [TrialResult({number: _entry(sizes) for number, sizes in task.wanted.items()}, {}, 1e-5) for task in tasks]


def _entry(sizes: tuple[int, ...]) -> Entry:
    confusions = np.array([CONFUSION] * len(sizes))
    certificates = np.zeros(len(sizes), np.intp), np.full(len(sizes), 1e-7)
    return Outcome((0.123456789,) * 13, True, sizes, confusions, confusions, *certificates).packed()


def wait_a_second(tasks: Sequence[Task]) -> list[TrialResult]:
    """Take a second for each task without using a core, so that other load on the machine does not blur the ratio."""
    results = []
    for task in tasks:
        time.sleep(1.0)
        results += do_nothing([task])
    return results


def run_here(work: Work, tasks: Sequence[Task]) -> Future[list[TrialResult]]:
    """Answer as a pool does whose only worker is this process."""
    future: Future[list[TrialResult]] = Future()
    future.set_result(work(tasks))
    return future


def open_pool(kind: str, experiments: Sequence[Experiment], work: Work, n_workers: int = 2) -> Pool:
    """Open a pool whose workers do `work` instead of trials, and have begun to; "dask:8" is one of 8 workers."""
    kind, _, number = kind.partition(":")
    n_workers = int(number or n_workers)
    if kind == "serial":
        serial = SerialPool(experiments)
        vars(serial)["submit"] = partial(run_here, work)
        return serial
    pool = ProcessPool(experiments, n_workers) if kind == "processes" else DaskPool(experiments, f"local:{n_workers}")
    vars(pool)["submit"] = partial(pool._executor.submit, work)
    for future in [pool.submit([Task(0, next(experiments[0].trials()), {0: (1,)})]) for _ in range(2 * n_workers)]:
        future.result()
    return pool


class Silent:
    """Progress that nobody looks at."""

    def start(self, n_trials: int, n_done: int) -> None:
        """Hear of the beginning."""

    def advance(self, n_done: int) -> None:
        """Hear of progress."""


def seconds_of_run(experiment: Experiment, pool: Pool, folder: Path) -> float:
    """Run an experiment on workers that are there already, and leave them open."""
    begin = time.perf_counter()
    with Store(folder, writable=True) as store:
        list(
            run([Job(experiment, store, Silent())], lambda *_: cast("Pool", nullcontext(pool)))
        )  # whoever opened it closes it
    return time.perf_counter() - begin


def measure(kind: str, n_trials: int) -> str:
    """Run that many trials that do nothing, then find them all done; a line with the figures."""
    experiment = experiment_of(n_trials)
    with tempfile.TemporaryDirectory() as name, open_pool(kind, [experiment], do_nothing) as pool:
        before = time.process_time()
        seconds = seconds_of_run(experiment, pool, Path(name))
        of_this_process = time.process_time() - before
        begin = time.perf_counter()
        with Store(Path(name), writable=True) as store:
            assert not missing_tasks(experiment, store)
        resume = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
    used = resource.getrusage(resource.RUSAGE_SELF)
    aim = TARGETS[kind.partition(":")[0]]
    return (
        f"{kind:9} {n_trials:>7,} trials: {1000 * seconds / n_trials:.3f} ms per trial (aim {aim}), "
        f"{1000 * of_this_process / n_trials:.3f} ms of this process's CPU, "
        f"resumed in {resume:.2f} s (aim {RESUME_TARGET} at 100,000), peak memory {peak:.0f} MB, "
        f"{used.ru_utime + used.ru_stime:.1f} s of CPU with the start"
    )


def speedup(kind: str, n_trials: int) -> str:
    """Run that many trials of a second each with one worker and with two."""
    experiment = experiment_of(n_trials)
    seconds = []
    for n_workers in (1, 2):
        pool = open_pool(kind, [experiment], wait_a_second, n_workers)
        with tempfile.TemporaryDirectory() as name, pool:
            seconds.append(seconds_of_run(experiment, pool, Path(name)))
    return (
        f"{kind:9} {n_trials} trials of a second: 2 workers are {seconds[0] / seconds[1]:.2f}x as fast as 1 (aim 1.85)"
    )


def main() -> None:
    """Measure each kind of pool at each size."""
    if len(sys.argv) == 3:
        print(measure(sys.argv[1], int(sys.argv[2])), flush=True)
        return
    for kind in sys.argv[1:] or POOLS:
        for n_trials in SIZES:
            subprocess.run([sys.executable, "-m", "benchmarks.overhead", kind, str(n_trials)], check=True)
    print(speedup("processes", N_LONG_TRIALS), flush=True)


if __name__ == "__main__":
    main()
