"""Paths of descents along the feature weights of a kernel: weights, objective and active features, kpd2018."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from fsvm_cli.experiment.records.base import Record

if TYPE_CHECKING:
    from fsvm_cli.experiment.trial import DrawnTrial

MAX_PATH_POINTS = 101
"""Points kept of a longer descent, equally far apart; a figure shows no more."""

WEIGHT_PREFIX = "weight of "
"""Prefix of the columns for the features' weights."""


class DescentPathRecord(Record):
    """The feature weights of every kpd ranking along its descents, section 3 of the paper.

    Table `path`: ranking, machine, iteration, objective, number of active features, and a weight for each feature.
    """

    name: ClassVar[str] = "descent-path"
    method: ClassVar[str] = "kpd"
    tables: ClassVar[tuple[str, ...]] = ("path",)
    scales: ClassVar[tuple[str, ...]] = ("ranking", "machine")

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Follow the feature weights of kernels along their descents."""
        paths = []
        config = trial.experiment.config
        in_order = np.argsort(trial.columns)
        for ranking in self.rankings(config):
            ranker = trial.ranker(ranking, config.classifier_of(ranking))
            path = pd.DataFrame(ranker.diagnostics_["path"])
            others = [name for name in path if not str(name).startswith(WEIGHT_PREFIX)]
            # On a training part features have no names; those that are constant there have no weights.
            kept = [column for column in in_order if f"{WEIGHT_PREFIX}x{column}" in path]
            names = [f"{WEIGHT_PREFIX}{trial.feature_names[column]}" for column in kept]
            path = path[[*others, *(f"{WEIGHT_PREFIX}x{column}" for column in kept)]].set_axis(
                [*others, *names], axis=1
            )
            path.insert(0, "ranking", ranking.label)
            paths += [_thinned(descent) for _, descent in path.groupby("machine")]
        return {"path": pd.concat(paths, ignore_index=True)}


def _thinned(descent: pd.DataFrame) -> pd.DataFrame:
    kept = np.linspace(0, len(descent) - 1, min(len(descent), MAX_PATH_POINTS)).round().astype(int)
    return descent.iloc[np.unique(kept)]
