"""The names of the records that a config may ask for; it is light, for tables that name their files."""

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
