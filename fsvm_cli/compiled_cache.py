"""Where numba keeps the code that it compiled: one folder for each state of our sources.

numba compiles a function anew when the function's own file has changed, and not when the file of one that it calls has.
After an update, old machine code would go on running inside new.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import platformdirs

VARIABLE = "NUMBA_CACHE_DIR"
PREFIX = "fsvm-"
FOLDERS_WITH_COMPILED_CODE = ("svm", "ranking")


def use_cache_of_these_sources() -> None:
    """Point numba, in this process and those that it starts, to the cache of the sources as they are.

    The cache lies in the folder that the environment variable ``NUMBA_CACHE_DIR`` names, or else in the user's cache
    folder. It has to be called before the first function is decorated.
    """
    base = Path(os.environ.get(VARIABLE) or platformdirs.user_cache_path("fsvm") / "compiled")
    if base.name.startswith(PREFIX):
        base = base.parent
    package = Path(__file__).resolve().parent
    folder = base / f"{PREFIX}{digest_of_sources([package / name for name in FOLDERS_WITH_COMPILED_CODE])}"
    os.environ[VARIABLE] = str(folder)
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(folder)


def is_cold() -> bool:
    """Whether nothing has been compiled yet for the sources as they are."""
    # numba makes empty folders as soon as a function is decorated.
    return next(Path(os.environ[VARIABLE]).rglob("*.nbi"), None) is None


def digest_of_sources(folders: list[Path]) -> str:
    """Hash the Python files of some folders."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in folders for path in folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
