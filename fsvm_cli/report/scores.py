"""Scores of the features, one panel per method."""

from __future__ import annotations

import contextlib
import textwrap
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np

from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.style import COLUMN_WIDTH, figure, legible, save, style_of_method

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from fsvm_cli.spec.rankings import Ranking
    from fsvm_cli.spec.schema import Config

    Panels = list[tuple[Ranking, pd.DataFrame]]

ScoreOrder = Literal["score", "file"]

ERROR_BAR_STYLE: dict[str, Any] = {"elinewidth": 0.8}
THRESHOLD_STYLE: dict[str, Any] = {"color": "#000000", "linewidth": 0.9, "linestyle": "--"}

TITLE_CHARACTERS_PER_COLUMN = 42
"""Of a title that stand side by side in the width of a column."""
MIN_TITLE_CHARACTERS = 8
"""In a line of a title, however narrow its panel is."""
NAME_WIDTH, TITLE_WIDTH = 0.06, 0.067
"""Inches, about, of a character of a feature's name, and of one of a title."""
MAX_FREE_PANELS, TICKS_OF_NARROW_PANELS = 2, 5
"""Panels beside each other that have room for all ticks; of more, these share so many, and each has one at least."""
MAX_NAMED_FEATURES = 40
"""Features that a column of names has room for."""
MAX_PANELS_IN_ONE_ROW, PANELS_PER_ROW, NAMED_FEATURES_PER_ROW = 8, 6, 20
"""Panels that have room beside each other; of more so many stand in a row, and each row has fewer features."""
MAX_BARS_PER_ROW = 400
"""Features that a row of bars has room for."""


def draw_scores(
    scores: pd.DataFrame, config: Config, folder: Path, formats: Sequence[str], order: ScoreOrder = "score"
) -> list[Path]:
    """Draw the mean score of each feature with the spread between trials.

    Rankings that look at the data get a panel each, unless every trial of theirs failed; one that only reverses the
    order of another shares its panel. Of
    more features than can be named, the best of the first panel are shown, and the picture says so; scores that are
    shares stand as a row of bars for all features, by their numbers, if there is room. A line marks the score from
    which on the source selects.

    Parameters
    ----------
    scores : DataFrame
        The table `scores.csv`.
    config : Config
    folder, formats
        As in `fsvm_cli.report.style.save`.
    order : {"score", "file"}
        Of the features that are named: the best of the first panel first, or as in the data.

    Returns
    -------
    list of Path
        Empty where no ranking that looks at the data has scores.
    """
    shown = _rankings_shown(config, set(scores["ranking"]))
    if not shown:
        return []
    panels = [(ranking, scores[scores["ranking"] == ranking.label].reset_index(drop=True)) for ranking in shown]
    in_a_row = MAX_NAMED_FEATURES < len(panels[0][1]) <= MAX_BARS_PER_ROW and _has_shares(shown[0])
    with _row_of_bars(panels) if in_a_row else _named_features(panels, order) as drawing:
        return save(drawing, folder, "scores", formats)


@contextlib.contextmanager
def _named_features(panels: Panels, order: ScoreOrder) -> Iterator[Figure]:
    """Draw one line for each feature, and the panels side by side."""
    first, n_columns = panels[0][1], min(len(panels), 2)
    n_across = len(panels) if len(panels) <= MAX_PANELS_IN_ONE_ROW else PANELS_PER_ROW
    n_down = -(-len(panels) // n_across)
    chosen = np.argsort(-first["mean"].to_numpy(), kind="stable")[
        : MAX_NAMED_FEATURES if n_down == 1 else NAMED_FEATURES_PER_ROW
    ]
    if order == "file":
        chosen = np.sort(chosen)
    heights = np.arange(len(chosen))
    names = first.loc[chosen, "feature"].map(legible)
    width = (COLUMN_WIDTH * n_columns - NAME_WIDTH * names.str.len().max()) / n_across
    characters = min(
        TITLE_CHARACTERS_PER_COLUMN * n_columns // (n_across + (n_down > 1)),
        max(MIN_TITLE_CHARACTERS, int(width / TITLE_WIDTH)),
    )
    with figure(COLUMN_WIDTH * n_columns, n_down * (0.9 + 0.15 * len(chosen))) as drawing:
        all_axes = drawing.subplots(n_down, n_across, sharey=True, squeeze=False)
        for axes in all_axes.flat[len(panels) :]:
            axes.set_visible(False)
        for axes, (ranking, rows) in zip(all_axes.flat, panels, strict=False):
            picked, (colour, _) = rows.loc[chosen], style_of_method(ranking.method)
            spread = picked["std"].fillna(0)
            if _has_shares(ranking):
                axes.barh(
                    heights, picked["mean"], xerr=spread, color=colour, ecolor="#999999", error_kw=ERROR_BAR_STYLE
                )
            else:
                axes.errorbar(
                    picked["mean"], heights, xerr=spread, fmt="o", color=colour, ecolor="#999999", **ERROR_BAR_STYLE
                )
            if ranking.score_threshold is not None:
                axes.axvline(ranking.score_threshold, **THRESHOLD_STYLE)
            axes.set_title(
                "\n".join(textwrap.fill(line, characters) for line in _title(ranking).split("\n")), loc="left"
            )
            axes.margins(y=0.5 / len(chosen))
            if n_across > MAX_FREE_PANELS:
                axes.locator_params(axis="x", nbins=max(1, TICKS_OF_NARROW_PANELS // (n_across - 1)), min_n_ticks=1)
        for axes in all_axes[:, 0]:
            axes.set_yticks(heights, names)
        all_axes[0, 0].invert_yaxis()
        shown = f"; {len(chosen)} of {len(first)} features shown" if len(chosen) < len(first) else ""
        drawing.supxlabel(f"Score (mean and s.d. over trials){shown}", fontsize=mpl.rcParams["axes.labelsize"])
        yield drawing


@contextlib.contextmanager
def _row_of_bars(panels: Panels) -> Iterator[Figure]:
    """Draw one bar for each feature, and the panels one below the other."""
    with figure(2 * COLUMN_WIDTH, 0.5 + 1.1 * len(panels)) as drawing:
        all_axes = drawing.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (ranking, rows) in zip(all_axes, panels, strict=True):
            colour, _ = style_of_method(ranking.method)
            axes.bar(np.arange(1, len(rows) + 1), rows["mean"], width=0.8, color=colour)
            if ranking.score_threshold is not None:
                axes.axhline(ranking.score_threshold, **THRESHOLD_STYLE)
            axes.set_title(_title(ranking), loc="left")
            axes.set_ylabel("Mean score")
            axes.margins(x=0.01)
        all_axes[-1].set_xlabel("Number of the feature")
        yield drawing


def _has_shares(ranking: Ranking) -> bool:
    return ranking_methods()[ranking.method].scores_are_shares


def _title(ranking: Ranking) -> str:
    threshold = ranking.score_threshold
    label = legible(ranking.label)
    return label if threshold is None else f"{label}\nline: {threshold:g}"


def _rankings_shown(config: Config, with_scores: set[str]) -> list[Ranking]:
    shown: dict[tuple[object, ...], Ranking] = {}
    for ranking in config.rankings:
        if ranking.label in with_scores and not ranking_methods()[ranking.method].is_control:
            shown.setdefault((ranking.method, repr(ranking.classifier), *sorted(ranking.parameters().items())), ranking)
    return list(shown.values())
