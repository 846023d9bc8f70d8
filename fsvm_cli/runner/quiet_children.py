"""Standard error of the processes that a run starts: kept off the terminal."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

from fsvm_cli.terminal import behind_gate, put_behind_gate

STDERR = 2


def quiet_children() -> None:
    """Send to nowhere what processes that are started from now on write to standard error.

    Workers that are killed, and the trackers of semaphores that Python and loky start beside them, print tracebacks
    of what the run tells in a line, also while they start and after the run is over, when no logger of theirs is within
    reach. They inherit the file descriptor; this process writes to a copy of it until it ends. Where something else
    stands in for standard error, as in a test, nothing is changed.
    """
    # This process's own words of a tracker or worker that was killed: whoever lost a chunk by it is told.
    for beginning in ("resource_tracker:", "A worker stopped while", "A worker was restarted while"):
        warnings.filterwarnings("ignore", message=beginning)
    usual = sys.__stderr__
    if usual is None or behind_gate(sys.stderr) is not usual or usual.fileno() != STDERR:
        return
    usual.flush()
    copy = os.dup(STDERR)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), STDERR)
    put_behind_gate(os.fdopen(copy, "w", buffering=1, encoding=usual.encoding, errors=usual.errors))
