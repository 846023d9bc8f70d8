"""How the rows of a data set are divided for an experiment."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema, model_validator

from fsvm_cli.config_io import StrictModel
from fsvm_cli.spec.tuning import one_or_more
from fsvm_cli.validation_errors import in_words

GIVEN: Literal["given"] = "given"
"""The training part that the source of the data fixes, and with it the test part."""


def _row_part(value: Any) -> Fraction | int:
    """Read a part of the rows: a count, or a fraction as 0.5 or "2/3"."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("write a number of rows, or a fraction such as 2/3 or 0.5")  # noqa: TRY004 - pydantic's way
    if isinstance(value, int):
        if value < 1:
            raise ValueError(f"{value} rows cannot be drawn; write 1 or more, or a fraction such as 2/3")
        return value
    try:
        fraction = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{in_words(value)} is no fraction; write one such as 2/3 or 0.5") from None
    if not 0 < fraction < 1:
        raise ValueError(f"{value} of the rows leaves none for the other part; write a fraction between 0 and 1")
    return fraction


def _training_part(value: Any) -> Fraction | int | Literal["given"]:
    """Read a part of the rows to train on, or the word for the split that comes with the data."""
    return GIVEN if value == GIVEN else _row_part(value)


ROW_PART_FORMS: list[dict[str, Any]] = [
    {"type": "integer", "minimum": 1},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "string", "pattern": r"^\d+/\d+$"},
]
_part_as_written = PlainSerializer(lambda part: part if isinstance(part, int) else str(part))
RowPart = Annotated[
    Fraction | int,
    PlainValidator(_row_part),
    _part_as_written,
    WithJsonSchema({"anyOf": ROW_PART_FORMS, "description": "A number of rows, or a fraction of them (rounded down)."}),
]
TrainingPart = Annotated[
    Fraction | int | Literal["given"],
    PlainValidator(_training_part),
    _part_as_written,
    WithJsonSchema(
        {
            "anyOf": [*ROW_PART_FORMS, {"const": GIVEN}],
            "description": "A number of rows, a fraction of them (rounded down), or the split that the source fixes.",
        }
    ),
]
TrainingParts = Annotated[
    tuple[TrainingPart, ...],
    BeforeValidator(one_or_more, json_schema_input_type=TrainingPart | tuple[TrainingPart, ...]),
    Field(min_length=1),
]


class Protocol(StrictModel):
    """How the rows are divided, and how often."""

    splits: Annotated[int, Field(ge=1)] = Field(
        description="Number of random splits; of given ones, the first of the source; or of orders of the rows."
    )
    train: TrainingParts = Field(
        description="Training part, or a list of them for a learning curve; 'given': the splits of the source."
    )
    test: RowPart | None = Field(default=None, description="Test part; all rows outside the training part if left out.")
    row_order: Literal["drawn"] | None = Field(
        default=None,
        exclude_if=lambda order: order is None,
        description="drawn: every trial has the first given split, with its training rows in an order of its own. It "
        "tells what depends on the order alone, such as machines that 'stop_after' keeps from their optimum.",
    )
    seed: Annotated[int, Field(ge=0)] = Field(description="Seed of every random stream of the experiment.")

    @property
    def is_given(self) -> bool:
        """Whether the source of the data fixes the splits."""
        return self.train == (GIVEN,)

    @property
    def is_single_given(self) -> bool:
        """Whether there is one given split only, so that uncertainty can only be estimated over its test rows."""
        return self.is_given and self.splits == 1

    def trials_in_words(self, n_complete: int) -> str:
        """Say what the trials are, and where some are missing, how many of the planned ones there are."""
        trials = "orders of the training rows" if self.row_order else "splits"
        if n_complete == self.splits:
            return f"{self.splits} {trials}"
        return f"INCOMPLETE: {n_complete} of {self.splits} {trials}"

    @model_validator(mode="after")
    def _given_split_stands_alone(self) -> Protocol:
        if GIVEN in self.train and (len(self.train), self.test) != (1, None):
            raise ValueError("a given split has its own parts: write 'train: given' alone, and no 'test'")
        if self.row_order is not None and not self.is_given:
            raise ValueError(
                "'row_order' is for a given split, since random ones have their rows in random order; write "
                "'train: given', or leave it out"
            )
        return self
