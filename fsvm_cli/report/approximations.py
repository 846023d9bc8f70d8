"""Results that rest on approximate machines: every table of them says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.report.folder import AREAS_NAME, CHANGES_NAME, CURVES_NAME, PAIRS_NAME, RECOMMENDATION_NAME, VERDICTS_NAME
from fsvm_cli.spec.nystroem_machine import LANDMARKS

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    import pandas as pd

    from fsvm_cli.report.complete_trials import CompleteTrials

    ByCurve = Mapping[tuple[str, int], str]

EXACT = "exact"
OF_MACHINES = (CURVES_NAME, CHANGES_NAME, AREAS_NAME, PAIRS_NAME, RECOMMENDATION_NAME, VERDICTS_NAME)
"""What is measured with a classifier; rankings train exact machines."""


def in_words(n_landmarks: float) -> str:
    """Name an approximate machine."""
    return f"Nyström, {n_landmarks:.0f} landmarks"


def with_machines(
    tables: Mapping[str, pd.DataFrame], collected: Mapping[tuple[str, int], CompleteTrials]
) -> dict[str, pd.DataFrame]:
    """Add the column `machines` to tables of an experiment that has approximate ones; else leave the tables.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        By the names of their files.
    collected : mapping of (str, int) to CompleteTrials
        By label and number of training rows.
    """
    approximate = {
        where: in_words(float(np.nanmax(trials.measures[LANDMARKS])))
        for where, trials in collected.items()
        if LANDMARKS in trials.measures
    }
    if not approximate:
        return dict(tables)
    return {
        name: table.assign(machines=[_of_row(row, approximate) for row in table.to_dict("records")])
        if name in OF_MACHINES
        else table
        for name, table in tables.items()
    }


def _of_row(row: Mapping[Hashable, object], approximate: ByCurve) -> str:
    """Say with which machines a row was measured; where it does not name its curves, with which any was."""
    labels = {row[column] for column in ("ranking", "first", "second") if column in row}
    n_train = row.get("train_size")
    found = {
        words
        for (label, size), words in approximate.items()
        if (not labels or label in labels) and n_train in {None, size}
    }
    return " / ".join(sorted(found)) or EXACT
