"""What a config says of the features that are known to matter."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

ORACLE = "oracle"
"""Label of the machine on these features alone."""

RELEVANT: Literal["relevant"] = "relevant"
"""The features that the generator of the data knows to matter."""

OracleFeatures = Literal["relevant"] | Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
