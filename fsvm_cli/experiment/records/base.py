"""The base class of records: the rankings that a record shows, its requirements of a config, and its tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from fsvm_cli.data.source import DatasetMetadata
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.spec.rankings import Ranking
    from fsvm_cli.spec.schema import Config


class Record(ABC):
    """One kind of record.

    Attributes
    ----------
    name : str
        Its name in configs, and that of its figure.
    method : str
        The ranking method that it shows; not of kinds that show all compared methods.
    tables : tuple of str
        Names of its tables, as of files without their ending.
    scales : tuple of str
        Columns of its tables whose values define groups of rows with one scale: numbers of a group are rounded relative
        to the largest of them.
    """

    name: ClassVar[str]
    method: ClassVar[str]
    tables: ClassVar[tuple[str, ...]]
    scales: ClassVar[tuple[str, ...]] = ()

    def rankings(self, config: Config) -> list[Ranking]:
        """List the rankings of a config that the record shows; all of its method."""
        return [ranking for ranking in config.rankings if ranking.method == self.method]

    def numbers(self, experiment: Experiment) -> list[int]:
        """List the compared methods that the record shows, by their numbers."""
        shown = self.rankings(experiment.config)
        # Rankings are the first compared methods, in the order of the config.
        return [number for number, ranking in enumerate(experiment.config.rankings) if ranking in shown]

    def sizes(self, experiment: Experiment) -> tuple[int, ...]:  # noqa: ARG002 - what a record may depend on
        """List the numbers of retained features that the tables depend on; none where these keep no features."""
        return ()

    def issues(self, config: Config, data: DatasetMetadata) -> Iterator[Issue]:  # noqa: ARG002 - what a record asks of data
        """Find what the record shows and an experiment does not have."""
        if not self.rankings(config):
            yield Issue(
                ("record", config.record.index(self.name)),
                f"a {self.name.replace('-', ' ')} shows a {self.method} ranking; list one in 'rankings'",
            )

    def ratios(self, table: pd.DataFrame) -> Sequence[str]:  # noqa: ARG002 - what it may depend on
        """List the columns of numbers > 0 whose ratios count, so that each keeps digits of its own; none by default."""
        return ()

    @abstractmethod
    def compute(self, trial: DrawnTrial) -> dict[str, pd.DataFrame]:
        """Make the tables, by name, from the data of the recorded trial."""
