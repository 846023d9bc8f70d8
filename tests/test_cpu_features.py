"""The command line computes with the CPU features that common processors share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fsvm_cli import cpu_features
from fsvm_cli.cpu_features import (
    HASWELL_ENVIRONMENT,
    HASWELL_FLAGS,
    NO_AVX512_ENVIRONMENT,
    common_cpu_features,
    cpu_flags,
    use_common_cpu_features,
)
from tests.helpers.calling import AS_SVG, fsvm, write_config

if TYPE_CHECKING:
    from pathlib import Path


def test_processors_since_haswell_compute_as_it_does() -> None:
    assert common_cpu_features(HASWELL_FLAGS, {}) == HASWELL_ENVIRONMENT
    assert (
        common_cpu_features(HASWELL_FLAGS | {"avx512f"}, {"HOME": "/"}) == HASWELL_ENVIRONMENT | NO_AVX512_ENVIRONMENT
    )


@pytest.mark.parametrize("lacking", sorted(HASWELL_FLAGS))
def test_a_processor_that_lacks_any_chooses_for_itself(lacking: str) -> None:
    assert common_cpu_features(HASWELL_FLAGS - {lacking}, {}) == {}


@pytest.mark.parametrize("variable", sorted(HASWELL_ENVIRONMENT | NO_AVX512_ENVIRONMENT))
def test_who_says_anything_says_all(variable: str) -> None:
    assert common_cpu_features(HASWELL_FLAGS, {variable: ""}) == {}


def test_flags_are_read_as_the_system_tells_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(cpu_features, "CPUINFO_PATH", file)
    assert not cpu_flags()
    file.write_text("model name\t: other\n")
    assert not cpu_flags()
    file.write_text("model name\t: one\nflags\t\t: fpu avx2 fma\n\nflags\t\t: sse\n")
    assert cpu_flags() == ["fpu", "avx2", "fma"]


def test_nothing_changes_once_numpy_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = dict(os.environ)
    monkeypatch.setattr(cpu_features, "cpu_flags", lambda: HASWELL_FLAGS)
    use_common_cpu_features()
    assert dict(os.environ) == environment


def test_a_run_computes_by_what_was_chosen(tmp_path: Path) -> None:
    answer = fsvm("run", write_config(tmp_path), *AS_SVG, "--out", tmp_path)
    assert answer.code == 0, answer.err
    environment = json.loads((tmp_path / "small" / "environment.json").read_text())
    chosen = common_cpu_features(cpu_flags(), os.environ)
    program = "import numpy, threadpoolctl; print(threadpoolctl.threadpool_info()[0]['architecture'])"
    numpy_alone = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | chosen, capture_output=True, text=True, check=True
    )
    assert {library["architecture"] for library in environment["blas"]} == {numpy_alone.stdout.strip()}
