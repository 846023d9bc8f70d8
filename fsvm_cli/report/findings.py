"""What the results of the papers' experiments come to: at most ten sentences and one figure, made from their tables.

A sentence has a condition: where the tables no longer support it, it says what they do support, or is left out.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from fsvm_cli.files import is_file, write_atomically
from fsvm_cli.report.folder import FINDINGS_NAME, read_table
from fsvm_cli.report.gains import (
    AS_PRINTED,
    CHOSEN_ON_ALL_ROWS,
    EVIDENCE,
    INFOPROP,
    Results,
    drawn_gains,
    estimate_of,
    printed_accuracies,
    printed_gains,
)
from fsvm_cli.report.ranks import ON_ALL, RankComparison, comparisons_of
from fsvm_cli.report.selection_bias import (
    HEADING,
    drawn_selection_biases,
    selection_biases,
    table_of_selection_biases,
)
from fsvm_cli.spec.rankings import ALL_FEATURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fsvm_cli.report.gains import Gain
    from fsvm_cli.report.selection_bias import SelectionBias

FIGURE_NAME = "gains"
SELECTION_BIAS_NAME = "selection-bias"
MADE_BY = "<!-- made by 'fsvm compare --scorecard', which writes it anew -->"
INTRODUCTION = "Each sentence is computed from the tables of the experiments that it links to, and changes with them."
ABOUT_INTERVALS = (
    "Intervals of single splits are those of the test rows, others of the mean over the splits. They are those of the "
    "difference on the same trials where a claim is about it, and else as wide as if the two numbers were independent."
)
CAPTION = "Gain in test accuracy over all features, in points, as printed and as found"
LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)/\)")
NUMBERED = re.compile(r"\d+\. (.*)")


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
        parts.append(f"makes no significant difference on {shown}")
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
    most = max((float(row.reproduced) for row in rows if row.verdict == "reproduced"), default=None)
    by = "" if most is None else f" (by up to {most:.1f} points)"
    may_be = any(float(row.reproduced) + WITHIN * float(row.sd) >= printed for row in rows)
    orders = "a single order" if may_be else "no order"
    return (
        f"Stopped early, machines on 12 features of Vehicle are more accurate than on all 18 at {above} of "
        f"{len(rows)} stops{by}, in the mean over orders of the training rows "
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
        f"on {_link('Waveform-40', name)}, a problem of infoprop2001, RELIEF-F {says} SVM-Infoprop: {peer.mean:.1f} % "
        f"against {own.mean:.1f} % with {size} features"
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
MACHINES = {"gaussian": "Gaussian"}
"""Names of machines that are not written as in a config."""


def _ranks(results: Results) -> str | None:
    methods = {*OWN, "random"}
    folders = [
        folder
        for name, folder in results.folders.items()
        if methods <= {ranking.get("method") for ranking in results.config(name).get("rankings") or ()}
    ]
    clauses: dict[str, str] = {}
    for key, compared in comparisons_of(folders).items():
        # Of a machine's two comparisons the first is of the methods that stand in all data sets.
        clauses.setdefault(key.removesuffix(ON_ALL), _ranks_in_words(compared))
    if not clauses:
        return None
    return "; ".join(f"with {MACHINES.get(machine, machine)} machines, {said}" for machine, said in clauses.items())


def _ranks_in_words(compared: RankComparison) -> str:
    ranks = dict(zip(compared.areas.columns, compared.found.ranks.tolist(), strict=True))
    middle = (len(ranks) + 1) / 2
    own = [ranks[name] for name in OWN]
    place = "behind" if min(own) > middle else "before" if max(own) < middle else "around"
    best = min(ranks, key=lambda name: ranks[name])
    return (
        f"of {len(ranks)} methods on {len(compared.areas)} data sets, the papers' own stand {place} "
        f"the middle rank of {middle:.1f}: {_listed(f'{OWN[name]} has {ranks[name]:.1f}' for name in OWN)}; {best} has "
        f"{ranks[best]:.1f} and random order {ranks['random']:.1f}, and ranks further apart than "
        f"{compared.found.critical_difference:.1f} differ (Nemenyi)"
    )


def _against_others(results: Results) -> str | None:
    clauses = [clause for clause in (_ranks(results), _relief(results)) if clause is not None]
    if not clauses:
        return None
    said = "; ".join(clauses)
    return f"{said[0].upper()}{said[1:]}."


def _relevance(results: Results) -> str | None:
    gains = [gain for gain in printed_gains(results) if gain.document == "gold2005"]
    if not gains:
        return None
    shown = _listed(
        f"{_signed(gain.found.mean)} points on {_link(gain.dataset, gain.experiment)}"
        f"{f' with features {CHOSEN_ON_ALL_ROWS}' if gain.sees_all_rows else ''} (printed {_signed(gain.printed)})"
        for gain in gains
    )
    better = list(dict.fromkeys(gain.dataset for gain in gains if gain.found.low > 0))
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
        _link(dataset, name): estimate_of(results.claims(name)[claim]) for name, (dataset, claim) in names.items()
    }
    if all(each.high < 0 for each in differences.values()):
        says = "is less accurate than SVM-RFE, which the paper says it outperforms"
    elif all(each.low > 0 for each in differences.values()):
        says = "is more accurate than SVM-RFE, as the paper says"
    else:
        says = "does not outperform SVM-RFE on both data sets of the paper"
    shown = _listed(f"{_signed(each.mean)} points on {dataset}" for dataset, each in differences.items())
    return f"KPD-SVM (kpd2018) {says}: {shown}, in the mean over all numbers of features."


def _row_orders(results: Results) -> str | None:
    name = "tolerance-colon"
    path = results.folders[name] / "row-orders.csv" if name in results.folders else None
    if path is None or not is_file(path):
        return None
    table = read_table(path)
    table = table[table["row_order"] > 0]
    size = table["n_features"].max()
    table = table[table["n_features"] == size].assign(changed=size - table["n_same"])

    def changed(solver: str, tolerance: float | None = None) -> str:
        rows = table[(table["solver"] == solver) & ((tolerance is None) | (table["tolerance"] == tolerance))]
        fewest, most = int(rows["changed"].min()), int(rows["changed"].max())
        return "none" if most == 0 else str(most) if fewest == most else f"{fewest} to {most}"

    return (
        f"When only the order of the rows changes, elimination by scikit-learn's SVC at its default tolerance has "
        f"{changed('SVC', 1e-3)} of the best {size} genes of {_link('colon', name)} other than the certified order, at "
        f"1e-6 {changed('SVC', 1e-6)}, and rfe at 1e-3 {changed('rfe', 1e-3)}; leaving out one patient changes "
        f"{changed('one row less')} (columns standardised, C = 1, in effect a hard margin; one set of genes)."
    )


SENTENCES = (
    _gains_of_infoprop,
    _grid_of_vehicle,
    _stopped,
    _leak,
    _divided_c,
    _against_others,
    _relevance,
    _evidence,
    _kernel_penalised,
    _row_orders,
)
"""At most ten, in the order in which they are said."""


def _printed_on_vehicle(results: Results) -> float | None:
    gains = (gain.printed for gain in printed_gains(results) if gain.experiment == "infoprop-vehicle")
    return next(gains, None)


def _printed_sizes(results: Results, name: str) -> list[int]:
    """List the numbers of features for which an accuracy by Infoprop is printed."""
    places = [claim["at"] for claim in printed_accuracies(results.config(name))]
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
    sentences, gains, biases = findings_of(results), printed_gains(results), selection_biases(results)
    if not sentences and not biases:
        return []
    write_atomically(path, as_markdown(sentences, gains, biases).encode())
    written = [path]
    for name, picture in (
        (FIGURE_NAME, drawn_gains(gains) if gains else None),
        (SELECTION_BIAS_NAME, drawn_selection_biases(biases) if biases else None),
    ):
        if picture is not None:
            written.append(root / f"{name}.svg")
            write_atomically(written[-1], picture)
    return written


def read_findings(root: Path) -> list[str]:
    """Read the sentences of `findings.md` in a folder of results; none where fsvm has written no such file."""
    path = root / FINDINGS_NAME
    text = path.read_text(encoding="utf-8", errors="replace") if is_file(path) else ""
    if not text.startswith(MADE_BY):
        return []
    return [found[1] for line in text.splitlines() if (found := NUMBERED.fullmatch(line))]


def read_selection_bias(root: Path) -> list[str]:
    """Read the lines of `findings.md` about features that were chosen on all rows; none where there are none."""
    path = root / FINDINGS_NAME
    text = path.read_text(encoding="utf-8", errors="replace") if is_file(path) else ""
    if not text.startswith(MADE_BY) or f"## {HEADING}\n" not in text:
        return []
    section = text.partition(f"## {HEADING}\n")[2].partition("\n## ")[0]
    return section.strip("\n").split("\n")


def with_prefix(sentence: str, folder: str) -> str:
    """Lead the links of a sentence into a folder, where it is read from outside of the results."""
    return LINK.sub(rf"[\1]({folder}/\2/)", sentence)


def parts_of(sentence: str) -> list[tuple[str, str]]:
    """Cut a sentence into texts, each with the experiment that it links to, or with nothing."""
    cut = LINK.split(sentence)
    texts = itertools.zip_longest(cut[::3], cut[1::3], cut[2::3], fillvalue="")
    return [part for plain, text, name in texts for part in ((plain, ""), (text, unquote(name))) if part[0]]


def as_markdown(sentences: Sequence[str], gains: Sequence[Gain], biases: Sequence[SelectionBias]) -> str:
    """Write what choosing features on all rows adds, then the sentences, their figure, and the numbers in it."""
    lines = [MADE_BY, "", "# Findings", ""]
    if biases:
        table = table_of_selection_biases(biases)
        lines += [f"## {HEADING}", "", f"![{HEADING}]({SELECTION_BIAS_NAME}.svg)", ""]
        lines += [f"| {' | '.join(table.columns)} |", "|" + " --- |" * len(table.columns)]
        lines += [f"| {' | '.join([*map(str, row[:-1]), _link(name := str(row[-1]), name)])} |" for row in table.rows]
        lines += ["", table.note, ""]
        lines += ["## In sentences", ""]
    lines += [INTRODUCTION, ""]
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
