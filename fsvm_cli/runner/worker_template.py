"""A process that has loaded what workers need: workers are forked from it, and need not load it each."""

from __future__ import annotations

import multiprocessing
import multiprocessing.forkserver
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

LOADED = ["fsvm_cli.runner.worker_libraries"]
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def start_loading() -> None:
    """Begin to load what workers need, beside this process, where workers are forked; see `worker_context`.

    What loads them computes nothing and has one thread, so that it can be forked safely. It ends with this process.
    """
    context = worker_context()
    if context is None:
        return
    context.set_forkserver_preload(LOADED)
    others = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        multiprocessing.forkserver.ensure_running()
    finally:
        for name, value in others.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def worker_context() -> BaseContext | None:
    """Return how worker processes are started; None for loky's own way, a new interpreter for each.

    Forking is safe on Linux alone: on macOS system libraries do not survive it, and Windows cannot do it.
    """
    return multiprocessing.get_context("forkserver") if sys.platform == "linux" else None
