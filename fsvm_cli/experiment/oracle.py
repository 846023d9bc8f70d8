"""The oracle: a machine on the features that are known to matter, beside those that rankings find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.experiment.competitors import Competitor, Ordering
from fsvm_cli.spec.oracle import ORACLE, RELEVANT

if TYPE_CHECKING:
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.spec.classifiers import ExperimentClassifier
    from fsvm_cli.spec.schema import Config


@dataclass(frozen=True)
class Oracle(Competitor):
    """The first of the features that matter; of more features than these, these alone.

    Attributes
    ----------
    classifier : ExperimentClassifier
    features : tuple of int
        Columns, the one to keep first comes first.
    """

    classifier: ExperimentClassifier
    features: tuple[int, ...]

    @property
    def label(self) -> str:
        """Say that somebody knows."""
        return ORACLE

    def order(self, trial: DrawnTrial) -> Ordering:
        """Keep the known features, in their order."""
        columns = list(self.features)
        parts = replace(trial.parts, X_train=trial.parts.X_train[:, columns], X_test=trial.parts.X_test[:, columns])
        return Ordering(parts, np.arange(len(columns)), scores=(), converged=True, chosen={})

    def identity(self) -> dict[str, Any]:
        """Name the features."""
        return {"method": ORACLE, "features": list(self.features)}

    def code(self) -> tuple[type, ...]:
        """Give this class."""
        return (Oracle,)


def oracle_of(config: Config, source: DataSource) -> tuple[Oracle, ...]:
    """Return the oracle of an experiment whose data have the features that it names; nothing where there is none."""
    if config.oracle is None:
        return ()
    if config.oracle == RELEVANT:
        features = source.relevant_features
        assert features is not None, "the plan has seen to it"
    else:
        features = tuple(map(source.feature_names.index, dict.fromkeys(config.oracle)))
    return (Oracle(config.classifier, features),)
