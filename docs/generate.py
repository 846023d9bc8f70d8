"""Pages of the documentation that are made from the code and the results, each time the site is built."""

from __future__ import annotations

import contextlib
import inspect
import io
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from ruamel.yaml import YAML

import fsvm_cli
from fsvm_cli.cli import COMMANDS, cli
from fsvm_cli.commands.benchmark import COMPARISON
from fsvm_cli.commands.methods import methods
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.references import references
from fsvm_cli.report.comparison import read_comparison, with_provenance
from fsvm_cli.report.findings import (
    CAPTION,
    FIGURE_NAME,
    SELECTION_BIAS_NAME,
    read_findings,
    read_selection_bias,
    with_prefix,
)
from fsvm_cli.report.folder import results_folders
from fsvm_cli.report.guidance import guide
from fsvm_cli.report.open_claims import DECIDERS, open_claims
from fsvm_cli.report.ranks import ON_ALL, comparisons_of, critical_difference_diagram, loss_heat_map
from fsvm_cli.report.scorecard import (
    counts_by_nature,
    counts_of,
    format_cells,
    lenient_rules,
    others_in_words,
    power_cells,
    power_of,
    scorecard_of,
    with_decisions,
)
from fsvm_cli.report.style import COLOURS, COLUMN_WIDTH, explain, figure, save
from fsvm_cli.spec.load import json_schema
from fsvm_cli.svm import KERNELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ROOT = Path(__file__).resolve().parents[1]

RANKING = """\
import matplotlib.pyplot as plt
from sklearn.preprocessing import StandardScaler

from fsvm_cli import {name}, load_dataset

wine = load_dataset("wine")
ranker = {name}().fit(StandardScaler().fit_transform(wine.X), wine.y)
order = ranker.scores_.argsort()
plt.barh([wine.feature_names[i] for i in order], ranker.scores_[order])
plt.title("{method}: scores of the features of wine")
plt.savefig("{method}.svg", bbox_inches="tight")
"""
EXTRACTOR = """\
import matplotlib.pyplot as plt
from sklearn.preprocessing import StandardScaler

from fsvm_cli import {name}, load_dataset

wine = load_dataset("wine")
components = {name}(n_components=2).fit_transform(StandardScaler().fit_transform(wine.X), wine.y)
plt.scatter(*components.T, c=wine.y)
plt.title("{method}: the first two components of wine")
plt.savefig("{method}.svg", bbox_inches="tight")
"""
"""Ten lines for each method: the gallery shows them, and what they draw."""
AT_WORK = {
    "ard": "ard-splice/length-scales.svg",
    "gradient-angle": "plane/decision-field.svg",
    "kolmogorov-smirnov": "ks-example/distribution-distance.svg",
    "kpd": "kpd-sonar-kernels/descent-path.svg",
    "radius-margin": "weston-bounds/bound-descent.svg",
}
"""Figures of the results that show how a method works, as the papers draw it."""


def write_pages(folder: Path) -> None:
    """Write every generated page."""
    folder.mkdir(exist_ok=True)
    pages = {
        "gallery": gallery(folder),
        "configs": config_reference(json_schema()),
        "api": api(),
        "commands": commands(),
        "references": bibliography(),
        "results": results(ROOT / "results"),
    }
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def snippets() -> dict[str, str]:
    """Give the lines of code of each method, by its name."""
    rankings = {name: RANKING.format(name=each.__name__, method=name) for name, each in ranking_methods().items()}
    return rankings | {
        name: EXTRACTOR.format(name=each.__name__, method=name) for name, each in extraction_methods().items()
    }


def gallery(folder: Path) -> str:
    """Draw one picture for each method, and show the lines that draw it."""
    table = methods().drop_duplicates("name").set_index("name")
    lines = ["# Gallery of methods", "", "One picture and its lines of code each. `fsvm methods NAME` says more."]
    for name, code in snippets().items():
        drawn = run_snippet(code, folder)
        lines += ["", f"## {name}", "", str(table.loc[name, "summary"]), "", f"![{name}]({drawn})", ""]
        lines += ["```python", code.rstrip(), "```", "", f"Source: {table.loc[name, 'source']}"]
        if name in AT_WORK:
            figure = ROOT / "results" / AT_WORK[name]
            (folder / f"{name}-at-work.svg").write_bytes(figure.read_bytes())
            experiment = figure.parent.name
            lines += ["", f"At work, in the experiment `{experiment}`:", "", f"![{experiment}]({name}-at-work.svg)"]
    return "\n".join(lines) + "\n"


def run_snippet(code: str, folder: Path) -> str:
    """Run the lines of a picture within a folder, and name the file that they write; one that is there stays."""
    mpl.use("agg")
    name = code.rpartition('savefig("')[2].partition('"')[0]
    if not (folder / name).exists():
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            exec(code, {})  # noqa: S102 - the lines above
            plt.close("all")
    return name


def config_reference(schema: dict[str, Any]) -> str:
    """List every key of a config with its values and meaning, from the JSON Schema."""
    lines = ["# Every key of a config", "", "Made from `fsvm schema`. An experiment has the keys of *Config*."]
    models = {name: model for name, model in schema["$defs"].items() if model.get("properties")}
    first = [name for name in ("Config", "Collection", "Protocol") if name in models]
    for name in [*first, *(name for name in sorted(models) if name not in first)]:
        model = models[name]
        required = set(model.get("required", ()))
        lines += ["", f"## {name}", "", " ".join(model.get("description", "").split("\n\n")[0].split()), ""]
        rows = [
            (f"`{key}`" + ("" if key in required else f" (default `{_shown(each.get('default'))}`)"), _kind(each),
             each["description"])
            for key, each in model["properties"].items()
        ]  # fmt: skip
        lines += _table(("key", "value", "meaning"), rows)
    return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_kind(each) for each in schema[several]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}" if "items" in schema else "list"
    limits = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    said = [f"{sign} {schema[key]:g}" for key, sign in limits.items() if key in schema]
    return " ".join([str(schema.get("type", "any")), *said])


def api() -> str:
    """List the public names of the package, from their docstrings."""
    lines = ["# Python", "", inspect.cleandoc(fsvm_cli.__doc__ or ""), ""]
    for name in fsvm_cli.__all__:
        value = getattr(fsvm_cli, name)
        directive = "autoclass" if inspect.isclass(value) else "autofunction"
        lines += ["```{eval-rst}", f".. {directive}:: fsvm_cli.{name}"]
        lines += ["   :members:"] if directive == "autoclass" and name not in KERNELS_AND_ERRORS else []
        lines += ["```", ""]
    return "\n".join(lines)


KERNELS_AND_ERRORS = {kernel.__name__ for kernel in KERNELS.values()} | {"Kernel", "ConvergenceError"}


def commands() -> str:
    """Show the help of every command."""
    context = click.Context(cli, info_name="fsvm")
    lines = ["# Commands", "", _help(cli, context)]
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        lines += ["", f"## fsvm {name}", "", _help(command, click.Context(command, info_name=name, parent=context))]
        outer = click.Context(command, info_name=f"fsvm {name}")
        for inner in getattr(command, "commands", {}).values():
            of_inner = click.Context(inner, info_name=inner.name, parent=outer)
            lines += ["", f"### fsvm {name} {inner.name}", "", _help(inner, of_inner)]
    return "\n".join(lines) + "\n"


def _help(command: click.Command, context: click.Context) -> str:
    return f"```text\n{command.get_help(context)}\n```"


def bibliography() -> str:
    """List the references."""
    lines = ["# References", ""]
    for key, each in references().items():
        address = f" <{each.address}>" if each.address else ""
        lines += [f"- **{key}**: {each.in_words()}{address}" + (f" *{each.note}.*" if each.note else "")]
    return "\n".join(lines) + "\n"


def results(root: Path) -> str:
    """Show the scorecard of all documents, and a table of claims for each."""
    scorecard = with_provenance(scorecard_of(results_folders(root)))
    lines = ["# Results of all documents", "", textwrap.dedent(INTRODUCTION), ""]
    lines += counts(scorecard)
    folders = results_folders(root)
    decided = with_decisions(read_comparison(folders), folders)
    power, lenient = power_of(decided), lenient_rules(decided)
    if not power.empty:
        lines += ["", "## How often a rule accepts by chance", "", textwrap.dedent(POWER), ""]
        lines += _table(list(map(str, power.columns)), power_cells(power))
    if not lenient.empty:
        lines += ["", "Agreement by these rules says little, because they hardly fail:", ""]
        lines += _table(list(map(str, lenient.columns)), lenient.itertuples(index=False))
    for document, rows in scorecard.groupby("document"):
        reference = references().get(str(document))
        lines += ["", f"## {document}", "", "" if reference is None else reference.in_words(), ""]
        lines += _table(("claim", "printed", "obtained", "verdict", "fixed", "experiment"), format_cells(rows))
    lines += ["", "## Published values and sentences that nothing judges", "", *_not_judged()]
    return "\n".join(lines) + "\n"


def _not_judged() -> list[str]:
    left_out = YAML(typ="safe").load(ROOT / "docs" / "not-judged.yaml")
    rows = [(known, each["reason"]) for each in left_out for known in each.get("ids", ())]
    quoted = [
        (f'{known}: "{text}"', each["reason"]) for each in left_out for known, text in each.get("sentences", {}).items()
    ]
    return _table(("value or sentence", "reason"), [*rows, *quoted])


OPEN_BEGIN, OPEN_END = "<!-- open claims -->", "<!-- /open claims -->"
BEGIN, END = "<!-- scorecard -->", "<!-- /scorecard -->"
FINDINGS_BEGIN, FINDINGS_END = "<!-- findings -->", "<!-- /findings -->"
N_FINDINGS_IN_README = 2
GROUPS_OF_EXPERIMENTS: dict[str, Callable[[str], bool]] = {
    "all that ask why a number differs (why-*)": lambda name: name.startswith("why-"),
    "all of the comparison of methods (beyond-*)": lambda name: name.startswith("beyond-"),
    "all others: the documents": lambda name: not name.startswith(("why-", "beyond-")),
    "all": lambda _: True,
}
"""What the table of times adds up."""
N_LONGEST, N_CORES = 5, 2
BESIDE_TRIALS = (1.05, 1.25)
"""What a run takes in all, as a multiple of its trials: the least and the most that was seen."""
TIMES_BEGIN, TIMES_END = "<!-- times -->", "<!-- /times -->"
SAMPLERS_BEGIN, SAMPLERS_END = "<!-- samplers -->", "<!-- /samplers -->"
SPEED_BEGIN, SPEED_END = "<!-- speed -->", "<!-- /speed -->"
SPEED_FIGURE = "speed"
DISCOVERIES_BEGIN, DISCOVERIES_END = "<!-- false discoveries -->", "<!-- /false discoveries -->"
GUIDANCE_BEGIN, GUIDANCE_END = "<!-- guidance -->", "<!-- /guidance -->"
INTRODUCTION = """\
Each published claim is counted once, by the experiment that decides it; [how claims are judged](../verdicts.md). The
same as a page with figures and all evidence: `fsvm report results`, which writes `results/index.html`.
"""


POWER = """\
Each printed number that is judged is replaced by those that other claims print of the same quantity, and its rule is
asked again; [what this says](../verdicts.md). The fewer would be reproduced by chance, the more a verdict says.
"""


def write_scorecard() -> None:
    """Put the totals of the scorecard into the page of results."""
    _put_between(BEGIN, totals().removeprefix(BEGIN), END, ROOT / "docs" / "results.md")


def write_open_claims(root: Path) -> None:
    """Put into their page the claims that are not decided."""
    _put_between(OPEN_BEGIN, undecided(root), OPEN_END, ROOT / "docs" / "open-claims.md")


def undecided(root: Path) -> str:
    """List the claims that are not decided, by what could decide them, each with its reason."""
    found = open_claims(results_folders(root))
    numbers = [(decider, len(found[found["decider"] == decider])) for decider in DECIDERS]
    lines = ["", *_table(("what could decide them", "claims"), [*numbers, ("all", len(found))])]
    for decider, rows in found.groupby("decider", sort=False):
        lines += ["", f"## {decider}", "", DECIDERS[str(decider)], ""]
        lines += _table(
            ("claim", "nature", "verdict", "why"), rows[["id", "nature", "verdict", "why"]].itertuples(index=False)
        )
    return "\n".join([*lines, ""])


def write_findings_of_readme() -> None:
    """Put the findings into the README."""
    _put_between(FINDINGS_BEGIN, findings(), FINDINGS_END, ROOT / "README.md")


def findings() -> str:
    """Write the totals of all verdicts, the first of the committed findings and the figures, for the README.

    Of the genes chosen on all rows it has the figure and what is below the table; the table is in the findings.
    """
    sentences = read_findings(ROOT / "results")
    own_picture = f"]({SELECTION_BIAS_NAME}.svg)"
    first = [
        with_prefix(line, "results").replace(own_picture, f"](results/{own_picture[2:]}")
        for line in _without_table(read_selection_bias(ROOT / "results"))
    ]
    shown = sentences[:N_FINDINGS_IN_README]
    lines = [f"{number}. {with_prefix(each, 'results')}" for number, each in enumerate(shown, start=1)]
    picture = f"![{CAPTION}](results/{FIGURE_NAME}.svg)"
    more = f"All {len(sentences)} findings, with intervals: [results/findings.md](results/findings.md)."
    if not lines:
        return "\n"
    return "\n".join(["", *first, *([""] if first else []), verdicts_in_words(), "", *lines, "", picture, "", more, ""])


def _without_table(lines: Sequence[str]) -> list[str]:
    """Leave out the rows of tables, and empty lines that follow each other."""
    kept: list[str] = []
    for line in lines:
        if not line.startswith("|") and (line or (kept and kept[-1])):
            kept.append(line)
    return kept


def verdicts_in_words() -> str:
    """Count the verdicts on all published claims in one sentence."""
    counted = counts_of(pd.read_csv(ROOT / "results" / "scorecard.csv", keep_default_na=False))
    totals = counted[counted["document"] == "all"]
    verdicts = [str(name) for name in counted.columns if name not in {"document", "fixed", "in all"}]
    parts = [f"{totals[name].astype(int).sum()} {name}" for name in verdicts]
    n_all = totals["in all"].astype(int).sum()
    return f"Verdicts on {n_all} published claims ([how they are judged](docs/verdicts.md)): {', '.join(parts)}."


def write_times(root: Path) -> None:
    """Put into the page of results how long each experiment took, if not on this machine then as written before."""
    page = ROOT / "docs" / "results.md"
    text = page.read_text(encoding="utf-8")
    before = text.partition(TIMES_BEGIN)[2].partition(TIMES_END)[0]
    rows = times(root, before)
    columns = ("experiment", "trials", "seconds a trial", "seconds in all", "share in %")
    timed = {name for name, *_ in rows}
    untimed = sorted({path.parent.name for path in root.glob("*/curves.csv")} - timed)
    note = f"Not measured since the number of trials was last changed: {', '.join(untimed)}." if untimed else ""
    parts = ["", times_in_words(rows), "", *_table(columns, rows), "", note, ""]
    _put_between(TIMES_BEGIN, "\n".join(parts), TIMES_END, page)


def times(root: Path, before: str) -> list[tuple[str, ...]]:
    """List the experiments by the time of their trials and records, the longest first, and all of them together.

    Times are particular to a machine and lie beside the results, untracked: an experiment that has none there keeps the
    row of the table `before`, if it has as many trials as then; one without results has no row.
    """
    taken = {path.parent.name: pd.read_csv(path) for path in sorted(root.glob("*/timings.csv"))}
    counted = {
        name: (int(each["split"].count()), each["seconds"].sum())
        for name, each in taken.items()
        if len(each["split"].dropna())
    }
    for line in filter(lambda line: line.startswith("|"), before.splitlines()):
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if name not in counted and (root / name / "run.json").exists() and int(cells[0]) in _n_trials(root / name):
            counted[name] = int(cells[0]), int(cells[0]) * float(cells[1])  # of more digits than the sum
    total = sum(seconds for _, seconds in counted.values())
    rows = [
        (name, str(n), f"{seconds / n:.3g}", f"{seconds:.0f}", f"{100 * seconds / total:.1f}")
        for name, (n, seconds) in sorted(counted.items(), key=lambda each: -each[1][1])
    ]
    for group, belongs in GROUPS_OF_EXPERIMENTS.items():
        own = [each for name, each in counted.items() if belongs(name)]
        n, seconds = sum(n for n, _ in own), sum(seconds for _, seconds in own)
        rows += [(group, str(n), "", f"{seconds:.0f}", f"{100 * seconds / total:.1f}")] if own else []
    return rows


def times_in_words(rows: Sequence[Sequence[str]]) -> str:
    """Say what everything takes by the rows of `times`, on how many cores, and what its longest parts share."""
    seconds = {name: float(cells[2]) for name, *cells in rows}
    total = seconds["all"]
    longest = sum([each for name, each in seconds.items() if name not in GROUPS_OF_EXPERIMENTS][:N_LONGEST])
    least, most = (total * factor / (3600 * N_CORES) for factor in BESIDE_TRIALS)
    return (
        f"The trials take {total / 3600:.1f} hours of a processor, {100 * longest / total:.0f} % of them for the "
        f"{N_LONGEST} longest experiments. `make reproduce-all` takes {least:.1f} to {most:.1f} hours on {N_CORES} "
        "cores with nothing beside it."
    )


def _n_trials(folder: Path) -> tuple[int, int]:
    """Count the trials that results come from, without and with the one on the whole sample of a bootstrap."""
    n = int(pd.read_csv(folder / "curves.csv").groupby("train_size")["n_trials"].max().sum())
    return n, n + 1


def write_samplers() -> None:
    """Put into the page of the evidence what samplers and gradients take, as `make bench` has measured it."""
    page = ROOT / "docs" / "evidence.md"
    _put_between(SAMPLERS_BEGIN, samplers(ROOT / "results" / "benchmarks.csv"), SAMPLERS_END, page)


def samplers(measured: Path) -> str:
    """List the seconds of each sampler for as many effective draws, the least first, and say those of gradients."""
    rows = pd.read_csv(measured).set_index("work")
    draws = rows[rows.index.str.contains("effective draws")]
    seconds = dict(zip(draws.index.str.rpartition(", ").get_level_values(2), draws["our_seconds"], strict=True))
    seconds |= dict(zip(draws["peer"], draws["peer_seconds"], strict=True))
    in_order = sorted(seconds.items(), key=lambda each: each[1])
    table = _table(("sampler", "seconds"), ((name, f"{taken:.2g}") for name, taken in in_order))
    gradient, *growth = (
        rows.filter(regex=work, axis="index").iloc[0]
        for work in (
            "^one gradient of the evidence, splice",
            "^weighted draws, ",
            "^one gradient of the evidence, [0-9]",
        )
    )
    of_one = f"One gradient on splice takes {gradient['our_seconds']:.2g} s ({gradient['note']}). With more rows:"
    return "\n".join(["", *table, "", of_one, "", *(f"- {row.name}: {row['note']}" for row in growth), ""])


def write_speed() -> None:
    """Put into the page of the solver how much faster its work is than that of others, as `make bench` has measured."""
    rows = pd.read_csv(ROOT / "results" / "benchmarks.csv", keep_default_na=False)
    draw_speed(rows[rows["is_rival"].astype(str) == "True"], ROOT / "docs" / "images")
    _put_between(SPEED_BEGIN, speed(rows), SPEED_END, ROOT / "docs" / "solver.md")


def speed(rows: pd.DataFrame) -> str:
    """List the ratios of a table of benchmarks beside what was asked, by topics, and count those that reach it."""
    rows = pd.concat([part for _, part in rows.groupby("topic", sort=False)])
    reached = rows["ratio"] >= rows["target"]
    asked = rows["target"].map("{:g}".format) + np.where(reached, "", ", missed")
    numbers = (
        rows[name].map(lambda value: f"{float(f'{value:.2g}'):g}") for name in ("peer_seconds", "our_seconds", "ratio")
    )
    columns = ("work", "beside", "its seconds", "seconds of fsvm", "ratio", "asked")
    counted = f"{np.count_nonzero(reached)} of {len(rows)} rows reach what was asked of them before they were measured."
    picture = f"![How many times as fast as other software, by the kind of work](images/{SPEED_FIGURE}.svg)"
    table = _table(columns, zip(rows["work"], rows["peer"], *numbers, asked, strict=True))
    return "\n".join(["", picture, "", counted, "", *table, ""])


def draw_speed(rows: pd.DataFrame, folder: Path) -> None:
    """Draw a point for each comparison with other software, in a row for each kind of work, by their medians."""
    by_topic = rows.groupby("topic")["ratio"]
    in_order = by_topic.median().sort_values().index
    with figure(1.6 * COLUMN_WIDTH, 0.9 + 0.19 * len(in_order)) as drawing:
        axes = drawing.subplots()
        for reached, label, style in ((True, "reaches what was asked", {}), (False, "does not", {"fillstyle": "none"})):
            chosen = rows[(rows["ratio"] >= rows["target"]) == reached]
            places = in_order.get_indexer(chosen["topic"])
            axes.plot(chosen["ratio"], places, "o", color=COLOURS[0], label=label, **style)
        axes.axvline(1.0, color="0.4", linewidth=0.8)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set(yticks=range(len(in_order)), yticklabels=in_order, xlabel="times as fast as other software")
        explain(drawing, axes.get_lines()[:2])
        save(drawing, folder, SPEED_FIGURE, ["svg"])


def write_discoveries() -> None:
    """Put into the page of the data what controls discover, as `python -m benchmarks.false_discovery` has measured."""
    measured = ROOT / "results" / "false-discovery.csv"
    _put_between(DISCOVERIES_BEGIN, discoveries(measured), DISCOVERIES_END, ROOT / "docs" / "data.md")


def discoveries(measured: Path) -> str:
    """List the shares of false discoveries and of relevant columns that are found, in % with intervals of 95 %."""

    def interval(row: pd.Series, name: str) -> str:
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        return "" if pd.isna(row[name]) else f"{row[name]:.1f} [{low:.1f}, {high:.1f}]"

    rows = [
        (
            row["by"],
            row["controls"],
            f"correlation {row['correlation']:g}" if row["correlation"] else "independent",
            row["n_relevant"],
            row["n_tables"],
            interval(row, "false"),
            interval(row, "found"),
        )
        for _, row in pd.read_csv(measured).iterrows()
    ]
    columns = ("by", "controls", "columns", "relevant", "tables", "false discoveries, %", "relevant ones found, %")
    return "\n".join(["", *_table(columns, rows), ""])


def write_ascents(root: Path) -> None:
    """Put into the page of the evidence the accuracies of machines whose ascents go further, or climb another way."""
    page = ROOT / "docs" / "evidence.md"
    for name, (columns, label) in ASCENTS.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        _put_between(begin, ascents(root, columns, label), end, page)


WITH_THRESHOLD = {"Bayesian ARD SVM": "to 30 %", "exact gradient": "exact gradient, to 30 %"}
ASCENTS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "stops": ({"ionosphere": "ard-ionosphere-stops", "splice": "why-splice-stops"}, WITH_THRESHOLD),
    "comparators": ({"splice, 1,000 rows": "ard-splice-comparators", "spam": "ard-spambase-comparators"}, {}),
}
"""Tables of the page: the experiment of each column, and other words for the label of a machine."""


def ascents(root: Path, experiments: dict[str, str], words: dict[str, str]) -> str:
    """Tabulate test accuracies of machines on all features, in %, with the ascents that did not end by their rule."""
    columns: dict[str, pd.Series[str]] = {}
    for column, experiment in experiments.items():
        curves = pd.read_csv(root / experiment / "curves.csv")
        found = curves[(curves["part"] == "test") & (curves["metric"] == "accuracy")].set_index("ranking")
        cells = [
            f"{100 * row['mean']:.1f}"
            + (f" ({row['n_unconverged']} of {row['n_trials']} did not end)" if row["n_unconverged"] else "")
            for _, row in found.iterrows()
        ]
        columns[column] = pd.Series(cells, [words.get(label, label) for label in found.index])
    table = pd.DataFrame(columns)
    table = table.loc[list(dict.fromkeys(label for each in columns.values() for label in each.index))].fillna("")
    return "\n".join(["", *_table(("machine", *table.columns), table.itertuples()), ""])


def write_guidance(root: Path) -> None:
    """Put into the page of the comparison what came of it, with its figures, where its results are there."""
    _put_between(GUIDANCE_BEGIN, guidance(root), GUIDANCE_END, ROOT / "docs" / "comparison.md")
    for machine, found in comparisons_of(comparison_folders(root)).items():
        for name, draw in FIGURES_OF_COMPARISONS.items():
            (ROOT / "docs" / "images" / figure_name(machine, name)).write_bytes(draw(found))


FIGURES_OF_COMPARISONS = {"ranks": critical_difference_diagram, "losses": loss_heat_map}


def figure_name(machine: str, name: str) -> str:
    """Name a figure of the comparison with some machines."""
    return f"comparison-{machine.replace(ON_ALL, '-all')}-{name}.svg"


def comparison_folders(root: Path) -> list[Path]:
    """Find the results of the comparison of methods."""
    return [folder for folder in results_folders(root) if folder.name.startswith(COMPARISON)]


def guidance(root: Path) -> str:
    """Write what the comparison of methods came to, for each kind of machine."""
    folders = comparison_folders(root)
    parts = []
    for machine, found in comparisons_of(folders).items():
        which = guide(found, folders)
        pictures = [f"![{name}](images/{figure_name(machine, name)})" for name in FIGURES_OF_COMPARISONS]
        table = which.methods_table()
        parts += [f"### Machines: {machine}", which.in_words(), found.in_words(), *pictures]
        parts += ["\n".join(_table(table.columns, table.rows)), table.note]
    return "\n".join(["", "\n\n".join(parts or ["The comparison has not been run in full yet."]), ""])


def _put_between(begin: str, text: str, end: str, path: Path) -> None:
    before, _, rest = path.read_text(encoding="utf-8").partition(begin)
    path.write_text(before + begin + text + end + rest.partition(end)[2], encoding="utf-8")


def totals() -> str:
    """Write the totals of the committed scorecard, as they stand in the page of results."""
    scorecard = pd.read_csv(ROOT / "results" / "scorecard.csv", keep_default_na=False)
    return "\n".join([BEGIN, *counts(scorecard), ""])


def counts(scorecard: pd.DataFrame) -> list[str]:
    """Count the verdicts of each document."""
    counted = counts_of(scorecard)
    others = others_in_words(scorecard)
    by_nature = counts_by_nature(scorecard)
    return [
        *_table(list(map(str, counted.columns)), counted.itertuples(index=False)),
        *(["", others] if others else []),
        *("", "All of them, by what they are about:", ""),
        *_table(list(map(str, by_nature.columns)), by_nature.itertuples(index=False)),
    ]


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    cells = [[" ".join(str(cell).replace("|", "\\|").split()) for cell in row] for row in rows]
    return [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns), *(f"| {' | '.join(row)} |" for row in cells)]


if __name__ == "__main__":
    write_scorecard()
    write_open_claims(ROOT / "results")
    write_findings_of_readme()
    write_samplers()
    write_speed()
    write_discoveries()
    write_ascents(ROOT / "results")
    write_guidance(ROOT / "results")
    write_times(ROOT / "results")
