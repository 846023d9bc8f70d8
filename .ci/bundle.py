"""Write all that an installation without network needs into `build/bundle`: `make bundle`.

The source and the results as they are committed, the wheel of fsvm, the wheels of the lock for this system and this
Python, and the SHA-256 of each file.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HASHES_NAME = "SHA256SUMS"
README = """\
fsvm without network, for {implementation} {version} on {system}. The wheels in the folder 'wheels' are for no other
system or version of Python: there, 'make bundle' writes its own.

    sha256sum --check SHA256SUMS
    python -m venv env
    env/bin/pip install --no-index --find-links wheels --require-hashes -r requirements.lock
    env/bin/pip install --no-index --no-deps dist/*.whl
    env/bin/fsvm run wine
"""


def main() -> None:
    """Write the folder anew; exit code 1 where a command fails."""
    folder = ROOT / "build" / "bundle"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_archives(ROOT, folder)
    shutil.copytree(ROOT / "dist", folder / "dist")
    lock = shutil.copy(ROOT / "requirements.lock", folder)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    options = ["--require-hashes", "--only-binary", ":all:", "--dest", folder / "wheels", "--requirement", lock]
    subprocess.run([*pip, *options], check=True)
    write_readme(folder)
    write_hashes(folder)
    print(folder)


def write_archives(root: Path, folder: Path) -> None:
    """Pack the results of the last commit, and all else of it."""
    for name, paths in (("source", [".", ":(exclude)results"]), ("results", ["results"])):
        command = ["git", "archive", "--format=tar.gz", "--prefix=fsvm/", f"--output={folder / name}.tar.gz", "HEAD"]
        subprocess.run([*command, *paths], cwd=root, check=True)


def write_readme(folder: Path) -> None:
    """Write how to install from the folder, and for which system and Python its wheels are."""
    version = ".".join(platform.python_version_tuple()[:2])
    text = README.format(
        implementation=platform.python_implementation(), version=version, system=sysconfig.get_platform()
    )
    (folder / "README.txt").write_text(text, encoding="utf-8", newline="\n")


def write_hashes(folder: Path) -> None:
    """Write the hash of each file of a folder, as sha256sum checks it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != HASHES_NAME)
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n" for path in files
    ]
    (folder / HASHES_NAME).write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
