"""Which method to use: its loss against the best, and whether properties of the data predict the best method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.table import Table

from fsvm_cli.evaluation.many_data_sets import N_NEIGHBOURS, SIGNIFICANCE_LEVEL, guidance
from fsvm_cli.evaluation.metrics import range_of, unit_of
from fsvm_cli.experiment.provenance import read_run
from fsvm_cli.files import is_file
from fsvm_cli.report.comparison import MIN_P_SHOWN
from fsvm_cli.report.folder import CURVES_NAME, METHOD_TIMES_NAME, SELECTION_NAME, folder_names, read_table
from fsvm_cli.report.printing import ResultTable
from fsvm_cli.report.ranks import compared_names

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.many_data_sets import Guidance
    from fsvm_cli.report.ranks import RankComparison
    from fsvm_cli.spec.schema import Config

AREA_NOTE = "Intervals of 95 % allow for the rows that random splits share (Nadeau and Bengio)."
PAIRS_NOTE = (
    "The test allows for the rows that random splits share (Nadeau and Bengio). Worse, same, better: probabilities "
    "that the first is worse by more than a point, within a point, or better (Corani and Benavoli)."
)


def areas_table(areas: pd.DataFrame) -> ResultTable:
    """Arrange what `summarise_rankings` made."""
    rows = []
    metric = str(areas["metric"].iloc[0]) if len(areas) else "accuracy"
    unit = unit_of(metric)
    for row in areas.to_dict("records"):
        # No figure of merit is outside its range; the interval of few trials may be.
        low, high = np.clip([row["area_ci_low"], row["area_ci_high"]], *range_of(metric))
        area = interval_in_words(*(unit.factor / 100 * each for each in (row["area"], low, high)))
        best, smallest = (_count(row[name]) for name in ("best_n_features", "smallest_n_features"))
        there = "–" if pd.isna(row["smallest_mean"]) else f"{unit.factor * row['smallest_mean']:.2f}"
        rows.append((str(row["ranking"]), str(row["train_size"]), area, best, smallest, there, str(row["n_trials"])))
    columns = (
        "ranking",
        "training rows",
        "area under the curve",
        "best at",
        "smallest within 1 s.e.",
        "there",
        "trials",
    )
    return ResultTable(f"Each ranking over its whole curve, in {unit.symbol}", columns, tuple(rows), AREA_NOTE)


def pairs_table(pairs: pd.DataFrame, where: str = "area under the curve") -> ResultTable:
    """Arrange rows of what `compare_rankings` made, all of one number of features."""
    rows = []
    for row in pairs.to_dict("records"):
        difference = interval_in_words(row["difference"], row["ci_low"], row["ci_high"])
        labels = (str(row["first"]), str(row["second"]), str(row["train_size"]))
        rows.append((*labels, difference, in_words_of_p(row["p_holm"]), chances_in_words(row)))
    columns = ("first", "second", "training rows", "first - second", "p by Holm", "worse / same / better")
    point = unit_of(str(pairs["metric"].iloc[0])).point if len(pairs) else "points"
    return ResultTable(f"Pairs by {where}, in {point}", columns, tuple(rows), PAIRS_NOTE)


def ranks_table(ranks: RankComparison) -> Table:
    """Arrange the mean ranks of rankings over experiments, the best first."""
    title = f"Mean ranks over {len(ranks.areas)} experiments, by area under the curve"
    table = Table(title=title, title_justify="left")
    for name in ("ranking", "mean rank"):
        table.add_column(name, overflow="fold")
    for index in np.argsort(ranks.found.ranks, kind="stable"):
        table.add_row(str(ranks.areas.columns[index]), f"{ranks.found.ranks[index]:.2f}")
    return table


def wilcoxon_table(ranks: RankComparison) -> Table:
    """Arrange the tests of pairs of rankings over experiments."""
    table = Table(title="Pairs over these experiments, by Wilcoxon's signed ranks", title_justify="left")
    for name in ("first", "second", "first is better in", "p", "p by Holm"):
        table.add_column(name, overflow="fold")
    for row in ranks.pairs.to_dict("records"):
        wins = f"{row['wins']} of {len(ranks.areas)}"
        table.add_row(
            row["first"],
            row["second"],
            wins,
            in_words_of_p(row["p"]),
            in_words_of_p(row["p_holm"]),
        )
    return table


def interval_in_words(middle: float, low: float, high: float) -> str:
    """Write a mean and its interval in per cent, or points; a dash for what is not there."""
    if pd.isna(middle):
        return "–"
    return f"{100 * middle:.2f} [{100 * low:.2f}, {100 * high:.2f}]"


def chances_in_words(row: Mapping[Hashable, Any]) -> str:
    """Write the probabilities that the first of a pair is worse, the same in practice, or better."""
    chances = [row[column] for column in ("first_worse", "equivalent", "first_better")]
    return "–" if any(map(pd.isna, chances)) else " / ".join(f"{chance:.2f}" for chance in chances)


def _count(number: Any) -> str:
    return "–" if pd.isna(number) else f"{number:.0f}"


def in_words_of_p(p: float) -> str:
    """Write a p-value."""
    if pd.isna(p):
        return "–"
    return f"< {MIN_P_SHOWN:g}" if p < MIN_P_SHOWN else f"{p:.2g}"


SMALL_FEATURE_SHARE = 0.1
"""The share of the features at which methods are compared, too: as near to it as an experiment's sizes come."""


@dataclass(frozen=True)
class MethodGuide:
    """What rankings cost on several data sets, and what a choice among them costs on another one.

    Attributes
    ----------
    methods : DataFrame
        One row for each ranking, the best first. Columns `ranking`, `mean_rank`, `area_loss` and `few_loss` (the area
        under the curve, and the figure of merit at a tenth of the features, less than those of the best ranking on the
        same data, in the mean over data sets), `stability` at a tenth of the features, and, where times of all data
        sets lie beside the results, `seconds` of the processor for one ranking, in the mean.
    data_sets : DataFrame
        One row for each experiment: `n_samples`, `n_features`, `n_classes`, `linear` (whether machines are), `best`.
    found : Guidance
        Losses of area.
    """

    methods: pd.DataFrame
    data_sets: pd.DataFrame
    found: Guidance

    def in_words(self) -> str:
        """Name the method to use, and its loss on data sets that were left out."""
        overall, alike, at_random = (
            100 * losses for losses in (self.found.overall_losses, self.found.alike_losses, self.found.random_losses)
        )
        worst = self.data_sets.index[int(np.argmax(overall))]
        same = np.isnan(self.found.p)
        tried = (
            "Chosen for each data set without having seen it, the method with the best mean rank over the others loses "
            f"{overall.mean():.2f} points of area to the best method there ({overall.max():.2f} on {worst}); that of "
            f"the {N_NEIGHBOURS} data sets most alike in rows, features, classes and whether their machines are linear "
            f"{alike.mean():.2f}{'' if same else f' (p {in_words_of_p(self.found.p)}, Wilcoxon)'}; one drawn at random "
            f"{at_random.mean():.2f}."
        )
        if alike.mean() < overall.mean() and self.found.p < SIGNIFICANCE_LEVEL:
            return f"{tried} So look for the data sets most like yours below, and take what was best there."
        rows, features = self.data_sets["n_samples"], self.data_sets["n_features"]
        return (
            f"{tried} So these data sets, of {rows.min()} to {rows.max()} rows and {features.min()} to "
            f"{features.max()} features, do not tell more than the mean rank does: where nothing else is known, take "
            f"{self.methods['ranking'].iloc[0]}."
        )

    def methods_table(self) -> ResultTable:
        """Arrange the methods."""
        timed = "seconds" in self.methods
        rows = [
            (
                str(row["ranking"]),
                f"{row['mean_rank']:.2f}",
                f"{100 * row['area_loss']:.2f}",
                f"{100 * row['few_loss']:.2f}",
                "–" if pd.isna(row["stability"]) else f"{row['stability']:.2f}",
                *([f"{row['seconds']:.2g}"] if timed else []),
            )
            for row in self.methods.to_dict("records")
        ]
        columns = ["ranking", "mean rank", "area below the best", "at a tenth of the features", "stability there"]
        note = f"Means over {len(self.data_sets)} data sets; points of the figure of merit below the best method's."
        if timed:
            columns.append("seconds")
            note += f" Processor seconds of one ranking on one machine ({METHOD_TIMES_NAME})."
        return ResultTable("What each method costs", tuple(columns), tuple(rows), note)

    def data_table(self) -> ResultTable:
        """Arrange the data sets."""
        rows = [
            (
                str(name),
                *(str(row[column]) for column in ("n_samples", "n_features", "n_classes")),
                "linear" if row["linear"] else "non-linear",
                str(row["best"]),
            )
            for name, row in zip(self.data_sets.index, self.data_sets.to_dict("records"), strict=True)
        ]
        columns = ("experiment", "rows", "features", "classes", "machines", "largest area")
        return ResultTable("What was best where", columns, tuple(rows))


def guide(comparison: RankComparison, folders: Sequence[Path]) -> MethodGuide:
    """Read what the rankings of a comparison cost on each of its data sets.

    Parameters
    ----------
    comparison : RankComparison
    folders : sequence of Path
        Of the experiments that were compared, and of others.
    """
    areas = comparison.areas
    of_name = {name: folder for folder, name in folder_names(folders).items()}
    few, stability, described = [], [], []
    for name in areas.index:
        config, run = read_run(of_name[name])
        data = run["data"]
        n_features = len(data["feature_names"])
        few.append(_at_few(of_name[name], config, "curves", n_features).reindex(areas.columns))
        stability.append(_at_few(of_name[name], config, "selection", n_features).reindex(areas.columns))
        described.append((data["n_samples"], n_features, len(data["class_names"]), _is_linear(config)))
    values = areas.to_numpy()
    at_few = np.array(few)
    rows = np.array([(np.log(n), np.log(d), n_classes, linear) for n, d, n_classes, linear in described], float)
    methods = pd.DataFrame(
        {
            "ranking": areas.columns,
            "mean_rank": comparison.found.ranks,
            "area_loss": (values.max(axis=1, keepdims=True) - values).mean(axis=0),
            "few_loss": (at_few.max(axis=1, keepdims=True) - at_few).mean(axis=0),
            "stability": np.array(stability).mean(axis=0),
        }
    )
    if (seconds := _seconds(of_name, areas)) is not None:
        methods["seconds"] = seconds
    data_sets = pd.DataFrame(
        described, columns=["n_samples", "n_features", "n_classes", "linear"], index=areas.index
    ).assign(best=areas.columns[values.argmax(axis=1)])
    return MethodGuide(
        methods.sort_values("mean_rank", kind="stable", ignore_index=True), data_sets, guidance(values, rows)
    )


def _seconds(of_name: Mapping[str, Path], areas: pd.DataFrame) -> NDArray[np.float64] | None:
    """Read how long each method took, in the mean over the data sets; None where times of some are not there."""
    path = of_name[areas.index[0]].resolve().with_name(METHOD_TIMES_NAME)
    if not is_file(path):
        return None
    times = read_table(path).pivot_table(index="experiment", columns="ranking", values="seconds")
    seconds = times.reindex(index=areas.index, columns=areas.columns).to_numpy(np.float64)
    return None if np.isnan(seconds).any() else seconds.mean(axis=0)


def _at_few(folder: Path, config: Config, table: str, n_features: int) -> pd.Series[float]:
    """Read the first figure of merit, or the stability, at some tenth of the features, by the name of the ranking."""
    names = compared_names(config)
    if table == "curves":
        rows = read_table(folder / CURVES_NAME)
        rows = rows[(rows["metric"] == config.metrics[0]) & (rows["part"] == "test")].rename(columns={"mean": "value"})
    else:
        rows = read_table(folder / SELECTION_NAME).rename(columns={"stability": "value"})
    rows = rows[(rows["train_size"] == rows["train_size"].max()) & rows["ranking"].isin(list(names))]
    if rows.empty:  # no stability of extractions
        return pd.Series(dtype=float)
    sizes = rows["n_features"].unique()
    nearest = sizes[np.argmin(np.abs(sizes - SMALL_FEATURE_SHARE * n_features))]
    there = rows[rows["n_features"] == nearest]
    return pd.Series(there["value"].to_numpy(), index=[names[label] for label in there["ranking"]])


def _is_linear(config: Config) -> bool:
    return getattr(config.classifier, "kernel", None) == "linear"
