"""Other processors, as far as this one can play them: libraries choose their code by what they find, or are told.

Without any of these variables the command line keeps to the instructions of Haswell (`fsvm_cli/cpu_features.py`); with
one, what it does not name is chosen for the processor at hand.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

AVX512 = ("f", "cd", "bw", "dq", "vl")
# What numpy and the C library would choose functions for. Names that they do not know are passed over.
OLD_NUMPY = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}
OLD_LIBM = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"}
GENERIC_CODE = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}

VARIATIONS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "all as this processor has it": {"NPY_DISABLE_CPU_FEATURES": ""},
        **{
            f"OpenBLAS for {core}": {"OPENBLAS_CORETYPE": core}
            for core in ("Prescott", "Nehalem", "Sandybridge", "Haswell", "SkylakeX")
        },
        "numpy and libm without AVX and FMA": OLD_NUMPY | OLD_LIBM,
        "numba for generic x86-64": GENERIC_CODE,
        "numba for Haswell": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""},
        "numba for Skylake-AVX512": {"NUMBA_CPU_NAME": "skylake-avx512", "NUMBA_CPU_FEATURES": ""},
        "numba for Skylake-AVX512, less AVX-512": {
            "NUMBA_CPU_NAME": "skylake-avx512",
            "NUMBA_CPU_FEATURES": ",".join(f"-avx512{part}" for part in AVX512),
        },
        "all as on the first x86-64": {"OPENBLAS_CORETYPE": "Prescott", **OLD_NUMPY, **OLD_LIBM, **GENERIC_CODE},
    }
)
"""Environment variables by what they play; all are for x86-64. The first seven share what numba compiles."""

# A call of BLAS, and what the tests compile: short loops may do without the instructions that a processor lacks.
TRIAL = """
import numpy
from fsvm_cli import SVM
a = numpy.ones((64, 64))
assert (a @ a == 64).all()
X = numpy.random.default_rng(0).normal(size=(60, 4))
assert SVM(kernel="gaussian").fit(X, X[:, 0] > 0).converged_.all()
"""


def why_not(variation: Mapping[str, str]) -> str | None:
    """Say why this machine cannot play a processor; None where it can."""
    if platform.machine() != "x86_64":
        return f"this is {platform.machine()}, not x86-64"
    tried = subprocess.run(
        [sys.executable, "-c", TRIAL], env=os.environ | dict(variation), capture_output=True, text=True, check=False
    )
    if tried.returncode < 0:
        return f"ends with signal {-tried.returncode}: this processor lacks its instructions"
    return tried.stderr.strip().rpartition("\n")[2] if tried.returncode else None
