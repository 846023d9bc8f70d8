"""The `tune` of a classifier: grid searches inside the training part."""

from __future__ import annotations

import functools
import itertools
import operator
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, create_model, model_validator

from fsvm_cli.config_io import StrictModel
from fsvm_cli.evaluation.folds import LEAVE_ONE_OUT
from fsvm_cli.spec.kernels import SYNONYMS, fields_in_configs, kernel_or_name
from fsvm_cli.svm.kernels.registry import KERNELS
from fsvm_cli.svm.tuning import TieRule
from fsvm_cli.validation_errors import in_words

if TYPE_CHECKING:
    from fsvm_cli.svm.kernels.base import Kernel


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

    def objects(self) -> list[Kernel | str]:
        """Build every candidate, or name it; see `kernel_or_name`."""
        values = self.values()
        combinations = itertools.product(*values.values())
        return [kernel_or_name(self.kernel, dict(zip(values, chosen, strict=True))) for chosen in combinations]


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
        raise ValueError(f"{in_words(value)} is no number of folds; write 2 or more, or {LEAVE_ONE_OUT}")
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
    ties: TieRule = Field(
        default="margin",
        description="What decides among equally accurate candidates. margin: the accuracy of their neighbours on the "
        "grid, to within one standard error, then the largest margin; smoothest: the smallest C, then the smoothest "
        "kernel.",
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
