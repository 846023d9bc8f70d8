"""The files of a results folder: their names, and reading and writing its CSV tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fsvm_cli.console import visible
from fsvm_cli.errors import DataError
from fsvm_cli.experiment.run_file import FILE_NAME as RUN_NAME
from fsvm_cli.files import is_file, is_folder, write_atomically
from fsvm_cli.report.numbers import as_csv
from fsvm_cli.spec import RECORD_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, the same bytes on every platform; digits as in `fsvm_cli.report.numbers.as_csv`."""
    write_atomically(path, as_csv(frame).encode())


def read_table(path: Path) -> pd.DataFrame:
    """Read what `write_table` wrote.

    Raises
    ------
    DataError
        If the file is missing or is no such table.
    """
    try:
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise DataError(f"{path}: no such table; 'fsvm run' makes it") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as a table ({error}); run the experiment again") from error


FORMATS = ("svg", "png")
CURVES_NAME = "curves.csv"
CHANGES_NAME = "changes.csv"
SCORES_NAME = "scores.csv"
SELECTION_NAME = "selection.csv"
OVERVIEW_NAME = "overview.csv"
VERDICTS_NAME = "published.csv"
CHOSEN_NAME = "chosen.csv"
SCORECARD_NAME = "scorecard.csv"
"""Of all experiments, beside their folders."""
CONTENTS_NAME = "README.md"
"""The same."""
FINDINGS_NAME = "findings.md"
"""The same."""
READINGS_NAME = "readings.md"
"""The same."""
METHOD_TIMES_NAME = "method-times.csv"
"""How long methods took on one machine, which `python -m benchmarks.methods` measures; beside the folders."""
MEASURES_NAME = "measures.csv"
RECOMMENDATION_NAME = "recommendation.csv"
AREAS_NAME = "areas.csv"
PAIRS_NAME = "pairs.csv"
FIGURES_NAME = "figures.json"
"""What the figures were drawn from; not tracked by git."""
TABLE_NAMES = (
    CURVES_NAME,
    CHANGES_NAME,
    SCORES_NAME,
    SELECTION_NAME,
    CHOSEN_NAME,
    MEASURES_NAME,
    RECOMMENDATION_NAME,
    AREAS_NAME,
    PAIRS_NAME,
    VERDICTS_NAME,
    OVERVIEW_NAME,
)
"""The tables of every experiment; what it records has tables of its own."""
FIGURE_NAMES = tuple(
    f"{name}.{extension}"
    for name in (
        "*-vs-features",
        "*-vs-features-n*",
        "*-vs-training-rows*",
        "scores",
        "forest",
        *RECORD_NAMES,
        "overview",
    )
    for extension in (*FORMATS, "pdf")
)


def name_of(folder: Path) -> str:
    """Name a results folder in characters that tables and pages can hold: names of files may be any bytes."""
    return visible(folder.resolve().name)


def results_folders(root: Path) -> list[Path]:
    """Find the results folders at or below `root`, sorted by name; further below only if there are none so near."""
    if is_file(root / RUN_NAME):
        return [root]
    if not is_folder(root):
        return []
    found = sorted(root.glob(f"*/{RUN_NAME}")) or sorted(root.glob(f"*/*/{RUN_NAME}"))
    return [path.parent for path in found]


def folder_names(folders: Sequence[Path]) -> dict[Path, str]:
    """Name results folders by their last parts, as many as it takes to tell them apart.

    Parameters
    ----------
    folders : sequence of Path

    Returns
    -------
    dict of Path to str
    """
    parts = {folder: folder.resolve().parts for folder in folders}
    names = {folder: own[-1] for folder, own in parts.items()}
    for n_parts in range(2, max(map(len, parts.values()), default=1) + 1):
        paths: dict[str, set[tuple[str, ...]]] = {}
        for folder, name in names.items():
            paths.setdefault(name, set()).add(parts[folder])
        for folder, name in list(names.items()):
            if len(paths[name]) > 1:
                names[folder] = "/".join(parts[folder][-n_parts:])
    return names


def remove_figures(folder: Path, drawn: Iterable[Path]) -> None:
    """Remove the figures of what no table shows any more; those of `drawn` stay, in every format."""
    kept = {path.stem for path in drawn}
    for path in {path for name in FIGURE_NAMES for path in folder.glob(name)}:
        if path.stem not in kept:
            path.unlink()
