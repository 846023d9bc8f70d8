"""Settings of every test."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from calling import N_TRIALS, fsvm, hashes, write_config
from hypothesis import settings

from fsvm_cli.experiment import plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# scikit-learn checks array-API input only where scipy was told of it before its first import.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# How long an example takes says how busy the machine is, and nothing about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A config of `N_TRIALS` splits, and the hashes of what it leads to in one process that nothing disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    config = write_config(folder, protocol=f"{{splits: {N_TRIALS}, train: 1/2, seed: 7}}", subsets="all")
    answer = fsvm("run", config, "--jobs", "1", "--out", folder / "results")
    assert answer.code == 0, answer.err
    return config, hashes(folder / "results" / "small")


@pytest.fixture
def edit_code(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let a module look as if its code had been edited."""

    def edit(module: str) -> None:
        digests = plan.source_digests

        def with_the_edit(*modules: str) -> dict[str, str]:
            found = digests(*modules)
            return found | ({module: "edited"} if module in found else {})

        monkeypatch.setattr(plan, "source_digests", with_the_edit)

    return edit
