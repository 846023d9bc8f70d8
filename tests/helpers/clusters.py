"""A Dask cluster of separate processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Self

from tests.helpers.calling import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path


class Cluster:
    """A scheduler and two workers, each a process; a context manager.

    Parameters
    ----------
    folder : Path
        An empty folder, for the scheduler's file.
    n_workers : int
    security : tuple of str
        Options of scheduler and workers that say how they are to be reached.
    """

    def __init__(self, folder: Path, n_workers: int = 2, security: tuple[str, ...] = ()) -> None:
        self._security = security
        self._file = folder / "scheduler.json"
        self._file.unlink(missing_ok=True)
        self._folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard")
        while not self._is_written():
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        for _ in range(n_workers):
            self.add_worker()

    def _is_written(self) -> bool:
        try:
            self.address = str(json.loads(self._file.read_text())["address"])
        except (FileNotFoundError, json.JSONDecodeError):
            return False
        return True

    def add_worker(self) -> None:
        """Start a worker that is not restarted when it dies."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "300")
        self.workers.append(self._start("worker", *options))

    def _start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        command = (sys.executable, "-m", f"distributed.cli.dask_{kind}")
        return subprocess.Popen(
            [*command, "--scheduler-file", str(self._file), *self._security, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        )

    def kill_worker(self) -> None:
        """End a worker at once."""
        worker = self.workers.pop(0)
        worker.kill()
        worker.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
