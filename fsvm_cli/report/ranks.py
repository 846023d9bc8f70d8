"""Rankings compared over several experiments: by mean ranks and in pairs, with a diagram and a heat map.

The critical-difference diagram is that of J. Demsar, JMLR 7, 2006.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fsvm_cli.data.source_spec import FileSpec
from fsvm_cli.evaluation.many_data_sets import mean_ranks, pairs_apart, signed_rank_chances
from fsvm_cli.evaluation.metrics import direction
from fsvm_cli.experiment.provenance import is_collection, read_run
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.folder import CURVES_NAME, SELECTION_NAME, folder_names, read_table
from fsvm_cli.report.ranking_statistics import MARGIN, area_under_curve
from fsvm_cli.report.style import CELL_INCHES, COLUMN_WIDTH, draw_cells, drawn, figure, legible, shades_of_losses
from fsvm_cli.spec.rankings import LEAK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.many_data_sets import MeanRanks, PairsApart
    from fsvm_cli.spec.rankings import Extraction, Ranking
    from fsvm_cli.spec.schema import Config

MIN_DATA_SETS = 4
"""Over fewer, no difference can be significant."""
MIN_EVERYWHERE = 3
"""Rankings that stand in all data sets, from which on they are compared alone, too."""
ON_ALL = ", rankings that stand in all data sets"
"""After the name of a machine."""
MAX_NUMBERED_RANKS = 20
"""Ranks that have room for their numbers beside each other; of more every second is numbered."""


SURE = 0.95
"""Posterior probability from which on a pair counts as told."""


@dataclass(frozen=True)
class RankComparison:
    """Rankings that stand together in several experiments.

    Attributes
    ----------
    areas : DataFrame
        Mean area under the test curve, one row for each experiment, one column for each ranking.
    found : MeanRanks
        In the order of the columns.
    """

    areas: pd.DataFrame
    found: MeanRanks

    @cached_property
    def apart(self) -> PairsApart:
        """Which pairs differ, in the order of the columns."""
        return pairs_apart(self.areas.to_numpy(), self.found)

    @cached_property
    def p_informed(self) -> float:
        """Friedman's p-value without the controls, such as random orders; NaN where there are none."""
        informed = self.areas[informed_methods(self.areas.columns)]
        has_both = 1 < informed.shape[1] < self.areas.shape[1]
        return mean_ranks(informed.to_numpy()).p if has_both else float("nan")

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Tests of all pairs.

        Columns `first`, `second`, `wins` (experiments where the first has the larger area), `p` of Wilcoxon's
        signed-rank test, `p_holm`, `differ`, and the probabilities `first_worse`, `equivalent` and `first_better` of
        the Bayesian signed-rank test, with `MARGIN` for the region of practical equivalence.
        """
        rows = []
        for first, second in itertools.combinations(range(self.areas.shape[1]), 2):
            differences = (self.areas.iloc[:, first] - self.areas.iloc[:, second]).to_numpy()
            tests = (self.apart.p[first, second], self.apart.p_holm[first, second], self.apart.differ[first, second])
            names = (self.areas.columns[first], self.areas.columns[second], int(np.count_nonzero(differences > 0)))
            rows.append((*names, *tests, *signed_rank_chances(differences, MARGIN)))
        columns = ["first", "second", "wins", "p", "p_holm", "differ", "first_worse", "equivalent", "first_better"]
        return pd.DataFrame(rows, columns=columns)

    def in_words(self) -> str:
        """Say what the test of all found, which pairs differ, and of how many the data do not tell."""
        without = "" if np.isnan(self.p_informed) else f" (without random orders {_p_in_words(self.p_informed)})"
        told = self.pairs[["first_worse", "equivalent", "first_better"]].to_numpy() >= SURE
        n_apart, n_alike = int(told[:, [0, 2]].any(axis=1).sum()), int(told[:, 1].sum())
        return (
            f"Over {len(self.areas)} data sets ({', '.join(map(str, self.areas.index))}), one experiment each. "
            f"Friedman: chi-square {self.found.chi_square:.2f}, p {_p_in_words(self.found.p)}{without}; "
            f"{self._pairs_in_words()} By the Bayesian signed-rank test, with probability {SURE:g}, {n_apart} of "
            f"{len(told)} pairs differ by more than {100 * MARGIN:g} point of area and {n_alike} by less; of the other "
            f"{len(told) - n_apart - n_alike} these data do not tell."
        )

    def _pairs_in_words(self) -> str:
        n_differ, n_pairs = int(self.pairs["differ"].sum()), len(self.pairs)
        match self.apart.test:
            case "none":
                return "these data do not tell the rankings apart."
            case "Nemenyi":
                return (
                    f"mean ranks further apart than {self.found.critical_difference:.2f} differ at the level .05 "
                    f"(Nemenyi), {n_differ} of {n_pairs} pairs; so many tests of pairs alone could not be significant "
                    "over so few data sets."
                )
            case _:
                return f"{n_differ} of {n_pairs} pairs differ at the level .05 (Wilcoxon, Holm)."


def _p_in_words(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def machine_of(config: Config) -> str:
    """Name the machine of an experiment: its kernel, or the type of another classifier."""
    return str(getattr(config.classifier, "kernel", "") or getattr(config.classifier, "type", ""))


def knows_relevant_features(folder: Path) -> bool:
    """Whether the data are drawn by a generator that says which features matter: then recovery can be judged."""
    path = folder / SELECTION_NAME
    return path.exists() and bool(read_table(path)["recovered"].notna().any())


def comparisons_of(folders: Sequence[Path]) -> dict[str, RankComparison]:
    """Compare rankings over the real data sets of several experiments, for each machine alone.

    Parameters
    ----------
    folders : sequence of Path

    Returns
    -------
    dict of str to RankComparison
        By the machine, in the order of the names; without those that have too few data sets. Where more rankings stand
        in some of the data sets only, the first of two comparisons is of those that stand in all (`ON_ALL`).
    """
    of_machine: dict[str, list[Path]] = {}
    for folder in folders:
        if not is_collection(folder) and not knows_relevant_features(folder):
            of_machine.setdefault(machine_of(read_run(folder)[0]), []).append(folder)
    found: dict[str, RankComparison] = {}
    for machine in sorted(of_machine):
        areas = areas_of(of_machine[machine])
        comparison = compare_over_experiments(areas)
        if comparison is None:
            continue
        everywhere = areas.dropna(axis=1)
        if len(everywhere) > len(comparison.areas) and everywhere.shape[1] >= MIN_EVERYWHERE:
            found[f"{machine}{ON_ALL}"] = RankComparison(everywhere, mean_ranks(everywhere.to_numpy()))
        found[machine] = comparison
    return found


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
            areas = areas_in(curves, config.metrics[0], list(names))
            named = {names[label]: area for label, area in areas.items()}
            by_data[data] = (folder_of[folder], named)
    return pd.DataFrame.from_dict(dict(by_data.values()), orient="index").sort_index()


def compared_names(config: Config) -> dict[str, str]:
    """Name the rankings and extractors that are compared, by their labels."""
    best_first = [each for each in config.rankings if each.order == "best-first" and not each.label.endswith(LEAK)]
    compared: tuple[Ranking | Extraction, ...] = (*best_first, *config.extractors)
    counts = Counter(each.method for each in compared)
    return {each.label: each.method if counts[each.method] == 1 else each.label for each in compared}


def areas_in(curves: pd.DataFrame, metric: str, labels: Sequence[str]) -> dict[str, float]:
    """Return the areas under the test curves of a table at the largest training size, by the label of the ranking."""
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
    return RankComparison(block, mean_ranks(block.to_numpy()))


def informed_methods(rankings: Iterable[str]) -> list[str]:
    """List the rankings that are no controls, among which a person chooses."""
    controls = {name for name, method in ranking_methods().items() if method.is_control}
    return [each for each in rankings if each not in controls]


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


def place_in_words(comparison: RankComparison, name: str) -> str:
    """Say where one ranking stands among the others, and of which of them the data do not tell."""
    ranks = pd.Series(comparison.found.ranks, index=comparison.areas.columns)
    words = (
        f"better by more than {100 * MARGIN:g} point of area than",
        f"worse by more than {100 * MARGIN:g} point of area than",
        f"within {100 * MARGIN:g} point of",
    )
    told: dict[str, list[str]] = {each: [] for each in words}
    n_others = 0
    for row in comparison.pairs.to_dict("records"):
        if name not in {row["first"], row["second"]}:
            continue
        chances = [row["first_better"], row["first_worse"], row["equivalent"]]
        other = row["second"]
        if row["second"] == name:
            chances[:2], other = chances[1::-1], row["first"]
        n_others += 1
        for word, chance in zip(words, chances, strict=True):
            if chance >= SURE:
                told[word].append(str(other))
    found = "; ".join(f"{word} {', '.join(others)}" for word, others in told.items() if others)
    n_told = sum(map(len, told.values()))
    return (
        f"mean rank {ranks[name]:.2f}, place {1 + int((ranks < ranks[name]).sum())} of {len(ranks)} over "
        f"{len(comparison.areas)} data sets. With probability {SURE:g} {found or 'neither better nor worse than any'}; "
        f"of {n_others - n_told} others these data do not tell."
    )


ROW_INCHES = 0.16
"""Inches from one label, or one bar, to the next."""
GREY = "#777777"


def groups_alike(differ: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """List the longest runs of methods of which no two differ.

    Parameters
    ----------
    differ : ndarray of bool, shape (n_methods, n_methods)
        Symmetric, in the order of the mean ranks.

    Returns
    -------
    list of (int, int)
        First and last of each run of at least two methods; none lies within another.
    """
    runs: list[tuple[int, int]] = []
    for first in range(len(differ)):
        last = first
        while last + 1 < len(differ) and not differ[first : last + 1, last + 1].any():
            last += 1
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
    groups = groups_alike(comparison.apart.differ[np.ix_(order, order)])
    by_nemenyi = comparison.apart.test == "Nemenyi"
    tested = "Friedman" if comparison.apart.test == "none" else comparison.apart.test
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
        axes.set_xticks(range(1, len(labels) + 1, 1 if len(labels) <= MAX_NUMBERED_RANKS else 2))
        axes.set_yticks([])
        axes.set_title(
            f"Mean ranks over {len(comparison.areas)} data sets, 1 is best; a bar joins rankings that do not differ "
            f"({tested}, level .05)",
            loc="left",
        )
        if by_nemenyi:  # other tests have no such distance
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


def loss_heat_map(comparison: RankComparison, extension: str = "svg") -> bytes:
    """Draw how far each ranking is below the best one on each data set, in points of area, the best mean rank on top.

    Parameters
    ----------
    comparison : RankComparison
    extension : {"svg", "png", "pdf"}

    Returns
    -------
    bytes
        Of the figure's file.
    """
    areas = comparison.areas.iloc[:, np.argsort(comparison.found.ranks, kind="stable")]
    losses = 100 * (areas.max(axis=1).to_numpy()[:, None] - areas.to_numpy()).T
    words = [str(name).split("-") for name in areas.index]
    n_common = sum(1 for _ in itertools.takewhile(lambda each: len(set(each)) == 1, zip(*words, strict=False)))
    names = [legible("-".join(each[n_common:] or each), 20) for each in words]
    n_methods, n_sets = losses.shape
    with figure(2 * COLUMN_WIDTH, 1.1 + CELL_INCHES * n_methods) as drawing:
        axes = drawing.add_subplot()
        texts = [[f"{loss:.1f}" if loss < 9.95 else f"{loss:.0f}" for loss in row] for row in losses]
        draw_cells(axes, shades_of_losses(losses), texts)
        axes.set_xticks(np.arange(n_sets) + 0.5, names, rotation=90)
        axes.set_yticks(np.arange(n_methods) + 0.5, [legible(name, 30) for name in areas.columns])
        axes.set_title("Points of area below the best ranking on the same data set", loc="left")
        return drawn(drawing, extension)
