"""A claim that one experiment alone cannot judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import model_validator

from fsvm_cli.spec.claims.base import Claim
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from fsvm_cli.spec.claims.findings import Findings


class StatementClaim(Claim):
    """A claim that this experiment alone cannot judge; the note says why."""

    kind: Literal["statement"]

    @model_validator(mode="after")
    def _says_why(self) -> StatementClaim:
        if not self.note:
            raise ValueError("the key 'note' is missing, or empty; write why the statement is not judged here")
        return self

    def judge(self, findings: Findings) -> Judgement:  # noqa: ARG002 - they cannot tell
        """Say that it is not judged here."""
        return Judgement.withheld("not judged by this experiment", self.claim)
