"""What each ranking of an experiment comes to: area, accuracy at shares of the features, stability, recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.experiment.provenance import read_run
from fsvm_cli.report.folder import CURVES_NAME, SELECTION_NAME, read_table
from fsvm_cli.report.ranks import areas_in, compared_names

if TYPE_CHECKING:
    from pathlib import Path

FEATURE_SHARES = (0.1, 0.25, 0.5)
"""Shares of the features at which methods are compared: as near to them as an experiment's sizes come."""
AT_SHARES = tuple(f"at_{100 * share:.0f}" for share in FEATURE_SHARES)


def method_values(folder: Path) -> pd.DataFrame:
    """Read what the rankings of an experiment come to, on the test part and at the largest training size.

    Parameters
    ----------
    folder : Path
        Of the results.

    Returns
    -------
    DataFrame
        One row for each ranking that is compared, by its name: `area` under the curve of the first figure of merit,
        that figure `at_10`, `at_25` and `at_50` per cent of the features, `stability` of the selections at 10 %, and
        `recovered`, the share of the relevant features that are kept, of as many as could be, in the mean over numbers
        of features; NaN where it is unknown, or features are extracted.
    """
    config, run = read_run(folder)
    names = compared_names(config)
    n_features = len(run["data"]["feature_names"])
    curves = read_table(folder / CURVES_NAME)
    areas = {names[label]: area for label, area in areas_in(curves, config.metrics[0], list(names)).items()}
    shown = curves[(curves["metric"] == config.metrics[0]) & (curves["part"] == "test")]
    table = pd.DataFrame({"area": pd.Series(areas, dtype=float)})
    for name, share in zip(AT_SHARES, FEATURE_SHARES, strict=True):
        table[name] = _near(_compared(shown, names), "mean", share * n_features)
    table["stability"] = table["recovered"] = np.nan
    if (folder / SELECTION_NAME).exists():
        kept = _compared(read_table(folder / SELECTION_NAME), names)
        table["stability"] = _near(kept, "stability", FEATURE_SHARES[0] * n_features)
        table["recovered"] = kept.groupby("name")["recovered"].mean()
    return table


def _compared(rows: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """Keep the rows of compared rankings at the largest training size, with their names as `name`."""
    kept = rows.assign(name=rows["ranking"].map(names)).dropna(subset="name")
    largest: pd.DataFrame = kept.loc[kept["train_size"] == kept["train_size"].max()]
    return largest


def _near(rows: pd.DataFrame, column: str, size: float) -> pd.Series[float]:
    """Take a column at the number of features that is nearest to a size, by the name of the ranking."""
    sizes = rows["n_features"].unique()
    if not len(sizes):
        return pd.Series(dtype=float)
    there = rows[rows["n_features"] == sizes[np.argmin(np.abs(sizes - size))]]
    values: pd.Series[float] = there.set_index("name")[column].astype(float)
    return values
