"""The CPU features that libraries compute with, so that results are the same on every common processor.

OpenBLAS, numpy and numba each choose machine code by the features that they find. Sums then differ in their order and
their last digit, and a search can end elsewhere.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

CPUINFO_PATH = Path("/proc/cpuinfo")
HASWELL_FLAGS = {"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
"""Linux's names of the features that came with Intel's Haswell of 2013, and that AMD has had since 2015."""
HASWELL_ENVIRONMENT = {"OPENBLAS_CORETYPE": "Haswell", "NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""}
NO_AVX512_ENVIRONMENT = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}


def use_common_cpu_features() -> None:
    """Restrict this process, and those that it starts, to the features of Haswell, where the processor has them.

    Nothing is done once numpy is loaded, which is too late. On systems other than Linux, on other processors, and where
    the environment sets any of the variables, the libraries choose for themselves.
    """
    if "numpy" not in sys.modules:
        os.environ.update(common_cpu_features(cpu_flags(), os.environ))


def common_cpu_features(flags: Collection[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables to set, by the processor's features and what the environment sets already."""
    is_chosen = not environment.keys().isdisjoint(HASWELL_ENVIRONMENT | NO_AVX512_ENVIRONMENT)
    if is_chosen or not HASWELL_FLAGS.issubset(flags):
        return {}
    # numpy warns about features that the processor lacks.
    return HASWELL_ENVIRONMENT | (NO_AVX512_ENVIRONMENT if "avx512f" in flags else {})


def cpu_flags() -> list[str]:
    """Read the features of the first processor; an empty list where there is no such table."""
    return _first_value("flags").split()


def cpu_model() -> str:
    """Name the first processor, or its architecture where the system does not tell more."""
    return _first_value("model name") or platform.processor() or platform.machine()


def _first_value(key: str) -> str:
    try:
        with CPUINFO_PATH.open(encoding="utf-8", errors="replace") as stream:
            return next((line.partition(":")[2].strip() for line in stream if line.startswith(key)), "")
    except OSError:
        return ""
