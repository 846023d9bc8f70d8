"""Scores of the features, one panel per method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.style import COLOURS, COLUMN_WIDTH, figure, save

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from fsvm_cli.experiment.schema import Config, Ranking

MAX_FEATURES = 40


def draw_scores(scores: pd.DataFrame, config: Config, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Draw the mean score of each feature with the spread between trials.

    Rankings that look at the data get a panel each; one that only reverses the order of another shares its panel. Of
    more features than fit, the best of the first panel are shown.

    Parameters
    ----------
    scores : DataFrame
        The table `scores.csv`.
    config : Config
    folder : Path
    formats : sequence of str
        Of svg, png, pdf.

    Returns
    -------
    list of Path
        Empty where no ranking looks at the data.
    """
    shown = _rankings_shown(config)
    if not shown or scores.empty:
        return []
    panels = {ranking.label: scores[scores["ranking"] == ranking.label].reset_index(drop=True) for ranking in shown}
    first = next(iter(panels.values()))
    chosen = np.sort(np.argsort(-first["mean"].to_numpy(), kind="stable")[:MAX_FEATURES])
    height = 0.9 + 0.15 * len(chosen)
    with figure(COLUMN_WIDTH * min(len(panels), 2), height) as drawing:
        all_axes = drawing.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for place, (axes, (label, rows)) in enumerate(zip(all_axes, panels.items(), strict=True)):
            picked = rows.loc[chosen]
            axes.errorbar(
                picked["mean"],
                range(len(chosen)),
                xerr=picked["std"].fillna(0),
                fmt="o",
                color=COLOURS[place % len(COLOURS)],
                ecolor="#999999",
                elinewidth=0.8,
            )
            axes.set_title(label, loc="left")
            axes.set_xlabel("Score (mean and s.d. over trials)")
            axes.margins(y=0.5 / len(chosen))
        all_axes[0].set_yticks(range(len(chosen)), first.loc[chosen, "feature"])
        all_axes[0].invert_yaxis()
        return save(drawing, folder, "scores", formats)


def _rankings_shown(config: Config) -> list[Ranking]:
    shown: dict[tuple[object, ...], Ranking] = {}
    for ranking in config.rankings:
        if ranking_methods()[ranking.method].looks_at_data:
            shown.setdefault((ranking.method, *sorted(ranking.parameters().items())), ranking)
    return list(shown.values())
