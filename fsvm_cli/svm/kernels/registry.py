"""The kernels that a config can name, those of the papers, by name."""

from __future__ import annotations

from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fsvm_cli.svm.kernels.anova import Anova
from fsvm_cli.svm.kernels.gaussian import Gaussian
from fsvm_cli.svm.kernels.laplace import Laplace
from fsvm_cli.svm.kernels.linear import Linear
from fsvm_cli.svm.kernels.polynomial import Polynomial
from fsvm_cli.svm.kernels.tanh import Tanh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsvm_cli.svm.kernels.additive import AdditiveKernel

KERNELS: Mapping[str, type[AdditiveKernel]] = MappingProxyType(
    {kernel.name: kernel for kernel in (Linear, Polynomial, Gaussian, Laplace, Anova, Tanh)}
)


def kernel_from_name(name: str, **parameters: Any) -> AdditiveKernel:
    """Return the kernel that configs call `name`.

    Parameters
    ----------
    name : str
        A key of `KERNELS`.
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
    if name not in KERNELS:
        raise ValueError(f"no kernel is called {name!r}; there are {', '.join(KERNELS)}")
    known = {field.name for field in fields(KERNELS[name])}
    if unknown := sorted(set(parameters) - known):
        raise ValueError(
            f"the {name} kernel has no parameter {unknown[0]!r}; it has {', '.join(sorted(known)) or 'none'}"
        )
    return KERNELS[name](**parameters)
