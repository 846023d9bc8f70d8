"""Named random streams: only the name of a stream determines its numbers, not the order or place of its use."""

from __future__ import annotations

import hashlib

import numpy as np


def random_stream(seed: int, *axes: str | int) -> np.random.Generator:
    """Open the random stream of an experiment that serves one purpose.

    Streams of different axes are independent, and none depends on how many others there are, so that adding a method
    or a split leaves all other numbers as they were.

    Parameters
    ----------
    seed : int
        The experiment's seed, at least 0.
    *axes : str or int
        What the stream is for, for example ``"split", 17`` or ``"ranking", "random", 17``.

    Returns
    -------
    numpy.random.Generator
        The stream at its beginning.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(map(_spawn_key, axes))))


def tie_seed(seed: int, split: int) -> int:
    """Return the seed that breaks ties among features, the same for all methods on a split."""
    return int(random_stream(seed, "ties", split).integers(2**31))


def _spawn_key(axis: str | int) -> int:
    if isinstance(axis, int):
        return axis
    # Hashes of words are above all integers, so that no word and no integer share a stream.
    return 2**32 + int.from_bytes(hashlib.sha256(axis.encode()).digest()[:4])
