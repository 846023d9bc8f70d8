"""Where the configs and data cards that come with fsvm lie: in a checkout's top level, or inside an installed wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


def shipped_folder(kind: Literal["configs", "datasets"]) -> Path:
    """Folder of the YAML files of one kind."""
    package = Path(__file__).resolve().parent
    installed = package / "shipped" / kind
    return installed if installed.is_dir() else package.parent / kind


def shipped_names(kind: Literal["configs", "datasets"]) -> list[str]:
    """Names, without ending, of all YAML files of one kind, sorted."""
    return sorted(path.stem for path in shipped_folder(kind).glob("*.yaml"))
