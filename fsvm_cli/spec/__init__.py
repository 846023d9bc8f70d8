"""The schema of configs: the models of an experiment and of a collection, their loading, and their validation.

This module imports nothing, for code that needs the names of records without the models.
"""

from __future__ import annotations

OF_ONE_SPLIT = "a record of one split has no interval"
"""In the rule of a judgement: what it counts are rows of the record, and not trials."""

RECORD_NAMES = (
    "ascent",
    "bound-descent",
    "decision-field",
    "descent-path",
    "distribution-distance",
    "length-scales",
    "roc",
    "row-orders",
    "sampler-traces",
)
"""Values of `record` in a config; `fsvm_cli.experiment.records`, a layer above, defines their classes."""
