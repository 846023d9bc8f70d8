"""Two runs at once."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.helpers.calling import AS_SVG, answer_of, fsvm_here, hashes, started, wait_for_outcomes

if TYPE_CHECKING:
    from pathlib import Path

    Undisturbed = tuple[Path, dict[str, str]]

pytestmark = pytest.mark.slow


def test_a_second_run_on_the_folder_is_refused_and_the_first_is_not_disturbed(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    config, expected = undisturbed
    with started("run", config, "--jobs", "1", *AS_SVG, "--out", tmp_path) as process:
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
