"""How many support vectors machines have, where copies of a sample share a coefficient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fsvm_cli.svm.vectors import Array


def count_support_vectors(points: Any, coefficients: Array, bounds: Array, noise: float) -> NDArray[np.intp]:
    """Count the support vectors of each machine, whatever copies of a sample have of the coefficient that they share.

    Copies may share it in any way, and solvers, and processors, share it in different ways: as few are counted as can
    carry it.

    Parameters
    ----------
    points : (n, d) array or CSR matrix
        Samples; all that have a coefficient other than 0 are among them.
    coefficients : (n_machines, n) array
        alpha_i y_i.
    bounds : (n_machines, n) array
        C of each sample, > 0; may be infinite.
    noise : float
        What counts as 0, as a part of C and of the largest joint coefficient.

    Returns
    -------
    (n_machines,) array of int
    """
    place = _numbers_of_rows(points)
    numbers = np.zeros(len(coefficients), dtype=np.intp)
    for machine, (own, C) in enumerate(zip(coefficients, bounds, strict=True)):
        largest = np.zeros(place.max(initial=-1) + 1)
        np.maximum.at(largest, place, C)
        joint = np.array([np.bincount(place, np.maximum(sign * own, 0.0)) for sign in (1, -1)])
        carriers = np.maximum(np.ceil(joint / largest - noise), 1.0)
        numbers[machine] = carriers[joint > noise * joint.max(initial=0.0)].sum()
    return numbers


def _numbers_of_rows(points: Any) -> NDArray[np.intp]:
    """Give each row a number, equal ones the same."""
    if not sparse.issparse(points):
        return np.unique(points, axis=0, return_inverse=True)[1].ravel()
    columns, values = (np.split(of_all, points.indptr[1:-1]) for of_all in (points.indices, points.data))
    numbers: dict[tuple[bytes, bytes], int] = {}
    keys = [(row.tobytes(), of_row.tobytes()) for row, of_row in zip(columns, values, strict=True)]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
