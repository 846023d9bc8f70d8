"""The unit that the C of a machine is given in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.svm.kernels.pairwise import Matrix

CUnit = Literal["none", "mean-diagonal"]

SMALLEST = 1e-300
"""Mean of K(x, x) that one can be divided by; its inverse is the largest."""


def unit_of_c(c_unit: CUnit, kernel: Kernel, X: Matrix) -> float:
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
    >>> from fsvm_cli.svm.c_unit import unit_of_c
    >>> unit_of_c("mean-diagonal", Linear(), [[1.0, 1.0], [0.0, 2.0], [3.0, 0.0]])
    0.2
    """
    if c_unit not in get_args(CUnit):
        raise ValueError(f"C_unit must be one of {', '.join(get_args(CUnit))}, not {c_unit!r}")
    if c_unit == "none":
        return 1.0
    mean = float(kernel.diagonal(X).mean())
    if mean == 0.0 and kernel.positive_semidefinite:
        return 1.0
    if not SMALLEST <= mean <= 1.0 / SMALLEST:
        raise ValueError(
            f"the mean of K(x, x) over the training samples is {mean:g} with the {kernel.name} kernel, and one over it "
            "is no unit of C; scale the features, take another kernel, or leave C_unit out"
        )
    return 1.0 / mean
