"""Running a trial: the outcomes of its compared methods and, for the first split, its records with their keys."""

from __future__ import annotations

import functools
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.outcome import Outcome
from fsvm_cli.experiment.records import record_kinds
from fsvm_cli.experiment.score_metrics import with_score_metrics
from fsvm_cli.experiment.trial import DrawnTrial, draw_parts, failing, run_compared_methods
from fsvm_cli.sources import code_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.store.store import Entry


def recorded_trial(experiment: Experiment) -> Trial:
    """Return the trial whose records are stored: the first split, with the most training rows."""
    return Trial(n_train=max(experiment.n_test), split=0)


RECORD_TIMING_NOTES = "seconds of records"
"""Subject of notes in the store: the processor seconds of a record, by its name."""


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


@dataclass(frozen=True)
class TrialResult:
    """The outcomes of a trial, independent of where it ran.

    Attributes
    ----------
    entries : dict of int to Entry
        Outcomes by number of the compared method, packed by the worker to save time in the process that stores them.
    errors : dict of int to str
        For the compared methods that have no outcome, why: in the first line what was raised, below it the traceback.
    seconds : float
        Processor time of the thread that ran it, without the time of the records, which other trials lack.
    records : dict of str to str
        Records as JSON, by name.
    record_seconds : dict of str to float
        Processor time of each record, in seconds.
    failed_records : dict of str to str
        Errors of the records that failed, by name, in the form of `errors`.
    """

    entries: dict[int, Entry]
    errors: dict[int, str]
    seconds: float
    records: dict[str, str] = field(default_factory=dict)
    record_seconds: dict[str, float] = field(default_factory=dict)
    failed_records: dict[str, str] = field(default_factory=dict)

    @property
    def outcomes(self) -> dict[int, Outcome]:
        """Unpack the outcomes."""
        return {number: Outcome.unpacked(entry) for number, entry in self.entries.items()}


def run_trial(
    experiment: Experiment, trial: Trial, wanted: Mapping[int, tuple[int, ...]], records: Sequence[str] = ()
) -> TrialResult:
    """Rank and evaluate on one split; a compared method or a record that fails leaves the others as they are.

    Parameters
    ----------
    experiment : Experiment
    trial : Trial
    wanted : dict of int to tuple of int
        For the number of a compared method in ``experiment.compared_methods``, the subset sizes to evaluate, ascending.
    records : sequence of str
        The records to compute of it, by their names.

    Returns
    -------
    TrialResult
    """
    begin = time.thread_time()
    drawn = functools.cache(lambda: DrawnTrial(experiment, trial, draw_parts(experiment, trial)))
    entries: dict[int, Entry] = {}
    errors: dict[int, str] = {}
    with failing(errors, wanted):
        entries = run_compared_methods(drawn(), wanted, errors)
        if experiment.score_metrics:
            entries = with_score_metrics(drawn(), entries, errors)
    seconds = time.thread_time() - begin
    recorded: dict[str, str] = {}
    record_seconds: dict[str, float] = {}
    failed: dict[str, str] = {}
    for name in records:
        begin = time.thread_time()
        with failing(failed, [name]):
            recorded[name] = compute_record(drawn(), name)
            record_seconds[name] = time.thread_time() - begin
    return TrialResult(entries, errors, seconds, recorded, record_seconds, failed)
