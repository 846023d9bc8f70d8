"""The folder that the results of a run are written to, and which results they may replace."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsvm_cli.errors import DataError, UsageError
from fsvm_cli.experiment.outcome import keep_outcome
from fsvm_cli.experiment.provenance import recorded_config_folder
from fsvm_cli.experiment.run_file import FILE_NAME as RUN_NAME
from fsvm_cli.experiment.running import record_key
from fsvm_cli.resources import resource_folder
from fsvm_cli.runner.missing import Coverage, missing_tasks
from fsvm_cli.spec.collection import LoadedCollection
from fsvm_cli.store.store import FILE_NAME as STORE_NAME
from fsvm_cli.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.config import LoadedConfig

    Loaded = LoadedConfig | LoadedCollection

RESULTS_FOLDER = Path("results")
"""Default folder for the results of configs without overrides."""

OVERRIDDEN_RESULTS_FOLDER = RESULTS_FOLDER / "with-overrides"
"""Default folder for the results of runs whose options override keys of the config, one for each set of overrides."""

MAX_LENGTH_OF_NAME = 80
"""Of the folder of a set of overrides, in characters."""

PLAIN_WORD = re.compile(r"(?!true$|false$|null$)[A-Za-z][A-Za-z_-]*")
"""A text that no other value is written like."""


def default_results_folder(loaded: Loaded) -> Path:
    """Return the folder of folders of results: under overrides one that is named by their keys and values."""
    overrides = _overrides(loaded)
    return OVERRIDDEN_RESULTS_FOLDER / _name_of(overrides) if overrides else RESULTS_FOLDER


def _name_of(overrides: Mapping[str, Any]) -> str:
    values = {
        key: value if isinstance(value, str) and PLAIN_WORD.fullmatch(value) else json.dumps(value)
        for key, value in sorted(overrides.items())
    }
    text = ",".join(f"{key}={value}" for key, value in values.items())
    name = re.sub(r"[^\w.,=+-]+", "-", text)[:MAX_LENGTH_OF_NAME]
    return name if name == text else f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def neighbours_of(folder: Path) -> list[Path]:
    """List where other runs of an experiment have their results by default: in full, and under other overrides."""
    found = [RESULTS_FOLDER / folder.name, *sorted(OVERRIDDEN_RESULTS_FOLDER.glob(f"*/{folder.name}"))]
    return [each for each in found if each != folder]


def check_replaceable(loaded: Loaded, folder: Path, *, overwrite: bool) -> None:
    """Check that a run replaces only results of the same config, and full results not by those of an overridden config.

    Parameters
    ----------
    loaded : LoadedConfig or LoadedCollection
    folder : Path
        Where the results will go.
    overwrite : bool
        Whether anything may be replaced.

    Raises
    ------
    UsageError
        If the folder holds results of another config, or those of the whole config where options override it.
    """
    run = _run_in(folder)
    if run is None or overwrite:
        return
    if not _is_same_config(loaded, folder, run):
        title = run["config"].get("title", "")
        raise UsageError(
            f"{folder}: holds the results of another config of this name ('{title}'); choose another folder by --out, "
            "or replace them by --overwrite"
        )
    overrides = _overrides(loaded)
    if overrides and not run.get("overrides"):
        raise UsageError(
            f"{folder}: holds the full results of {loaded.name}, and this run overrides {', '.join(overrides)}; choose "
            f"another folder by --out (without it, one in {OVERRIDDEN_RESULTS_FOLDER} is taken), or replace them by "
            "--overwrite"
        )


def _run_in(folder: Path) -> dict[str, Any] | None:
    """Read the `run.json` of a folder; None if it is missing or unreadable."""
    try:
        run = json.loads((folder / RUN_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return run if isinstance(run, dict) and isinstance(run.get("config"), dict) else None


def _is_same_config(loaded: Loaded, folder: Path, run: dict[str, Any]) -> bool:
    """Whether results come from a config, edited since or not.

    The recorded folder of the config decides. Results that were moved, or cloned with a repository, which does not
    track that folder, are identified by the content of the config; those of a built-in config also if it was edited.
    """
    before, now = recorded_config_folder(folder), loaded.folder.resolve()
    if before == now or run["config"] == _content(loaded):
        return True
    return (before is None or not before.exists()) and now == resource_folder("configs").resolve()


def _content(loaded: Loaded) -> Any:
    model = loaded.collection if isinstance(loaded, LoadedCollection) else loaded.config
    return json.loads(model.model_dump_json())


def _overrides(loaded: Loaded) -> dict[str, Any]:
    return loaded.overrides if isinstance(loaded, LoadedCollection) else loaded.document.overrides


def copy_from_folder(experiment: Experiment, store: Store, folder: Path) -> None:
    """Copy missing results from the store of another folder; a store that cannot be read is ignored.

    A trial leads to the same outcome wherever its results are kept.
    """
    if not (folder / STORE_NAME).exists():
        return
    try:
        with Store(folder, writable=False) as other:
            _copy_missing(experiment, store, other)
    except DataError:
        return
    store.commit()


def _copy_missing(experiment: Experiment, store: Store, other: Store) -> None:
    coverage = Coverage(other.covered_sizes())
    for task in missing_tasks(experiment, store):
        for compared_method in task.wanted:
            key = experiment.key(compared_method, task.trial)
            entry = other.entry(key) if any(coverage.of([key])) else None
            if entry is not None:
                keep_outcome(store, key, entry)
        for name in task.records:
            key = record_key(experiment, name)
            record = other.record(key)
            if record is not None:
                store.add_record(key, record)
