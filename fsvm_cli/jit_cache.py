"""The folder in which numba caches compiled code: one for each state of the sources and each kind of processor.

numba compiles a function anew when its own file has changed, but not when the file of a function that it calls has:
after an update, outdated machine code would run inside new code.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

import platformdirs

CACHE_VARIABLE = "NUMBA_CACHE_DIR"
CACHE_PREFIX = "fsvm-"
COMPILED_PACKAGES = ("svm", "ranking")


def use_cache_of_these_sources() -> None:
    """Point numba, in this process and those that it starts, to the cache of the sources as they are.

    The cache lies in the folder that the environment variable ``NUMBA_CACHE_DIR`` names, or else in the user's cache
    folder. Where that cannot be written, numba would refuse to decorate, and where other users can write, they could
    have their code run: a temporary folder then holds the code as long as the process lives. It has to be called before
    the first function is decorated.
    """
    base = Path(os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_path("fsvm") / "compiled")
    if base.name.startswith(CACHE_PREFIX):
        base = base.parent
    package = Path(__file__).resolve().parent
    digest = digest_of_sources([package / name for name in COMPILED_PACKAGES])
    # In a folder shared by all kinds of processor, `is_cold` would count code for another kind.
    name = f"{CACHE_PREFIX}{digest}-{os.environ.get('NUMBA_CPU_NAME', 'host')}"
    folder = base / name
    if not _can_be_written(folder):
        obstacle = f"cannot be kept in {base}"
    elif (exposed := _open_to_others(folder)) is not None:
        obstacle = f"is not kept in {base}, because other users can write in {exposed},"
    else:
        obstacle = ""
    if obstacle:
        folder = _temporary_folder() / name
        sys.stderr.write(f"compiled code {obstacle} and is compiled each time; {CACHE_VARIABLE}=FOLDER names another\n")
    os.environ[CACHE_VARIABLE] = str(folder)
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(folder)


def _can_be_written(folder: Path) -> bool:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        # Only an attempt is reliable: Windows reports every folder as writable.
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _open_to_others(folder: Path) -> Path | None:
    """Find the first folder, from `folder` upwards, whose entries users other than this one and root can replace."""
    # Where there are no user ids, as on Windows, access lists protect the user's folders, and modes do not show them.
    if sys.platform == "win32" or not hasattr(os, "geteuid"):
        return None
    trusted = {0, os.geteuid()}
    below_is_trusted = False
    folder = folder.resolve()
    for each in (folder, *folder.parents):
        status = each.stat()
        # Many systems give each user a group of the user's own number, with no other members.
        writers = stat.S_IWOTH if status.st_gid == os.geteuid() else stat.S_IWGRP | stat.S_IWOTH
        others_write = bool(status.st_mode & writers)
        # In a folder with the sticky bit only the owner of an entry can replace it.
        is_sticky = below_is_trusted and bool(status.st_mode & stat.S_ISVTX)
        if status.st_uid not in trusted or (others_write and not is_sticky):
            return each
        below_is_trusted = True
    return None


def _temporary_folder() -> Path:
    # The name is not predictable, because code in the folder is executed.
    folder = tempfile.mkdtemp(prefix="fsvm-compiled-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def is_cold() -> bool:
    """Whether nothing has been compiled yet for the sources as they are."""
    # numba makes empty folders as soon as a function is decorated.
    return next(Path(os.environ[CACHE_VARIABLE]).rglob("*.nbi"), None) is None


def digest_of_sources(folders: list[Path]) -> str:
    """Hash the Python files of some folders."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
