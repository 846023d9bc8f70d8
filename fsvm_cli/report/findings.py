"""What the results of the papers' experiments come to: at most ten sentences and one figure, made from their tables.

A sentence has a condition: where the tables no longer support it, it says what they do support, or is left out.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote

import numpy as np

from fsvm_cli.experiment.run_file import run_content
from fsvm_cli.files import is_file, write_atomically
from fsvm_cli.report.comparison import read_verdicts
from fsvm_cli.report.folder import CURVES_NAME, FINDINGS_NAME, VERDICTS_NAME, read_table
from fsvm_cli.report.ranks import areas_of, compare_over_experiments
from fsvm_cli.report.style import COLUMN_WIDTH, GREY, MARKERS, drawn, explain, figure, legible, style_of_method
from fsvm_cli.spec.rankings import ALL_FEATURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

FIGURE_NAME = "gains"
MADE_BY = "<!-- made by 'fsvm compare --scorecard', which writes it anew -->"
INTRODUCTION = "Each sentence is computed from the tables of the experiments that it links to, and changes with them."
ABOUT_INTERVALS = (
    "Intervals of single splits are those of the test rows, others of the mean over the splits. They are those of the "
    "difference on the same trials where a claim is about it, and else as wide as if the two numbers were independent."
)
CAPTION = "Gain in test accuracy over all features, in points, as printed and as found"
LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)/\)")
NUMBERED = re.compile(r"\d+\. (.*)")

AS_PRINTED = "as printed (test leak)"
MOST_RELEVANT = ", most relevant "


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
    learner: str
    features: str
    printed: float
    found: Estimate

    @property
    def name(self) -> str:
        """Name it for people."""
        method = METHOD_NAMES.get(self.method, self.method)
        return ", ".join(filter(None, [self.dataset, method, self.learner.replace("-", " ")]))


class Results:
    """The tables of experiments, by their names.

    Parameters
    ----------
    folders : sequence of Path
        Results of experiments and collections.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = {folder.resolve().name: folder for folder in folders}
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
                return _found(rows[claim["id"]])
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


def _found(row: Any) -> Estimate:
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


def findings_of(results: Results) -> list[str]:
    """Say what the tables of the papers' experiments come to.

    Returns
    -------
    list of str
        At most ten sentences in Markdown, with links to the folders of the experiments that they were computed from;
        those are left out whose experiments are not there.

    Raises
    ------
    DataError
        If a `run.json` or a table is damaged.
    """
    texts = (sentence(results) for sentence in SENTENCES)
    return [text for text in texts if text is not None]


def _gains_of_infoprop(results: Results) -> str | None:
    if not results.have(*INFOPROP):
        return None
    gains, links = {}, {}
    for name, (dataset, size) in INFOPROP.items():
        gain = results.difference(name, (AS_PRINTED, size), (ALL_FEATURES, None))
        if gain is None:
            return None
        gains[dataset], links[dataset] = gain, _link(dataset, name)
    better = {dataset: gain.mean for dataset, gain in gains.items() if gain.low > 0}
    worse = {dataset: -gain.mean for dataset, gain in gains.items() if gain.high < 0}
    untold = {dataset: gain.mean for dataset, gain in gains.items() if dataset not in better | worse}
    parts = []
    if better:
        parts.append(f"gains {_listed(f'{gain:.1f} points on {links[dataset]}' for dataset, gain in better.items())}")
    if untold:
        shown = _listed(f"{links[dataset]} ({_signed(gain)})" for dataset, gain in untold.items())
        parts.append(f"changes nothing that can be told from 0 on {shown}")
    if worse:
        parts.append(f"loses {_listed(f'{loss:.1f} points on {links[dataset]}' for dataset, loss in worse.items())}")
    printed = [gain.printed > 0 for gain in printed_gains(results) if gain.label == AS_PRINTED]
    return (
        f"Selection by SVM-Infoprop (infoprop2001) {_listed(parts, ', and ')}: it improves the accuracy on "
        f"{len(better)} of {len(gains)} data sets, while {sum(printed)} of {len(printed)} printed gains lie above 0."
    )


def _grid_of_vehicle(results: Results) -> str | None:
    names = ("why-grid-vehicle", "why-grid-vehicle-rows")
    printed = _printed_on_vehicle(results)
    if not results.have(*names) or printed is None:
        return None
    found = []
    for name in names:
        rows = results.curves(name).pivot_table(index="ranking", columns="n_features", values="mean")
        found.append(100 * (rows[12] - rows[18]))
    is_inside = min(map(min, found)) <= printed <= max(map(max, found))
    says = f"lies within what {len(found[0])}" if is_inside else f"lies outside of what {len(found[0])}"
    spans = [f"{_signed(gains.min())} to {_signed(gains.max())}" for gains in found]
    return (
        f"The gain of {printed:.1f} points that is printed for {_link('Vehicle', 'infoprop-vehicle')} {says} declared "
        f"settings of C, scaling and outputs give: {spans[0]} {_link('on the rows of the paper', names[0])}, "
        f"{spans[1]} {_link('on drawn rows', names[1])}."
    )


STOPPED = ("why-vehicle", "why-vehicle-larger", "why-vehicle-longer")
"""Experiments on machines that stop early, over many orders of the training rows."""
WITHIN = 1.96
"""Standard deviations of one order within which a gain is one that an order may give."""


def _stopped(results: Results) -> str | None:
    names = [name for name in STOPPED if results.have(name)]
    names = [name for name in names if results.config(name)["protocol"].get("row_order") == "drawn"]
    printed = _printed_on_vehicle(results)
    rows = [
        results.claims(name)[claim["id"]]
        for name in names
        for claim in results.config(name)["expected"]
        if claim["kind"] == "difference"
        and " steps" in claim["higher"]["ranking"]
        and claim["id"] in results.claims(name)
    ]
    if not rows or printed is None:
        return None
    above = sum(row.verdict == "reproduced" for row in rows)
    spreads = [float(row.sd) for row in rows]
    may_be = any(float(row.reproduced) + WITHIN * float(row.sd) >= printed for row in rows)
    orders = "a single order" if may_be else "no order"
    return (
        f"Stopped early, machines on 12 features of Vehicle are more accurate than on all 18 at {above} of "
        f"{len(rows)} stops, in the mean over orders of the training rows "
        f"({_listed(_link(name, name) for name in names)}); from one order to another the gain has a standard "
        f"deviation of {min(spreads):.1f} to {max(spreads):.1f} points, so that the printed {_signed(printed)} is one "
        f"that {orders} may give."
    )


HARMLESS = 0.5
"""Points of accuracy below which it is harmless that test labels decide."""


def _leak(results: Results) -> str | None:
    if not results.have(*INFOPROP):
        return None
    changes = []
    for name, (dataset, _) in INFOPROP.items():
        for size in _printed_sizes(results, name):
            first, second = results.at(name, AS_PRINTED, size), results.at(name, "infoprop", size)
            if first is not None and second is not None:
                changes.append((abs(first.mean - second.mean), f"{_link(dataset, name)} with {size} features"))
    if not changes:
        return None
    largest, where = max(changes)
    says = ("is harmless", "at most") if largest < HARMLESS else ("changes what is found", "up to")
    return (
        f"That SVM-Infoprop credits features with the labels of the test part {says[0]}: crediting on training rows "
        f"alone changes the accuracy at the printed numbers of features by {says[1]} {largest:.1f} points ({where})."
    )


def _relief(results: Results) -> str | None:
    name, size = "infoprop-waveform40", 10
    if not results.have(name):
        return None
    peer, own = results.at(name, "relief-f", size), results.at(name, AS_PRINTED, size)
    if peer is None or own is None:
        return None
    says = "beats" if peer.low > own.high else "does worse than" if peer.high < own.low else "does as well as"
    return (
        f"On {_link('Waveform-40', name)}, a problem of infoprop2001, RELIEF-F {says} SVM-Infoprop: {peer.mean:.1f} % "
        f"against {own.mean:.1f} % with {size} features."
    )


def _divided_c(results: Results) -> str | None:
    names = ("infoprop-dna", "infoprop-dna-literal")
    if not results.have(*names):
        return None
    column = [
        [row.verdict for claim, row in results.claims(name).items() if claim.startswith("infoprop2001.t1.dna.svm")]
        for name in names
    ]
    if not column[0]:
        return None
    divided, literal = (verdicts.count("reproduced") for verdicts in column)
    met = ["all" if n == len(column[0]) else "none" if n == 0 else str(n) for n in (divided, literal)]
    concluded = (
        "the program seems to have divided C by the number of rows"
        if divided > literal
        else "dividing C by the number of rows explains no more"
    )
    return (
        f"C = 1 meets {met[0]} of the {len(column[0])} numbers for SVMs in its Table 1 ({_link('DNA', names[0])}), and "
        f"the {_link('printed C', names[1])} of 2,000 meets {met[1]}: {concluded}."
    )


OWN = {"infoprop": "SVM-Infoprop", "gradient-angle": "the gradient angle"}
"""Methods of the documents that are compared on data sets beyond theirs."""


def _ranks(results: Results) -> str | None:
    compared = compare_over_experiments(areas_of(list(results.folders.values())))
    if compared is None or not {*OWN, "random"} <= {*compared.areas.columns}:
        return None
    ranks = dict(zip(compared.areas.columns, compared.found.ranks.tolist(), strict=True))
    middle = (len(ranks) + 1) / 2
    own = [ranks[name] for name in OWN]
    place = "behind" if min(own) > middle else "before" if max(own) < middle else "around"
    best = min(ranks, key=lambda name: ranks[name])
    sets = _listed(_link(str(name).removeprefix("beyond-"), str(name)) for name in compared.areas.index)
    return (
        f"Of {len(ranks)} methods on {len(compared.areas)} data sets ({sets}), the papers' own stand {place} "
        f"the middle rank of {middle:.1f}: {_listed(f'{OWN[name]} has {ranks[name]:.1f}' for name in OWN)}; {best} has "
        f"{ranks[best]:.1f} and random order {ranks['random']:.1f}, and ranks further apart than "
        f"{compared.found.critical_difference:.1f} differ (Nemenyi)."
    )


def _relevance(results: Results) -> str | None:
    gains = [gain for gain in printed_gains(results) if gain.document == "gold2005"]
    if not gains:
        return None
    shown = _listed(
        f"{_signed(gain.found.mean)} points on {_link(gain.dataset, gain.experiment)} (printed {_signed(gain.printed)})"
        for gain in gains
    )
    better = [gain.dataset for gain in gains if gain.found.low > 0]
    return (
        "Selection by relevance (gold2005) changes the accuracy of the tuned machine, where the print is best, by "
        f"{shown}: it improves it on {_listed(better) if better else 'none of these'}."
    )


def _evidence(results: Results) -> str | None:
    if not results.have(*EVIDENCE):
        return None
    advantages = {}
    for name, dataset in EVIDENCE.items():
        bayes, tuned = results.at(name, "Bayesian ARD SVM"), results.at(name, ALL_FEATURES)
        if bayes is None or tuned is None:
            return None
        advantages[_link(dataset, name)] = bayes.mean - tuned.mean
    ahead = [f"{dataset} ({_signed(gain)})" for dataset, gain in advantages.items() if gain > 0]
    behind = [f"{dataset} ({_signed(gain)})" for dataset, gain in advantages.items() if gain <= 0]
    parts = [f"on {_listed(ahead)}"] if ahead else []
    parts += [f"not on {_listed(behind)}"] if behind else []
    return (
        "The Bayesian machine of gold2005 is in the mean more accurate than the one tuned by cross-validation on "
        f"{len(ahead)} of {len(advantages)} data sets: {', but '.join(parts)}, in points."
    )


def _kernel_penalised(results: Results) -> str | None:
    names = {"kpd-sonar": ("Sonar", "kpd2018.claim.sonar.rfe"), "kpd-wdbc": ("WDBC", "kpd2018.claim.wbc.rfe")}
    if not results.have(*names) or any(claim not in results.claims(name) for name, (_, claim) in names.items()):
        return None
    differences = {
        _link(dataset, name): _found(results.claims(name)[claim]) for name, (dataset, claim) in names.items()
    }
    if all(each.high < 0 for each in differences.values()):
        says = "is less accurate than SVM-RFE, which the paper says it outperforms"
    elif all(each.low > 0 for each in differences.values()):
        says = "is more accurate than SVM-RFE, as the paper says"
    else:
        says = "does not outperform SVM-RFE on both data sets of the paper"
    shown = _listed(f"{_signed(each.mean)} points on {dataset}" for dataset, each in differences.items())
    return f"KPD-SVM (kpd2018) {says}: {shown}, in the mean over all numbers of features."


SENTENCES = (
    _gains_of_infoprop,
    _grid_of_vehicle,
    _stopped,
    _leak,
    _relief,
    _divided_c,
    _ranks,
    _relevance,
    _evidence,
    _kernel_penalised,
)
"""At most ten, in the order in which they are said."""


def printed_gains(results: Results) -> list[Gain]:
    """List what papers print to be gained by fewer features, beside what is found; one for each experiment and method.

    Of several numbers of features the one with the largest printed gain counts. Variants and experiments that ask why
    another one missed have none. The printed accuracy with all features may stand in another experiment on the same
    data, where an experiment has none itself.
    """
    names = [name for name in results.folders if results.have(name) and _decides(results.config(name))]
    with_all: dict[tuple[str, str], float] = {}
    for name in names:
        for claim in _number_claims(results.config(name)):
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
    methods = {ranking["label"]: ranking["method"] for ranking in config["rankings"]}
    claims = sorted(filter(_keeps_few, _number_claims(config)), key=_label)
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
            yield Gain(key, name, _dataset(name, config), methods[label], label, learner, features, printed, found)


def _number_claims(config: Mapping[str, Any]) -> list[dict[str, Any]]:
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


def _printed_on_vehicle(results: Results) -> float | None:
    gains = (gain.printed for gain in printed_gains(results) if gain.experiment == "infoprop-vehicle")
    return next(gains, None)


def _printed_sizes(results: Results, name: str) -> list[int]:
    """List the numbers of features for which an accuracy by Infoprop is printed."""
    places = [claim["at"] for claim in _number_claims(results.config(name))]
    return sorted({at["features"] for at in places if at["ranking"] == AS_PRINTED and at["features"] != "all"})


def _listed(parts: Iterable[str], before_last: str = " and ") -> str:
    """Join with commas, and another word before the last."""
    *first, last = parts
    return f"{', '.join(first)}{before_last}{last}" if first else last


def _signed(number: float) -> str:
    """Write a number with its sign and one decimal; 0 has no minus."""
    return f"{round(number, 1) + 0.0:+.1f}"


def _link(text: str, experiment: str) -> str:
    return f"[{text}]({quote(experiment)}/)"


def write_findings(root: Path, folders: Sequence[Path]) -> list[Path]:
    """Write `findings.md` and its figure beside the folders of results; where there is nothing to say, neither.

    Parameters
    ----------
    root : Path
        Holds the folders.
    folders : sequence of Path
        Results of experiments and collections.

    Returns
    -------
    list of Path
        The files; none where one of this name is there that fsvm has not written.

    Raises
    ------
    DataError
        If a `run.json` or a table is damaged.
    """
    path = root / FINDINGS_NAME
    if is_file(path) and not path.read_text(encoding="utf-8", errors="replace").startswith(MADE_BY):
        return []
    results = Results(folders)
    sentences, gains = findings_of(results), printed_gains(results)
    if not sentences:
        return []
    write_atomically(path, as_markdown(sentences, gains).encode())
    if not gains:
        return [path]
    picture = root / f"{FIGURE_NAME}.svg"
    write_atomically(picture, drawn_gains(gains))
    return [path, picture]


def read_findings(root: Path) -> list[str]:
    """Read the sentences of `findings.md` in a folder of results; none where fsvm has written no such file."""
    path = root / FINDINGS_NAME
    text = path.read_text(encoding="utf-8", errors="replace") if is_file(path) else ""
    if not text.startswith(MADE_BY):
        return []
    return [found[1] for line in text.splitlines() if (found := NUMBERED.fullmatch(line))]


def with_prefix(sentence: str, folder: str) -> str:
    """Lead the links of a sentence into a folder, where it is read from outside of the results."""
    return LINK.sub(rf"[\1]({folder}/\2/)", sentence)


def parts_of(sentence: str) -> list[tuple[str, str]]:
    """Cut a sentence into texts, each with the experiment that it links to, or with nothing."""
    cut = LINK.split(sentence)
    texts = itertools.zip_longest(cut[::3], cut[1::3], cut[2::3], fillvalue="")
    return [part for plain, text, name in texts for part in ((plain, ""), (text, unquote(name))) if part[0]]


def as_markdown(sentences: Sequence[str], gains: Sequence[Gain]) -> str:
    """Write the sentences, the figure, and the numbers that it shows."""
    lines = [MADE_BY, "", "# Findings", "", INTRODUCTION, ""]
    lines += [f"{number}. {sentence}" for number, sentence in enumerate(sentences, start=1)]
    if gains:
        columns = ("document", "data set and method", "features", "printed", "found", "95 % interval", "experiment")
        lines += ["", f"![{CAPTION}]({FIGURE_NAME}.svg)", "", f"{CAPTION}:", "", f"| {' | '.join(columns)} |"]
        lines += ["|" + " --- |" * len(columns)]
        lines += [
            f"| {each.document} | {each.name} | {each.features} | {each.printed:+.2f} | {each.found.mean:+.2f} | "
            f"{each.found.low:+.2f} to {each.found.high:+.2f} | {_link(each.experiment, each.experiment)} |"
            for each in gains
        ]
        lines += ["", ABOUT_INTERVALS]
    return "\n".join(lines) + "\n"


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
