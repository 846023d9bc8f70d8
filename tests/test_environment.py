"""Setting up: the two locks agree, and what pip says becomes progress."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.helpers.calling import CHECKOUT

LOCKS = ("requirements.lock", "requirements-dev.lock")
environment = runpy.run_path(str(CHECKOUT / ".ci" / "environment.py"))


def entries(lock: str) -> set[str]:
    """Package, version, marker and hashes of each entry."""
    text = re.sub(r"^ *#.*\n", "", (CHECKOUT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return set(re.split(r"\n(?=\S)", text.strip()))


def test_what_runs_is_what_is_tested() -> None:
    run, dev = map(entries, LOCKS)
    assert run < dev


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_hashes_and_names_no_host(lock: str) -> None:
    assert all("--hash=sha256:" in entry for entry in entries(lock))
    assert "://" not in (CHECKOUT / lock).read_text(encoding="utf-8")


def test_running_needs_neither_dask_nor_the_tools_of_developers() -> None:
    run, dev = (set(environment["packages_of"]((CHECKOUT / lock).read_text(encoding="utf-8"))) for lock in LOCKS)
    tools = {"distributed", "mypy", "pytest", "ruff", "pip-audit", "pre-commit"}
    assert not tools & run
    assert tools < dev
    assert {"numba", "numpy", "scipy", "click", "hatchling"} < run


def test_a_package_with_a_version_for_each_python_is_one_package() -> None:
    lock = "a==1 ; python_version < '3.12' \\\n    --hash=sha256:0\na==2 ; python_version >= '3.12' \\\nb==1 \\\n"
    assert environment["packages_of"](lock) == ["a", "b"]


@pytest.mark.parametrize(("platform", "expected"), [("linux", ["a", "b"]), ("win32", ["a", "c"]), ("darwin", ["a"])])
def test_packages_of_other_platforms_are_not_counted(
    platform: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    markers = "python_full_version < '3.12' and sys_platform == 'linux'", "sys_platform == 'win32'"
    lock = f"a==1 \\\n    --hash=sha256:0\nb==1 ; {markers[0]} \\\nc==1 ; {markers[1]} \\\n"
    assert environment["packages_of"](lock) == expected


def test_what_pip_says_becomes_progress() -> None:
    said = [
        "Collecting numpy==2.4.6 (from -r requirements.lock (line 7))\n",
        "  Downloading numpy-2.4.6-cp311.whl (16.6 MB)\n",
        "Requirement already satisfied: click==8.5.1 in ./.venv/lib\n",
        "Installing collected packages: numpy, scipy\n",
        "Successfully installed numpy-2.4.6 scipy-1.17.1\n",
    ]
    assert list(environment["progress_of"](said, 3)) == ["1 of 3: numpy", "2 of 3: click", "unpacking 2 packages"]
