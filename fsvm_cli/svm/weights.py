"""What a violation of the margin costs, sample by sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.labels import Codes
    from fsvm_cli.svm.solvers.dual import Array


ClassWeight = Mapping[Any, float] | Literal["balanced"]


def weighted_bounds(C: float, labels: npt.NDArray[Any], class_weight: ClassWeight | None) -> Array:
    """Return the upper bound of alpha of each sample, shape (n,).

    Parameters
    ----------
    C : float
    labels : (n,) array
        Class labels, or codes.
    class_weight : mapping of label to float, "balanced", or None
        As in `weights_of`; names of classes that no sample has do not count.
    """
    if class_weight is None:
        return np.full(len(labels), C)
    present, codes = np.unique(labels, return_inverse=True)
    if not isinstance(class_weight, str):
        class_weight = {label: class_weight[label] for label in present.tolist() if label in class_weight}
    weights = weights_of(codes, present, class_weight, None)
    assert weights is not None, "classes have weights"
    return C * weights


def weights_of(
    codes: Codes,
    classes: npt.NDArray[Any],
    class_weight: ClassWeight | None,
    sample_weight: npt.ArrayLike | None,
) -> Array | None:
    """Return the weight of each sample, by which its C is multiplied, shape (n,); None where all weigh 1.

    Parameters
    ----------
    codes : (n,) array of int
        Class codes.
    classes : (n_classes,) array
        Labels of the codes.
    class_weight : mapping of label to float, "balanced", or None
        Weights of classes, 1 for those that are not named; "balanced" is n / (n_classes * samples of the class).
    sample_weight : (n,) array, optional
        >= 0; a sample of weight 0 does not take part.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, a class is named that is none, or a class is left without a sample.
    """
    if class_weight is None and sample_weight is None:
        return None
    of_class = np.ones(len(classes))
    if class_weight is not None:
        from sklearn.utils.class_weight import compute_class_weight  # noqa: PLC0415 - slow to import, seldom needed

        of_class = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    of_sample = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if of_sample.shape != codes.shape:
        raise ValueError(f"sample_weight.shape == {of_sample.shape}, expected {codes.shape}!")
    weights: Array = of_class[codes] * of_sample
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("weights must be finite numbers >= 0")
    for code in np.setdiff1d(codes, codes[weights > 0])[:1].tolist():
        raise ValueError(f"all samples of class {classes[code]} have zero weight; a machine needs one of each class")
    return weights
