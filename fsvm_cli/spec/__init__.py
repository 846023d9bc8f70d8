"""The language of configs; what an experiment may say, and how it is read."""

from __future__ import annotations

RECORD_NAMES = (
    "ascent",
    "decision-field",
    "descent-path",
    "distribution-distance",
    "length-scales",
    "roc",
    "sampler-traces",
)
"""`fsvm_cli.experiment.records`, a layer above, defines their classes."""
