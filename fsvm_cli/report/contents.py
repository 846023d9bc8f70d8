"""The table of contents of a folder of results, in Markdown, which repository hosts show below the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.experiment.run_file import damage_told, run_content
from fsvm_cli.files import is_file, write_atomically
from fsvm_cli.references import in_words
from fsvm_cli.report.comparison import read_verdicts
from fsvm_cli.report.folder import CONTENTS_NAME, VERDICTS_NAME
from fsvm_cli.report.printing import MARKDOWN
from fsvm_cli.report.scorecard import GRAVEST_FIRST, counts_of
from fsvm_cli.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pandas as pd

MADE_BY = "<!-- made by 'fsvm compare --scorecard', which writes it anew -->"
OTHERS = "Experiments of no document"
INTRODUCTION = (
    "One folder for each experiment: tables (CSV), figures (SVG), and `run.json`, which says what they came from. "
    "`fsvm report` makes one page of them all, with the evidence for each verdict. Each published claim counts once, "
    "by the experiment that decides it (`scorecard.csv`); below stands each experiment with all that it judges."
)


def write_contents(root: Path, folders: Sequence[Path], scorecard: pd.DataFrame) -> Path | None:
    """Write `README.md` beside the folders of results.

    Parameters
    ----------
    root : Path
        Holds the folders.
    folders : sequence of Path
        Results of experiments and collections.
    scorecard : DataFrame
        Of them all.

    Returns
    -------
    Path or None
        The file; None where somebody else's file of this name is left as it is.
    """
    path = root / CONTENTS_NAME
    if is_file(path) and not path.read_text(encoding="utf-8", errors="replace").startswith(MADE_BY):
        return None
    write_atomically(path, contents(folders, scorecard).encode())
    return path


def contents(folders: Sequence[Path], scorecard: pd.DataFrame) -> str:
    """Write the counts of a scorecard, and a line for each experiment, by documents."""
    counts = counts_of(scorecard)
    lines = [MADE_BY, "", "# Results", "", INTRODUCTION, "", *_table(counts.columns, counts.itertuples(index=False))]
    by_document: dict[str, list[tuple[str, ...]]] = {}
    for folder in folders:
        document, row = _experiment(folder)
        by_document.setdefault(document, []).append(row)
    for document, rows in sorted(by_document.items(), key=lambda each: (not each[0], each[0])):
        heading = [f"## {_plain(document)}", "", _plain(in_words(document))] if document else [f"## {OTHERS}"]
        lines += ["", *heading, "", *_table(("experiment", "what it is", "verdicts", "figures"), rows)]
    return "\n".join(lines) + "\n"


def _experiment(folder: Path) -> tuple[str, tuple[str, ...]]:
    """Give the document of an experiment, empty where it has none, and its line."""
    with damage_told(folder):
        config = run_content(folder)["config"]
        paper = config.get("paper") or {"key": "", "where": ""}
        document, title, where = paper["key"], config["title"], paper["where"]
    name = folder.resolve().name
    verdicts = list(read_verdicts(folder / VERDICTS_NAME)["verdict"]) if is_file(folder / VERDICTS_NAME) else []
    judged = ", ".join(f"{verdicts.count(each)} {each}" for each in reversed(GRAVEST_FIRST) if each in verdicts)
    figures = [f"[{path.stem}]({name}/{path.name})" for path in sorted(folder.glob("*.svg"))]
    what = _plain(f"{title} ({where})" if where else title)
    return document, (f"[{_plain(name)}]({name}/)", what, judged, " ".join(figures))


def _plain(text: str) -> str:
    return visible(text).translate(MARKDOWN)


def _table(columns: Iterable[object], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [tuple(columns), *(rows)]
    written = [f"| {' | '.join(map(str, line))} |" for line in lines]
    return [written[0], "|" + " --- |" * len(lines[0]), *written[1:]]
