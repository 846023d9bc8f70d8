"""Drawing only what has changed: a results folder notes what its figures were drawn from."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from fsvm_cli.errors import noting_failure
from fsvm_cli.experiment.run_file import FILE_NAME as RUN_NAME
from fsvm_cli.files import write_atomically
from fsvm_cli.report.drawing import draw_figures
from fsvm_cli.report.folder import FIGURES_NAME
from fsvm_cli.sources import source_digests
from fsvm_cli.spec.records import RECORD_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fsvm_cli.errors import FsvmError
    from fsvm_cli.report.scores import ScoreOrder

RECORDS = "fsvm_cli.experiment.records"


class Redrawn(NamedTuple):
    """The figures of a folder, whether they were drawn now, and what of them failed."""

    paths: list[Path]
    is_new: bool
    failures: list[FsvmError]


@functools.cache
def drawing_code() -> str:
    """Hash the code that draws, and the version of the library that it draws with."""
    records = (f"{RECORDS}.{name.replace('-', '_')}" for name in RECORD_NAMES)
    digests = source_digests("fsvm_cli.report.drawing", *records)
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
    with noting_failure(failures, folder.resolve().name, "drawing"):
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
    if failures:  # nothing is noted, so that they are drawn again
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
    """Read what was noted; nothing where that is missing or damaged, and so everything is drawn."""
    try:
        noted = json.loads((folder / FIGURES_NAME).read_text(encoding="utf-8"))
        return noted if isinstance(noted.get("figures"), dict) else {}
    except (OSError, ValueError, AttributeError):
        return {}


def _digest(path: Path) -> str:
    """Hash a file; an empty text where there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
