"""What a config says of a kernel; its models are made from the kernels' classes."""

from __future__ import annotations

import dataclasses
import functools
import operator
import typing
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, create_model

from fsvm_cli.documents import StrictModel
from fsvm_cli.svm.kernels import KERNELS

if TYPE_CHECKING:
    from fsvm_cli.svm.additive_kernel import Kernel

# Parameters that a config cannot say.
KERNEL_FIELDS_NOT_IN_CONFIGS = frozenset({"weights"})


class KernelSpec(StrictModel):
    """A kernel with its parameters."""

    kernel: str

    def kernel_object(self) -> Kernel:
        """Build the kernel that the config describes."""
        names = {field.name for field in dataclasses.fields(KERNELS[self.kernel])} - KERNEL_FIELDS_NOT_IN_CONFIGS
        return KERNELS[self.kernel](**{name: getattr(self, name) for name in names})


Model = TypeVar("Model", bound=KernelSpec)


def models_of_kernels(base: type[Model], suffix: str) -> Any:
    """Make the type of everything with a kernel, from a model that lacks the kernel's parameters only."""
    models = [_model_of(kernel, base, suffix) for kernel in KERNELS.values()]
    return Annotated[functools.reduce(operator.or_, models), Field(discriminator="kernel")]


def _model_of(kernel: type[Kernel], base: type[Model], suffix: str) -> Any:
    hints = typing.get_type_hints(kernel, include_extras=True)
    fields: dict[str, Any] = {
        field.name: (hints[field.name], field.default)
        for field in dataclasses.fields(kernel)
        if field.name not in KERNEL_FIELDS_NOT_IN_CONFIGS
    }
    fields["kernel"] = (Literal[kernel.name], ...)
    return create_model(f"{kernel.__name__}{suffix}", __base__=base, **fields)


if TYPE_CHECKING:
    AnyKernel = KernelSpec
else:
    AnyKernel = models_of_kernels(KernelSpec, "Kernel")
