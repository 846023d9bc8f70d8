"""`python -m tests.faults.dask_campaign`: a cluster of this machine whose workers are killed while a run goes on.

One worker is killed with SIGKILL at each interval, and another starts in its place. At the end all tables, figures and
`run.json` are compared, byte by byte, with those of a run by two processes that nothing disturbed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.helpers.calling import AS_SVG, Answer, hashes, n_stored, started, write_config
from tests.helpers.clusters import Cluster

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable


def run_while_workers_die(
    config: Path, folder: Path, cluster: Cluster, wait: Callable[[subprocess.Popen[str]], object]
) -> tuple[Answer, int]:
    """Run a config on a cluster, and kill a worker whenever `wait` returns, until the run ends; the number killed."""
    n_killed = 0
    with started("run", config, "--dask", cluster.address, *AS_SVG, "--out", folder) as process:
        while True:
            wait(process)
            if process.poll() is not None:
                break
            cluster.kill_worker()
            cluster.add_worker()
            n_killed += 1
        return end_of(process), n_killed


def end_of(process: subprocess.Popen[str]) -> Answer:
    """Wait for the end of a run, however long it takes."""
    out, err = process.communicate()
    return Answer(process.returncode, out, err)


def campaign(folder: Path, n_workers: int, interval: float, n_trials: int) -> int:
    """Run both, print what came of them, and return the number of files that differ."""
    config = write_config(folder, protocol=f"{{splits: {n_trials}, train: 1/2, seed: 7}}", subsets="all")
    begin = time.monotonic()
    with started("run", config, "--jobs", "2", *AS_SVG, "--out", folder / "calm") as process:
        calm = end_of(process)
    say(f"by two processes, undisturbed: exit code {calm.code}, {time.monotonic() - begin:.0f} s")

    disturbed = folder / "disturbed" / "small"

    def wait(process: subprocess.Popen[str]) -> None:
        while process.poll() is None and not n_stored(disturbed):  # the workers are still starting
            time.sleep(0.1)
        end = time.monotonic() + interval
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)

    with Cluster(folder, n_workers) as cluster:
        begin = time.monotonic()
        answer, n_killed = run_while_workers_die(config, disturbed.parent, cluster, wait)
        seconds = time.monotonic() - begin
    say(f"by {n_workers} Dask workers, {n_killed} killed: exit code {answer.code}, {seconds:.0f} s")
    say(answer.err.rstrip())
    expected, found = hashes(folder / "calm" / "small"), hashes(disturbed)
    differing = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    say(f"{n_trials} trials, {len(expected)} files compared, {len(differing)} differ {' '.join(differing)}")
    return len(differing) + abs(calm.code) + abs(answer.code)


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Read the options, and return 1 where anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.dask_campaign", description=__doc__)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--interval", type=float, default=60.0, help="seconds from one kill to the next")
    parser.add_argument("--trials", type=int, default=12_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        return int(campaign(Path(name), options.workers, options.interval, options.trials) > 0)


if __name__ == "__main__":
    sys.exit(main())
