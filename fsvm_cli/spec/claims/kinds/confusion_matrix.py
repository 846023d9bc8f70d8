"""A number that a document computes from a confusion matrix that it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from fsvm_cli.evaluation.metrics import accuracy
from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.information import class_uncertainty, classifier_information
from fsvm_cli.spec.claims.base import TolerantClaim
from fsvm_cli.spec.claims.rules import agreement
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from fsvm_cli.spec.claims.findings import Findings

Quantity = Literal["accuracy", "class-uncertainty", "classifier-information"]
Counts = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=2)]


class ConfusionMatrixClaim(TolerantClaim):
    """A number that the document computes from a confusion matrix that it prints, computed again; no trial counts.

    The accuracy in per cent, the uncertainty of the class and the information of the classifier in bits.
    """

    kind: Literal["confusion-matrix"]
    matrix: Annotated[tuple[Counts, ...], Field(min_length=2)] = Field(
        description="Samples of each class, a row for each, by the class that they were assigned to."
    )
    quantity: Quantity

    @model_validator(mode="after")
    def _is_square(self) -> ConfusionMatrixClaim:
        if any(len(row) != len(self.matrix) for row in self.matrix) or not np.any(self.matrix):
            raise ValueError("a confusion matrix has as many columns as rows, and counts samples; write one that does")
        return self

    def judge(self, findings: Findings) -> Judgement:  # noqa: ARG002 - the document prints all that counts
        """Compare the number with what the matrix gives."""
        confusion = np.array(self.matrix)
        if self.quantity == "accuracy":
            value, unit = 100 * accuracy(confusion), "points"
        else:
            compute = class_uncertainty if self.quantity == "class-uncertainty" else classifier_information
            value, unit = compute(confusion), "bits"
        found = mean_interval(np.atleast_1d(value))
        ruling = agreement(self, found, (0.0, 1), unit)
        what = f"{self.quantity} of a printed confusion matrix ({'%' if unit == 'points' else unit})"
        return Judgement.of_number(ruling, what, found)
