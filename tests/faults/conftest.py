"""What every fault is measured by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from calling import fsvm, hashes, write_config

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A config, and the hashes of what it leads to in one process that nothing disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    config = write_config(folder, protocol="{splits: 300, train: 1/2, seed: 7}", subsets="all")
    answer = fsvm("run", config, "--jobs", "1", "--out", folder / "results")
    assert answer.code == 0, answer.err
    return config, hashes(folder / "results" / "small")
