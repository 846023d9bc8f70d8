"""How stable the choice of features is, below the figure of merit that it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import FixedLocator, FuncFormatter

from fsvm_cli.evaluation.metrics import METRIC_TITLES
from fsvm_cli.figures import COLUMN_WIDTH, LONGEST_TITLE, figure, legible, save
from fsvm_cli.report.size_axis import ticks_among
from fsvm_cli.report.styles import styles_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.spec.schema import Config

LEAST_SIZES = 3
"""Of what is drawn as a curve."""
MARKS = 31


def draw_stability(
    curves: pd.DataFrame, selection: pd.DataFrame, config: Config, folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Draw Nogueira's index of stability against the number of features, below the mean test result.

    Of several training sizes the largest is shown.

    Parameters
    ----------
    curves, selection : DataFrame
        The tables `curves.csv` and `selection.csv`.
    config : Config
    folder, formats
        As in `fsvm_cli.figures.save`.

    Returns
    -------
    list of Path
        Empty where no curve of the stability has `LEAST_SIZES` points.
    """
    metric = config.metrics[0]
    largest = curves["train_size"].max()
    known = selection[(selection["train_size"] == largest) & selection["stability"].notna()]
    shown = curves[(curves["train_size"] == largest) & (curves["metric"] == metric) & (curves["part"] == "test")]
    if known["n_features"].nunique() < LEAST_SIZES:
        return []
    styles = styles_of(config)
    labels = [label for label in styles if label in set(known["ranking"])]
    every = -(-known["n_features"].nunique() // MARKS)
    with figure(COLUMN_WIDTH, 4.4) as drawing:
        upper, lower = drawing.subplots(2, 1, sharex=True, height_ratios=(1, 1))
        handles = []
        for label in labels:
            style = styles[label].of_line() | {"markevery": every}
            merit = shown[shown["ranking"] == label]
            handles += upper.plot(merit["n_features"], 100 * merit["mean"], label=legible(label), **style)
            stable = known[known["ranking"] == label]
            lower.plot(stable["n_features"], stable["stability"], **style)
            band = {"color": style["color"], "alpha": 0.2, "linewidth": 0}
            lower.fill_between(stable["n_features"], stable["stability_ci_low"], stable["stability_ci_high"], **band)
        # A symmetric interval may leave the range that the index can have.
        lower.set_ylim(top=min(lower.get_ylim()[1], 1.05))
        upper.set_ylabel(f"Test {METRIC_TITLES[metric]} (%)")
        lower.set_ylabel("Stability of the choice\n(1: always the same)")
        lower.set_xlabel("Number of retained features")
        lower.xaxis.set_major_locator(FixedLocator(ticks_among(sorted(shown["n_features"].unique()))))
        lower.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:.0f}"))
        heading = legible(config.title, LONGEST_TITLE)
        upper.set_title(
            f"{heading}\n{largest} training rows; band: 95 % interval of the stability", loc="left", wrap=True
        )
        drawing.legend(handles=handles, loc="outside lower left", ncols=2, handlelength=2.6)
        return save(drawing, folder, "stability-vs-features", formats)
