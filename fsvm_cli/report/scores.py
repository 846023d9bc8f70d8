"""Scores of the features, one panel per method."""

from __future__ import annotations

import contextlib
import textwrap
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np

from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.style import CELL_INCHES, COLUMN_WIDTH, draw_cells, figure, legible, save, style_of_method

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
"""Panels beside each other that have room for all ticks; of more, these share so many, and each has two at least."""
MAX_PANELS_WITH_UPRIGHT_TICKS = 5
"""Of more panels beside each other the numbers of two ticks would overlap."""
MAX_NAMED_FEATURES = 40
"""Features that a column of names has room for."""
MAX_PANELS, MAX_MAPPED_FEATURES = 8, 25
"""Panels that have room beside each other; of more rankings a map shows the places of so many features."""
LABEL_DEGREES = 60
PLACE_FONT_SIZE = 6.0
"""Of places in a map, of which up to thirty stand side by side, in points."""
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
    which on the source selects. More than `MAX_PANELS` rankings stand in a map of the mean places of the features.

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
    if len(panels) > MAX_PANELS:
        with _map_of_places(panels, order) as drawing:
            return save(drawing, folder, "scores", formats)
    in_a_row = MAX_NAMED_FEATURES < len(panels[0][1]) <= MAX_BARS_PER_ROW and _has_shares(shown[0])
    with _row_of_bars(panels) if in_a_row else _named_features(panels, order) as drawing:
        return save(drawing, folder, "scores", formats)


@contextlib.contextmanager
def _named_features(panels: Panels, order: ScoreOrder) -> Iterator[Figure]:
    """Draw one line for each feature, and the panels side by side."""
    first, n_columns = panels[0][1], min(len(panels), 2)
    chosen = np.argsort(-first["mean"].to_numpy(), kind="stable")[:MAX_NAMED_FEATURES]
    if order == "file":
        chosen = np.sort(chosen)
    heights = np.arange(len(chosen))
    names = first.loc[chosen, "feature"].map(legible)
    width = (COLUMN_WIDTH * n_columns - NAME_WIDTH * names.str.len().max()) / len(panels)
    characters = min(
        TITLE_CHARACTERS_PER_COLUMN * n_columns // len(panels), max(MIN_TITLE_CHARACTERS, int(width / TITLE_WIDTH))
    )
    with figure(COLUMN_WIDTH * n_columns, 0.9 + 0.15 * len(chosen)) as drawing:
        all_axes = drawing.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (ranking, rows) in zip(all_axes, panels, strict=True):
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
            if len(panels) > MAX_FREE_PANELS:
                axes.locator_params(axis="x", nbins=max(2, TICKS_OF_NARROW_PANELS // (len(panels) - 1)), min_n_ticks=2)
            if len(panels) > MAX_PANELS_WITH_UPRIGHT_TICKS:
                axes.tick_params(axis="x", rotation=90)
        all_axes[0].set_yticks(heights, names)
        all_axes[0].invert_yaxis()
        shown = f"; {len(chosen)} of {len(first)} features shown" if len(chosen) < len(first) else ""
        drawing.supxlabel(f"Score (mean and s.d. over trials){shown}", fontsize=mpl.rcParams["axes.labelsize"])
        yield drawing


@contextlib.contextmanager
def _map_of_places(panels: Panels, order: ScoreOrder) -> Iterator[Figure]:
    """Draw the mean place of each feature in each ranking, those that come first in the mean of the rankings on top."""
    names = panels[0][1]["feature"]
    places = np.column_stack([rows["mean_rank"].to_numpy(dtype=np.float64) for _, rows in panels])
    chosen = np.argsort(places.mean(axis=1), kind="stable")[:MAX_MAPPED_FEATURES]
    if order == "file":
        chosen = np.sort(chosen)
    cells = places[chosen]
    with figure(2 * COLUMN_WIDTH, 1.6 + CELL_INCHES * len(chosen)) as drawing:
        axes = drawing.add_subplot()
        shades = 1.0 - np.sqrt(np.minimum((cells - 1.0) / len(chosen), 1.0))
        draw_cells(axes, shades, [[f"{place:.0f}" for place in row] for row in cells], PLACE_FONT_SIZE)
        axes.set_yticks(np.arange(len(chosen)) + 0.5, names[chosen].map(legible))
        labels = [legible(ranking.label) for ranking, _ in panels]
        axes.set_xticks(
            np.arange(len(panels)) + 0.5, labels, rotation=LABEL_DEGREES, ha="right", rotation_mode="anchor"
        )
        shown = f"; {len(chosen)} of {len(names)} features shown" if len(chosen) < len(names) else ""
        title = f"Mean place of each feature over trials; the darker, the earlier{shown}"
        drawing.suptitle(title, fontsize=8, x=0.01, ha="left", wrap=True)
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
