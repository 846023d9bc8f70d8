"""Claims about the tables of a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from fsvm_cli.spec import OF_ONE_SPLIT, RECORD_NAMES
from fsvm_cli.spec.claims.base import Claim, Judgement, Text, verdict_of

if TYPE_CHECKING:
    import pandas as pd

    from fsvm_cli.spec.claims.base import Findings

Selection = Annotated[dict[Text, str | float], Field(min_length=1)]


class RecordedClaim(Claim):
    """A column of a record's table lies between two bounds, in each of some rows or in their mean.

    A record is of one split, so that no interval belongs to it: the claim holds or fails. With `below` the number is
    the share of the rows in which the column is smaller than another one, in per cent; with `minus` the difference of
    the means over two sets of rows.
    """

    kind: Literal["recorded"]
    record: Literal[*RECORD_NAMES] = Field(description="Record of the experiment.")  # type: ignore[valid-type]
    table: Text = Field(description="Its table, as the file is named, without the ending.")
    column: Text = Field(description="Column of the table.")
    rows: Selection | None = Field(default=None, description="Values of columns that the rows have; all if left out.")
    minus: Selection | None = Field(default=None, description="Rows whose mean is taken off that of `rows`.")
    below: Text | None = Field(default=None, description="Column that is the larger one in the rows that are counted.")
    published: Annotated[tuple[float, ...], Field(min_length=2, max_length=2)] = Field(
        description="Smallest and largest value by which the claim holds."
    )

    @model_validator(mode="after")
    def _is_one_number(self) -> RecordedClaim:
        if self.minus is not None and self.below is not None:
            raise ValueError("a share and a difference of means are two claims; leave out 'minus' or 'below'")
        return self

    def judge(self, findings: Findings) -> Judgement:
        """Compare the numbers of the record with the bounds."""
        what = f"{self.column}{_in_words(self.rows)}"
        table = findings.recorded(self.record, self.table)
        if table is None:
            return Judgement.withheld("the record is not stored", what)
        names = [self.column, *(self.rows or {}), *(self.minus or {}), *([self.below] if self.below else [])]
        if unknown := [name for name in names if name not in table]:
            return Judgement.withheld(f"{self.table}.csv has no column {', '.join(unknown)}", what)
        own, others = _selected(table, self.rows), _selected(table, self.minus)
        if own.empty or others.empty:
            return Judgement.withheld(f"{self.table}.csv has no such rows", what)
        low, high = self.published
        if self.below is not None:
            what = f"share with {self.column} below {self.below} (per cent)"
            numbers = np.array([100 * float((own[self.column] < own[self.below]).mean())])
            rule = f"the share lies between {low:g} and {high:g} per cent"
        elif self.minus is not None:
            what = f"mean of {self.column}{_in_words(self.rows)}, less that{_in_words(self.minus)}"
            numbers = np.array([own[self.column].mean() - others[self.column].mean()])
            rule = f"the difference lies between {low:g} and {high:g}"
        else:
            numbers = own[self.column].to_numpy(dtype=np.float64)
            rule = f"each number lies between {low:g} and {high:g}; found: {numbers.min():g} to {numbers.max():g}"
        is_within = bool(((low <= numbers) & (numbers <= high)).all())
        return Judgement(
            verdict_of(holds=is_within, fails=not is_within),
            f"{self.table}.csv: {rule}; {OF_ONE_SPLIT}",
            what,
            reproduced=float(numbers.mean()),
            n=len(numbers),
        )


def _in_words(rows: Selection | None) -> str:
    values = {name: value if isinstance(value, str) else f"{value:g}" for name, value in (rows or {}).items()}
    return f" where {', '.join(f'{name} = {value}' for name, value in values.items())}" if values else ""


def _selected(table: pd.DataFrame, values: Selection | None) -> pd.DataFrame:
    """Keep the rows of a table that have these values in these columns."""
    for name, value in (values or {}).items():
        table = table[table[name] == value]
    return table
