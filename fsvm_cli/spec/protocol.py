"""How the rows of a data set are divided for an experiment."""

from __future__ import annotations

import operator
import re
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema, model_validator

from fsvm_cli.config_io import StrictModel
from fsvm_cli.evaluation.folds import LEAVE_ONE_OUT
from fsvm_cli.spec.tuning import one_or_more
from fsvm_cli.validation_errors import in_words

GIVEN: Literal["given"] = "given"
"""The training part that the source of the data fixes, and with it the test part."""

BOOTSTRAP: Literal["bootstrap"] = "bootstrap"
"""Training parts that are drawn with replacement, as large as the data; the rows that are left out are for testing."""

BEFORE: Literal["before"] = "before"
"""Training parts that lie before their test parts in the order that the data have, as that of time."""

FOLDS_PATTERN = r"^([2-9]|[1-9]\d+) folds$"
"""Training parts that are all folds but one, such as "10 folds"."""


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


def _training_part(value: Any) -> Fraction | int | str:
    """Read a part of the rows to train on, or the words for splits that are listed."""
    is_word = isinstance(value, str) and (value in LISTED_SPLITS or re.fullmatch(FOLDS_PATTERN, value))
    return value if is_word else _row_part(value)


LISTED_SPLITS = (GIVEN, LEAVE_ONE_OUT, BOOTSTRAP, BEFORE)
"""Words for splits whose rows are known before the trials, beside those for folds."""

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
    Fraction | int | str,
    PlainValidator(_training_part),
    _part_as_written,
    WithJsonSchema(
        {
            "anyOf": [*ROW_PART_FORMS, {"enum": [*LISTED_SPLITS]}, {"type": "string", "pattern": FOLDS_PATTERN}],
            "description": "A number of rows, a fraction of them (rounded down), the split that the source fixes, all "
            "folds but one ('10 folds', 'leave-one-out'), as many rows as there are, drawn with replacement, or the "
            "rows before those of the test part.",
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
        description="Number of random splits; of given ones, the first of the source; of folds, one after the other, "
        "divided anew after each division; of bootstrap samples; of orders of the rows; or of origins in time, each "
        "with the rows before it for training and some after it for testing."
    )
    train: TrainingParts = Field(
        description="Training part, or a list of them for a learning curve; 'given': the splits of the source; "
        "'10 folds' or 'leave-one-out': all folds but one; 'bootstrap': as many rows as there are, drawn with "
        "replacement, so that the accuracy on the others, with that on the rows of training, gives the .632+ estimate; "
        "'before': all rows before those of the test part, by the column that 'order_by' of the data set names."
    )
    test: RowPart | None = Field(default=None, description="Test part; all rows outside the training part if left out.")
    row_order: Literal["drawn"] | None = Field(
        default=None,
        exclude_if=lambda order: order is None,
        description="drawn: every trial has the first given split, with its training rows in an order of its own. It "
        "tells what depends on the order alone, such as machines that 'stop_after' keeps from their optimum.",
    )
    stratified: bool = Field(
        default=False,
        exclude_if=operator.not_,
        description="true: both parts of a random split have the shares of the classes of all rows. Folds have them "
        "always, and splits of groups as nearly as groups allow.",
    )
    seed: Annotated[int, Field(ge=0)] = Field(description="Seed of every random stream of the experiment.")

    @property
    def is_given(self) -> bool:
        """Whether the source of the data fixes the splits."""
        return self.train == (GIVEN,)

    @property
    def is_listed(self) -> bool:
        """Whether the rows of the splits are known before the trials: given, folds, or bootstrap samples."""
        return isinstance(self.train[0], str)

    @property
    def is_ordered(self) -> bool:
        """Whether training parts lie before their test parts."""
        return self.train == (BEFORE,)

    @property
    def is_bootstrap(self) -> bool:
        """Whether training parts are drawn with replacement."""
        return self.train == (BOOTSTRAP,)

    @property
    def folds(self) -> int | Literal["leave-one-out"] | None:
        """Folds of a cross-validation of the whole experiment; None for other splits."""
        (part, *_) = self.train
        if part == LEAVE_ONE_OUT:
            return LEAVE_ONE_OUT
        found = re.fullmatch(FOLDS_PATTERN, part) if isinstance(part, str) else None
        return int(found[1]) if found else None

    @property
    def is_single_given(self) -> bool:
        """Whether there is one given split only, so that uncertainty can only be estimated over its test rows."""
        return self.is_given and self.splits == 1

    @property
    def keeps_predictions(self) -> bool:
        """Whether figures of merit need what the machines said of each row, and not their numbers alone."""
        return self.is_single_given or self.is_bootstrap

    @property
    def trials(self) -> str:
        """What the trials are, in one or two words."""
        if self.row_order:
            return "orders"
        if self.is_bootstrap:
            return "bootstrap samples"
        if self.is_ordered:
            return "origins"
        return "folds" if self.folds else "splits"

    def trials_in_words(self, n_complete: int) -> str:
        """Say what the trials are, and where some are missing, how many of the planned ones there are."""
        trials = f"{self.trials}{' of the training rows' if self.row_order else ''}"
        if n_complete == self.splits:
            return f"{self.splits} {trials}"
        return f"INCOMPLETE: {n_complete} of {self.splits} {trials}"

    @model_validator(mode="after")
    def _given_split_stands_alone(self) -> Protocol:
        if GIVEN in self.train and (len(self.train), self.test) != (1, None):
            raise ValueError("a given split has its own parts: write 'train: given' alone, and no 'test'")
        words = [part for part in self.train if isinstance(part, str)]
        if words and (len(self.train), self.test) != (1, None):
            raise ValueError(f"'{words[0]}' says which rows are tested: write it alone under 'train', and no 'test'")
        if self.row_order is not None and not self.is_given:
            raise ValueError(
                "'row_order' is for a given split, since random ones have their rows in random order; write "
                "'train: given', or leave it out"
            )
        if self.stratified and self.is_listed:
            raise ValueError(f"'stratified' is for random splits, not for '{self.train[0]}'; leave it out")
        return self
