"""Empirical distribution functions of the best features, whose distance Kolmogorov and Smirnov take; jebara-slides."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from fsvm_cli.experiment.records.base import Record
from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.spec.rankings import Ranking
    from fsvm_cli.spec.schema import Config

N_FEATURES_SHOWN = 6


class DistributionDistance(Record):
    """The distribution of each of the best features over all training samples, and over those of the second class.

    Table `distributions`: feature (the best first), value, and the share of the samples, of all and of the class, that
    have at most this value.
    """

    name: ClassVar[str] = "distribution-distance"
    method: ClassVar[str] = "kolmogorov-smirnov"
    tables: ClassVar[tuple[str, ...]] = ("distributions",)
    scales: ClassVar[tuple[str, ...]] = ("feature",)

    def rankings(self, config: Config) -> list[Ranking]:
        """List the one ranking whose best features are shown."""
        return super().rankings(config)[:1]

    def issues(self, config: Config, data: DatasetMetadata) -> Iterator[Issue]:
        """Find whether there is no ranking, or there are more classes than two."""
        if len(data.class_names) != 2:
            here = ("record", config.record.index(self.name))
            message = f"a distribution distance needs 2 classes; {data.name} has {len(data.class_names)}; leave it out"
            yield Issue(here, message)
        yield from super().issues(config, data)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Count samples up to each value of each of the best features."""
        config, parts = trial.experiment.config, trial.parts
        (ranking,) = self.rankings(config)
        best = np.argsort(trial.ranker(ranking, config.classifier_of(ranking)).ranking_)[:N_FEATURES_SHOWN]
        tables = []
        for feature in best.tolist():
            column = parts.X_train[:, feature]
            values = np.unique(column)
            shares = {
                name: np.searchsorted(np.sort(samples), values, side="right") / len(samples)
                for name, samples in (("all_samples", column), ("in_class", column[parts.y_train == 1]))
            }
            name = trial.feature_names[feature]
            tables.append(pd.DataFrame({"feature": name, "value": values, **shares}))
        return {"distributions": pd.concat(tables, ignore_index=True)}
