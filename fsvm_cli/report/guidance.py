"""Which method to use: what each costs, and which rules of choice held on data sets that they had not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.table import Table

from fsvm_cli.evaluation.choice_rules import first_half, try_rules
from fsvm_cli.evaluation.many_data_sets import signed_rank_chances
from fsvm_cli.evaluation.metrics import range_of, unit_of
from fsvm_cli.experiment.provenance import is_collection, read_run
from fsvm_cli.files import is_file
from fsvm_cli.report.comparison import MIN_P_SHOWN
from fsvm_cli.report.folder import CURVES_NAME, METHOD_TIMES_NAME, folder_names, read_table
from fsvm_cli.report.method_values import AT_SHARES, FEATURE_SHARES, method_values
from fsvm_cli.report.printing import ResultTable
from fsvm_cli.report.ranking_statistics import MARGIN
from fsvm_cli.report.ranks import SURE, informed_methods, knows_relevant_features, machine_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.choice_rules import TriedRule
    from fsvm_cli.report.ranks import RankComparison

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
    for name in ("first", "second", "first is better in", "p", "p by Holm", "worse / same / better"):
        table.add_column(name, overflow="fold")
    for row in ranks.pairs.to_dict("records"):
        wins = f"{row['wins']} of {len(ranks.areas)}"
        table.add_row(
            row["first"],
            row["second"],
            wins,
            in_words_of_p(row["p"]),
            in_words_of_p(row["p_holm"]),
            chances_in_words(row),
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


PROPERTIES = {
    "n_train": "training rows",
    "n_features": "features",
    "n_classes": "classes",
    "per_row": "features per row",
}
"""What a rule of choice may look at: known before any method is tried."""


@dataclass(frozen=True)
class MethodGuide:
    """What rankings cost on several data sets with one kind of machine, and which rules of choice held.

    Attributes
    ----------
    methods : DataFrame
        One row for each ranking, the best mean rank first. Columns `ranking`, `mean_rank`; `area_loss`, `worst_loss`
        and `loss_at_10`, `loss_at_25`, `loss_at_50` (the area under the curve, in the mean and at worst, and the figure
        of merit at shares of the features, less than those of the best ranking on the same data); `stability` at a
        tenth of the features; where experiments with drawn data have the ranking, `recovered`, the share of the
        relevant features that are kept, of as many as could be, in the mean over numbers of features and data; and,
        where times of all data sets lie beside the results, `seconds` of the processor for one ranking.
    data_sets : DataFrame
        One row for each experiment: `n_train`, `n_features`, `n_classes`, `per_row`, `is_first` (whether rules are
        proposed there), `best`.
    candidates : tuple of str
        The rankings among which rules choose: those that are no controls.
    rules : tuple of TriedRule
        Numbers of methods are those of `candidates`.
    alike : tuple of str
        Rankings that are as good in practice as the one that the first rule takes, with probability `SURE`.
    """

    methods: pd.DataFrame
    data_sets: pd.DataFrame
    candidates: tuple[str, ...]
    rules: tuple[TriedRule, ...]
    alike: tuple[str, ...]

    def in_words(self) -> str:
        """Say what to use, by the rules that held, with their losses; or that these data do not tell."""
        held = [each for each in self.rules if each.held]
        n_first = int(self.data_sets["is_first"].sum())
        tried = (
            f"{len(self.rules)} {'rule of choice was' if len(self.rules) == 1 else 'rules of choice were'} proposed on "
            f"{n_first} data sets, fixed, and tested on the {len(self.data_sets) - n_first} others."
        )
        if not held:
            plain = self.rules[0]
            least = min((each.p for each in self.rules if not np.isnan(each.p)), default=np.nan)
            return (
                f"These data do not tell which method to use: {tried} None lost significantly less there than a method "
                f"drawn at random (least p {in_words_of_p(least)}); the single method proposed, "
                f"{self.candidates[plain.rule.below]}, {self._losses_in_words(plain)}."
            )
        sentences = [self._rule_in_words(each) for each in held]
        if not held[0].rule.name:
            sentences.append(self._alike_in_words())
        return " ".join([tried, *sentences])

    def _rule_in_words(self, tried: TriedRule) -> str:
        below, above = self.candidates[tried.rule.below], self.candidates[tried.rule.above]
        if not tried.rule.name:
            return f"{below} held: it {self._losses_in_words(tried)}."
        what = PROPERTIES[tried.rule.name]
        over = f"p {in_words_of_p(tried.p_over_plain)} against {self.candidates[self.rules[0].rule.below]} everywhere"
        return (
            f"By the number of {what}, {below} up to {tried.rule.threshold:.3g} and {above} beyond held: it "
            f"{self._losses_in_words(tried)}; {over}."
        )

    def _losses_in_words(self, tried: TriedRule) -> str:
        losses, at_random = 100 * tried.losses, 100 * tried.random_losses
        worst = self.data_sets.index[~self.data_sets["is_first"]][int(np.argmax(losses))]
        return (
            f"lost {losses.mean():.2f} points of area to the best method there ({losses.max():.2f} on {worst}), where "
            f"one drawn at random loses {at_random.mean():.2f} (p {in_words_of_p(tried.p)}); with each data set left "
            f"out, {100 * tried.left_out_losses.mean():.2f} of {100 * tried.left_out_random_losses.mean():.2f}"
        )

    def _alike_in_words(self) -> str:
        """Name what is as good as the method that held, and of these the fastest and the most stable."""
        chosen = self.candidates[self.rules[0].rule.below]
        if not self.alike:
            return f"No other method is the same in practice as {chosen} with a probability of {SURE:g}."
        rows = self.methods[self.methods["ranking"].isin([chosen, *self.alike])].set_index("ranking")
        remarks = []
        if "seconds" in rows:
            remarks.append(f"the fastest of them is {rows['seconds'].idxmin()} ({rows['seconds'].min():.2g} s)")
        if rows["stability"].notna().any():
            remarks.append(f"the most stable {rows['stability'].idxmax()} ({rows['stability'].max():.2f})")
        return (
            f"The same in practice, within {100 * MARGIN:g} point with a probability of {SURE:g} or more: "
            f"{', '.join(self.alike)}{'; ' if remarks else ''}{', '.join(remarks)}."
        )

    def methods_table(self) -> ResultTable:
        """Arrange the methods."""
        of_shares = [f"loss_{name}" for name in AT_SHARES]
        further = [name for name in ("recovered", "seconds") if name in self.methods]
        rows = [
            (
                str(row["ranking"]),
                f"{row['mean_rank']:.2f}",
                *(f"{100 * row[name]:.2f}" for name in ("area_loss", "worst_loss", *of_shares)),
                *("–" if pd.isna(row[name]) else f"{row[name]:.2g}" for name in ("stability", *further)),
            )
            for row in self.methods.to_dict("records")
        ]
        columns = (
            "ranking",
            "mean rank",
            "area below the best",
            "at worst",
            *(f"below at {100 * share:.0f} % of the features" for share in FEATURE_SHARES),
            "stability at 10 %",
            *further,
        )
        note = f"Means over {len(self.data_sets)} data sets; points of the figure of merit below the best method's."
        if "recovered" in further:
            note += " Recovered: share of the relevant features that are kept where the truth is known (drawn data)."
        if "seconds" in further:
            note += f" Processor seconds of one ranking on one machine ({METHOD_TIMES_NAME})."
        return ResultTable("What each method costs", columns, tuple(rows), note)

    def data_table(self) -> ResultTable:
        """Arrange the data sets."""
        rows = [
            (
                str(name),
                *(str(row[column]) for column in ("n_train", "n_features", "n_classes")),
                "proposes" if row["is_first"] else "tests",
                str(row["best"]),
            )
            for name, row in zip(self.data_sets.index, self.data_sets.to_dict("records"), strict=True)
        ]
        columns = ("experiment", "training rows", "features", "classes", "rules", "largest area")
        return ResultTable("What was best where", columns, tuple(rows))


def guide(comparison: RankComparison, folders: Sequence[Path]) -> MethodGuide:
    """Read what the rankings of a comparison cost on each of its data sets, and try rules of choice.

    Parameters
    ----------
    comparison : RankComparison
    folders : sequence of Path
        Of the experiments that were compared, and of others, among them those with drawn data, which tell recovery.
    """
    areas = comparison.areas
    of_name = {name: folder for folder, name in folder_names(folders).items()}
    described, data_names = [], []
    machine = machine_of(read_run(of_name[areas.index[0]])[0])
    for name in areas.index:
        data = read_run(of_name[name])[1]["data"]
        n_train = int(read_table(of_name[name] / CURVES_NAME)["train_size"].max())
        n_features = len(data["feature_names"])
        described.append((n_train, n_features, len(data["class_names"]), n_features / n_train))
        data_names.append(str(data["name"]))
    of_each = [method_values(of_name[name]).reindex(areas.columns) for name in areas.index]
    values: NDArray[np.float64] = areas.to_numpy()
    shares: NDArray[np.float64] = np.array([each[list(AT_SHARES)].to_numpy() for each in of_each])
    below = shares.max(axis=1, keepdims=True) - shares
    area_losses = values.max(axis=1, keepdims=True) - values
    methods = pd.DataFrame(
        {
            "ranking": areas.columns,
            "mean_rank": comparison.found.ranks,
            "area_loss": area_losses.mean(axis=0),
            "worst_loss": area_losses.max(axis=0),
            **{f"loss_{name}": below[:, :, number].mean(axis=0) for number, name in enumerate(AT_SHARES)},
            "stability": np.mean([each["stability"] for each in of_each], axis=0),
        }
    )
    if (recovered := _recovered(folders, machine)) is not None:
        methods["recovered"] = recovered.reindex(areas.columns).to_numpy()
    if (seconds := _seconds(of_name, areas)) is not None:
        methods["seconds"] = seconds
    is_first = first_half(data_names)
    data_sets = pd.DataFrame(described, columns=list(PROPERTIES), index=areas.index).assign(
        is_first=is_first, best=areas.columns[values.argmax(axis=1)]
    )
    candidates = informed_methods(areas.columns)
    chosen_among = areas[candidates].to_numpy()
    properties = {name: data_sets[name].to_numpy(np.float64) for name in PROPERTIES}
    rules = try_rules(chosen_among, properties, is_first)
    proposed = chosen_among[:, rules[0].rule.below]
    alike = tuple(
        name
        for number, name in enumerate(candidates)
        if number != rules[0].rule.below
        and signed_rank_chances(proposed - chosen_among[:, number], MARGIN).equivalent >= SURE
    )
    return MethodGuide(
        methods.sort_values("mean_rank", kind="stable", ignore_index=True),
        data_sets,
        tuple(candidates),
        tuple(rules),
        alike,
    )


def _recovered(folders: Sequence[Path], machine: str) -> pd.Series[float] | None:
    """Read the share of the relevant features that rankings keep, in the mean over sizes and drawn data.

    A ranking that some of these experiments lack has no mean.
    """
    found = []
    for folder in folders:
        if is_collection(folder) or not knows_relevant_features(folder):
            continue
        config, run = read_run(folder)
        if machine_of(config) == machine and config.variant_of is None and not run["overrides"]:
            found.append(method_values(folder)["recovered"])
    return pd.concat(found, axis=1).mean(axis=1, skipna=False) if found else None


def _seconds(of_name: Mapping[str, Path], areas: pd.DataFrame) -> NDArray[np.float64] | None:
    """Read how long each method took, in the mean over the data sets; None where times of some are not there."""
    path = of_name[areas.index[0]].resolve().with_name(METHOD_TIMES_NAME)
    if not is_file(path):
        return None
    times = read_table(path).pivot_table(index="experiment", columns="ranking", values="seconds")
    seconds = times.reindex(index=areas.index, columns=areas.columns).to_numpy(np.float64)
    return None if np.isnan(seconds).any() else seconds.mean(axis=0)
