"""What an experiment keeps of its first split, the `record` of a config: its key, its way into the store and out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fsvm_cli.experiment.plan import Trial
from fsvm_cli.experiment.records.registry import record_kinds
from fsvm_cli.sources import code_of

if TYPE_CHECKING:
    import pandas as pd

    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.experiment.trial import DrawnTrial


def recorded_trial(experiment: Experiment) -> Trial:
    """Give the trial whose records are kept: the first split, with the most training rows."""
    return Trial(n_train=max(experiment.n_test), split=0)


def record_key(experiment: Experiment, name: str) -> str:
    """Key of a record in the store: its name, the code that makes it, the outcomes on its split, its sizes."""
    kind = record_kinds()[name]
    return "/".join(
        [
            name,
            code_of(type(kind)).digest,
            *(experiment.key(number, recorded_trial(experiment)) for number in kind.numbers(experiment)),
            *map(str, kind.sizes(experiment)),
        ]
    )


def compute_record(trial: DrawnTrial, name: str) -> str:
    """Compute a record of the recorded trial, as JSON of tables by name, each a list of columns.

    What the trial has fitted already serves the record, too.
    """
    tables = record_kinds()[name].compute(trial)
    return json.dumps({table: frame.to_dict(orient="list") for table, frame in tables.items()})


def tables_of(record: str) -> dict[str, pd.DataFrame]:
    """Read what `compute_record` wrote."""
    import pandas as pd  # noqa: PLC0415 - a run computes records, and reads none

    return {table: pd.DataFrame(columns) for table, columns in json.loads(record).items()}
