"""Provenance of results: config, data and packages in `run.json`, and hashes of the code in notes of the store.

`run.json` holds nothing that differs between two equal runs, and no hashes of the code: these would change with commits
that change no result. They are part of the key of every outcome in the store.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import platform
import zlib
from base64 import b85decode, b85encode
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import threadpoolctl

import fsvm_cli
from fsvm_cli.config_io import model_from_json
from fsvm_cli.console import brief
from fsvm_cli.cpu_features import cpu_model
from fsvm_cli.data.messages import shown
from fsvm_cli.experiment.run_file import report_damage, run_content
from fsvm_cli.files import write_atomically
from fsvm_cli.plugins import packages_of
from fsvm_cli.spec.collection import EXPERIMENTS_KEY, Collection, LoadedCollection
from fsvm_cli.spec.schema import Config

if TYPE_CHECKING:
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.store.store import Store

CODE_PARTS_NOTES = "parts of the code"
"""Subject of notes in the store: the hashes of functions and modules, by the hash of the whole code."""

ADOPTION_NOTES = "adopted"
"""Subject of notes in the store: how outcomes of an earlier code were adopted, by the parts of their keys."""

ENVIRONMENT_NAME = "environment.json"
RECORDED_PACKAGES = ("matplotlib", "numba", "numpy", "pandas", "scikit-learn", "scipy")


def describe_run(loaded: LoadedConfig, experiment: Experiment, store: Store) -> dict[str, Any]:
    """Describe an experiment for `run.json`, with the outcomes in its store that an earlier code computed."""
    adopted = adoptions(experiment, store)
    return {
        "config": json.loads(experiment.config.model_dump_json()),
        "overrides": loaded.document.overrides,
        "data": _describe_data(experiment),
        "packages": {
            "fsvm": fsvm_cli.__version__,
            "python": ".".join(platform.python_version_tuple()[:2]),
            **{package: importlib.metadata.version(package) for package in RECORDED_PACKAGES},
            **packages_of("fsvm.rankings", {ranking.method for ranking in experiment.config.rankings}),
            **packages_of("fsvm.extractors", {extraction.method for extraction in experiment.config.extractors}),
        },
        **({"adopted": adopted} if adopted else {}),
    }


def _describe_data(experiment: Experiment) -> dict[str, Any]:
    source = experiment.source
    return {
        "name": source.name,
        "sha256": source.identity,
        "n_samples": source.n_samples,
        "feature_names": list(source.feature_names),
        "class_names": list(source.class_names),
        "caveats": list(source.caveats),
    }


def changes_of_data(folder: Path, experiment: Experiment) -> str:
    """Say in what the data, as they are read now, differ from those of the run in a results folder; empty where equal.

    Raises
    ------
    DataError
        As `run_content`.
    """
    then, now = run_content(folder)["data"], _describe_data(experiment)
    found = [f"{then['n_samples']} rows then, {now['n_samples']} now"] if then["n_samples"] != now["n_samples"] else []
    for key, what in (("feature_names", "features"), ("class_names", "classes")):
        if then[key] != now[key]:
            ours, theirs = (shown([f"'{brief(name)}'" for name in names]) for names in (then[key], now[key]))
            found.append(f"{what} {ours} then, {theirs} now")
    if then["sha256"] != now["sha256"]:
        found.append(f"sha256 of the values {then['sha256'][:12]} then, {now['sha256'][:12]} now")
    return "; ".join(found)


def write_environment(
    folder: Path, loaded: LoadedConfig | LoadedCollection, workers: str, n_trials_run: int, begin: datetime
) -> None:
    """Write host, time and libraries of a run to `environment.json`: what differs between two equal runs.

    Parameters
    ----------
    folder : Path
        Folder of the experiment's results.
    loaded : LoadedConfig or LoadedCollection
        Its folder is recorded, because paths in the config are relative to it.
    workers : str
        Description of the workers, for example "2 jobs".
    n_trials_run : int
        Trials that were computed, not found in the store.
    begin : datetime
        When the run began, with its time zone.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    end = datetime.now(UTC)
    environment = {
        "config_folder": str(loaded.folder.resolve()),
        "host": platform.node(),
        "system": platform.platform(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "workers": workers,
        "trials_run": n_trials_run,
        "begin": begin.isoformat(timespec="seconds"),
        "end": end.isoformat(timespec="seconds"),
        "seconds": round((end - begin).total_seconds(), 3),
        "blas": [
            {key: library[key] for key in ("internal_api", "version", "architecture")}
            for library in threadpoolctl.threadpool_info()
            if library["user_api"] == "blas"
        ],
        "blas_threads_per_trial": 1,
    }
    write_atomically(folder / ENVIRONMENT_NAME, (json.dumps(environment, indent=2) + "\n").encode())


def config_folder(folder: Path) -> Path:
    """Return the folder that paths in the config of a results folder are relative to; the current one if unknown."""
    return recorded_config_folder(folder) or Path()


def recorded_config_folder(folder: Path) -> Path | None:
    """Return the folder of the config of a results folder at the time of the run; None if it is not recorded."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        return Path(json.loads((folder / ENVIRONMENT_NAME).read_text(encoding="utf-8"))["config_folder"])
    return None


def describe_collection(loaded: LoadedCollection) -> dict[str, Any]:
    """Describe a collection for `run.json`; its experiments have files of their own."""
    return {"config": json.loads(loaded.collection.model_dump_json()), "overrides": loaded.overrides}


def is_collection(folder: Path) -> bool:
    """Whether a results folder is that of a collection.

    Raises
    ------
    DataError
        As `read_run`.
    """
    return EXPERIMENTS_KEY in run_content(folder)["config"]


def read_run(folder: Path) -> tuple[Config, dict[str, Any]]:
    """Read the `run.json` of an experiment's results folder: its config, and all of it.

    Raises
    ------
    DataError
        If there is none, or it is damaged.
    """
    with report_damage(folder):
        content = run_content(folder)
        return model_from_json(Config, json.dumps(content["config"])), content


def read_collection(folder: Path) -> LoadedCollection:
    """Read the `run.json` of a collection's results folder, without its experiments.

    Raises
    ------
    DataError
        As `read_run`.
    """
    with report_damage(folder):
        content = run_content(folder)
        collection = model_from_json(Collection, json.dumps(content["config"]))
        return LoadedCollection(folder.resolve().name, config_folder(folder), collection, content["overrides"], ())


def keep_group(store: Store, experiment: Experiment, compared_method: int) -> None:
    """Store the parts of the keys of a compared method, and the hashes of its functions and modules."""
    code = experiment.code(compared_method)
    store.add_group(experiment.groups[compared_method])
    store.add_note(CODE_PARTS_NOTES, code.digest, b85encode(zlib.compress(json.dumps(code.parts).encode())).decode())


def stored_parts(store: Store) -> dict[str, dict[str, str]]:
    """Read the hashes of functions and modules, by the hash of the whole code."""
    return {
        digest: json.loads(zlib.decompress(b85decode(note))) for digest, note in store.notes(CODE_PARTS_NOTES).items()
    }


def adoptions(experiment: Experiment, store: Store) -> dict[str, dict[str, int]]:
    """Count, by label, the trials `repeated` `of` all where an earlier version of the code computed the outcomes.

    See Also
    --------
    fsvm_cli.runner.verify.adopt : Where they were adopted, by trials that `seed` drew.
    """
    notes = store.notes(ADOPTION_NOTES)
    return {
        experiment.compared_methods[number].label: json.loads(notes[group])
        for number, group in enumerate(experiment.groups)
        if group in notes
    }
