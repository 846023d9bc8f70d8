"""What a document claims beside what the trials found, with a verdict by the rule that the config fixed before the run.

Three questions are kept apart. Whether our mean agrees with a printed one is a question about two Monte Carlo means:
both spreads, both numbers of runs and the rounding of the print count. Whether one curve lies above another in the mean
over the splits of these data is a question about differences on the same splits, and the paired test over the splits
answers it. Whether it would do so on new data is another one: random splits of one data set share rows, and the
interval allows for it. A document that prints curves over splits states the second, which therefore decides; the third
stands beside it. `docs/verdicts.md` says more.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.evaluation.statistics import CONFIDENCE, holm
from fsvm_cli.spec.claims.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fsvm_cli.report.trials import Trials
    from fsvm_cli.spec.claims.base import Claim, Fixed

COLUMNS = [
    "id",
    "where",
    "what",
    "published",
    "published_sd",
    "published_n",
    *("reproduced", "sd", "n", "ci_low", "ci_high", "p", "p_holm", "rule", "verdict"),
    *("new_data_low", "new_data_high", "new_data", "accepts_low", "accepts_high", "fixed", "note"),
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
    judgement = claim.judge(trials)
    if overridden:
        return judgement.held_against("the config was overridden")
    unstated = f"{claim.unstated}; with what is assumed here: {judgement.rule}" if claim.unstated else None
    return judgement.held_against(trials.why_not_comparable(claim) or unstated)


def table_of_verdicts(trials: Trials, *, overridden: bool) -> pd.DataFrame:
    """Judge every claim of the config, one row each; several differences are judged together, see `judged_together`."""
    config = trials.experiment.config
    judgements = [judge(claim, trials, overridden=overridden) for claim in config.expected]
    return table_of(config.expected, judgements, config.fixed)


def table_of(claims: Sequence[Claim], judgements: Sequence[Judgement], fixed: Fixed | None) -> pd.DataFrame:
    """Make a table with a row for each claim of an experiment, or of a collection, judged together.

    Parameters
    ----------
    claims : sequence of Claim
    judgements : sequence of Judgement
        Of each.
    fixed : {"before", "after"}, optional
        When the rules of claims that do not say so themselves were fixed.
    """
    rows = [_row_of(*judged, fixed) for judged in zip(claims, judged_together(judgements), strict=True)]
    return pd.DataFrame(rows, columns=COLUMNS)


def judged_together(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Adjust the p-values of the differences that one experiment tests by Holm's correction.

    A difference that is significant alone and not among so many leaves its claim open.
    """
    adjusted = holm(np.array([judgement.p for judgement in judgements], dtype=np.float64))
    return [
        replace(_among_several(judgement, p_holm), p_holm=p_holm)
        for judgement, p_holm in zip(judgements, adjusted.tolist(), strict=True)
    ]


def _among_several(judgement: Judgement, p_holm: float) -> Judgement:
    level = 1 - CONFIDENCE
    is_decided = judgement.verdict in {"reproduced", "differs"}
    if is_decided and judgement.p <= level < p_holm:
        rule = f"{judgement.rule}; significant alone, and not among all differences of this experiment (Holm)"
        return replace(judgement, verdict="inconclusive", rule=rule)
    return judgement


def _row_of(claim: Claim, judgement: Judgement, fixed: Fixed | None) -> dict[str, object]:
    published: object = getattr(claim, "published", claim.claim)
    return asdict(judgement) | {
        "id": claim.id,
        "where": claim.where,
        "published": "-".join(dict.fromkeys(map(str, published))) if isinstance(published, tuple) else published,
        "published_sd": getattr(claim, "published_sd", None),
        "published_n": getattr(claim, "published_n", None),
        "fixed": claim.fixed or fixed,
        "note": claim.note,
    }
