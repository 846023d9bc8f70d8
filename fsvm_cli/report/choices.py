"""What was chosen inside the training parts, and how often."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pandas as pd

from fsvm_cli.evidence.caveats import CAVEATS
from fsvm_cli.report.numbers import FLOAT_FORMAT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsvm_cli.report.complete_trials import CompleteTrials

COLUMNS = ["ranking", "train_size", "parameter", "value", "n_chosen", "n_trials"]


def summarise_chosen(collected: Mapping[tuple[str, int], CompleteTrials]) -> pd.DataFrame:
    """Count how often each value was chosen on the training part.

    Returns
    -------
    DataFrame
        One row per ranking, training size, parameter and value that was chosen at least once, ascending by value;
        without rows where nothing is chosen.
    """
    rows = []
    for (label, n_train), trials in collected.items():
        parameters = dict.fromkeys(name for chosen in trials.chosen for name in chosen)
        for parameter in parameters:
            counts = Counter(chosen[parameter] for chosen in trials.chosen if parameter in chosen)
            n_trials = len(trials.chosen)
            # A parameter may be a number or a word, as the step of a descent is.
            ascending = sorted(counts, key=lambda value: (isinstance(value, str), value))
            rows += [(label, n_train, parameter, _written(value), counts[value], n_trials) for value in ascending]
    return pd.DataFrame(rows, columns=COLUMNS)


def _written(value: float | int | str) -> str:
    """Write a value as in any other table; beside a word, pandas would write it by rules of its own."""
    return FLOAT_FORMAT % value if isinstance(value, float) else str(value)


def describe_choices(chosen: pd.DataFrame) -> list[str]:
    """Say of each ranking which value of each parameter was chosen most often; of equals the one that comes first.

    What is no choice but a warning has a sentence of its own.
    """
    sentences = []
    for (label, n_train), rows in chosen.groupby(["ranking", "train_size"], sort=False):
        n_trials, warns = rows["n_trials"].iloc[0], rows["parameter"].isin(CAVEATS)
        often = rows.loc[rows[~warns].groupby("parameter", sort=False)["n_chosen"].idxmax()]
        values = (f"{row.parameter} {_shown(row.value)} ({row.n_chosen})" for row in often.itertuples())
        sentences.append(f"{label}, {n_train} rows, chosen most often in {n_trials} trials: {', '.join(values)}.")
        for name, n_warned in rows[warns].groupby("parameter", sort=False)["n_chosen"].sum().items():
            sentences.append(f"{label}, {n_train} rows: in {n_warned} of {n_trials} trials {CAVEATS[str(name)]}.")
    return sentences


def _shown(value: object) -> str:
    """Write a value; where no parameter is a word, all values of the table have been read as fractions."""
    return f"{value:g}" if isinstance(value, float) else str(value)
