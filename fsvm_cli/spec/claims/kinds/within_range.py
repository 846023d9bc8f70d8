"""A printed number lies among those that several settings give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from fsvm_cli.spec.claims.base import Metric, Place, PositiveInt, Text, TolerantClaim
from fsvm_cli.spec.claims.verdict import Judgement, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class WithinRangeClaim(TolerantClaim):
    """A printed number, in per cent, beside those of all settings that are tried, whichever come nearest.

    Among so many numbers one is near whatever is printed: a number within their range is explained by no setting, and
    is inconclusive. One outside the range, widened by the tolerance and by the intervals at its ends, differs under all
    of them.
    """

    kind: Literal["within-range"]
    labels: Annotated[tuple[Text, ...], Field(min_length=2)] = Field(description="Labels of the settings.")
    features: Literal["all"] | PositiveInt = Field(default="all", description="Number of features.")
    metric: Metric = "accuracy"

    def places(self) -> Iterator[Place]:
        """Yield the place of each setting."""
        yield from (Place(ranking=label, features=self.features, metric=self.metric) for label in self.labels)

    def judge(self, findings: Findings) -> Judgement:
        """Ask whether the printed number lies outside of all that was found, and show the nearest."""
        found = {place: findings.estimate(place) for place in self.places()}
        least = min(float(np.nanmin([each.mean, each.low])) for each in found.values())
        most = max(float(np.nanmax([each.mean, each.high])) for each in found.values())
        step = 10.0**-self.decimals
        lowest = self.published - (0.0 if self.print == "truncated" else 0.5 * step)
        is_outside = lowest + step + self.tolerance < least or lowest - self.tolerance > most
        nearest = min(found, key=lambda place: abs(found[place].mean - self.published))
        tried = "; ".join(f"{place.ranking}: {each.mean:.2f}" for place, each in found.items())
        rule = (
            f"{'outside' if is_outside else 'within'} the range {least:.2f} to {most:.2f} of {len(found)} settings, "
            f"with a tolerance of {self.tolerance:g}; within, it is explained by none ({tried})"
        )
        what = f"{nearest} (%), the nearest of {len(found)} settings"
        return Judgement.of_mean(verdict_of(holds=False, fails=is_outside), rule, what, found[nearest])
