"""Stored results as pandas data frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from fsvm_cli.errors import DataError
from fsvm_cli.experiment.run_file import run_content
from fsvm_cli.report.comparison import read_comparison
from fsvm_cli.report.folder import CURVES_NAME, SCORES_NAME, name_of, read_table, results_folders


@dataclass(frozen=True)
class Results:
    """The results of one experiment or of many; each table is read when it is first asked for.

    Attributes
    ----------
    folders : tuple of Path
        One per experiment, or collection of experiments.
    curves : DataFrame
        Figure of merit for each experiment, ranking, training size, number of features, metric and part.
    scores : DataFrame
        Mean score and rank of each feature, for each experiment and ranking.
    verdicts : DataFrame
        Claims of the papers with printed values, obtained values and verdicts.
    config : DataFrame
        One row per experiment: what its config says, a column for each key by its dotted path.

    See Also
    --------
    load_results : Makes one.

    Examples
    --------
    >>> from fsvm_cli import load_results
    >>> load_results("nowhere")
    Traceback (most recent call last):
    fsvm_cli.errors.DataError: nowhere: no results here; 'fsvm run' makes them
    """

    folders: tuple[Path, ...]

    @cached_property
    def curves(self) -> pd.DataFrame:
        """Figure of merit against the number of features, as in ``curves.csv``."""
        return self._of_all(CURVES_NAME)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Scores of the features, as in ``scores.csv``."""
        return self._of_all(SCORES_NAME)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """Published beside reproduced, as in ``published.csv``; a claim that a collection repeats is listed once."""
        return read_comparison(self.folders)

    @cached_property
    def config(self) -> pd.DataFrame:
        """The configs, as in ``run.json``."""
        rows = [{"experiment": _name(folder), **run_content(folder)["config"]} for folder in self.folders]
        return pd.json_normalize(rows)

    def _of_all(self, file_name: str) -> pd.DataFrame:
        tables = {_name(each): read_table(each / file_name) for each in self.folders if (each / file_name).exists()}
        if not tables:
            return pd.DataFrame(columns=["experiment"])
        return pd.concat([table.assign(experiment=name) for name, table in tables.items()], ignore_index=True)[
            ["experiment", *dict.fromkeys(column for table in tables.values() for column in table)]
        ]


def _name(folder: Path) -> str:
    return name_of(folder)


def load_results(folder: str | Path = "results") -> Results:
    """Find the results of one experiment, or of all experiments in a folder.

    Parameters
    ----------
    folder : str or Path, default="results"
        As ``fsvm compare`` takes it.

    Returns
    -------
    Results
        Tables ``curves``, ``scores``, ``verdicts`` and ``config``, each with a column ``experiment``.

    Raises
    ------
    DataError
        If there are none; later, if a table is damaged.

    See Also
    --------
    Results : What can be asked of them.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from fsvm_cli import load_results
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = pathlib.Path(name) / "mine"
    ...     folder.mkdir()
    ...     _ = (folder / "run.json").write_text(json.dumps({"config": {"classifier": {"kernel": "linear", "C": 10}}}))
    ...     load_results(name).config
      experiment classifier.kernel  classifier.C
    0       mine            linear            10
    """
    folders = results_folders(Path(folder))
    if not folders:
        raise DataError(f"{folder}: no results here; 'fsvm run' makes them")
    return Results(tuple(folders))
