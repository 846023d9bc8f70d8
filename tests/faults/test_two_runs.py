"""Two runs at once, and a machine with another BLAS."""

from __future__ import annotations

import json
import platform
import signal
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from tests.helpers.calling import answer_of, fsvm, fsvm_here, hashes, started, wait_for_outcomes

if TYPE_CHECKING:
    from pathlib import Path

    Undisturbed = tuple[Path, dict[str, str]]

pytestmark = pytest.mark.slow


def test_a_second_run_on_the_folder_is_refused_and_the_first_is_not_disturbed(
    undisturbed_short: Undisturbed, tmp_path: Path
) -> None:
    config, expected = undisturbed_short
    with started("run", config, "--jobs", "1", "--out", tmp_path) as process:
        wait_for_outcomes(tmp_path / "small", process)
        process.send_signal(signal.SIGSTOP)  # or it might be done before the second begins
        second = fsvm_here("run", config, "--jobs", "1", "--out", tmp_path)
        process.send_signal(signal.SIGCONT)
        first = answer_of(process)
    assert second.code == 3
    assert second.err == (
        f"fsvm: {tmp_path}/small: another fsvm run is writing here; wait for it, or use another --out\n"
    )
    assert first.code == 0
    assert hashes(tmp_path / "small") == expected


def test_another_blas_kernel_leads_to_the_same_numbers(
    undisturbed_short: Undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores to a relative 1e-9, and every prediction; OpenBLAS chooses its kernels by the processor it finds."""
    config, _ = undisturbed_short
    monkeypatch.setenv("OPENBLAS_CORETYPE", {"x86_64": "Prescott"}.get(platform.machine(), "ARMV8"))
    assert fsvm("run", config, "--jobs", "1", "--out", tmp_path).code == 0
    usual = config.parent / "results" / "small"
    kernels = [json.loads((folder / "environment.json").read_text())["blas"] for folder in (usual, tmp_path / "small")]
    assert kernels[0] != kernels[1]
    for name, tolerance in (("curves.csv", 0.0), ("scores.csv", 1e-9)):
        here, there = pd.read_csv(usual / name), pd.read_csv(tmp_path / "small" / name)
        numbers = here.select_dtypes("number").columns
        assert list(here.columns) == list(there.columns)
        np.testing.assert_allclose(there[numbers], here[numbers], rtol=tolerance, equal_nan=True)
