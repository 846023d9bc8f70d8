"""Numerical helpers of all packages: quantisation, information, input range checks, chunks of rows, one BLAS thread.

The measures of information are those of infoprop2001, sections 3 and 4, in bits. They take confusion matrices of shape
(..., n_classes, n_classes), true classes in rows and class indicators in columns, each with at least one sample; an
absent class or an indicator that never fires contributes 0.
"""

from __future__ import annotations

import contextlib
import copy
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import scipy.special
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    import numpy.typing as npt
    from numpy.typing import NDArray


def quantised(values: npt.ArrayLike, spacing: float) -> npt.NDArray[np.float64]:
    """Return the nearest multiples of a spacing.

    Processors differ in the last digit of a sum. A search that continues from a computed point amplifies the difference
    and may end elsewhere. From quantised points it proceeds alike everywhere, unless a value lies, to within its
    rounding error, halfway between two multiples: the probability of that is the error divided by the spacing.

    Parameters
    ----------
    values : array
    spacing : float
        A power of 2, so that its multiples are exact.

    Returns
    -------
    array
        Of the same shape.
    """
    return spacing * np.round(np.asarray(values, dtype=np.float64) / spacing)


def entropy(counts: NDArray[np.intp], axis: int | tuple[int, ...] = -1) -> NDArray[np.float64]:
    """Entropy of relative frequencies.

    Parameters
    ----------
    counts : ndarray
        At least 0.
    axis : int or tuple of int, default=-1
        Along which the counts of one distribution lie.

    Returns
    -------
    ndarray
        In bits, without `axis`; 0 where nothing was counted.
    """
    total = counts.sum(axis=axis, keepdims=True)
    bits: NDArray[np.float64] = scipy.special.entr(counts / np.maximum(total, 1)).sum(axis=axis) / np.log(2)
    return bits


def class_uncertainty(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """H_d, the uncertainty of the class before classification: how difficult the problem is.

    In bits, between 0 and log₂ n_classes; shape (...).
    """
    return entropy(confusion.sum(axis=-1))


def indicator_uncertainty(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """H_Oj, the uncertainty of the class once indicator j has fired.

    In bits, between 0 and log₂ n_classes; 0 for an indicator that never fires; shape (..., n_classes).
    """
    return entropy(confusion, axis=-2)


def firing_frequency(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """Fraction of the samples for which each indicator fires, shape (..., n_classes)."""
    frequency: NDArray[np.float64] = confusion.sum(axis=-2) / confusion.sum(axis=(-2, -1))[..., None]
    return frequency


def classifier_information(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """H = H_d - Σ_j p_j H_Oj, by how much the classifier reduces the uncertainty of the class.

    In bits, between 0 and H_d: the mutual information of the true and the assigned class; shape (...).

    Notes
    -----
    Source: infoprop2001, equation (2).
    """
    left = (firing_frequency(confusion) * indicator_uncertainty(confusion)).sum(axis=-1)
    # The difference of two sums may fall below 0 by rounding; mutual information does not.
    information: NDArray[np.float64] = np.maximum(class_uncertainty(confusion) - left, 0.0)
    return information


def relative_classifier_information(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """H / H_d, the share of the uncertainty that the classifier resolves (RCI).

    Between 0 and 1; 0 where all samples are of one class, because there is nothing to resolve; shape (...).

    Notes
    -----
    Source: infoprop2001, section 3.2, property 4, which prints it in per cent.
    """
    information, uncertainty = classifier_information(confusion), class_uncertainty(confusion)
    share: NDArray[np.float64] = np.divide(
        information, uncertainty, out=np.zeros_like(information), where=uncertainty > 0
    )
    return share


def indicator_credits(confusion: NDArray[np.intp]) -> NDArray[np.float64]:
    """Shares of the class indicators in the classifier's information.

        H_j = H p_j (log₂ M - H_Oj) / Σ_i p_i (log₂ M - H_Oi)

    In bits, at least 0; they add up to the information of the classifier; shape (..., n_classes).

    Notes
    -----
    Source: infoprop2001, equation (3), with M the number of classes of the problem, whether or not each occurs.
    """
    n_classes = confusion.shape[-1]
    # Rounding may push an even distribution above log₂ M.
    certainty = np.maximum(np.log2(n_classes) - indicator_uncertainty(confusion), 0.0)
    weights = firing_frequency(confusion) * certainty
    total = weights.sum(axis=-1, keepdims=True)
    shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    credit: NDArray[np.float64] = classifier_information(confusion)[..., None] * shares
    return credit


MAX_MAGNITUDE = 2.0**250
"""Of a feature value: its fourth power, the magnitude of a squared inner product, does not overflow."""
MIN_MAGNITUDE = 2.0**-250
"""Of the largest value of a feature that is not 0 everywhere: its square is a normal number."""


def check_input_range(X: Any, names: Sequence[str] | None = None, *, unseen: bool = False) -> None:
    """Refuse features whose squares and products a double cannot hold.

    Parameters
    ----------
    X : ndarray or sparse matrix, shape (n_samples, n_features)
        Finite values.
    names : sequence of str, optional
        Of the features; their numbers, from 1 on, where left out.
    unseen : bool, default=False
        Whether the rows are only predicted or transformed: they may all be close to 0.

    Raises
    ------
    ValueError
        Naming the first feature with a value beyond `MAX_MAGNITUDE`, or with values that are not all 0 and all below
        `MIN_MAGNITUDE` in magnitude.
    """
    sizes = column_sizes(X)
    too_small = (sizes > 0) & (sizes < MIN_MAGNITUDE) & (not unseen)
    for feature in np.flatnonzero((sizes > MAX_MAGNITUDE) | too_small)[:1].tolist():
        kind, bound = ("large", MAX_MAGNITUDE) if sizes[feature] > MAX_MAGNITUDE else ("small", MIN_MAGNITUDE)
        raise ValueError(
            f"{feature_called(feature, names)} has values of up to {sizes[feature]:.3g}, too {kind} to compute with "
            f"(the bound is {bound:.2g}): scale the features, for example to unit variance, or give it in other units"
        )


def feature_called(feature: int, names: Sequence[str] | None) -> str:
    """Return the name of a feature for a message, or its number, from 1, where it has none."""
    return f"feature {feature + 1}" if names is None else f"feature '{names[feature]}'"


def column_sizes(X: Any) -> NDArray[np.float64]:
    """Largest absolute value of each column of a dense or sparse matrix, shape (n_features,)."""
    if sp.issparse(X):
        largest: NDArray[np.float64] = abs(X).max(axis=0).toarray().ravel()
    else:
        largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    return largest


def value_ranges(X: Any) -> NDArray[np.float64]:
    """Largest minus smallest value of each column of a dense or CSR matrix, shape (n_features,).

    The largest double where the difference is beyond it; 0 only where all values are equal.
    """
    highest, lowest = X.max(axis=0), X.min(axis=0)
    if sp.issparse(X):
        highest, lowest = highest.toarray().ravel(), lowest.toarray().ravel()
    with np.errstate(over="ignore"):
        ranges: NDArray[np.float64] = np.minimum(highest - lowest, np.finfo(np.float64).max)
    return ranges


def binary_exponents(sizes: NDArray[np.float64]) -> NDArray[np.int32]:
    """Find the powers of two that bring sizes to between ½ and 1.

    Multiplying by a power of two rounds nothing, so that what does not depend on units stays the same to the last bit.

    Parameters
    ----------
    sizes : ndarray
        Finite, at least 0.

    Returns
    -------
    ndarray of int
        For ``ldexp``; 0 where the size is 0.
    """
    exponents: NDArray[np.int32] = -np.frexp(sizes)[1]
    return exponents


@contextlib.contextmanager
def refusing_overflow(who: str) -> Iterator[None]:
    """Turn overflow and invalid operations into a ValueError with a remedy.

    Otherwise an intermediate NaN or infinity could lead to scores that look valid.

    Parameters
    ----------
    who : str
        The method, for the message.
    """
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            yield
    except (FloatingPointError, OverflowError) as error:
        raise ValueError(
            f"{who}: the values lead beyond what doubles hold ({error}): scale the features, or change the parameters"
        ) from error


def read_only(values: Any) -> Any:
    """Return a view that cannot be written through, nor made writable; of a sparse matrix, one without duplicates.

    Parameters
    ----------
    values : ndarray, CSR matrix or None
    """
    if sp.issparse(values):
        view = copy.copy(values) if values.has_canonical_format else values.copy()
        view.sum_duplicates()
        view.data, view.indices, view.indptr = map(read_only, (view.data, view.indices, view.indptr))
        return view
    # numpy lets the owner of a writable base set the flag of a view again, and not that of read-only memory.
    return values if values is None or not values.flags.writeable else np.asarray(memoryview(values).toreadonly())


def real_numbers(found: Any, n_features: int, who: str, what: str, n_dimensions: int = 1) -> NDArray[np.float64]:
    """Check that a method returned an array of real numbers, a row or a number for each feature.

    Raises
    ------
    RuntimeError
        If it did not, which is no fault of its caller.
    """
    if not isinstance(found, np.ndarray):
        gave = f"a {type(found).__name__} of {what}"
    elif found.dtype.kind not in "fiub":
        gave = f"{what} of the type {found.dtype}"
    elif found.ndim != n_dimensions:
        gave = f"an array of the shape {found.shape}"
    elif len(found) != n_features:
        gave = f"{len(found)} {what}"
    else:
        return np.asarray(found, dtype=np.float64)
    raise RuntimeError(f"{who} gave {gave} for {n_features} features; return an array of real numbers, one for each")


CHUNK_VALUES = 1 << 20
"""Values per chunk (8 MB). A smaller matrix is one chunk, whose sums equal those of the whole to the last bit."""


def row_blocks(n_rows: int, n_columns: int, n_values: int | None = None) -> Iterator[slice]:
    """Yield the chunks of rows of a matrix of this shape, in order, each of `n_values` values at most."""
    step = max((n_values or CHUNK_VALUES) // max(n_columns, 1), 1)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def all_finite(X: NDArray[np.float64]) -> bool:
    """Whether a matrix holds neither NaN nor an infinite value."""
    return all(bool(np.isfinite(X[rows]).all()) for rows in row_blocks(*X.shape))


@contextmanager
def one_blas_thread() -> Generator[None]:
    """Keep BLAS to one thread; a context manager and a decorator.

    numpy and scipy each have a BLAS with threads of its own, which spin for some milliseconds after each call and slow
    down the next: fits of thousands of samples took up to twice as long with threads.
    """
    libraries = _blas()
    if all(library.num_threads == 1 for library in libraries.lib_controllers):
        yield
        return
    with libraries.limit(limits=1):
        yield


@cache
def _blas() -> ThreadpoolController:
    """Find the libraries once, which takes some milliseconds."""
    return ThreadpoolController().select(user_api="blas")
