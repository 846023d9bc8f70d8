"""Rendering the page from its content, and writing it."""

from __future__ import annotations

import functools
import time
from collections import Counter
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

import jinja2

import fsvm_cli
from fsvm_cli.console import visible
from fsvm_cli.errors import FsvmError, noting_failure
from fsvm_cli.files import write_atomically
from fsvm_cli.page.content import VERDICTS
from fsvm_cli.page.pictures import Packer, compressed
from fsvm_cli.page.reading import read_content
from fsvm_cli.page.story import conclusions, documents, explanations
from fsvm_cli.report.drawing import draw_figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from fsvm_cli.page.content import Content, Section
    from fsvm_cli.page.story import Document, Parts

VERDICT_SIGNS = {
    "reproduced": "✓",
    "differs": "✗",
    "undecided by the source": "≈",
    "inconclusive": "?",
    "not comparable": "–",
    "fact": "•",
}


VERDICT_MEANINGS = {
    "reproduced": "the obtained value agrees with the printed one by the rule of the config",
    "differs": "it does not agree",
    "undecided by the source": "it agrees under some readings of what the source leaves open, and not under others",
    "inconclusive": "there are too few trials, or they vary too much, to decide",
    "not comparable": "the source leaves open what the number depends on, or no experiment can judge it",
    "fact": "the experiment sets it, as the source does",
}


class Answer(NamedTuple):
    """What the search offers: a place of the page, with what it says in a line.

    Attributes
    ----------
    kind : {"guide", "document", "experiment", "why", "method"}
    name : str
        Of the document, experiment or method.
    target : str
        Id of the place.
    title, text : str
    """

    kind: str
    name: str
    target: str
    title: str
    text: str


def _answers(content: Content, told: Sequence[Document], said: Mapping[str, Parts]) -> Iterator[Answer]:
    if content.ranks:
        advice = " ".join(f"Machines: {each.machine}. {each.guide}" for each in content.ranks)
        yield Answer("guide", "", "own-heading", "Which method should I use?", advice)
    for document in told:
        title = content.references[document.key].title if document.key in content.references else ""
        text = f"{title}: {_verdicts_in_words(document.verdicts)}".removeprefix(": ")
        yield Answer("document", document.key, f"document-{document.key}", document.key, text)
    for experiment in content.experiments:
        name, target = experiment.name, f"experiment-{experiment.name}"
        about = f"{experiment.title} ({' '.join(filter(None, (experiment.document, experiment.dataset)))})"
        if experiment.why:
            text = f"{''.join(text for text, _ in said[name])} Asked: {experiment.why} {about}"
            yield Answer("why", name, target, name, text)
        else:
            found = _verdicts_in_words(experiment.verdicts)
            yield Answer("experiment", name, target, name, f"{about}{f': {found}' if found else ''}")
    for method in content.methods:
        text = f"{method.summary} {method.standing}".strip()
        yield Answer("method", method.name, f"method-{method.name}", method.name, text)


def _verdicts_in_words(verdicts: Mapping[str, int]) -> str:
    n = sum(verdicts.values())
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    return f"of {n} claim{'s' if n > 1 else ''} {counts}" if n else ""


def _counts_in_words(told: Sequence[Document]) -> str:
    """Say how many findings and orders of all documents have which verdict."""
    counts: Counter[str] = Counter()
    for document in told:
        counts.update(document.verdicts)
    shares = [f"{counts[verdict]} are {verdict}" for verdict in VERDICTS if counts[verdict] and verdict != "differs"]
    shares += [f"{counts['differs']} differ"] if counts["differs"] else []
    n = len(told)
    printed = f"{n} documents print" if n > 1 else "one document prints"
    return f"Of {counts.total()} findings and orders that {printed}, {', '.join(shares)}."


def render(content: Content, heading: str) -> str:
    """Write the page as HTML that needs no other file.

    Parameters
    ----------
    content : Content
    heading : str
        Of the page.
    """
    packer = Packer()
    told, said = documents(content), conclusions(content)
    return _page().render(
        documents=told,
        conclusions=said,
        asked=explanations(content),
        searched={each.name: " ".join(_packed_words(each)) for each in content.experiments},
        answers=tuple(_answers(content, told, said)) if len(content.experiments) > 1 else (),
        counts_in_words=_counts_in_words(told),
        meanings=VERDICT_MEANINGS,
        met={row.verdict for row in content.scorecard} | {row.new_data for row in content.scorecard},
        heading=heading,
        content=content,
        verdicts=VERDICTS,
        signs=VERDICT_SIGNS,
        version=fsvm_cli.__version__,
        packer=packer,
        compressed=compressed,
        style=_template("page.css"),
        script=_template("unpack.js") + _template("page.js"),
    )


def _packed_words(experiment: Section) -> Iterator[str]:
    """Yield the words by which the search finds an experiment, of what is decompressed when it is opened."""
    for claim in experiment.claims:
        yield from (claim.id, claim.statement or claim.printed)
    yield from experiment.deviations


@functools.cache
def _page() -> jinja2.Template:
    """Compile the template, once in a process: that takes as long as the tables of a small run."""
    environment = jinja2.Environment(
        autoescape=True,
        extensions=["jinja2.ext.do"],
        finalize=_finalised,
        loader=jinja2.FunctionLoader(_template),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("page.html")


def _template(name: str) -> str:
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _finalised(value: object) -> object:
    """Show the characters that have no shape as escapes, in whatever text the page takes up from outside."""
    return visible(value, keep="\n") if type(value) is str else value


PAGE_NAME = "index.html"
COLLECTIVE_HEADING = "Feature selection with support vector machines: results"
"""Heading of a page of several experiments; a page of one has its title."""


def write_page(folders: Sequence[Path], path: Path, failures: list[FsvmError] | None = None) -> Path:
    """Write the page of results folders, and return its path.

    Parameters
    ----------
    folders : sequence of Path
    path : Path
    failures : list of FsvmError, optional
        As in `fsvm_cli.page.reading.read_content`.

    Raises
    ------
    DataError
        If results are damaged, or the file cannot be written.
    """
    content = read_content(folders, failures)
    heading = content.experiments[0].title if len(content.experiments) == 1 else COLLECTIVE_HEADING
    write_atomically(path, render(content, heading).encode())
    return path


class Presentation(NamedTuple):
    """The figures and the page of an experiment, the seconds that each of the two took, and what of them failed."""

    figures: list[Path]
    page: Path | None
    seconds: tuple[float, float]
    failures: list[FsvmError]


def show(folder: Path, formats: Sequence[str], *, has_figures: bool) -> Presentation:
    """Draw the figures of an experiment and write its page, from its tables; what fails leaves the rest as it is.

    Parameters
    ----------
    folder : Path
        Its results.
    formats
        As in `fsvm_cli.report.drawing.draw_figures`.
    has_figures : bool
        False where no trial is complete.
    """
    begin = time.monotonic()
    failures: list[FsvmError] = []
    name = folder.resolve().name
    figures: list[Path] = []
    page: Path | None = None
    with noting_failure(failures, name, "drawing"):
        figures = draw_figures(folder, formats, failures=failures) if has_figures else []
    are_drawn = time.monotonic()
    with noting_failure(failures, name, "the page"):
        page = write_page([folder], folder / PAGE_NAME)
    return Presentation(figures, page, (are_drawn - begin, time.monotonic() - are_drawn), failures)
