"""The process that workers are forked from."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from fsvm_cli.runner.worker_processes import SINGLE_THREAD_ENVIRONMENT, start_loading
from tests.helpers.calling import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

# A process of its own: this one's may have been started by another test, with other modules.
IN_A_WORKER = """
import os, sys
from fsvm_cli.runner.worker_processes import start_loading

def look(_):
    heavy = {"sklearn", "numba", "scipy.stats.distributions", "matplotlib"}
    return sorted(heavy & set(sys.modules)), os.environ.get("OPENBLAS_NUM_THREADS")

if __name__ == "__main__":
    context = start_loading()
    assert not {"numpy", "sklearn"} & set(sys.modules)
    with context.Pool(1) as pool:
        print(pool.map(look, [None]))
"""


def test_it_leaves_the_environment_as_it_is_and_forks_on_linux_alone() -> None:
    before = dict(os.environ)
    assert (start_loading() is None) == (sys.platform != "linux")
    assert dict(os.environ) == before
    assert set(SINGLE_THREAD_ENVIRONMENT.values()) == {"1"}


def test_where_it_cannot_be_reached_workers_are_started_without_it(tmp_path: Path) -> None:
    deep = tmp_path / ("deep" * 40)
    deep.mkdir()
    code = "from fsvm_cli.runner.worker_processes import start_loading; print(start_loading())"
    environment = os.environ | {"TMPDIR": str(deep), "PYTHONPATH": str(CHECKOUT)}
    answer = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "None"


def test_workers_have_the_libraries_and_one_thread(tmp_path: Path) -> None:
    if sys.platform != "linux":
        return
    script = tmp_path / "look.py"
    script.write_text(IN_A_WORKER)
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    answer = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[(['numba', 'sklearn'], '1')]"
