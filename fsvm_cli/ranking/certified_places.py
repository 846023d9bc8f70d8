"""Places of features whose scores are known up to an interval: decided, between copies, or tied."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Verdict(NamedTuple):
    """What is known of one place in the order of elimination.

    Attributes
    ----------
    name : {"decided", "copy", "tied"}
    rivals : ndarray of int
        Features that might have gone in its place.
    """

    name: str
    rivals: NDArray[np.intp]


class Places(NamedTuple):
    """What intervals say of an order.

    Attributes
    ----------
    verdicts : list of str
        For each feature "decided", "copy" or "tied".
    decided : ndarray of bool, shape (n_features,)
    sizes : ndarray of int
        The sizes k for which the k first features, as a set, are known.
    tied_with : dict of int to ndarray of int
        For each feature that is not decided, those that might have its place.
    """

    verdicts: list[str]
    decided: NDArray[np.bool_]
    sizes: NDArray[np.intp]
    tied_with: dict[int, NDArray[np.intp]]


def places_by_intervals(
    order: NDArray[np.intp], low: NDArray[np.float64], high: NDArray[np.float64], copies: NDArray[np.intp]
) -> Places:
    """Tell which places of an order are those of the true scores.

    A place is decided where all features before it have higher scores, and all after it lower ones, whatever the scores
    in the intervals.

    Parameters
    ----------
    order : ndarray of int, shape (n_features,)
        Best first.
    low, high : ndarray, shape (n_features,)
        Bounds of the true scores.
    copies : ndarray of int, shape (n_features,)
        As of `classes_of_copies`.
    """
    d, low, high = len(order), low[order], high[order]
    lowest, highest = np.minimum.accumulate(low), np.maximum.accumulate(high[::-1])[::-1]
    verdicts, tied_with = [""] * d, {}
    for place, feature in enumerate(order.tolist()):
        if (place == 0 or lowest[place - 1] > high[place]) and (place == d - 1 or highest[place + 1] < low[place]):
            verdicts[feature] = "decided"
            continue
        before, after = low[:place] <= high[place], high[place + 1 :] >= low[place]
        rivals = order[np.concatenate([before, [False], after])]
        verdicts[feature] = "copy" if (copies[rivals] == copies[feature]).all() else "tied"
        tied_with[feature] = np.sort(rivals)
    sizes = [k for k in range(1, d) if lowest[k - 1] > highest[k]] + [d]
    return Places(verdicts, np.array([each == "decided" for each in verdicts]), np.array(sizes), tied_with)


def classes_of_copies(columns: NDArray[np.float64], weights: NDArray[np.float64] | None) -> NDArray[np.intp]:
    """Return a number for each feature, equal for features of equal cost in any machine with a bias.

    Those are columns that are equal, or opposite, up to a constant, and have the same weight.

    Parameters
    ----------
    columns : ndarray, shape (n_features, n_samples)
    weights : ndarray, shape (n_features,), or None
    """
    first = columns[:, :1]
    shifted = columns - first
    # Knuth's exact error of a difference: without one, columns that differ by a constant are recognised.
    virtual = shifted - columns
    error = (columns - (shifted - virtual)) - (first + virtual)
    keys = np.where((error == 0.0).all(axis=1)[:, None], shifted, columns)
    leading = (keys != 0.0).argmax(axis=1)
    keys = keys * np.where(keys[np.arange(len(keys)), leading] < 0.0, -1.0, 1.0)[:, None] + 0.0
    scale = np.ones(len(columns)) if weights is None else weights
    known: dict[bytes, int] = {}
    return np.array(
        [known.setdefault(key.tobytes() + each.tobytes(), len(known)) for key, each in zip(keys, scale, strict=True)]
    )
