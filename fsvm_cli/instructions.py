"""Which instructions of the processor numbers are computed with: results should not hang on whose processor it is.

OpenBLAS, numpy and numba each choose code by what they find. Sums then have another order and another last digit, and a
search may come by it to another result.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PROCESSORS = Path("/proc/cpuinfo")
HASWELL = {"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
"""What Linux calls the instructions that came with Intel's Haswell of 2013, and that AMD has had since 2015."""
AS_ON_HASWELL = {"OPENBLAS_CORETYPE": "Haswell", "NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""}
WITHOUT_AVX512 = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}


def use_common_instructions() -> None:
    """Have this process, and those that it starts, compute as on a Haswell, where the processor can.

    Once numpy is loaded it is too late, and nothing is done. On other systems than Linux, and on other processors, the
    libraries choose for themselves; they do so, too, where the environment has any of the variables.
    """
    if "numpy" not in sys.modules:
        os.environ.update(common_instructions(flags_of_processor(), os.environ))


def common_instructions(flags: Collection[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return what the environment should say, by what a processor can do and what the environment says already."""
    is_chosen = not environment.keys().isdisjoint(AS_ON_HASWELL | WITHOUT_AVX512)
    if is_chosen or not HASWELL.issubset(flags):
        return {}
    # numpy warns of what the processor does not have.
    return AS_ON_HASWELL | (WITHOUT_AVX512 if "avx512f" in flags else {})


def flags_of_processor() -> list[str]:
    """Read what the first processor can do: nothing where the system does not tell it in this way."""
    try:
        with PROCESSORS.open(encoding="utf-8", errors="replace") as stream:
            line = next((line for line in stream if line.startswith("flags")), "")
    except OSError:
        return []
    return line.partition(":")[2].split()
