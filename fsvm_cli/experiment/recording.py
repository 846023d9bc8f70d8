"""What an experiment keeps of its first split, the `record` of a config: its key, its way into the store and out."""

from __future__ import annotations

import json

import pandas as pd
import threadpoolctl

from fsvm_cli.experiment.plan import Experiment, Trial
from fsvm_cli.experiment.records.registry import record_kinds
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts
from fsvm_cli.sources import source_digests


def record_key(experiment: Experiment, name: str) -> str:
    """Key of a record in the store: its name, the code that makes it, the outcomes on its split, its sizes."""
    kind = record_kinds()[name]
    module = type(kind).__module__
    return "/".join(
        [
            name,
            source_digests(module)[module],
            *(experiment.key(number, _recorded_trial(experiment)) for number in kind.numbers(experiment)),
            *map(str, kind.sizes(experiment)),
        ]
    )


def compute_record(experiment: Experiment, name: str) -> str:
    """Compute a record, as JSON of tables by name, each a list of columns."""
    trial = _recorded_trial(experiment)
    with threadpoolctl.threadpool_limits(limits=1):
        drawn = DrawnTrial(experiment, trial, draw_parts(experiment, trial))
        tables = record_kinds()[name].compute(drawn)
    return json.dumps({table: frame.to_dict(orient="list") for table, frame in tables.items()})


def tables_of(record: str) -> dict[str, pd.DataFrame]:
    """Read what `compute_record` wrote."""
    return {table: pd.DataFrame(columns) for table, columns in json.loads(record).items()}


def _recorded_trial(experiment: Experiment) -> Trial:
    return Trial(n_train=max(experiment.n_test), split=0)
