"""Runs that are killed at random times, resumed, and compared byte by byte with a run that nothing disturbed.

The routine suite kills one child on this machine; other tests of it kill a run, twice, and the parts of a Dask cluster.
``make test-faults`` kills as many as ``FSVM_FAULTS`` says, at random times and in each way of running.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.helpers.calling import AS_SVG, Answer, answer_of, children, fsvm_here, hashes, n_stored, started
from tests.helpers.clusters import Cluster

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Undisturbed = tuple[Path, dict[str, str]]

pytestmark = pytest.mark.slow

N_KILLS = int(os.environ.get("FSVM_FAULTS", "1"))
IS_ROUTINE = "FSVM_FAULTS" not in os.environ
LONGEST_LIFE = 6.0
"""Seconds after its start within which a run is killed: before, while and after its trials run."""


def kill_one_of(process: subprocess.Popen[str], rng: random.Random) -> None:
    """Kill the run itself or one of the processes that it has started."""
    kill_any([process.pid, *children(process.pid)], rng)


def kill_a_child(process: subprocess.Popen[str], rng: random.Random) -> None:
    """Kill one of the processes that a run has started, as soon as there is one."""
    while process.poll() is None and not children(process.pid):
        time.sleep(0.01)
    kill_any(children(process.pid), rng)


def kill_any(victims: list[int], rng: random.Random) -> None:
    with contextlib.suppress(IndexError, ProcessLookupError):  # all have gone meanwhile
        os.kill(rng.choice(victims), signal.SIGKILL)


def assert_has_little_to_say(answer: Answer) -> None:
    """No process says more than a line or two of what happened, whatever became of it; progress is not counted."""
    told = [line for line in answer.err.splitlines() if not re.match(r"small: \d+ (of \d+ )?trials|compiling ", line)]
    assert len(told) <= 2, answer.err
    assert "Traceback" not in answer.err + answer.out, answer


def campaign(
    undisturbed: Undisturbed,
    folder: Path,
    seed: int,
    options: Callable[[], tuple[str, ...]],
    strike: Callable[[subprocess.Popen[str], random.Random], None],
) -> None:
    """Kill until enough were killed; whenever a run has come to its end, compare its bytes and begin anew."""
    config, expected = undisturbed
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    while counts["kills"] < N_KILLS:
        results = folder / f"round{counts['rounds']}"
        while True:
            before = n_stored(results / "small")
            with started("run", config, *options(), *AS_SVG, "--out", results) as process:
                time.sleep(rng.uniform(0, LONGEST_LIFE))
                if process.poll() is None and counts["kills"] < N_KILLS:
                    strike(process, rng)
                    counts["kills"] += 1
                answer = answer_of(process)
            assert answer.code in {0, 3, -signal.SIGKILL}, answer
            if IS_ROUTINE and answer.code != 0:  # what is left is done here, which spares the start of processes
                assert_has_little_to_say(answer)
                answer = fsvm_here("run", config, "--jobs", "1", *AS_SVG, "--out", results)
            assert_has_little_to_say(answer)
            assert n_stored(results / "small") >= before
            if answer.code == 0:
                break
        assert hashes(results / "small") == expected
        counts["rounds"] += 1


@pytest.mark.parametrize(
    ("seed", "options"), [(4, ("--jobs", "2"))] if IS_ROUTINE else [(4, ("--jobs", "2")), (5, ("--dask", "local:2"))]
)
def test_runs_whose_children_are_killed(
    undisturbed: Undisturbed, tmp_path: Path, seed: int, options: tuple[str, ...]
) -> None:
    campaign(undisturbed, tmp_path, seed, lambda: options, kill_a_child)


if not IS_ROUTINE:

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_runs_on_this_machine_that_are_killed(undisturbed: Undisturbed, tmp_path: Path, jobs: str) -> None:
        campaign(undisturbed, tmp_path, int(jobs), lambda: ("--jobs", jobs), kill_one_of)

    def test_runs_on_a_cluster_of_which_anything_is_killed(undisturbed: Undisturbed, tmp_path: Path) -> None:
        clusters = [Cluster(tmp_path)]

        def address() -> tuple[str, ...]:
            if clusters[-1].scheduler.poll() is not None:
                clusters.pop().__exit__()
                clusters.append(Cluster(tmp_path))
            while len(clusters[-1].workers) < 2:
                clusters[-1].add_worker()
            return "--dask", clusters[-1].address

        def strike(process: subprocess.Popen[str], rng: random.Random) -> None:
            victim = rng.choice(["client", "worker", "scheduler"])
            if victim == "client":
                process.kill()
            elif victim == "worker":
                clusters[-1].kill_worker()
            else:
                clusters[-1].scheduler.kill()
                clusters[-1].scheduler.wait()

        try:
            campaign(undisturbed, tmp_path, 3, address, strike)
        finally:
            clusters[-1].__exit__()
