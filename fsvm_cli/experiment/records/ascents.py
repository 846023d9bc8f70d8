"""Records of the ascents on the evidence of gold2005: their paths, their ends, and chains on the posteriors there."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
import pandas as pd

from fsvm_cli.evidence.tuning import relevance
from fsvm_cli.experiment.records.base import Record
from fsvm_cli.spec.classifiers import BayesianBase
from fsvm_cli.svm.labels import machine_labels
from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.evidence.estimator import BayesianSVM
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.learners.bayesian import BayesianLearner
    from fsvm_cli.ranking.ard import AutomaticRelevance
    from fsvm_cli.spec.schema import Config

LENGTH_SCALE_PREFIX = "length scale of "
"""Prefix of the columns for the features' length scales."""

HYPERPARAMETERS = {"C", "k0", "k_off", "length_scale"}
"""Columns of the other hyperparameters."""


class AscentRecord(Record):
    """A record of every `ard` ranking, and of every Bayesian classifier on all features."""

    method: ClassVar[str] = "ard"
    scales: ClassVar[tuple[str, ...]] = ("ranking", "machine")

    def numbers(self, experiment: Experiment) -> list[int]:
        """List the numbers of the compared methods that are shown."""
        return super().numbers(experiment) if experiment.config.rankings else _bayesian(experiment.config)

    def issues(self, config: Config, data: DatasetMetadata) -> Iterator[Issue]:  # noqa: ARG002 - as in Record
        """Find whether the config has nothing that is tuned by the evidence."""
        if not (self.rankings(config) if config.rankings else _bayesian(config)):
            yield Issue(
                ("record", config.record.index(self.name)),
                f"the {self.name} is that of an ard ranking or a bayesian classifier; list one",
            )

    def ratios(self, table: pd.DataFrame) -> Sequence[str]:
        """List the hyperparameters, whose ascents are along their logarithms."""
        names = map(str, table)
        return [name for name in names if name in HYPERPARAMETERS or name.startswith(LENGTH_SCALE_PREFIX)]

    def tuned(self, trial: DrawnTrial) -> Iterator[tuple[str, AutomaticRelevance | BayesianSVM]]:
        """Yield each compared method that is shown: its label, and the estimator that tuned its hyperparameters."""
        config = trial.experiment.config
        for number in self.numbers(trial.experiment):
            compared_method = trial.experiment.compared_methods[number]
            if config.rankings:
                ranker = trial.ranker(config.rankings[number], compared_method.classifier)
                yield compared_method.label, cast("AutomaticRelevance", ranker)
            else:
                yield compared_method.label, cast("BayesianLearner", trial.learner(compared_method.classifier)).machine

    def ascents(self, trial: DrawnTrial) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield the label of each compared method that is shown with the table of its ascents; features have names."""
        names = {
            f"{LENGTH_SCALE_PREFIX}x{column}": f"{LENGTH_SCALE_PREFIX}{name}"
            for column, name in enumerate(trial.feature_names)
        }
        for label, tuned in self.tuned(trial):
            steps = pd.DataFrame(tuned.diagnostics_["ascent"])
            # On a training part features have no names; those that are constant there have no lengths.
            lengths = [each for each in np.array([*names])[np.argsort(trial.columns)] if each in steps]
            others = [name for name in steps if " of " not in str(name)]
            yield label, steps[[*others, *lengths]].rename(columns=names)


def _bayesian(config: Config) -> list[int]:
    """List the Bayesian ones among the classifiers that are compared on all features."""
    classifiers = (config.classifier, *(alternative.classifier for alternative in config.alternatives))
    return [number for number, each in enumerate(classifiers) if isinstance(each, BayesianBase)]


class EvidenceAscent(AscentRecord):
    """The hyperparameters along the ascents of the first split.

    Table `ascent`: ranking (or classifier), machine and step; C, k0, k_off; the mean magnitude of the gradients by the
    length scales, relative to their peaks, and the part of all gradients that exceed their errors; what the sampler
    reports; and a length scale for each feature.
    """

    name: ClassVar[str] = "ascent"
    tables: ClassVar[tuple[str, ...]] = ("ascent",)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Follow the hyperparameters."""
        parts = []
        for label, steps in self.ascents(trial):
            steps.insert(0, "ranking", label)
            parts.append(steps)
        return {"ascent": pd.concat(parts, ignore_index=True)}


class LengthScales(AscentRecord):
    """The length scale and the relevance of each feature on the first split.

    Table `length-scales`: ranking (or classifier), machine, feature, length scale, and its share ω of the relevance.
    """

    name: ClassVar[str] = "length-scales"
    tables: ClassVar[tuple[str, ...]] = ("length-scales",)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Take the ends of the ascents."""
        X = trial.parts.X_train
        varies = dict(zip(trial.feature_names, np.not_equal(X, X[0]).any(axis=0).tolist(), strict=True))
        rows = []
        for label, steps in self.ascents(trial):
            for machine, ascent in steps.groupby("machine"):
                features = [str(name) for name in ascent if str(name).startswith(LENGTH_SCALE_PREFIX)]
                lengths = ascent[features].to_numpy(dtype=np.float64)[-1]
                names = [name.removeprefix(LENGTH_SCALE_PREFIX) for name in features]
                columns = zip(
                    names, lengths, relevance(lengths, np.array([varies[each] for each in names])), strict=True
                )
                rows += [(label, machine, *of_feature) for of_feature in columns]
        return {
            "length-scales": pd.DataFrame(rows, columns=["ranking", "machine", "feature", "length_scale", "relevance"])
        }


TRACE_COLUMNS = [
    *("ranking", "machine", "chain", "draw"),
    *("potential", "coordinate", "rank", "acceptance", "r_hat", "effective_size"),
]
MISSING = float("nan")
STUCK_CHAINS_ROW = pd.DataFrame([(0, 0, MISSING, MISSING, MISSING, 0.0, MISSING, MISSING)], columns=TRACE_COLUMNS[2:])
"""Row of a machine for which one of the chains never moved."""


class SamplerTraces(AscentRecord):
    """Where Hybrid Monte Carlo goes on the posteriors at the ends of the ascents of the first split.

    Table `sampler-traces`: ranking (or classifier), machine, and the columns of `chain_traces`. Weighted draws, the
    default sampler, have no traces; chains on the same posterior show whether it is one that can be sampled. Where a
    chain never moves, the machine has one row, with an acceptance of 0.
    """

    name: ClassVar[str] = "sampler-traces"
    tables: ClassVar[tuple[str, ...]] = ("sampler-traces",)

    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Follow chains on each posterior."""
        # Slow to import, and used by this record only.
        from fsvm_cli.evidence.diagnostics import chain_traces  # noqa: PLC0415
        from fsvm_cli.evidence.hybrid_monte_carlo import SamplingError  # noqa: PLC0415

        X, y, _ = trial.parts.training_rows()
        labels, _ = machine_labels(y, len(trial.experiment.source.class_names))
        parts = []
        for label, tuned in self.tuned(trial):
            rng = trial.stream("sampler-traces", label)
            own = getattr(tuned, "_columns", slice(None))  # a ranking has seen the columns that vary
            for machine, posterior in enumerate(tuned.posteriors(X[:, own], labels, tuned.path_, rng)):
                try:
                    traces = pd.DataFrame(chain_traces(posterior, rng))
                except SamplingError:
                    traces = STUCK_CHAINS_ROW
                parts.append(traces.assign(ranking=label, machine=machine)[TRACE_COLUMNS])
        return {"sampler-traces": pd.concat(parts, ignore_index=True)}
