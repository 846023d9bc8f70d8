"""Where the tests find real files of the archive."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

MIRROR = Path(
    os.environ.get("FSVM_TEST_MIRROR") or Path(__file__).resolve().parents[2] / ".." / "shared" / "uci-mirror"
)


@pytest.fixture(scope="session")
def mirror_folder() -> Path:
    """A folder laid out like the archive."""
    assert MIRROR.is_dir(), f"the tests need files of the archive in {MIRROR}; FSVM_TEST_MIRROR names another folder"
    return MIRROR.resolve()


@pytest.fixture
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty cache and no mirror."""
    monkeypatch.setenv("FSVM_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FSVM_MIRROR", raising=False)
