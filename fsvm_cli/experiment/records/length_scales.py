"""The length scales that an ascent on the evidence ended with, gold2005, Figures 2 and 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from fsvm_cli.evidence.tuning import relevance
from fsvm_cli.experiment.ascents import LENGTH_SCALE_OF, AscentRecord, spans_decades, use_powers
from fsvm_cli.figures import COLOURS, COLUMN_WIDTH, figure, legible

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.experiment.records.base import ToDraw
    from fsvm_cli.experiment.trial import DrawnTrial

MAX_NAMED = 70
"""Features that the horizontal axis has room to name."""
LONGEST_FEATURE = 30
"""Characters of a name below a bar; 20 would give three features of the spam data the same."""
BINS = 20
COLUMNS = ["ranking", "machine", "feature", "length_scale", "relevance"]


class LengthScales(AscentRecord):
    """The length scale and the relevance of each feature on the first split.

    Table `length-scales`: ranking (or classifier), machine, feature, length scale, and its share ω of the relevance.
    """

    name: ClassVar[str] = "length-scales"
    tables: ClassVar[tuple[str, ...]] = ("length-scales",)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Take the ends of the ascents."""
        X = trial.parts.X_train
        varies = np.not_equal(X, X[0]).any(axis=0)
        rows = []
        for label, steps in self.ascents(trial):
            for machine, ascent in steps.groupby("machine"):
                features = [str(name) for name in ascent if str(name).startswith(LENGTH_SCALE_OF)]
                lengths = ascent[features].to_numpy(dtype=np.float64)[-1]
                names = [name.removeprefix(LENGTH_SCALE_OF) for name in features]
                columns = zip(names, lengths, relevance(lengths, varies), strict=True)
                rows += [(label, machine, *of_feature) for of_feature in columns]
        return {
            "length-scales": pd.DataFrame(rows, columns=["ranking", "machine", "feature", "length_scale", "relevance"])
        }

    def draw(self, given: ToDraw) -> list[Path]:
        """Draw the length scales of each machine by feature, and their histogram."""
        machines = list(given.tables["length-scales"].groupby(["ranking", "machine"], sort=False))
        several = given.tables["length-scales"]["machine"].max() > 0
        with figure(2 * COLUMN_WIDTH, 2.6 * len(machines)) as drawing:
            all_axes = drawing.subplots(len(machines), 2, squeeze=False, width_ratios=(3, 1))
            for (by_feature, histogram), ((label, machine), rows) in zip(all_axes, machines, strict=True):
                by_feature.set_title(f"{legible(label)}, machine {machine}" if several else legible(label), loc="left")
                lengths = rows["length_scale"].to_numpy()
                # A table of an earlier version has 0 for one far below the others.
                lengths = np.maximum(lengths, lengths[lengths > 0].min(initial=np.inf) / 2)
                by_feature.bar(np.arange(len(rows)), lengths, color=COLOURS[0])
                by_feature.set_ylabel("Length scale")
                by_feature.margins(x=0.01)
                if len(rows) <= MAX_NAMED:
                    names = [legible(name, LONGEST_FEATURE) for name in rows["feature"]]
                    by_feature.set_xticks(np.arange(len(rows)), names, rotation=90, fontsize=4.5)
                else:
                    by_feature.set_xlabel("Feature")
                bins: Any = BINS
                if spans_decades(lengths):
                    bins = np.geomspace(lengths.min(), lengths.max(), BINS + 1)
                    by_feature.set_yscale("log")
                    histogram.set_xscale("log")
                    use_powers(by_feature.yaxis)
                    use_powers(histogram.xaxis)
                histogram.hist(lengths, bins=bins, color=COLOURS[0])
                histogram.set_xlabel("Length scale")
                histogram.set_ylabel("Features")
            return given.save(drawing, self.name, "first split")
