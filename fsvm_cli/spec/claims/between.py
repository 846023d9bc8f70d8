"""Claims about several experiments, which a collection makes: they are judged by what its experiments' claims found."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

import numpy as np
from scipy.special import stdtrit

from fsvm_cli.config_io import StrictModel
from fsvm_cli.evaluation.statistics import CONFIDENCE, independent_difference, p_value
from fsvm_cli.spec.claims.base import Claim, Comparison, Judgement, Nature, Text
from fsvm_cli.spec.claims.rules import verdict_on_sign

if TYPE_CHECKING:
    from fsvm_cli.spec.claims.base import Findings

UNDECIDED = "not comparable"


class Row(Protocol):
    """What the table of an experiment says of a claim about a mean: columns of `published.csv`."""

    reproduced: float
    sd: float
    n: int
    new_data_low: float
    new_data_high: float
    verdict: str


class FoundElsewhere(StrictModel):
    """A claim of one of the experiments."""

    experiment: Text
    claim: Text

    def __str__(self) -> str:
        return f"{self.claim} of {self.experiment}"


class SmallerDifferenceClaim(Claim):
    """One difference is smaller than another, which another experiment found."""

    default_nature: ClassVar[Nature] = "order"

    kind: Literal["smaller-difference"]
    smaller: FoundElsewhere
    larger: FoundElsewhere

    def judge(self, findings: Findings) -> Judgement:  # noqa: ARG002 - one experiment cannot tell
        """Say that one experiment alone cannot judge it."""
        return Judgement.withheld("not judged by one experiment", self.claim)

    def judge_rows(self, smaller: Row, larger: Row) -> Judgement:
        """Compare the two means, which rest on trials that have nothing to do with each other, by Welch's test."""
        what = f"{self.larger} minus {self.smaller} (points)"
        if UNDECIDED in {smaller.verdict, larger.verdict}:
            return Judgement.withheld("one of the two differences is not comparable", what)
        found, on_new_data = (
            independent_difference(*((row.reproduced, error(row), int(row.n)) for row in (larger, smaller)))
            for error in (_error_over_splits, _error_on_new_data)
        )
        test = "95 % interval of the difference of the two mean differences over the splits (Welch)"
        compared = Comparison(found, p_value(found), on_new_data, test)
        return Judgement.of_comparison(verdict_on_sign, "lies above 0", what, compared)


def _error_over_splits(row: Row) -> float:
    return float(row.sd / np.sqrt(row.n))


def _error_on_new_data(row: Row) -> float:
    half_width = (row.new_data_high - row.new_data_low) / 2
    return float(half_width / stdtrit(row.n - 1, (1 + CONFIDENCE) / 2))
