"""Models of a kernel in a config, generated from the classes of the kernels."""

from __future__ import annotations

import dataclasses
import functools
import operator
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, create_model

from fsvm_cli.config_io import StrictModel
from fsvm_cli.svm.kernels.exponential import ExponentialKernel
from fsvm_cli.svm.kernels.registry import KERNELS, as_kernel

if TYPE_CHECKING:
    from fsvm_cli.svm.kernels.base import Kernel

KERNEL_FIELDS_NOT_IN_CONFIGS = frozenset({"weights"})
"""Parameters that no config can set."""

SYNONYMS = {
    **dict.fromkeys(("rbf", "radial", "radial-basis", "radial-basis-function", "gauss"), "gaussian"),
    **dict.fromkeys(("poly", "quadratic", "cubic"), "polynomial"),
    **dict.fromkeys(("sigmoid", "mlp", "hyperbolic-tangent"), "tanh"),
    **dict.fromkeys(("laplacian", "exponential"), "laplace"),
    **dict.fromkeys(("dot", "vanilla"), "linear"),
    **dict.fromkeys(("gamma", "sigma", "width", "bandwidth", "length-scale"), "theta"),
    **dict.fromkeys(("coef0", "bias"), "offset"),
    **dict.fromkeys(("d", "deg"), "degree"),
    **dict.fromkeys(("tol", "eps", "epsilon", "gap"), "tolerance"),
    **dict.fromkeys(("c", "cost", "penalty"), "C"),
    **dict.fromkeys(("class_weights", "class-weight", "weights"), "class_weight"),
}
"""Names of kernels and parameters in other programs. Gaussian and laplace: theta is 1 over their gamma."""

SCALE: Literal["scale"] = "scale"
"""The theta that is in proportion to the distances between training rows."""


@functools.cache
def fields_in_configs(kernel: type[Kernel]) -> Mapping[str, tuple[Any, Any]]:
    """Return type and default of the parameters of a kernel that a config can set, by name."""
    hints = typing.get_type_hints(kernel, include_extras=True)
    found = {
        field.name: (hints[field.name], field.default)
        for field in dataclasses.fields(kernel)
        if field.name not in KERNEL_FIELDS_NOT_IN_CONFIGS
    }
    if issubclass(kernel, ExponentialKernel):
        found["theta"] = (hints["theta"] | Literal["scale"], SCALE)
    return found


def kernel_or_name(name: str, parameters: Mapping[str, Any]) -> Kernel | str:
    """Build a kernel; where its theta is in proportion to distances, return the name that `kernel_for` reads."""
    return name if parameters.get("theta") == SCALE else KERNELS[name](**parameters)


class KernelSpec(StrictModel):
    """A kernel with its parameters."""

    synonyms: ClassVar[Mapping[str, str]] = SYNONYMS

    kernel: str

    def kernel_or_name(self) -> Kernel | str:
        """Build the kernel that the config describes, or name it; see `kernel_or_name`."""
        return kernel_or_name(
            self.kernel, {name: getattr(self, name) for name in fields_in_configs(KERNELS[self.kernel])}
        )

    def kernel_object(self) -> Kernel:
        """Build the kernel, for questions that its theta has no part in."""
        return as_kernel(self.kernel_or_name())


Model = TypeVar("Model", bound=KernelSpec)


def models_of_kernels(base: type[Model], suffix: str) -> Any:
    """Make the type of everything with a kernel, from a model that lacks the kernel's parameters only."""
    models = [_model_of(kernel, base, suffix) for kernel in KERNELS.values()]
    return Annotated[functools.reduce(operator.or_, models), Field(discriminator="kernel")]


def _model_of(kernel: type[Kernel], base: type[Model], suffix: str) -> Any:
    fields: dict[str, Any] = {**fields_in_configs(kernel), "kernel": (Literal[kernel.name], ...)}
    return create_model(f"{kernel.__name__}{suffix}", __base__=base, **fields)


if TYPE_CHECKING:
    AnyKernel = KernelSpec
else:
    AnyKernel = models_of_kernels(KernelSpec, "Kernel")
