"""Large arrays of a run in one file, which all workers of this computer map into memory."""

from __future__ import annotations

import contextlib
import mmap
import pickle
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock

if TYPE_CHECKING:
    from collections.abc import Sequence

SMALLEST = 1 << 24
"""Bytes of an array that is worth it."""
ALIGNMENT = 64
"""Of arrays in the file, for vector instructions."""
PREFIX = "fsvm-shared-"
OWNER = "owner.lock"
"""Is locked as long as the run lives, however it ends."""
SECONDS_TO_LOCK = 60.0
"""A younger folder may be one whose run is just about to lock it."""


@dataclass(frozen=True)
class Mapped:
    """An object whose large arrays lie in a file.

    Attributes
    ----------
    pickled : bytes
        All but the arrays.
    path : str
        The file.
    extents : tuple of (int, int)
        Where each array begins in it, and its bytes.
    """

    pickled: bytes
    path: str
    extents: tuple[tuple[int, int], ...]

    def load(self) -> Any:
        """Make the object anew; its large arrays are those of the file, and cannot be written to."""
        with Path(self.path).open("rb") as stream:
            content = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        arrays = [content[begin : begin + size] for begin, size in self.extents]
        return pickle.loads(self.pickled, buffers=arrays)  # noqa: S301 - of this run's own process


class SharedArrays:
    """The files of a run, in a folder of their own among the temporary files.

    A run that was killed leaves its folder to whoever dies last of its workers, or else to the next run.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._owner: filelock.BaseFileLock | None = None

    @property
    def folders(self) -> tuple[str, ...]:
        """What is to be removed at the end, whoever is left to do it."""
        return () if self._folder is None else (str(self._folder),)

    def share(self, thing: Any) -> Any:
        """Give the `Mapped` form of an object; the object itself where it has no large array or memory is short."""
        arrays: list[memoryview] = []

        def is_small(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes >= SMALLEST:
                arrays.append(raw)
            return raw.nbytes < SMALLEST

        pickled = pickle.dumps(thing, protocol=5, buffer_callback=is_small)
        if not arrays:
            return thing
        try:
            return Mapped(pickled, *self._write(arrays))
        except OSError:
            return thing

    def _write(self, arrays: Sequence[memoryview]) -> tuple[str, tuple[tuple[int, int], ...]]:
        if self._folder is None:
            _remove_abandoned()
            self._folder = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._owner = filelock.FileLock(self._folder / OWNER, timeout=0)
            self._owner.acquire()
        extents = []
        with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as stream:
            for array in arrays:
                stream.seek(-stream.tell() % ALIGNMENT, 1)
                extents.append((stream.tell(), array.nbytes))
                stream.write(array)
        return stream.name, tuple(extents)

    def remove(self) -> None:
        """Remove the files; workers that have mapped them keep them until they end."""
        if self._owner is not None:
            self._owner.release(force=True)
        remove(self.folders)


def _remove_abandoned() -> None:
    """Remove what runs have left that were killed with all their workers."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, filelock.Timeout):
            if time.time() - folder.stat().st_mtime > SECONDS_TO_LOCK:
                with filelock.FileLock(folder / OWNER, timeout=0):
                    remove([str(folder)])


def remove(folders: Sequence[str]) -> None:
    """Remove folders of shared arrays, as far as they are still there."""
    for folder in folders:
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)
