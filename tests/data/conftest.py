"""Where the tests find real files of the archive."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
