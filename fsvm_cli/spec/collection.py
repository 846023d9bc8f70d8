"""A collection: one table of a document that several experiments fill."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field, field_validator

from fsvm_cli.config_io import StrictModel
from fsvm_cli.console import brief
from fsvm_cli.spec.claims.base import Fixed
from fsvm_cli.spec.claims.between import AnyBetweenClaim
from fsvm_cli.spec.schema import Paper, Text
from fsvm_cli.validation_errors import Issue, IssuesError

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.spec.config import LoadedConfig

MEMBERS = "experiments"
"""The key that tells a collection from an experiment."""


class Collection(StrictModel):
    """Claims of several experiments, side by side."""

    title: Text = Field(description="What the table shows, for headings.")
    paper: Paper | None = Field(default=None, description="What it reproduces, if anything.")
    experiments: tuple[Text, ...] = Field(
        json_schema_extra={"minItems": 1, "uniqueItems": True},
        description="Names of the configs, beside this one or shipped, whose claims are collected, in this order.",
    )
    claims: Text = Field(
        default="*", description="Pattern, as of file names, that the ids of the collected claims match."
    )
    deviations: tuple[Text, ...] = Field(
        default=(), description="Where and why the collection departs from its source."
    )
    fixed: Fixed | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Whether the rules of claims that do not say so themselves were fixed before anybody knew the "
        "figures that they judge, or after.",
    )
    expected: tuple[AnyBetweenClaim, ...] = Field(
        default=(),
        exclude_if=operator.not_,
        description="What the source claims of several of the experiments together, and how it is judged.",
    )

    @field_validator("experiments")
    @classmethod
    def _experiments_are_distinct(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names:
            raise ValueError("there is none; list at least one experiment")
        twice = [index for index, name in enumerate(names) if name in names[:index]]
        if twice:
            issues = (
                ((index,), f"the experiment '{brief(names[index])}' is listed twice; list it once") for index in twice
            )
            raise IssuesError(Issue(*issue) for issue in issues)
        return names


@dataclass(frozen=True)
class LoadedCollection:
    """A collection, and its experiments.

    Attributes
    ----------
    name : str
        The file's name without ending; names the folder of the results.
    folder : Path
        Where the file lies.
    collection : Collection
    overrides : dict of str to value
        What options have set over the texts of the experiments, by dotted path.
    members : tuple of LoadedConfig
        In the order of the collection; none where it is read from results.
    """

    name: str
    folder: Path
    collection: Collection
    overrides: dict[str, Any]
    members: tuple[LoadedConfig, ...]
