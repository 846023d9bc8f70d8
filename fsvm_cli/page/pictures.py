"""Pictures as the page carries them: compressed, and shown as images, in which no script of a file can run."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Picture:
    """One figure of an experiment.

    Attributes
    ----------
    name : str
        Of the file, without its ending.
    says : str
        What it shows, in words.
    data : str
        The SVG, compressed as zlib does, in base 64.
    """

    name: str
    says: str
    data: str


def read_pictures(folder: Path) -> tuple[Picture, ...]:
    """Read the figures of a results folder, sorted by name.

    Raises
    ------
    DataError
        If one cannot be read.
    """
    return tuple(_picture(path) for path in sorted(folder.glob("*.svg")))


def _picture(path: Path) -> Picture:
    try:
        data = base64.b64encode(zlib.compress(path.read_bytes(), 9)).decode("ascii")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); 'fsvm plot' draws it again") from error
    return Picture(path.stem, path.stem.replace("-vs-", " against ").replace("-", " "), data)
