"""What a config may write under ``dataset:``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from fsvm_cli.documents import StrictModel


class NamedSpec(StrictModel):
    """A data set that has a card.

    Attributes
    ----------
    name : str
        Name of the card.
    version : str or None
        One of the card's versions; the first where nothing is said.
    samples : int or None
        Rows to draw, for a synthetic set; the card's own number where nothing is said.
    """

    name: str = Field(min_length=1, description="name of a card in datasets/")
    version: str | None = Field(default=None, description="one of the card's versions; the first by default")
    samples: int | None = Field(default=None, ge=2, le=10_000_000, description="rows to draw from a synthetic set")


def _from_name(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


DatasetSpec = Annotated[NamedSpec, BeforeValidator(_from_name, json_schema_input_type=str | NamedSpec)]
