"""Where the configs, data cards and documents that come with fsvm lie: in a checkout's top level, or inside a wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


def resource_folder(kind: Literal["configs", "datasets", "docs"]) -> Path:
    """Folder of the files of one kind."""
    package = Path(__file__).resolve().parent
    installed = package / "shipped" / kind
    return installed if installed.is_dir() else package.parent / kind


def resource_names(kind: Literal["configs", "datasets"]) -> list[str]:
    """Names, without ending, of all YAML files of one kind, sorted."""
    return sorted(path.stem for path in resource_folder(kind).glob("*.yaml"))
