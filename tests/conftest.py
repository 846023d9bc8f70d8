"""Settings of every test."""

from __future__ import annotations

import atexit
import functools
import gc
import itertools
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import numpy as np
import pytest
import threadpoolctl
from hypothesis import settings

import fsvm_cli.svm  # noqa: F401 - sets the folder of compiled code
from fsvm_cli.cli import GC_THRESHOLD_OBJECTS
from fsvm_cli.jit_cache import CACHE_VARIABLE
from tests.helpers.calling import N_TRIALS, fsvm_here, hashes, write_config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest_plugins = ["tests.helpers.small_experiments"]

# scikit-learn checks array-API input only where scipy was told of it before its first import.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# scikit-learn sets it when it is first imported, which may be within a test.
os.environ.setdefault("KMP_INIT_AT_FORK", "FALSE")

# How long an example takes says how busy the machine is, and nothing about the code. Each run draws other examples.
settings.register_profile("untimed", deadline=None, max_examples=50)
settings.load_profile("untimed")

# What is loaded stays: Python need not look through it again and again, nor when the process ends.
gc.set_threshold(GC_THRESHOLD_OBJECTS)
atexit.register(gc.freeze)

NEEDED = {
    "mirror_folder": ("FSVM_TEST_MIRROR", "a copy of the UCI archive"),
    "published_folder": ("FSVM_TEST_PUBLISHED", "the papers' published values"),
}
"""By fixture: the environment variable that names a folder, and what is in it. None of it is part of the repository."""

NO_SKIPS = "FSVM_TEST_NO_SKIPS"
"""Set where a test that is skipped is a failure."""


def longest_first(items: list[pytest.Item], n_workers: int) -> list[pytest.Item]:
    """Sort tests by what their file says of them, and deal files to the workers, so that no fixture is made twice."""
    ordered = sorted(items, key=lambda item: item.get_closest_marker("slow") is None)
    files = [list(tests) for _, tests in itertools.groupby(ordered, key=lambda item: item.path)]
    return [test for worker in range(n_workers) for tests in files[worker::n_workers] for test in tests]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, and skip what needs files that nobody has named."""
    n_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if n_workers > 1:
        items[:] = longest_first(items, n_workers)
    missing = {fixture: words for fixture, words in NEEDED.items() if not os.environ.get(words[0])}
    for item in items:
        for fixture in missing.keys() & set(getattr(item, "fixturenames", ())):
            variable, content = missing[fixture]
            item.add_marker(pytest.mark.skip(reason=f"needs {content}; {variable}=FOLDER names one"))


def pytest_collection_finish() -> None:
    """Keep what was loaded out of the collections of garbage that pytest asks for, and off the others' cores."""
    gc.freeze()
    # After each call of numpy or an oracle, threads of BLAS spin for a while; our own fits have but one.
    threadpoolctl.threadpool_limits(limits=1)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say aloud how many tests were skipped, and why."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.items():
        terminalreporter.write_line(f"NOT TESTED: {count} tests, skipped: {reason}", yellow=True, bold=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where tests were skipped and none may be."""
    # pytest looks five times through all that is left, for what complains at its end; once is enough.
    gc.collect()
    gc.freeze()
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get(NO_SKIPS) and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def shared_state() -> dict[str, object]:
    """What the tests of a process share, and their commands change."""
    # What `os.environ` decodes for each copy would take longer than most tests.
    environment = vars(os.environ)["_data"].copy()
    environment.pop(os.environ.encodekey("PYTEST_CURRENT_TEST"), None)
    return {
        "environment": environment,
        "working folder": Path.cwd(),
        "signal handlers": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
        "sys": [sys.path.copy(), sys.argv.copy(), sys.stdout, sys.stderr, sys.unraisablehook],
        # numba reads it from the environment whenever it compiles.
        "compiled code": getattr(sys.modules.get("numba.core.config"), "CACHE_DIR", os.environ[CACHE_VARIABLE]),
    }


@pytest.fixture(autouse=True)
def _leaves_all_as_it_was() -> Iterator[None]:
    """Fail a test that leaves others something changed: set up before whatever is to put it back."""
    before = shared_state()
    yield
    assert shared_state() == before


@pytest.fixture
def compiled_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name an empty folder for compiled code, to numba as well."""
    import numba  # noqa: PLC0415 - as in tests.helpers.small_experiments

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers that are the same whichever tests ran before."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A config of `N_TRIALS` splits, and the hashes of what it leads to in one process that nothing disturbs.

    The processes of pytest-xdist share what the first of them has done.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "undisturbed"
    with filelock.FileLock(f"{folder}.lock"):
        if not folder.exists():
            folder.mkdir()
            config = write_config(folder, protocol=f"{{splits: {N_TRIALS}, train: 1/2, seed: 7}}", subsets="all")
            answer = fsvm_here("run", config, "--jobs", "1", "--out", folder / "results")
            assert answer.code == 0, answer.err
    return folder / "small.yaml", hashes(folder / "results" / "small")


@pytest.fixture
def edit_code(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let a function or a class look as if its code had been edited."""
    from fsvm_cli import sources  # noqa: PLC0415 - as in tests.helpers.small_experiments

    def edit(dotted: str) -> None:
        own_digest = sources._own_digest

        def with_the_edit(node: sources._Node) -> str:
            return "edited" if node.dotted == dotted else own_digest(node)

        monkeypatch.setattr(sources, "_own_digest", with_the_edit)
        monkeypatch.setattr(sources, "_DIGESTS", {})
        monkeypatch.setattr(sources, "_code_of", functools.cache(sources._code_of.__wrapped__))

    return edit
