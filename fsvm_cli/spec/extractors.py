"""What a config says of a feature extractor; its model is made from the extractor's class."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model, model_validator

from fsvm_cli.documents import StrictModel
from fsvm_cli.extraction.registry import extraction_methods

if TYPE_CHECKING:
    from fsvm_cli.extraction.base import Extractor


class Extraction(StrictModel):
    """A method that makes components of all features; the curve keeps the first of them."""

    method: str
    label: str = Field(default="", description="Name in tables and figures; that of the method if left out.")

    @model_validator(mode="before")
    @classmethod
    def _fill_in_label(cls, value: Any) -> Any:
        return {"label": value["method"]} | value if isinstance(value, dict) and "method" in value else value

    def parameters(self) -> dict[str, Any]:
        """Parameters of the method, by the name that its estimator gives them."""
        return self.model_dump(exclude=set(Extraction.model_fields))

    def estimator(self) -> Extractor:
        """Build the method's estimator."""
        return extraction_methods()[self.method](**self.parameters())


def _extraction_model(name: str, method: type[Extractor]) -> type[Extraction]:
    parameters = method.parameters_model().model_fields
    fields: dict[str, Any] = {key: (info.rebuild_annotation(), info.default) for key, info in parameters.items()}
    fields["method"] = (Literal[name], ...)
    return create_model(f"{method.__name__}Extraction", __base__=Extraction, **fields)


if TYPE_CHECKING:
    AnyExtraction = Extraction
else:
    AnyExtraction = Annotated[
        functools.reduce(operator.or_, [_extraction_model(*entry) for entry in extraction_methods().items()]),
        Field(discriminator="method"),
    ]
