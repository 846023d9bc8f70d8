"""The unit that the C of a machine is given in.

What a violation of the margin costs, sample by sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from fsvm_cli.svm.compiled import Array
    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.kernels.pairwise import Matrix
    from fsvm_cli.svm.labels import Codes

CUnit = Literal["none", "mean-diagonal"]

MIN_MEAN_DIAGONAL = 1e-300
"""Mean of K(x, x) that one can be divided by; its inverse is the largest."""


def unit_of_c(c_unit: CUnit, kernel: Kernel, X: Matrix, sample_weight: Array | None = None) -> float:
    """Return what the C of one machine is multiplied by to become the upper bound of its alpha.

    In units of one over the mean of K(x, x), C does not depend on the scale of the kernel: a machine with s K and
    C / s decides as that with K and C. One number of C then means the same for machines whose kernels, features or
    numbers of features differ. For a kernel with K(x, x) = 1, such as the Gaussian one, the unit is 1.

    Parameters
    ----------
    c_unit : {"none", "mean-diagonal"}
        "none": C is the bound itself, the unit is 1. "mean-diagonal": the unit is 1 / mean of K(x, x).
    kernel : Kernel
        Of the machine.
    X : (n, d) array or CSR matrix
        The samples that the machine is trained on, with the features that it is trained on.
    sample_weight : (n,) array, optional
        Of the samples, in the mean.

    Returns
    -------
    float
        > 0. Where K(x, x) is 0 for all samples so are all kernel values; the machine is constant whatever C is, and the
        unit is 1.

    Raises
    ------
    ValueError
        If there is no such unit, or the mean of K(x, x) is negative, as that of an indefinite kernel may be, or so
        large or small that there is no number for the unit.

    Notes
    -----
    C = 1 in this unit is the default of T. Joachims' SVMlight as its help gives it, [avg. x*x]^-1. The program itself
    takes (mean of |phi(x) - phi(0)|)^-2, the lengths before the mean; for the linear kernel the two are the same where
    all samples have one length, and its bound is the larger one elsewhere.

    References
    ----------
    - T. Joachims, "Making Large-Scale SVM Learning Practical", in: Advances in Kernel Methods - Support Vector
      Learning, MIT Press, 1999; the program and its help: https://www.cs.cornell.edu/people/tj/svm_light/.

    Examples
    --------
    >>> from fsvm_cli.svm import Linear
    >>> from fsvm_cli.svm.costs import unit_of_c
    >>> unit_of_c("mean-diagonal", Linear(), [[1.0, 1.0], [0.0, 2.0], [3.0, 0.0]])
    0.2
    """
    if c_unit not in get_args(CUnit):
        raise ValueError(f"C_unit must be one of {', '.join(get_args(CUnit))}, not {c_unit!r}")
    if c_unit == "none":
        return 1.0
    mean = float(np.average(kernel.diagonal(X), weights=sample_weight))
    if mean == 0.0 and kernel.positive_semidefinite:
        return 1.0
    if not MIN_MEAN_DIAGONAL <= mean <= 1.0 / MIN_MEAN_DIAGONAL:
        raise ValueError(
            f"the mean of K(x, x) over the training samples is {mean:g} with the {kernel.name} kernel, and one over it "
            "is no unit of C; scale the features, take another kernel, or leave C_unit out"
        )
    return 1.0 / mean


ClassWeight = Mapping[Any, float] | Literal["balanced"]


def weighted_bounds(
    C: float, labels: npt.NDArray[Any], class_weight: ClassWeight | None, sample_weight: Array | None = None
) -> Array:
    """Return the upper bound of alpha of each sample, shape (n,).

    Parameters
    ----------
    C : float
    labels : (n,) array
        Class labels, or codes.
    class_weight : mapping of label to float, "balanced", or None
        As in `weights_of`; names of classes that no sample has do not count.
    sample_weight : (n,) array, optional
        > 0, by which C is multiplied, too.
    """
    if class_weight is None:
        return np.full(len(labels), C) if sample_weight is None else C * sample_weight
    present, codes = np.unique(labels, return_inverse=True)
    if not isinstance(class_weight, str):
        class_weight = {label: class_weight[label] for label in present.tolist() if label in class_weight}
    weights = weights_of(codes, present, class_weight, sample_weight)
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
