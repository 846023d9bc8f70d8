"""What `make setup` does, and what stands in for it where there is no make: an environment in .venv from the locks.

    python .ci/environment.py          # what `fsvm` needs to run
    python .ci/environment.py --dev    # and what its tests need

It needs nothing but Python, and tells what it is at: most of the time goes into downloads.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OLDEST_PYTHON = (3, 11)
ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv"
PROGRAMS = ENVIRONMENT / ("Scripts" if sys.platform == "win32" else "bin")
LOCKS = {False: "requirements.lock", True: "requirements-dev.lock"}
MARKS = {False: ENVIRONMENT / "complete", True: ENVIRONMENT / "complete-dev"}
"""Files that are newer than what the environment was made from, for make."""

SECONDS_BETWEEN_LINES = 3.0
PINNED = re.compile(r"^(?P<name>[a-z0-9.-]+)==\S+(?: ; (?P<marker>.*?))?(?: \\)?$", re.MULTILINE)
OF_PLATFORM = re.compile(r"sys_platform == '(\w+)'")
BEGUN = re.compile(r"(?:Collecting|Requirement already satisfied:) (?P<name>[\w.-]+)")
PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off")


def packages_of(lock: str) -> list[str]:
    """Name what a lock installs on this platform, each package once, whatever the number of its versions."""
    found = PINNED.finditer(lock)
    here = (
        each["name"] for each in found if sys.platform in (OF_PLATFORM.findall(each["marker"] or "") or [sys.platform])
    )
    return list(dict.fromkeys(here))


def progress_of(lines: Iterable[str], n_packages: int) -> Iterator[str]:
    """Turn what pip says, line by line, into what a person wants to know."""
    n_begun = 0
    for line in lines:
        if begun := BEGUN.match(line):
            n_begun += 1
            yield f"{min(n_begun, n_packages)} of {n_packages}: {begun['name']}"
        elif line.startswith("Installing collected packages"):
            yield f"unpacking {line.count(',') + 1} packages"


def main() -> None:
    """Make the environment, or what is missing of it; exit code 1, with what pip said, where that fails."""
    parser = argparse.ArgumentParser(description="Set up .venv from the locks.")
    parser.add_argument("--dev", action="store_true", help="also what the tests need")
    wants_dev = parser.parse_args().dev
    if sys.version_info < OLDEST_PYTHON:
        found = ".".join(map(str, sys.version_info[:3]))
        sys.exit(f"fsvm needs Python 3.11 or newer; this is {found}. With make, name another: PYTHON=python3.12")
    begin = time.monotonic()
    lock = LOCKS[wants_dev]
    packages = packages_of((ROOT / lock).read_text(encoding="utf-8"))
    purpose = "develop and test" if wants_dev else "run"
    print(f"Setting up .venv to {purpose} fsvm, once. Most of the time goes into downloads.", flush=True)
    if not (ENVIRONMENT / "pyvenv.cfg").exists():
        print("[1/3] an empty environment (some seconds)", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
    print(f"[2/3] the {len(packages)} packages of {lock}", flush=True)
    _install(["--require-hashes", "--requirement", lock], len(packages))
    print("[3/3] fsvm itself", flush=True)
    _install(["--no-build-isolation", "--no-deps", "--editable", "."], 1)
    for is_dev, mark in MARKS.items():
        if wants_dev or not is_dev:  # what is there for developers holds what running needs
            mark.touch()
    print(f"Ready after {time.monotonic() - begin:.0f} s: {(PROGRAMS / 'fsvm').relative_to(ROOT)}", flush=True)


def _install(arguments: list[str], n_packages: int) -> None:
    command = [str(PROGRAMS / "python"), *PIP, *arguments]
    said: list[str] = []
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace"
    ) as process:
        assert process.stdout
        _tell(progress_of(_kept(process.stdout, said), n_packages))
    if process.returncode:
        sys.exit("".join(said[-20:]) + f"pip failed: {' '.join(command)}")


def _kept(lines: Iterable[str], said: list[str]) -> Iterator[str]:
    for line in lines:
        said.append(line)
        yield line


def _tell(messages: Iterable[str]) -> None:
    told = time.monotonic()
    for message in messages:
        if time.monotonic() - told >= SECONDS_BETWEEN_LINES or not message[0].isdigit():
            told = time.monotonic()
            print(f"      {message}", flush=True)


if __name__ == "__main__":
    main()
