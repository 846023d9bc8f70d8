"""The choice of a machine inside the training part: the `tune` of a classifier."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, create_model, model_validator
from sklearn.model_selection import StratifiedKFold

from fsvm_cli.documents import StrictModel
from fsvm_cli.spec.kernels import SYNONYMS, fields_in_configs
from fsvm_cli.svm import grid_search, leave_one_out
from fsvm_cli.svm.kernels.families import KERNELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fsvm_cli.spec.machine import Machine
    from fsvm_cli.svm.kernels.additive import Kernel
    from fsvm_cli.svm.paths.folds import Fold

LEAVE_ONE_OUT: Literal["leave-one-out"] = "leave-one-out"


def one_or_more(value: Any) -> Any:
    """Read a value that may stand for a list of one."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)


class KernelCandidates(StrictModel):
    """A kernel with one value or several for each of its parameters; each combination is a candidate."""

    synonyms: ClassVar[Mapping[str, str]] = SYNONYMS

    kernel: str

    def values(self) -> dict[str, tuple[Any, ...]]:
        """List the values of each parameter."""
        return {name: getattr(self, name) for name in fields_in_configs(KERNELS[self.kernel])}

    def objects(self) -> list[Kernel]:
        """Build every candidate."""
        values = self.values()
        combinations = itertools.product(*values.values())
        return [KERNELS[self.kernel](**dict(zip(values, chosen, strict=True))) for chosen in combinations]


def _candidates_model(name: str, kernel: type[Kernel]) -> type[KernelCandidates]:
    fields: dict[str, Any] = {"kernel": (Literal[name], ...)}
    for field, (hint, default) in fields_in_configs(kernel).items():
        several: Any = types.GenericAlias(tuple, (hint, ...))
        read = BeforeValidator(one_or_more, json_schema_input_type=hint | several)
        fields[field] = (Annotated[several, read, Field(min_length=1)], (default,))
    return create_model(f"{kernel.__name__}Candidates", __base__=KernelCandidates, **fields)


if TYPE_CHECKING:
    AnyCandidates = KernelCandidates
else:
    AnyCandidates = Annotated[
        functools.reduce(operator.or_, [_candidates_model(name, kernel) for name, kernel in KERNELS.items()]),
        Field(discriminator="kernel"),
    ]


def _read_folds(value: Any) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 2
    if not is_number and value != LEAVE_ONE_OUT:
        raise ValueError(f"{value!r} is no number of folds; write 2 or more, or {LEAVE_ONE_OUT}")
    return value


Folds = Annotated[
    int | Literal["leave-one-out"],
    PlainValidator(_read_folds),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 2}, {"const": LEAVE_ONE_OUT}]}),
]


class TuneStep(StrictModel):
    """One grid search on the training part; what it does not search stays as it is."""

    kernels: tuple[AnyCandidates, ...] = Field(
        default=(), description="Kernels to choose from, each with a value or a list of values for its parameters."
    )
    C: tuple[Annotated[float, Field(gt=0)], ...] = Field(default=(), description="Values of C to choose from.")
    folds: Folds = Field(
        description="Parts of the training part of which each is left out once; by class, in a random order."
    )

    @model_validator(mode="after")
    def _searches_something(self) -> TuneStep:
        if not self.kernels and not self.C:
            raise ValueError("there is nothing to choose from; list 'kernels', 'C', or both")
        return self


TuneSteps = Annotated[
    tuple[TuneStep, ...],
    BeforeValidator(one_or_more, json_schema_input_type=TuneStep | tuple[TuneStep, ...]),
    Field(min_length=1),
]


def tuned(
    machine: Machine,
    steps: Sequence[TuneStep],
    X: NDArray[np.float64],
    y: NDArray[np.intp],
    *,
    n_classes: int,
    rng: np.random.Generator,
) -> Machine:
    """Choose a machine by accuracy in cross-validation, step by step.

    Of equally accurate candidates the smoothest is taken; see `fsvm_cli.svm.grid_search`.

    Parameters
    ----------
    machine : Machine
        Where the first step begins.
    steps : sequence of TuneStep
        Each begins with what the one before it chose.
    X : ndarray, shape (n_samples, n_features)
        The training part.
    y : ndarray of int, shape (n_samples,)
        Class codes.
    n_classes : int
    rng : numpy.random.Generator
        Draws the folds.

    Raises
    ------
    ValueError
        If a class has too few samples for the folds.
    """
    for step in steps:
        kernels = [kernel for candidates in step.kernels for kernel in candidates.objects()]
        found = grid_search(
            kernels or [machine.kernel],
            step.C or [machine.C],
            X,
            y,
            _folds(step.folds, y, rng),
            n_classes=n_classes,
            tolerance=machine.tolerance,
        )
        machine = dataclasses.replace(
            machine,
            kernel=found.kernel,
            C=found.C,
            chosen=machine.chosen | _chosen(step, found.kernel, found.C),
            converged=machine.converged and bool(found.converged.all()),
        )
    return machine


def _folds(folds: int | Literal["leave-one-out"], y: NDArray[np.intp], rng: np.random.Generator) -> list[Fold]:
    counts = np.bincount(y)
    smallest = int(counts[counts > 0].min())
    needed = 2 if folds == LEAVE_ONE_OUT else folds
    if smallest < needed:
        raise ValueError(
            f"tune: folds is {folds}; in the training part the smallest class has {smallest} samples, and "
            f"{needed} are needed"
        )
    if folds == LEAVE_ONE_OUT:
        return leave_one_out(len(y))
    splitter = StratifiedKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
    return list(splitter.split(np.zeros(len(y)), y))


def _chosen(step: TuneStep, kernel: Kernel, C: float) -> dict[str, float | int | str]:
    """Name what the step chose among several values."""
    chosen: dict[str, float | int | str] = {}
    if len({candidates.kernel for candidates in step.kernels}) > 1:
        chosen["kernel"] = kernel.name
    of_kind = [candidates.values() for candidates in step.kernels if candidates.kernel == kernel.name]
    for name in fields_in_configs(type(kernel)):
        if len({value for values in of_kind for value in values[name]}) > 1:
            chosen[name] = getattr(kernel, name)
    return chosen | ({"C": C} if len(step.C) > 1 else {})
