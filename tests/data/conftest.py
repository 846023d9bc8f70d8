"""Where the tests find real files of the archive."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The clock of a busy machine says nothing about the code.
settings.register_profile("fsvm-data", deadline=None)
settings.load_profile("fsvm-data")

VARIABLE = "FSVM_TEST_MIRROR"


@pytest.fixture(scope="session")
def mirror_folder() -> Path:
    """Find the folder that is laid out like the archive."""
    folder = Path(os.environ[VARIABLE])
    assert folder.is_dir(), f"{VARIABLE} names {folder}, which is no folder"
    return folder.resolve()


@pytest.fixture
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave an empty cache and no mirror."""
    monkeypatch.setenv("FSVM_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FSVM_MIRROR", raising=False)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs the archive's files where nobody has said where they are; CI always says."""
    if VARIABLE in os.environ:
        return
    needs_archive = [item for item in items if "mirror_folder" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=needs_archive)
    items[:] = [item for item in items if item not in needs_archive]


def pytest_report_header() -> str:
    """Say whether the archive's files are tested."""
    folder = os.environ.get(VARIABLE)
    return f"archive: {folder}" if folder else f"archive: not tested; {VARIABLE} may name a copy of the UCI archive"
