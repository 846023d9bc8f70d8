"""All figures of a results folder from its tables, drawn only if the tables or the drawing code have changed."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from fsvm_cli.errors import FsvmError, noting_failure
from fsvm_cli.experiment.provenance import is_collection, read_run
from fsvm_cli.experiment.records import record_kinds
from fsvm_cli.experiment.run_file import FILE_NAME as RUN_NAME
from fsvm_cli.files import write_atomically
from fsvm_cli.report.curve_table import complete_trials_of, read_measures
from fsvm_cli.report.curves import draw_changes, draw_curves, draw_stability, existing_components
from fsvm_cli.report.diagnostics import RecordToDraw, draw_record
from fsvm_cli.report.folder import (
    CHANGES_NAME,
    CURVES_NAME,
    FIGURES_NAME,
    FORMATS,
    SCORES_NAME,
    SELECTION_NAME,
    VERDICTS_NAME,
    name_of,
    read_table,
    remove_figures,
)
from fsvm_cli.report.learning_curves import draw_learning_curves
from fsvm_cli.report.overview import draw_forest, draw_overview
from fsvm_cli.report.points import draw_compared, draw_convergence
from fsvm_cli.report.scores import draw_scores
from fsvm_cli.report.style import styles_of
from fsvm_cli.sources import source_digests
from fsvm_cli.spec.schema import ChosenSubsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from fsvm_cli.experiment.records.base import Record
    from fsvm_cli.report.scores import ScoreOrder

if TYPE_CHECKING:
    Draw = Callable[[], list[Path]]


def draw_figures(
    folder: Path,
    formats: Sequence[str] = FORMATS,
    score_order: ScoreOrder = "score",
    failures: list[FsvmError] | None = None,
) -> list[Path]:
    """Draw every figure of an experiment, or of a collection, from its tables; figures of what it no longer has go.

    A figure that fails leaves the others as they are.

    Parameters
    ----------
    folder : Path
        Its results.
    formats
        As in `fsvm_cli.report.style.save`.
    score_order : {"score", "file"}
        Order of the features in the figure of the scores.
    failures : list of FsvmError, optional
        Takes what figures failed with; where it is left out, the first is raised after all others have been drawn.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    DataError
        If `run.json` or a table is missing or damaged.
    ExperimentFailedError
        If drawing raises anything else.
    """
    paths: list[Path] = []
    failed: list[FsvmError] = []
    for name, draw in _figures(folder, formats, score_order):
        with noting_failure(failed, name_of(folder), f"the figure of {name}"):
            paths += draw()
    remove_figures(folder, drawn=paths)
    if failures is not None:
        failures += failed
    elif failed:
        raise failed[0]
    return paths


def _figures(folder: Path, formats: Sequence[str], score_order: ScoreOrder) -> Iterator[tuple[str, Draw]]:
    """List the figures that a folder has tables for: what each shows, and a call that draws it."""
    if is_collection(folder):
        yield "its experiments", lambda: draw_overview(read_table(folder / VERDICTS_NAME), folder, formats)
        return
    config, run = read_run(folder)
    n_classes = len(run["data"]["class_names"])
    curves = existing_components(read_table(folder / CURVES_NAME), config, n_classes)
    measures = read_measures(folder)
    given = config, folder, formats
    if len(config.protocol.train) > 1:
        selection = read_table(folder / SELECTION_NAME) if config.rankings else None
        yield "learning curves", lambda: draw_learning_curves(curves, selection, complete_trials_of(measures), *given)
    if config.alternatives or (config.rankings and isinstance(config.subsets, ChosenSubsets)):
        yield "what is compared", lambda: draw_compared(curves, complete_trials_of(measures), *given)
    elif config.rankings:
        yield "curves", lambda: draw_curves(curves, *given)
    changes = None
    if config.reference is not None:
        changes = existing_components(read_table(folder / CHANGES_NAME), config, n_classes)
    yield "duality gaps", lambda: draw_convergence(curves, changes, measures, *given)
    if config.rankings:
        if changes is not None:
            yield "changes", functools.partial(draw_changes, changes, *given)
        yield "scores", lambda: draw_scores(read_table(folder / SCORES_NAME), *given, score_order)
        if (folder / SELECTION_NAME).exists():
            yield "stability", lambda: draw_stability(curves, read_table(folder / SELECTION_NAME), *given)
    if config.expected and (folder / VERDICTS_NAME).exists():
        yield "claims", lambda: draw_forest(read_table(folder / VERDICTS_NAME), config.title, folder, formats)
    styles = {label: style.of_line() for label, style in styles_of(config).items()}
    yield from _figures_of_records(RecordToDraw({}, config, run["data"], styles, folder, formats))


def _figures_of_records(given: RecordToDraw) -> Iterator[tuple[str, Draw]]:
    for name in given.config.record:
        record = record_kinds()[name]
        # A record whose trial failed, which the run has reported, has no table.
        if any((given.folder / f"{table}.csv").exists() for table in record.tables):
            yield name, functools.partial(_draw_record, record, given)


def _draw_record(record: Record, given: RecordToDraw) -> list[Path]:
    tables = {table: read_table(given.folder / f"{table}.csv") for table in record.tables}
    return draw_record(record.name, replace(given, tables=tables))


class Redrawn(NamedTuple):
    """The figures of a folder, whether they were drawn now, and what of them failed."""

    paths: list[Path]
    is_new: bool
    failures: list[FsvmError]


@functools.cache
def drawing_code() -> str:
    """Hash the code that draws, and the version of the library that it draws with."""
    digests = source_digests("fsvm_cli.report.drawing")
    version = importlib.metadata.version("matplotlib")
    return hashlib.sha256(json.dumps([digests, version]).encode()).hexdigest()


def redraw(folder: Path, formats: Sequence[str], score_order: ScoreOrder, code: str) -> Redrawn:
    """Draw the figures of a folder, if they are not those that its tables, `run.json` and the code would give.

    What fails leaves the other figures, and other folders, as they are.

    Parameters
    ----------
    folder, formats, score_order
        As in `fsvm_cli.report.drawing.draw_figures`.
    code : str
        From `drawing_code`.
    """
    failures: list[FsvmError] = []
    with noting_failure(failures, name_of(folder), "drawing"):
        return _redrawn(folder, formats, score_order, code, failures)
    return Redrawn([], is_new=True, failures=failures)


def _redrawn(
    folder: Path, formats: Sequence[str], score_order: ScoreOrder, code: str, failures: list[FsvmError]
) -> Redrawn:
    drawn_from = {"code": code, "order": score_order, "tables": _tables(folder)}
    noted = _noted(folder)
    if noted.get("drawn_from") == drawn_from and set(formats) <= set(noted.get("formats", ())):
        paths = [folder / name for name in noted["figures"] if name.rpartition(".")[2] in formats]
        if all(noted["figures"][path.name] == _digest(path) for path in paths):
            return Redrawn(paths, is_new=False, failures=failures)
    paths = draw_figures(folder, formats, score_order, failures)
    if failures:  # without figures.json they are drawn again
        return Redrawn(paths, is_new=True, failures=failures)
    note = {
        "drawn_from": drawn_from,
        "formats": list(formats),
        "figures": {path.name: _digest(path) for path in paths},
    }
    write_atomically(folder / FIGURES_NAME, (json.dumps(note, indent=1) + "\n").encode())
    return Redrawn(paths, is_new=True, failures=failures)


def _tables(folder: Path) -> dict[str, str]:
    from_timings = {"timings.csv"}
    paths = [folder / RUN_NAME, *(path for path in sorted(folder.glob("*.csv")) if path.name not in from_timings)]
    return {path.name: _digest(path) for path in paths}


def _noted(folder: Path) -> dict[str, Any]:
    """Read `figures.json`; empty where it is missing or damaged, so that every figure is drawn."""
    try:
        noted = json.loads((folder / FIGURES_NAME).read_text(encoding="utf-8"))
        return noted if isinstance(noted.get("figures"), dict) else {}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _digest(path: Path) -> str:
    """Hash a file; an empty text where there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
