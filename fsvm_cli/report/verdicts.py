"""What a document claims beside what the trials found, with a verdict by the rule that the config fixed before the run.

Two questions are kept apart. Whether our mean agrees with a printed one is a question about two Monte Carlo means: both
spreads, both numbers of runs and the rounding of the print count. Whether one curve lies above another is a question
about differences on the same splits: random splits of one data set share rows, and the interval allows for it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from fsvm_cli.report.trials import Trials
    from fsvm_cli.spec.claims.base import Claim

COLUMNS = [
    "id",
    "where",
    "what",
    "published",
    "published_sd",
    "published_n",
    *("reproduced", "sd", "n", "ci_low", "ci_high", "rule", "verdict", "note"),
]


def judge(claim: Claim, trials: Trials, *, overridden: bool) -> Judgement:
    """Judge one claim.

    Parameters
    ----------
    claim : Claim
    trials : Trials
    overridden : bool
        Whether options changed the config: then nothing is said about the document.
    """
    if not trials.cover(claim):
        return Judgement.withheld("no complete trial", claim.claim)
    obstacle = "the config was overridden" if overridden else trials.why_not_comparable(claim)
    return claim.judge(trials).held_against(obstacle)


def table_of_verdicts(trials: Trials, *, overridden: bool) -> pd.DataFrame:
    """Judge every claim of the config, one row each."""
    rows = []
    for claim in trials.experiment.config.expected:
        judgement = asdict(judge(claim, trials, overridden=overridden))
        published: object = getattr(claim, "published", claim.claim)
        rows.append(
            judgement
            | {
                "id": claim.id,
                "where": claim.where,
                "published": "-".join(map(str, published)) if isinstance(published, tuple) else published,
                "published_sd": getattr(claim, "published_sd", None),
                "published_n": getattr(claim, "published_n", None),
                "note": claim.note,
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)
