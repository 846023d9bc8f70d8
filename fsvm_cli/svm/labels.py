"""The classes of a problem as the labels of its binary machines, apart from them because filters need nothing else."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]


def machine_labels(codes: Codes, n_classes: int) -> tuple[npt.NDArray[np.float64], Codes]:
    """Return the labels of each machine and the class counts.

    Parameters
    ----------
    codes : (n,) array of int
        Class codes, 0 <= code < n_classes.
    n_classes : int
        >= 2.

    Returns
    -------
    labels : (n_machines, n) array
        +1 for the machine's class, else -1; all -1 for a class that is absent.
    class_counts : (n_classes,) array of int

    Raises
    ------
    ValueError
        If a code is out of range or fewer than two classes are present.
    """
    codes = np.asarray(codes, dtype=np.int64)
    if codes.size and not (codes.min() >= 0 and codes.max() < n_classes):
        raise ValueError(f"class codes must lie in 0 .. {n_classes - 1}, not {codes.min()} .. {codes.max()}")
    counts = np.bincount(codes, minlength=n_classes)
    if np.count_nonzero(counts) < 2:
        raise ValueError(f"the training part holds {np.count_nonzero(counts)} class(es); a machine needs at least two")
    positive = np.array([1]) if n_classes == 2 else np.arange(n_classes)
    return np.where(codes[None, :] == positive[:, None], 1.0, -1.0), counts
