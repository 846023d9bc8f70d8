"""A method by its name, with the parameters that a person sets: what rankings and extractors have in common."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import typing
from typing import Any, ClassVar

from pydantic import ValidationError, create_model

from fsvm_cli.config_io import StrictModel, as_in_documents
from fsvm_cli.validation_errors import issues_of

KEYS_OF_CONFIGS = frozenset(
    {"method", "order", "label", "classifier", "score_threshold", "ranked_on", "mean_rank_of", "scaling"}
)
"""What the entry of a method in a config says beside its parameters: no parameter may have such a name."""


@typing.dataclass_transform(eq_default=False, field_specifiers=(dataclasses.field,))
class NamedMethod:
    """An estimator that configs can name.

    A subclass lists its parameters as a dataclass does, each annotated with its range (``Annotated`` with
    ``annotated_types``) and with a default; the constructor is made from that list and those of the classes above it.
    A subclass that has a constructor of its own keeps it.
    """

    method: ClassVar[str]
    """Name in configs and on the command line."""

    passed_down: ClassVar[frozenset[str]] = frozenset()
    """Parameters that the experiment sets, not the method's entry in a config: its machine (`kernel`, `C`, `tolerance`,
    `solver`, `class_kernels`, `output_scaling`), its classifier (`estimator`), and the seed (`random_state`)."""

    outside_configs: ClassVar[frozenset[str]] = frozenset()
    """Parameters that only matter outside experiments, which look at subsets of many sizes."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # scikit-learn compares estimators by identity, and shows them in its own way.
        dataclasses.dataclass(eq=False, repr=False)(cls)

    @classmethod
    @functools.cache
    def parameters_model(cls) -> type[StrictModel]:
        """Model of the parameters that a person sets, with their ranges and defaults.

        Raises
        ------
        TypeError
            If a parameter has no default, no annotation that can be read, or the name of another key of a config.
        """
        names = [*inspect.signature(cls.__init__).parameters.values()][1:]
        own = [each for each in names if each.name not in cls.passed_down | cls.outside_configs]
        fields: dict[str, Any] = {}
        for parameter in own:
            if parameter.name in KEYS_OF_CONFIGS:
                raise TypeError(f"the parameter '{parameter.name}' has the name of a key of configs")
            if inspect.Parameter.empty in {parameter.annotation, parameter.default}:
                raise TypeError(f"the parameter '{parameter.name}' needs an annotation and a default")
            fields[parameter.name] = (_evaluated(cls, parameter), parameter.default)
        return create_model(f"{cls.__name__}Parameters", __base__=StrictModel, **fields)

    def check_parameters(self) -> None:
        """Raise a ValueError that names the first parameter that is out of its range."""
        model = self.parameters_model()
        values = as_in_documents({name: getattr(self, name) for name in model.model_fields})
        try:
            model.model_validate(values)
        except ValidationError as failure:
            first = issues_of(failure, values, model)[0]
            raise ValueError(f"{self.method}: {first.message}") from None


def _evaluated(cls: type, parameter: inspect.Parameter) -> Any:
    """Read the annotation of a parameter where it was written; others may name what only type checkers import."""
    listed = (each for each in cls.__mro__ if parameter.name in vars(each).get("__annotations__", {}))
    with_constructor = (each for each in cls.__mro__ if "__init__" in vars(each))
    home = sys.modules[next(listed, next(with_constructor)).__module__]
    written = type("Written", (), {"__annotations__": {parameter.name: parameter.annotation}})
    return typing.get_type_hints(written, vars(home), include_extras=True)[parameter.name]
