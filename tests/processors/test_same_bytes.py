"""Tables and figures are the same bytes on another processor, as far as this one can play it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.helpers.calling import Answer, fsvm, fsvm_here, hashes
from tests.processors.experiments import write_experiments
from tests.processors.variations import VARIATIONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

Runs = tuple[list["Path"], dict[str, dict[str, str]]]


def run_all(configs: list[Path], folder: Path, run: Callable[..., Answer] = fsvm) -> dict[str, dict[str, str]]:
    """Run experiments in one process; the hashes of what each leads to."""
    answer = run("run", *configs, "--jobs", "1", "--out", folder)
    assert answer.code == 0, answer.err
    return {config.stem: hashes(folder / config.stem) for config in configs}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The configs, and what they lead to on this processor as it is."""
    folder = tmp_path_factory.mktemp("processors")
    configs = write_experiments(folder)
    return configs, run_all(configs, folder / "here", fsvm_here)


# Those that need no compilation anew; make test-processors runs all.
@pytest.mark.parametrize("name", ["OpenBLAS for Prescott", "numpy and libm without AVX and FMA"])
def test_another_processor_writes_the_same_bytes(
    here: Runs, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configs, expected = here
    for variable, value in VARIATIONS[name].items():
        monkeypatch.setenv(variable, value)
    assert run_all(configs, tmp_path) == expected
