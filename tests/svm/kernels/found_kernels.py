"""Every kernel there is, with parameters that are not the defaults, and plain twins of their functions phi."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.svm import Anova, Gaussian, Kernel, Laplace, Linear, Polynomial, Tanh, UnitDiagonal, WeightedSum, kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fsvm_cli.svm.kernels.additive import AdditiveKernel

D = 4
WEIGHTS = (0.5, 0.0, 2.0, 1.3)
ADDITIVE: list[AdditiveKernel] = [
    Linear(),
    Linear(WEIGHTS),
    Polynomial(3, 0.7, scale=0.6),
    Polynomial(2, 1.0, WEIGHTS, 0.6),
    Gaussian(2.5),
    Gaussian(2.0, WEIGHTS),
    Laplace(3.0),
    Laplace(1.5, WEIGHTS),
    Anova(0.4, 3),
    Tanh(0.3, 0.2),
]
SUMS = [
    WeightedSum((Gaussian(2.0, WEIGHTS),), (1.7,), constant=0.4),
    WeightedSum((Linear(), Polynomial(2)), (0.5, 0.2)),
    WeightedSum((Linear(WEIGHTS), Laplace(2.0, WEIGHTS)), (0.0, 2.0), constant=1.0),
    WeightedSum((Gaussian(0.5), Gaussian(5.0), Anova(0.4)), (0.5, 1.5, 0.1)),
    WeightedSum((Gaussian(0.5), Gaussian(5.0)), (0.5, -1.5), constant=-0.3, free_sign=True),
    WeightedSum((WeightedSum((Linear(),), (2.0,), 1.0), Tanh(0.2)), (0.5, 0.3), constant=0.1),
]
UNIT_DIAGONAL = [
    UnitDiagonal(Polynomial(2)),
    UnitDiagonal(Linear(WEIGHTS)),
    UnitDiagonal(SUMS[2]),
]
EVERY: list[Kernel] = [*ADDITIVE, *SUMS, *UNIT_DIAGONAL]
PHI: dict[type[Kernel], Callable[..., np.ndarray]] = {
    Linear: lambda kernel, s: s,
    Polynomial: lambda kernel, s: (kernel.offset + kernel.scale * s) ** kernel.degree,
    Gaussian: lambda kernel, s: np.exp(-s / kernel.theta),
    Laplace: lambda kernel, s: np.exp(-s / kernel.theta),
    Anova: lambda kernel, s: s**kernel.degree,
    Tanh: lambda kernel, s: np.tanh(kernel.scale * s - kernel.offset),
}


def kernel_classes() -> set[type[Kernel]]:
    """Find the classes of kernels that the room defines."""
    for module in pkgutil.iter_modules(kernels.__path__, f"{kernels.__name__}."):
        importlib.import_module(module.name)
    return {each for each in _below(Kernel) if not inspect.isabstract(each)}


def _below(base: type[Kernel]) -> Iterator[type[Kernel]]:
    for each in base.__subclasses__():
        yield each
        yield from _below(each)


def samples(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, D))


def name_of(kernel: Kernel) -> str:
    if isinstance(kernel, WeightedSum):
        return f"sum-of-{'-'.join(name_of(each) for each in kernel.kernels)}"
    if isinstance(kernel, UnitDiagonal):
        return f"unit-diagonal-{name_of(kernel.kernel)}"
    return f"{kernel.name}{'-weighted' if getattr(kernel, 'weights', None) else ''}"
