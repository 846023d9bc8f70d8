"""Writing files so that a reader never meets half of one."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from typing import BinaryIO

RESERVED_NAMES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
)
"""What Windows takes for a device, whatever follows it after a dot."""


def names_a_folder_everywhere(name: str) -> bool:
    """Whether every file system takes `name`, of letters, digits, '.', '-' and '_', for a folder of that name."""
    return name.partition(".")[0].lower() not in RESERVED_NAMES and not name.endswith(".")


def is_file(path: Path) -> bool:
    """Whether there is such a file; a name that no file can have, however long, names none."""
    with contextlib.suppress(OSError, ValueError):
        return path.is_file()
    return False


def special_kind(path: Path) -> str:
    """Return the kind of a path that is neither a file nor a folder, such as "a pipe"; '' otherwise.

    To open a pipe waits for a writer, and a device such as /dev/zero never ends: this is asked before either is opened.
    """
    kinds = (
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    with contextlib.suppress(OSError, ValueError):
        mode = path.stat().st_mode
        return next((kind for is_kind, kind in kinds if is_kind(mode)), "")
    return ""


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; a name that no folder can have names none."""
    with contextlib.suppress(OSError, ValueError):
        return path.is_dir()
    return False


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; the folder is made where it is missing.

    A link stays one, and the file that it names is written. Devices and pipes, and what standard output goes to, are
    written through, as the ``>`` of a shell does.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    temporary = None
    try:
        if (through := _opened_through(path)) is not None:
            with through:
                through.write(content)
            return
        path = Path(os.path.realpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".writing-", delete=False) as stream:
            temporary = Path(stream.name)
            stream.write(content)
        # Temporary files are private; results are as readable as other files of the user.
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        # Windows does not replace a file that another program, such as a spreadsheet, has open.
        is_open = temporary is not None and isinstance(error, PermissionError)
        remedy = "close the program that has it open" if is_open else "free some space"
        raise DataError(f"{path}: cannot be written ({error.strerror}); {remedy}, or use another --out") from error


def _opened_through(path: Path) -> BinaryIO | None:
    """Open what is no file to be replaced: a device, a pipe, or what this process prints to (/dev/stdout)."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # it is closed, or no file
            if os.path.samestat(found, os.fstat(stream.fileno())):
                stream.flush()
                return os.fdopen(os.dup(stream.fileno()), "wb")
    return path.open("wb") if special_kind(path) else None
