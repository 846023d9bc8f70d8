"""What a result came from: config, data and code, and nothing that differs between two equal runs."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

import fsvm_cli
from fsvm_cli.documents import model_from_json
from fsvm_cli.errors import DataError
from fsvm_cli.experiment.plan import OUTCOME_VERSION
from fsvm_cli.experiment.schema import Config
from fsvm_cli.ranking.registry import ranking_methods

if TYPE_CHECKING:
    from pathlib import Path

    from fsvm_cli.experiment.config import LoadedConfig
    from fsvm_cli.experiment.plan import Experiment

FILE_NAME = "run.json"
PACKAGES = ("matplotlib", "numba", "numpy", "pandas", "scikit-learn", "scipy")


def describe_run(loaded: LoadedConfig, experiment: Experiment) -> dict[str, Any]:
    """Describe an experiment for `run.json`."""
    methods = sorted({ranking.method for ranking in experiment.config.rankings})
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
        "code": {
            "fsvm": fsvm_cli.__version__,
            "outcome_version": OUTCOME_VERSION,
            "methods": {method: ranking_methods()[method].version for method in methods},
        },
        "packages": {
            "python": ".".join(platform.python_version_tuple()[:2]),
            **{package: importlib.metadata.version(package) for package in PACKAGES},
        },
    }


def read_run(folder: Path) -> tuple[Config, dict[str, Any]]:
    """Read the `run.json` of a results folder: its config, and all of it.

    Raises
    ------
    DataError
        If there is none, or it is damaged.
    """
    path = folder / FILE_NAME
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return model_from_json(Config, json.dumps(content["config"])), content
    except FileNotFoundError:
        raise DataError(f"{folder}: no {FILE_NAME} here; 'fsvm run' makes it") from None
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        first_line = str(error).splitlines()[0]
        raise DataError(f"{path}: damaged or of another version ({first_line}); run the experiment again") from error
