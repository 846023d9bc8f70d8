"""Rankings compared over several experiments by their mean ranks, with the critical-difference diagram of J. Demsar.

The diagram is that of JMLR 7, 2006.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.data.source_spec import FileSpec
from fsvm_cli.evaluation.many_data_sets import mean_ranks, signed_rank_p_value
from fsvm_cli.evaluation.metrics import direction
from fsvm_cli.evaluation.statistics import holm
from fsvm_cli.experiment.provenance import is_collection, read_run
from fsvm_cli.report.folder import CURVES_NAME, folder_names, read_table
from fsvm_cli.report.ranking_statistics import area_under_curve
from fsvm_cli.report.style import COLUMN_WIDTH, drawn, figure, legible
from fsvm_cli.spec.rankings import LEAK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.many_data_sets import MeanRanks
    from fsvm_cli.spec.rankings import Extraction, Ranking
    from fsvm_cli.spec.schema import Config

MIN_DATA_SETS = 4
"""Over fewer, no difference can be significant."""


@dataclass(frozen=True)
class RankComparison:
    """Rankings that stand together in several experiments.

    Attributes
    ----------
    areas : DataFrame
        Mean area under the test curve, one row for each experiment, one column for each ranking.
    found : MeanRanks
        In the order of the columns.
    pairs : DataFrame
        Columns `first`, `second`, `wins` (experiments where the first has the larger area), `p` of Wilcoxon's
        signed-rank test, and `p_holm`.
    """

    areas: pd.DataFrame
    found: MeanRanks
    pairs: pd.DataFrame

    def in_words(self) -> str:
        """Describe the result of Friedman's test, and the critical difference of two mean ranks."""
        p = "< 0.0001" if self.found.p < 1e-4 else f"{self.found.p:.2g}"
        return (
            f"Over {len(self.areas)} data sets ({', '.join(map(str, self.areas.index))}), one experiment each. "
            f"Friedman: chi-square {self.found.chi_square:.2f}, p {p}; mean ranks further apart than "
            f"{self.found.critical_difference:.2f} differ at the level .05 (Nemenyi)."
        )


def areas_of(folders: Sequence[Path]) -> pd.DataFrame:
    """List the mean areas under the test curves of experiments, by their first figure of merit; of a loss its negative.

    A data set counts once, with the first of its experiments that compare most rankings; files of one's own are the
    same data where their values are equal. Variants of another experiment, controls and runs with overrides do not
    count, nor do rankings that see the test part, or begin with the worst. Of several training sizes the largest
    counts. A ranking goes by its method, or by its label where an experiment has several of one method.

    Returns
    -------
    DataFrame
        One row for each experiment, one column for each ranking; NaN where an experiment has no such ranking.
    """
    by_data: dict[str, tuple[str, dict[str, float]]] = {}
    folder_of = folder_names(folders)
    for folder in folders:
        if is_collection(folder):
            continue
        config, run = read_run(folder)
        names = compared_names(config)
        counts = config.variant_of is None and config.control is None and not run["overrides"]
        data = run["data"]["sha256" if isinstance(config.dataset, FileSpec) else "name"]
        known = by_data.get(data)
        if counts and len(names) > (0 if known is None else len(known[1])):
            curves = read_table(folder / CURVES_NAME)
            areas = _areas(curves, config.metrics[0], list(names))
            named = {names[label]: area for label, area in areas.items()}
            by_data[data] = (folder_of[folder], named)
    return pd.DataFrame.from_dict(dict(by_data.values()), orient="index").sort_index()


def compared_names(config: Config) -> dict[str, str]:
    """Name the rankings and extractors that are compared, by their labels."""
    best_first = [each for each in config.rankings if each.order == "best-first" and not each.label.endswith(LEAK)]
    compared: tuple[Ranking | Extraction, ...] = (*best_first, *config.extractors)
    counts = Counter(each.method for each in compared)
    return {each.label: each.method if counts[each.method] == 1 else each.label for each in compared}


def _areas(curves: pd.DataFrame, metric: str, labels: Sequence[str]) -> dict[str, float]:
    shown = curves[(curves["metric"] == metric) & (curves["part"] == "test") & curves["ranking"].isin(labels)]
    largest = shown[shown["train_size"] == shown["train_size"].max()]
    return {
        str(label): direction(metric) * float(area_under_curve(rows["mean"].to_numpy(), rows["n_features"].to_numpy()))
        for label, rows in largest.sort_values("n_features").groupby("ranking", sort=False)
    }


def compare_over_experiments(areas: pd.DataFrame) -> RankComparison | None:
    """Compare rankings over the experiments in which all of them stand.

    Which rankings these are: of the sets that grow from a pair, each time by the ranking that keeps most experiments,
    the one with the most comparisons, (rankings - 1) x experiments.

    Parameters
    ----------
    areas : DataFrame
        From `areas_of`.

    Returns
    -------
    RankComparison or None
        None where no two rankings share `MIN_DATA_SETS` experiments.
    """
    there = areas.notna().to_numpy()
    sets = [grown for pair in itertools.combinations(range(there.shape[1]), 2) for grown in _growing(there, pair)]
    if not sets:
        return None
    columns = max(sets, key=lambda grown: (len(grown) - 1) * there[:, grown].all(axis=1).sum())
    labels = [areas.columns[index] for index in columns]
    block = areas[labels].dropna()
    ranks = mean_ranks(block.to_numpy())
    return RankComparison(block, ranks, _pairs(block))


def _growing(there: NDArray[np.bool_], pair: tuple[int, int]) -> Iterator[list[int]]:
    """Yield a pair of columns, and what it grows to, as long as enough rows have them all."""
    grown = list(pair)
    while there[:, grown].all(axis=1).sum() >= MIN_DATA_SETS:
        yield list(grown)
        kept = there[there[:, grown].all(axis=1)].sum(axis=0)
        kept[grown] = -1
        if kept.max() < MIN_DATA_SETS:
            return
        grown.append(int(np.argmax(kept)))


def _pairs(block: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for first, second in itertools.combinations(block.columns, 2):
        differences = (block[first] - block[second]).to_numpy()
        rows.append((first, second, int(np.count_nonzero(differences > 0)), signed_rank_p_value(differences)))
    table = pd.DataFrame(rows, columns=["first", "second", "wins", "p"])
    return table.assign(p_holm=holm(table["p"].to_numpy()))


ROW_INCHES = 0.16
"""Inches from one label, or one bar, to the next."""
GREY = "#777777"


def groups_alike(ranks: NDArray[np.float64], critical_difference: float) -> list[tuple[int, int]]:
    """List the longest runs of methods whose ranks do not differ.

    Parameters
    ----------
    ranks : ndarray, shape (n_methods,)
        Ascending.
    critical_difference : float

    Returns
    -------
    list of (int, int)
        First and last of each run of at least two methods; none lies within another.
    """
    runs: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = int(np.searchsorted(ranks, rank + critical_difference, side="right")) - 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def critical_difference_diagram(comparison: RankComparison, extension: str = "svg") -> bytes:
    """Draw mean ranks, the best at the left, and a bar over each group whose ranks do not differ.

    Parameters
    ----------
    comparison : RankComparison
    extension : {"svg", "png", "pdf"}

    Returns
    -------
    bytes
        Of the figure's file.
    """
    order = np.argsort(comparison.found.ranks, kind="stable")
    ranks = comparison.found.ranks[order]
    labels = [legible(comparison.areas.columns[index], 40) for index in order]
    groups = groups_alike(ranks, comparison.found.critical_difference)
    n_left = (len(labels) + 1) // 2
    depth = ROW_INCHES * (len(groups) + n_left + 1)
    with figure(2 * COLUMN_WIDTH, 0.75 + depth) as drawing:
        axes = drawing.add_subplot()
        axes.set_xlim(1, len(labels))
        axes.set_ylim(depth, -3.2 * ROW_INCHES)
        axes.grid(visible=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.spines["top"].set_visible(True)
        axes.spines["top"].set_position(("data", 0))
        axes.xaxis.set_ticks_position("top")
        axes.set_xticks(range(1, len(labels) + 1))
        axes.set_yticks([])
        axes.set_title(
            f"Mean ranks over {len(comparison.areas)} data sets, 1 is best; a bar joins rankings that do not differ "
            "(Nemenyi, level .05)",
            loc="left",
        )
        width = comparison.found.critical_difference
        axes.plot([1, 1 + width], [-2.4 * ROW_INCHES] * 2, color=GREY, linewidth=1.2, marker="|")
        axes.text(
            1 + width / 2,
            -2.55 * ROW_INCHES,
            f"critical difference {width:.2f}",
            ha="center",
            va="bottom",
            color=GREY,
        )
        for number, (first, last) in enumerate(groups):
            reach = 0.01 * (len(labels) - 1)
            ends = [ranks[first] - reach, ranks[last] + reach]
            axes.plot(ends, [ROW_INCHES * (number + 0.7)] * 2, color="#000000", linewidth=2.5, solid_capstyle="butt")
        for index, (rank, label) in enumerate(zip(ranks, labels, strict=True)):
            is_left = index < n_left
            level = ROW_INCHES * (len(groups) + 1 + (index if is_left else len(labels) - 1 - index))
            edge = 1 if is_left else len(labels)
            axes.plot([rank, rank, edge], [0, level, level], color=GREY, linewidth=0.7)
            text = f"{label}  {rank:.2f} " if is_left else f" {rank:.2f}  {label}"
            axes.text(edge, level, text, ha="right" if is_left else "left", va="center")
        return drawn(drawing, extension)
