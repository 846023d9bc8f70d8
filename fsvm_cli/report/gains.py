"""What papers print to be gained by fewer features, beside what their experiments find: numbers and figure."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fsvm_cli.experiment.run_file import run_content
from fsvm_cli.files import is_file
from fsvm_cli.report.comparison import read_verdicts
from fsvm_cli.report.folder import CURVES_NAME, VERDICTS_NAME, name_of, read_table
from fsvm_cli.report.style import COLUMN_WIDTH, GREY, MARKERS, drawn, explain, figure, legible, style_of_method
from fsvm_cli.spec.rankings import ALL_FEATURES, ALL_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

AS_PRINTED = "as printed (test leak)"
MOST_RELEVANT = ", most relevant "
CHOSEN_ON_ALL_ROWS = "chosen on all rows"


class Estimate(NamedTuple):
    """A figure of merit in per cent, or a difference in points, with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Gain:
    """What fewer features gain in accuracy over all of them, as it is printed and as it is found.

    Attributes
    ----------
    document, experiment, dataset : str
    method : str
        Name of the ranking method.
    label : str
        Of the ranking in its experiment.
    sees_all_rows : bool
        Whether the features are chosen on the rows of the test part, too, where other rankings choose within each part.
    learner : str
        Kind of classifier where it is no support vector machine, else empty.
    features : str
        How many are kept.
    printed : float
        In points.
    found : Estimate
        In points.
    """

    document: str
    experiment: str
    dataset: str
    method: str
    label: str
    sees_all_rows: bool
    learner: str
    features: str
    printed: float
    found: Estimate

    @property
    def name(self) -> str:
        """Name it for people."""
        method = METHOD_NAMES.get(self.method, self.method)
        chosen = CHOSEN_ON_ALL_ROWS if self.sees_all_rows else ""
        return ", ".join(filter(None, [self.dataset, method, self.learner.replace("-", " "), chosen]))


class Results:
    """The tables of experiments, by their names.

    Parameters
    ----------
    folders : sequence of Path
        Results of experiments and collections.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = {name_of(folder): folder for folder in folders}
        self._tables: dict[tuple[str, str], pd.DataFrame] = {}
        self._configs: dict[str, dict[str, Any]] = {}

    def have(self, *names: str) -> bool:
        """Say whether there are curves of all of these experiments."""
        return all(name in self.folders and is_file(self.folders[name] / CURVES_NAME) for name in names)

    def config(self, name: str) -> dict[str, Any]:
        """Give the config of an experiment, as `run.json` has it."""
        if name not in self._configs:
            self._configs[name] = run_content(self.folders[name])["config"]
        return self._configs[name]

    def curves(self, name: str) -> pd.DataFrame:
        """Give the rows of `curves.csv` that tell the test accuracy at the largest training size."""
        if (name, CURVES_NAME) not in self._tables:
            rows = read_table(self.folders[name] / CURVES_NAME)
            rows = rows[(rows["part"] == "test") & (rows["metric"] == "accuracy")]
            self._tables[name, CURVES_NAME] = rows[rows["train_size"] == rows["train_size"].max()]
        return self._tables[name, CURVES_NAME]

    def claims(self, name: str) -> dict[str, Any]:
        """Give the rows of `published.csv` by the ids of the claims."""
        path = self.folders[name] / VERDICTS_NAME
        if not is_file(path):
            return {}
        if (name, VERDICTS_NAME) not in self._tables:
            self._tables[name, VERDICTS_NAME] = read_verdicts(path)
        return {str(row.id): row for row in self._tables[name, VERDICTS_NAME].itertuples(index=False)}

    def at(self, name: str, ranking: str, n_features: int | None = None) -> Estimate | None:
        """Give the test accuracy of a ranking with a number of features, or with all; None where there is none."""
        rows = self.curves(name)
        if ranking == ALL_FEATURES and ranking not in set(rows["ranking"]):
            ranking = str(rows["ranking"].iloc[0])  # with all features every ranking has the same machine
        rows = rows[rows["ranking"] == ranking]
        rows = rows[rows["n_features"] == (rows["n_features"].max() if n_features is None else n_features)]
        return None if rows.empty else Estimate(*(100 * rows[["mean", "ci_low", "ci_high"]].to_numpy()[0]).tolist())

    def difference(self, name: str, higher: tuple[str, int | None], lower: tuple[str, int | None]) -> Estimate | None:
        """Give the difference in test accuracy of two places, each a ranking and a number of features, or all.

        Where a claim is about this difference, the interval is that of the same trials. Else it is as wide as if the
        two numbers were independent, which is wider.
        """
        rows = self.claims(name)
        for claim in self.config(name).get("expected") or ():
            is_difference = claim["kind"] in {"difference", "gain"} and claim["id"] in rows
            if is_difference and _is_place(claim["higher"], higher) and _is_place(claim["lower"], lower):
                return estimate_of(rows[claim["id"]])
        first, second = self.at(name, *higher), self.at(name, *lower)
        if first is None or second is None:
            return None
        mean = first.mean - second.mean
        below = np.hypot(first.mean - first.low, second.high - second.mean)
        above = np.hypot(first.high - first.mean, second.mean - second.low)
        return Estimate(mean, mean - float(below), mean + float(above))


def _is_place(place: Mapping[str, Any], wanted: tuple[str, int | None]) -> bool:
    """Say whether the place of a claim is that of a ranking; with all features, all rankings have one machine."""
    ranking, n_features = wanted
    if (place["metric"], place["part"]) != ("accuracy", "test") or place["features"] != (n_features or "all"):
        return False
    return place["ranking"] == ranking or (n_features is None and ranking == ALL_FEATURES)


def estimate_of(row: Any) -> Estimate:
    """Give what `published.csv` says in a row of a claim."""
    return Estimate(float(row.reproduced), float(row.ci_low), float(row.ci_high))


INFOPROP = {
    "infoprop-led24": ("LED-24", 7),
    "infoprop-dna": ("DNA", 80),
    "infoprop-waveform40": ("Waveform-40", 18),
    "infoprop-reuters-1": ("Reuters-1", 431),
    "infoprop-reuters-2": ("Reuters-2", 458),
    "infoprop-reuters-3": ("Reuters-3", 1167),
    "infoprop-satimage": ("Satimage", 19),
    "infoprop-vehicle": ("Vehicle", 12),
}
"""The data sets of infoprop2001, and how many features the paper selects on each."""
EVIDENCE = {
    "ard-ionosphere": "Ionosphere",
    "ard-musk": "Musk",
    "ard-spambase": "Spam",
    "ard-spectf": "SPECTF",
    "ard-splice": "Splice",
    "ard-wdbc": "WDBC",
}
"""The data sets of gold2005."""
METHOD_NAMES = {"infoprop": "SVM-Infoprop", "ard": "ARD"}


def printed_gains(results: Results) -> list[Gain]:
    """List what papers print to be gained by fewer features, beside what is found; one for each experiment and method.

    Of several numbers of features the one with the largest printed gain counts. Variants and experiments that ask why
    another one missed have none. The printed accuracy with all features may stand in another experiment on the same
    data, where an experiment has none itself.
    """
    names = [name for name in results.folders if results.have(name) and _decides(results.config(name))]
    with_all: dict[tuple[str, str], float] = {}
    for name in names:
        for claim in printed_accuracies(results.config(name)):
            at = claim["at"]
            if (at["features"], at["ranking"], at.get("train_size")) == ("all", ALL_FEATURES, None):
                with_all.setdefault(_problem(results.config(name)), float(claim["published"]))
    return [
        gain
        for name in names
        if (base := with_all.get(_problem(results.config(name)))) is not None
        for gain in _gains_of(results, name, base)
    ]


def _decides(config: Mapping[str, Any]) -> bool:
    return bool(config.get("paper")) and not (config.get("variant_of") or config.get("why"))


def _gains_of(results: Results, name: str, base: float) -> Iterator[Gain]:
    config = results.config(name)
    rankings = {ranking["label"]: ranking for ranking in config["rankings"]}
    claims = sorted(filter(_keeps_few, printed_accuracies(config)), key=_label)
    for label, of_label in itertools.groupby(claims, key=_label):
        best = max(of_label, key=lambda claim: float(claim["published"]))
        at = best["at"]
        if at["features"] == "all":
            # A selection has a curve of its own, and the machine on all features is that of its ranking.
            found = results.difference(name, (at["ranking"], None), (label, None))
            features = f"{at['ranking'].rpartition(' ')[2]} of the relevance"
        else:
            found = results.difference(name, (label, at["features"]), (ALL_FEATURES, None))
            features = str(at["features"])
        if found is not None:
            learner, key = config["classifier"].get("type", ""), config["paper"]["key"]
            printed = float(best["published"]) - base
            method, sees_all_rows = rankings[label]["method"], rankings[label].get("ranked_on") == ALL_ROWS
            dataset = _dataset(name, config)
            yield Gain(key, name, dataset, method, label, sees_all_rows, learner, features, printed, found)


def printed_accuracies(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List the printed test accuracies."""
    return [
        claim
        for claim in config.get("expected") or ()
        if claim["kind"] in {"value", "single-run"}
        and (claim["at"]["metric"], claim["at"]["part"]) == ("accuracy", "test")
    ]


def _keeps_few(claim: Mapping[str, Any]) -> bool:
    return claim["at"]["features"] != "all" or MOST_RELEVANT in claim["at"]["ranking"]


def _label(claim: Mapping[str, Any]) -> str:
    """Give the label of the ranking that selects."""
    return str(claim["at"]["ranking"]).partition(MOST_RELEVANT)[0]


def _problem(config: Mapping[str, Any]) -> tuple[str, str]:
    """Say which document's machines, of which kind, are on which data."""
    dataset = config["dataset"]
    return config["paper"]["key"], f"{dataset.get('name')} {dataset.get('version')} {config['classifier'].get('type')}"


def _dataset(name: str, config: Mapping[str, Any]) -> str:
    """Name a data set as its paper does."""
    if name in INFOPROP:
        return INFOPROP[name][0]
    known = "ard-" + name.removeprefix("ard-select-").partition("-")[0]
    return EVIDENCE.get(known, str(config["title"]).partition(",")[0])


LINEAR_TO = 2.0
"""Points up to which the axes of the figure are linear; beyond, they are logarithmic."""
TICKS = (-20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20)
BESIDE = 1.25
"""By what factor the axes go beyond the largest number."""


def drawn_gains(gains: Sequence[Gain], extension: str = "svg") -> bytes:
    """Draw printed gains against found ones: a point with its 95 % interval for each data set and method.

    Parameters
    ----------
    gains : sequence of Gain
        At least one.
    extension : {"svg", "png", "pdf"}

    Returns
    -------
    bytes
        The same each time.
    """
    from matplotlib.lines import Line2D  # noqa: PLC0415 - slow to import
    from matplotlib.ticker import FixedLocator, FuncFormatter  # noqa: PLC0415 - slow to import

    ends = [end for gain in gains for end in (gain.printed, *gain.found) if np.isfinite(end)]
    least, most = min(*ends, -1.0) * BESIDE, max(*ends, 1.0) * BESIDE
    seen: Counter[str] = Counter()
    with figure(1.6 * COLUMN_WIDTH, 4.6) as drawing:
        axes = drawing.add_subplot()
        axes.plot([least, most], [least, most], color=GREY, linewidth=0.8, zorder=1)
        axes.axhline(0, color=GREY, linewidth=0.5, zorder=1)
        axes.axvline(0, color=GREY, linewidth=0.5, zorder=1)
        handles: list[Line2D] = []
        for gain in gains:
            reach = np.nan_to_num([[gain.found.mean - gain.found.low], [gain.found.high - gain.found.mean]])
            # A method has one colour, and each of its data sets a marker.
            colour, marker = style_of_method(gain.method)[0], MARKERS[seen[gain.method] % len(MARKERS)]
            seen[gain.method] += 1
            axes.errorbar(
                gain.printed, gain.found.mean, yerr=reach, fmt=marker, color=colour, elinewidth=0.9, markersize=5
            )
            handles.append(Line2D([], [], color=colour, marker=marker, linestyle="none", label=legible(gain.name)))
        axes.set_xscale("symlog", linthresh=LINEAR_TO)
        axes.set_yscale("symlog", linthresh=LINEAR_TO)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(FixedLocator(TICKS))
            axis.set_minor_locator(FixedLocator([]))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+g}" if value else "0"))
        axes.set_xlim(least, most)
        axes.set_ylim(least, most)
        axes.set_title(
            "What fewer features gain over all of them in test accuracy, by the papers and here\n"
            "bar: 95 % interval; on the grey diagonal, what is printed is found",
            loc="left",
            wrap=True,
        )
        axes.set_xlabel(f"Printed gain (points; linear to ±{LINEAR_TO:g}, logarithmic beyond)")
        axes.set_ylabel("Gain of machines at their optimum (points)")
        explain(drawing, handles, 3)
        return drawn(drawing, extension)
