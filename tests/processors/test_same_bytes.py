"""Tables and figures are the same bytes on another processor, as far as this one can play it."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING

import pytest

from tests.helpers.calling import AS_SVG, Answer, fsvm, fsvm_here, hashes, write_config
from tests.processors.experiments import write_experiments
from tests.processors.variations import VARIATIONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

AT_ONCE = ("OpenBLAS for Prescott", "numpy and libm without AVX and FMA")
"""Variations that need no compilation anew."""
LONG = {"tuned"}
"""As long as all others together: make test-processors runs it."""


def run_all(configs: list[Path], folder: Path, run: Callable[..., Answer] = fsvm) -> dict[str, dict[str, str]]:
    """Run experiments in one process; the hashes of what each leads to."""
    answer = run("run", *configs, "--jobs", "1", *AS_SVG, "--out", folder)
    assert answer.code == 0, answer.err
    return {config.stem: hashes(folder / config.stem) for config in configs}


def test_another_processor_writes_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every library at once as on an old processor; make test-processors plays more of them, each for itself."""
    folders = here, there = tmp_path / "here", tmp_path / "there"
    configs = [config for config in write_experiments(tmp_path) if config.stem not in LONG]
    configs.append(write_config(tmp_path))
    expected = run_all(configs, here, fsvm_here)
    for name in AT_ONCE:
        for variable, value in VARIATIONS[name].items():
            monkeypatch.setenv(variable, value)
    assert run_all(configs, there) == expected
    kernels = [json.loads((folder / "small" / "environment.json").read_text())["blas"] for folder in folders]
    assert kernels[0] != kernels[1] or platform.machine() != "x86_64", "the names are those of x86-64"
