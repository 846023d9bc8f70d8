"""`fsvm doctor`: what a bug report needs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = (
    *("click", "distributed", "matplotlib", "numba", "numpy", "openpyxl", "pandas", "pyarrow", "pydantic"),
    *("scikit-learn", "scipy", "skops"),
)
AVAILABILITIES = ("bundled", "cached", "mirror", "drawn", "to fetch", "by hand")
"""Of data sets, those that need no network first."""
VARIABLE_PREFIXES = ("FSVM_", "NUMBA_", "OPENBLAS_", "MKL_", "OMP_", "NPY_", "LOKY_")
"""Of environment variables that change what is computed, or where files lie."""


@click.command("doctor")
def command() -> None:
    """Print versions, processor, BLAS, caches and available data, for a bug report.

    Nothing is changed, fetched or sent. The user's folder is written as ~. The exit code is 3 if a problem is found.
    """
    from fsvm_cli.errors import DataError

    problems: list[str] = []
    for title, lines in (
        ("Versions", _versions()),
        ("Computer", _computer()),
        ("BLAS and threads", _libraries()),
        ("Environment variables", _variables()),
        ("Caches", _caches(problems)),
        ("Data at hand", _data(problems)),
    ):
        click.echo(f"{title}\n" + "".join(f"  {_without_home(line)}\n" for line in lines))
    if problems:
        raise DataError("\n".join(map(_without_home, problems)))
    click.echo("No problems found.")


def _without_home(text: str) -> str:
    return text.replace(str(Path.home()), "~")


def _versions() -> Iterator[str]:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from fsvm_cli import __version__

    yield f"fsvm {__version__}"
    yield f"Python {platform.python_version()} ({platform.python_implementation()})"
    for package in PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"{package}: not installed"


def _computer() -> Iterator[str]:
    import math
    import platform

    from fsvm_cli.cpu_features import cpu_flags, cpu_model
    from fsvm_cli.memory_check import GIGABYTE, address_space, free_memory

    yield f"system: {platform.platform()}"
    flags = ", ".join(flag for flag in ("avx2", "fma", "avx512f") if flag in cpu_flags())
    yield f"processor: {cpu_model()}" + (f" ({flags})" if flags else "")
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield f"cores: {usable} of {os.cpu_count()} usable"
    yield f"free memory: {free_memory() / GIGABYTE:.1f} GB"
    if (limit := address_space()) != math.inf:
        yield f"limit of the address space: {limit / GIGABYTE:.1f} GB"


def _libraries() -> Iterator[str]:
    import numpy as np  # noqa: F401 - loads the BLAS libraries
    import scipy.linalg  # noqa: F401 - as above
    import threadpoolctl

    for library in threadpoolctl.threadpool_info():
        architecture = f", architecture {library['architecture']}" if library.get("architecture") else ""
        name = Path(library["filepath"]).name
        yield f"{library['internal_api']} {library['version']}{architecture}, {library['num_threads']} threads ({name})"
    yield "a trial uses one BLAS thread"


def _variables() -> Iterator[str]:
    names = [name for name in sorted(os.environ) if name.startswith(VARIABLE_PREFIXES)]
    yield from (f"{name}={os.environ[name]}" for name in names)
    if not names:
        yield "none that fsvm or its libraries read"


def _caches(problems: list[str]) -> Iterator[str]:
    import fsvm_cli.svm  # noqa: F401 - sets the folder of compiled code
    from fsvm_cli.data.fetch import cache_folder
    from fsvm_cli.jit_cache import CACHE_VARIABLE, is_cold

    compiled = Path(os.environ[CACHE_VARIABLE])
    state = "nothing is compiled yet: the first run takes some 20 s longer" if is_cold() else _size(compiled)
    yield f"compiled code: {compiled} ({state})"
    data = cache_folder()
    yield f"data: {data} ({_size(data, without=compiled.parent) if data.exists() else 'not there yet'})"
    nearest = next(folder for folder in (data, *data.absolute().parents) if folder.exists())
    if not os.access(nearest, os.W_OK):
        problems.append(f"{data}: cannot be written; FSVM_CACHE=FOLDER names another folder for data")


def _size(folder: Path, without: Path | None = None) -> str:
    files = [path for path in folder.rglob("*") if without not in path.parents and path.is_file()]
    sizes = [path.stat().st_size for path in files]
    return f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB"


def _data(problems: list[str]) -> Iterator[str]:
    from collections import defaultdict

    from fsvm_cli.data.cards import data_cards
    from fsvm_cli.data.inventory import stored_files, summarize

    found: dict[str, list[str]] = defaultdict(list)
    for name in data_cards():
        for availability in dict.fromkeys(version.availability for version in summarize(name)):
            found[availability].append(name)
    for state, names in sorted(found.items(), key=lambda each: AVAILABILITIES.index(each[0])):
        yield f"{state}: {', '.join(names)}"
    altered = [str(stored.path) for stored in stored_files() if stored.state == "altered"]
    problems += [f"{path}: differs from the file on its data card; remove it, or fetch it again" for path in altered]
