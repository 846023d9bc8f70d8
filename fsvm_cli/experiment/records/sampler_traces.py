"""Traces of chains on the posteriors that the ascents on the evidence ended with, gold2005, section 2.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from fsvm_cli.experiment.ascents import AscentRecord
from fsvm_cli.figures import COLOURS, COLUMN_WIDTH, figure, legible
from fsvm_cli.svm.labels import machine_labels

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.experiment.records.base import ToDraw
    from fsvm_cli.experiment.trial import DrawnTrial

COLUMNS = [
    *("ranking", "machine", "chain", "draw"),
    *("potential", "coordinate", "rank", "acceptance", "r_hat", "effective_size"),
]
UNKNOWN = float("nan")
STUCK = pd.DataFrame([(0, 0, UNKNOWN, UNKNOWN, UNKNOWN, 0.0, UNKNOWN, UNKNOWN)], columns=COLUMNS[2:])
"""Of chains of which one never moved."""
RANK_BINS = 10
SHOWN = {"potential": "-ln Q / n", "coordinate": "Slowest coordinate"}


class SamplerTraces(AscentRecord):
    """Where Hybrid Monte Carlo goes on the posteriors at the ends of the ascents of the first split.

    Table `sampler-traces`: ranking (or classifier), machine, and the columns of `chain_traces`. Weighted draws, the
    default sampler, have no traces; chains on the same posterior show whether it is one that can be sampled. Where a
    chain never moves, the row of the machine says so by an acceptance of 0.
    """

    name: ClassVar[str] = "sampler-traces"
    tables: ClassVar[tuple[str, ...]] = ("sampler-traces",)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Follow chains on each posterior."""
        # Only where it is asked for.
        from fsvm_cli.evidence.diagnostics import chain_traces  # noqa: PLC0415
        from fsvm_cli.evidence.hybrid_monte_carlo import SamplingError  # noqa: PLC0415

        X, y, _ = trial.parts.training_rows()
        labels, _ = machine_labels(y, len(trial.experiment.source.class_names))
        parts = []
        for label, tuned in self.tuned(trial):
            rng = trial.stream("sampler-traces", label)
            for machine, posterior in enumerate(tuned.posteriors(X, labels, tuned.path_, rng)):
                try:
                    traces = pd.DataFrame(chain_traces(posterior, rng))
                except SamplingError:
                    traces = STUCK
                parts.append(traces.assign(ranking=label, machine=machine)[COLUMNS])
        return {"sampler-traces": pd.concat(parts, ignore_index=True)}

    def draw(self, given: ToDraw) -> list[Path]:
        """Draw the potential and the slowest coordinate of each chain, and how often it has which rank."""
        traces = given.tables["sampler-traces"]
        machines = list(traces.groupby(["ranking", "machine"], sort=False))
        several = traces["machine"].max() > 0
        with figure(2.6 * COLUMN_WIDTH, 1.9 * len(machines) + 0.4) as drawing:
            all_axes = drawing.subplots(len(machines), 3, squeeze=False, sharex="col")
            for row, ((label, machine), chains) in zip(all_axes, machines, strict=True):
                row[0].set_title(f"{legible(label)}, machine {machine}" if several else legible(label), loc="left")
                first = chains.iloc[0]
                agreement = f"R-hat {first['r_hat']:.3f}, {first['effective_size']:.0f} effective draws"
                row[1].set_title(f"acceptance {chains['acceptance'].mean():.2f}, {agreement}", loc="right")
                for axes, (column, heading) in zip(row[:2], SHOWN.items(), strict=True):
                    for colour, (_, chain) in zip(COLOURS, chains.groupby("chain"), strict=False):
                        axes.plot(chain["draw"], chain[column], color=colour, linewidth=0.8)
                    axes.set_ylabel(heading)
                for colour, (_, chain) in zip(COLOURS, chains.groupby("chain"), strict=False):
                    row[2].hist(chain["rank"].dropna(), bins=RANK_BINS, range=(0, 1), histtype="step", color=colour)
                row[2].set_ylabel("Draws")
            all_axes[-1, 2].set_xlabel("Rank among all chains")
            for axes in all_axes[-1, :2]:
                axes.set_xlabel("Draw")
            return given.save(drawing, self.name, "first split")
