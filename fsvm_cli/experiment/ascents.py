"""What records of gold2005 have in common: the ascents of Bayesian machines on the first split."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

import pandas as pd

from fsvm_cli.experiment.records.base import Record
from fsvm_cli.spec.classifiers import BayesianBase
from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from matplotlib.axis import Axis
    from numpy.typing import NDArray

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.evidence.estimator import BayesianSVM
    from fsvm_cli.experiment.plan import Experiment
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.learners.bayesian import BayesianLearner
    from fsvm_cli.ranking.ard import AutomaticRelevance
    from fsvm_cli.spec.schema import Config

LENGTH_SCALE_OF = "length scale of "
HYPERPARAMETERS = {"C", "k0", "k_off", "length_scale"}
"""Columns of the tables."""
WIDE = 100.0
"""From which ratio on length scales are drawn by their logarithms."""


def spans_decades(length_scales: NDArray[np.float64]) -> bool:
    """Whether a figure of these needs a logarithmic axis."""
    return bool(length_scales.max() > WIDE * length_scales.min())


def use_powers(axis: Axis) -> None:
    """Write the powers of ten of a logarithmic axis as numbers, not as formulas."""
    from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415 - a run draws nothing

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


class AscentRecord(Record):
    """A record of every `ard` ranking, and of every Bayesian classifier on all features."""

    method: ClassVar[str] = "ard"
    scales: ClassVar[tuple[str, ...]] = ("ranking", "machine")

    def numbers(self, experiment: Experiment) -> list[int]:
        """List the numbers of the competitors that are shown."""
        return super().numbers(experiment) if experiment.config.rankings else _bayesian(experiment.config)

    def issues(self, config: Config, data: DatasetMetadata) -> Iterator[Issue]:  # noqa: ARG002 - as in Record
        """Find whether nothing is tuned by the evidence."""
        if not (self.rankings(config) if config.rankings else _bayesian(config)):
            yield Issue(
                ("record", config.record.index(self.name)),
                f"the {self.name} is that of an ard ranking or a bayesian classifier; list one",
            )

    def ratios(self, table: pd.DataFrame) -> Sequence[str]:
        """List the hyperparameters, whose ascents are along their logarithms."""
        names = map(str, table)
        return [name for name in names if name in HYPERPARAMETERS or name.startswith(LENGTH_SCALE_OF)]

    def tuned(self, trial: DrawnTrial) -> Iterator[tuple[str, AutomaticRelevance | BayesianSVM]]:
        """Yield the label of each competitor that is shown with what its hyperparameters were tuned by."""
        config = trial.experiment.config
        for number in self.numbers(trial.experiment):
            compared_method = trial.experiment.compared_methods[number]
            if config.rankings:
                ranker = trial.ranker(config.rankings[number], compared_method.classifier)
                yield compared_method.label, cast("AutomaticRelevance", ranker)
            else:
                yield compared_method.label, cast("BayesianLearner", trial.learner(compared_method.classifier)).machine

    def ascents(self, trial: DrawnTrial) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield the label of each competitor that is shown with the table of its ascents, features by their names."""
        names = [f"{LENGTH_SCALE_OF}{name}" for name in trial.experiment.source.feature_names]
        for label, tuned in self.tuned(trial):
            steps = pd.DataFrame(tuned.diagnostics_["ascent"])
            # On a training part features have no names: their columns stand in the order of the data.
            lengths = [name for name in steps if str(name).startswith(LENGTH_SCALE_OF)]
            others = [name for name in steps if " of " not in str(name)]
            yield label, steps[[*others, *lengths]].set_axis([*others, *names], axis=1)


def _bayesian(config: Config) -> list[int]:
    """List the Bayesian ones among the classifiers that are compared on all features."""
    classifiers = (config.classifier, *(alternative.classifier for alternative in config.alternatives))
    return [number for number, each in enumerate(classifiers) if isinstance(each, BayesianBase)]
