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


def start_loading() -> BaseContext | None:
    """Begin to load what workers need, beside this process, where workers can be forked from the one that loads it.

    What loads computes nothing and has one thread, so that it can be forked safely. It ends with this process. Forking
    is safe on Linux alone: on macOS system libraries do not survive it, and Windows cannot do it.

    Returns
    -------
    BaseContext or None
        How worker processes are started; None for loky's own way, a new interpreter for each.
    """
    if sys.platform != "linux":
        return None
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    others = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        multiprocessing.forkserver.ensure_running()
    except OSError:  # its socket lies in the folder of temporary files, whose path may be too long for one
        return None
    finally:
        for name, value in others.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return context
