"""The free memory, and checks that refuse work that needs more."""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path

DEFAULT_FREE_BYTES = 4_000_000_000
"""Assumed where the system does not report its memory."""
GIGABYTE = 1e9
_MEMINFO_PATH = Path("/proc/meminfo")
_CGROUP_FOLDER = Path("/sys/fs/cgroup")
_STATM_PATH = Path("/proc/self/statm")


MIN_ADDRESS_SPACE_BYTES = 1_000_000_000
"""Needed by the libraries with one thread; with less, some of them end the process without a message."""


def address_space() -> float:
    """Return the bytes of address space that a limit of the process (``ulimit -v``) allows; infinity without one."""
    with contextlib.suppress(ImportError):  # Windows has no such limit
        import resource  # noqa: PLC0415 - see above

        if (limit := resource.getrlimit(resource.RLIMIT_AS)[0]) != resource.RLIM_INFINITY:
            return limit
    return math.inf


def free_memory() -> int:
    """Return how many bytes this process can still be given without another having to give way.

    The least of what the system has available, what the control group of the process leaves and what a limit of its
    address space leaves; half of the physical memory where nothing else is known.
    """
    return int(min(_available_in_system(), _left_in_group(), _left_in_address_space()))


def check_memory_for_pairs(who: str, n_rows: int, n_matrices: int, instead: str) -> None:
    """Refuse work on more rows than there is memory for matrices of all their pairs, before it begins.

    Parameters
    ----------
    who : str
        The method, for the message.
    n_rows : int
        >= 0.
    n_matrices : int
        Matrices of n_rows x n_rows doubles that are held at a time.
    instead : str
        What else to do, for the message: two ways out beside fewer rows.

    Raises
    ------
    ValueError
        With the rows, the bytes, and how many rows would fit.
    """
    needed, free = 8 * n_matrices * n_rows**2, free_memory()
    if needed > free:
        fitting = math.isqrt(free // (8 * n_matrices))
        raise ValueError(
            f"{who} holds {n_matrices} matri{'x' if n_matrices == 1 else 'ces'} of all pairs of rows: {n_rows:,} rows "
            f"take {needed / GIGABYTE:,.1f} GB, and {free / GIGABYTE:,.1f} GB are free, enough for {fitting:,} rows; "
            f"draw fewer rows, {instead}"
        )


def check_memory(work: str, needed: int, instead: str) -> None:
    """Refuse work for which there is not enough memory, before it begins.

    Parameters
    ----------
    work : str
        What it is, for the message.
    needed : int
        Bytes.
    instead : str
        What else to do, for the message.

    Raises
    ------
    ValueError
        With the bytes.
    """
    if needed > (free := free_memory()):
        raise ValueError(f"{work} take {needed / GIGABYTE:,.1f} GB, and {free / GIGABYTE:,.1f} GB are free; {instead}")


def _available_in_system() -> int:
    try:
        for line in _MEMINFO_PATH.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return DEFAULT_FREE_BYTES


def _left_in_address_space() -> float:
    if (limit := address_space()) == math.inf:
        return limit
    try:
        used = int(_STATM_PATH.read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError, IndexError):
        return limit
    return max(limit - used, 0)


def _left_in_group() -> float:
    """Return what the limit of the control group leaves; infinity where there is none."""
    try:
        limit = int((_CGROUP_FOLDER / "memory.max").read_text(encoding="ascii"))
        return max(limit - int((_CGROUP_FOLDER / "memory.current").read_text(encoding="ascii")), 0)
    except (OSError, ValueError):  # no such group, or "max"
        return math.inf
