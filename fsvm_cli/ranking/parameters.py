"""A method by its name, with the parameters that a person sets: what rankings and extractors have in common."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from typing import Any, ClassVar

from pydantic import ValidationError, create_model

from fsvm_cli.documents import StrictModel

# An experiment hands these to a method; a person who lists the method in a config does not.
HANDED_PARAMETERS = frozenset(
    {
        *("self", "kernel", "C", "tolerance", "solver", "class_kernels", "output_scaling", "estimator"),
        *("random_state", "n_features_to_select", "n_components"),
    }
)


class NamedMethod:
    """An estimator that configs can name.

    Its constructor annotates each parameter with its range (``Annotated`` with ``annotated_types``).
    """

    method: ClassVar[str]
    """Name in configs and on the command line."""

    @classmethod
    @functools.cache
    def parameters_model(cls) -> type[StrictModel]:
        """Model of the parameters that a person sets, with their ranges and defaults."""
        own = {
            name: parameter
            for name, parameter in inspect.signature(cls.__init__).parameters.items()
            if name not in HANDED_PARAMETERS
        }
        # The annotations of handed parameters may name what a module imports for type checkers only.
        annotations = types.SimpleNamespace(__annotations__={name: own[name].annotation for name in own})
        hints = typing.get_type_hints(annotations, vars(sys.modules[cls.__module__]), include_extras=True)
        fields: dict[str, Any] = {name: (hints[name], own[name].default) for name in own}
        return create_model(f"{cls.__name__}Parameters", __base__=StrictModel, **fields)

    def check_parameters(self) -> None:
        """Raise a ValueError that names the first parameter that is out of its range."""
        model = self.parameters_model()
        try:
            model.model_validate({name: getattr(self, name) for name in model.model_fields})
        except ValidationError as failure:
            error = failure.errors()[0]
            raise ValueError(f"{self.method}: {error['loc'][0]} is {error['input']!r}: {error['msg']}") from None
