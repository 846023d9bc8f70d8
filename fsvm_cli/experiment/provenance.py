"""Where results came from: config, data and packages in `run.json`, and the hashes of the code in notes of the store.

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
from fsvm_cli.experiment.run_file import report_damage, run_content
from fsvm_cli.files import write_atomically
from fsvm_cli.plugins import packages_of
from fsvm_cli.spec.collection import MEMBERS, Collection, LoadedCollection
from fsvm_cli.spec.schema import Config

if TYPE_CHECKING:
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.store.store import Store

PARTS = "parts of the code"
"""Subject of notes in the store, by the hash of the code."""

ADOPTED = "adopted"
"""Subject of notes in the store on outcomes of another code, by what their keys are made of."""

ENVIRONMENT_NAME = "environment.json"
PACKAGES = ("matplotlib", "numba", "numpy", "pandas", "scikit-learn", "scipy")


def describe_run(loaded: LoadedConfig, experiment: Experiment, store: Store) -> dict[str, Any]:
    """Describe an experiment for `run.json`, with the outcomes in its store that an earlier code computed."""
    adopted = adoptions(experiment, store)
    return {
        "config": json.loads(experiment.config.model_dump_json()),
        "overrides": loaded.document.overrides,
        "data": {
            "name": experiment.source.name,
            "sha256": experiment.source.identity,
            "n_samples": experiment.source.n_samples,
            "feature_names": list(experiment.source.feature_names),
            "class_names": list(experiment.source.class_names),
            "caveats": list(experiment.source.caveats),
        },
        "packages": {
            "fsvm": fsvm_cli.__version__,
            "python": ".".join(platform.python_version_tuple()[:2]),
            **{package: importlib.metadata.version(package) for package in PACKAGES},
            **packages_of("fsvm.rankings", {ranking.method for ranking in experiment.config.rankings}),
            **packages_of("fsvm.extractors", {extraction.method for extraction in experiment.config.extractors}),
        },
        **({"adopted": adopted} if adopted else {}),
    }


def write_environment(
    folder: Path, loaded: LoadedConfig | LoadedCollection, workers: str, n_trials_run: int, begin: datetime
) -> None:
    """Write to `environment.json` where and when a run took place: what differs between two equal runs.

    Parameters
    ----------
    folder : Path
        Folder of the experiment's results.
    loaded : LoadedConfig or LoadedCollection
        Where it lies is written down, because files that it names are relative to that.
    workers : str
        What ran the trials, for example "2 jobs".
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
        "cpu": _cpu_model(),
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
    """Find the folder that paths in the config of a results folder are relative to; the current one if unknown."""
    return recorded_config_folder(folder) or Path()


def recorded_config_folder(folder: Path) -> Path | None:
    """Find where the config of a results folder lay when it was run; None if that is not known here."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return Path(json.loads((folder / ENVIRONMENT_NAME).read_text(encoding="utf-8"))["config_folder"])
    return None


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def describe_collection(loaded: LoadedCollection) -> dict[str, Any]:
    """Describe a collection for `run.json`; what its experiments came from, theirs say."""
    return {"config": json.loads(loaded.collection.model_dump_json()), "overrides": loaded.overrides}


def is_collection(folder: Path) -> bool:
    """Whether a results folder is that of a collection.

    Raises
    ------
    DataError
        As `read_run`.
    """
    return MEMBERS in run_content(folder)["config"]


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
    """Remember what the keys of a compared method are made of, and the parts of its code."""
    code = experiment.code(compared_method)
    store.add_group(experiment.groups[compared_method])
    store.add_note(PARTS, code.digest, b85encode(zlib.compress(json.dumps(code.parts).encode())).decode())


def stored_parts(store: Store) -> dict[str, dict[str, str]]:
    """Read the parts of codes that outcomes came from, by the hash of the code."""
    return {digest: json.loads(zlib.decompress(b85decode(note))) for digest, note in store.notes(PARTS).items()}


def adoptions(experiment: Experiment, store: Store) -> dict[str, dict[str, int]]:
    """Count, by label, the trials `repeated` `of` all where an earlier version of the code computed the outcomes.

    See Also
    --------
    fsvm_cli.runner.verify.adopt : Where they were adopted, by trials that `seed` drew.
    """
    notes = store.notes(ADOPTED)
    return {
        experiment.compared_methods[number].label: json.loads(notes[group])
        for number, group in enumerate(experiment.groups)
        if group in notes
    }
