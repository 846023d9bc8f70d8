"""A printed number that a method chooses by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from fsvm_cli.evaluation.statistics import mean_interval
from fsvm_cli.spec.claims.base import NumberClaim, Text
from fsvm_cli.spec.claims.rules import ordinariness
from fsvm_cli.spec.claims.verdict import Judgement, verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.spec.claims.findings import Findings


class ChosenNumberClaim(NumberClaim):
    """A printed number of one run, such as that of the features active when a descent ends.

    Where the source leaves the settings open, several are named, and all of them are shown: one under which the number
    is an ordinary one is enough, and none must be for a difference.
    """

    kind: Literal["chosen-number"]
    settings: Annotated[tuple[Text, ...], Field(min_length=1)] = Field(
        description="Labels of the rankings, one for each of the settings that the source leaves open."
    )
    parameter: Text = Field(description="What the method chooses, by its name in chosen.csv.")

    def rankings(self) -> Iterator[str]:
        """Yield the rankings."""
        yield from self.settings

    def judge(self, findings: Findings) -> Judgement:
        """Ask under which settings the printed number is an ordinary one, and show the nearest of them."""
        values = {label: findings.chosen(label, self.parameter) for label in self.settings}
        values = {label: found for label, found in values.items() if len(found)}
        what = f"{self.parameter}, settings {', '.join(self.settings)}"
        if not values:
            return Judgement.withheld("no trial chose one", what)
        verdicts = {label: ordinariness(self, found).verdict for label, found in values.items()}
        ordinary = [label for label, verdict in verdicts.items() if verdict == "reproduced"]
        verdict = verdict_of(holds=bool(ordinary), fails=set(verdicts.values()) == {"differs"})
        ranges = [f"{label}: {found.min():g} to {found.max():g}" for label, found in values.items()]
        nearest = min(values, key=lambda label: abs(values[label].mean() - self.published))
        rule = (
            f"ordinary among the runs of {len(ordinary)} of {len(values)} settings ({'; '.join(ranges)}); one is enough"
        )
        return Judgement.of_mean(verdict, rule, f"{self.parameter}, '{nearest}'", mean_interval(values[nearest]))
