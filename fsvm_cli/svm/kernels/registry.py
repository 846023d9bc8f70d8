"""The kernels that a config can name, those of the papers, by name."""

from __future__ import annotations

import warnings
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.svm.kernels.anova import Anova
from fsvm_cli.svm.kernels.base import Kernel
from fsvm_cli.svm.kernels.exponential import ExponentialKernel
from fsvm_cli.svm.kernels.gaussian import Gaussian
from fsvm_cli.svm.kernels.laplace import Laplace
from fsvm_cli.svm.kernels.linear import Linear
from fsvm_cli.svm.kernels.polynomial import Polynomial
from fsvm_cli.svm.kernels.tanh import Tanh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsvm_cli.svm.kernels.additive import AdditiveKernel
    from fsvm_cli.svm.kernels.pairwise import Matrix

KERNELS: Mapping[str, type[AdditiveKernel]] = MappingProxyType(
    {kernel.name: kernel for kernel in (Linear, Polynomial, Gaussian, Laplace, Anova, Tanh)}
)


SCIKIT_LEARN_NAMES = MappingProxyType({"rbf": Gaussian.name})
"""Kernels that nearly every other program calls otherwise, by the name there."""


def kernel_from_name(name: str, **parameters: Any) -> AdditiveKernel:
    """Return the kernel that configs call `name`.

    Parameters
    ----------
    name : str
        A key of `KERNELS`, or of `SCIKIT_LEARN_NAMES`.
    **parameters
        The fields of its dataclass.

    Raises
    ------
    ValueError
        If there is no such kernel, it has no such parameter, or a parameter is out of range.

    Examples
    --------
    >>> from fsvm_cli.svm import kernel_from_name
    >>> kernel_from_name("polynomial", degree=3)
    Polynomial(degree=3, offset=1.0, weights=None, scale=1.0)
    """
    name = SCIKIT_LEARN_NAMES.get(name, name)
    if name not in KERNELS:
        raise ValueError(f"no kernel is called {name!r}; there are {', '.join(KERNELS)}")
    known = {field.name for field in fields(KERNELS[name])}
    if unknown := sorted(set(parameters) - known):
        raise ValueError(
            f"the {name} kernel has no parameter {unknown[0]!r}; it has {', '.join(sorted(known)) or 'none'}"
        )
    return KERNELS[name](**parameters)


def as_kernel(kernel: str | Kernel) -> Kernel:
    """Return a kernel, also of a name, with its default parameters."""
    return kernel if isinstance(kernel, Kernel) else kernel_from_name(kernel)


def in_place_of(name: str) -> str:
    """Return a hint with the name that this package has for a kernel which scikit-learn calls `name`."""
    return f"the kernel '{name}' is called '{SCIKIT_LEARN_NAMES[name]}' here, and its gamma is 1 / theta"


def kernel_for(kernel: str | Kernel, X: Matrix, **parameters: Any) -> Kernel:
    """Return the kernel of a machine that is trained on `X`.

    Parameters
    ----------
    kernel : str or Kernel
        A kernel is taken as it is; of one by its name, theta is in proportion to the distances between the samples
        (`ExponentialKernel.scaled_to`) where it is not said.
    X : (n, d) array or CSR matrix
    **parameters
        Of a kernel by its name; those that are None are not said.

    Raises
    ------
    ValueError
        As `kernel_from_name`, or if there are parameters for a kernel that has its own.

    Warns
    -----
    UserWarning
        If the name is one of `SCIKIT_LEARN_NAMES`.
    """
    said = {name: value for name, value in parameters.items() if value is not None}
    if isinstance(kernel, Kernel):
        if said:
            raise ValueError(f"the kernel {kernel!r} has parameters of its own; leave {', '.join(said)} out")
        return kernel
    if kernel in SCIKIT_LEARN_NAMES:
        warnings.warn(in_place_of(kernel), stacklevel=2)
    named = kernel_from_name(kernel, **said)
    if isinstance(named, ExponentialKernel) and "theta" not in said and isinstance(X, np.ndarray):
        return named.scaled_to(X)
    return named
