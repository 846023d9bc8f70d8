"""Files of the archive: from the cache or a mirror, and never unverified."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.data.card import CardFile


def cache_folder() -> Path:
    """Folder of fetched files: ``FSVM_CACHE``, or the user's cache folder; laid out like the archive."""
    chosen = os.environ.get("FSVM_CACHE")
    return Path(chosen) if chosen else platformdirs.user_cache_path("fsvm")


def is_intact(path: Path, file: CardFile) -> bool:
    """Whether `path` holds the bytes that the card expects."""
    if not path.is_file() or path.stat().st_size != file.bytes:
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256


def fetch_file(file: CardFile, announce: Callable[[str], None]) -> Path:
    """Find a verified copy of `file`; `announce` hears where it comes from if that is not the cache.

    Raises
    ------
    DataError
        If there is none.
    """
    if is_intact(cache_folder() / file.path, file):
        return cache_folder() / file.path
    mirror = os.environ.get("FSVM_MIRROR")
    if mirror and is_intact(Path(mirror) / file.path, file):
        announce(f"{file.path}: read from the mirror {mirror}")
        return Path(mirror) / file.path
    raise DataError(f"'{file.path}' is neither in the cache {cache_folder()} nor in a mirror (FSVM_MIRROR)")
