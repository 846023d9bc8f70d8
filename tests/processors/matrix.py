"""Every variation of the processor by every quick experiment, and by the tests of the solver: which are the same bytes.

Run it with ``make test-processors``; names of variations on the command line choose some of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.helpers.calling import CHECKOUT, hashes
from tests.processors.experiments import write_experiments
from tests.processors.variations import VARIATIONS, why_not

if TYPE_CHECKING:
    from collections.abc import Mapping

# Raw features and nearly singular machines hang most on rounding; their data are at hand where a mirror is.
WITH_A_MIRROR = ("infoprop-vehicle",) if "FSVM_MIRROR" in os.environ else ()
SHIPPED = ("wine", "wdbc", "noise20", "infoprop-synthetic", *WITH_A_MIRROR)
SPLITS = "3"


def succeeds(variation: Mapping[str, str], *arguments: object) -> bool:
    """Run a module of Python in the checkout, with the environment of a variation, and show why it fails."""
    command = [sys.executable, "-m", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=CHECKOUT, env=os.environ | dict(variation), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.stderr.write(done.stdout[-3000:] + done.stderr[-3000:])
    return done.returncode == 0


def run_all(variation: Mapping[str, str], configs: list[Path], folder: Path) -> dict[str, dict[str, str]]:
    """Run the quick experiments; the hashes of what each leads to, none where it fails."""
    succeeds(variation, "fsvm_cli", "run", *configs, "--jobs", "1", "--out", folder)
    succeeds(variation, "fsvm_cli", "run", *SHIPPED, "--splits", SPLITS, "--jobs", "1", "--out", folder)
    names = [*(config.stem for config in configs), *SHIPPED]
    return {name: hashes(folder / name) for name in names}


def main(names: list[str]) -> int:
    """Print the table line by line; 1 if anything differs or fails."""
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        configs = write_experiments(folder)
        expected = run_all({}, configs, folder / "here")
        for place, name in enumerate(names or VARIATIONS):
            variation = VARIATIONS[name]
            if obstacle := why_not(variation):
                sys.stdout.write(f"{name:40} {'':20} cannot run: {obstacle}\n")
                continue
            found = run_all(variation, configs, folder / str(place))
            for experiment, files in expected.items():
                differing = [file for file in files if files[file] != found[experiment].get(file)]
                failed += bool(differing or not files)
                verdict = "DIFFERS: " + ", ".join(differing) if differing else f"same bytes ({len(files)} files)"
                sys.stdout.write(f"{name:40} {experiment:20} {verdict}\n")
            passes = succeeds(variation, "pytest", "tests/svm")
            failed += not passes
            sys.stdout.write(f"{name:40} {'tests/svm':20} {'pass' if passes else 'FAIL'}\n")
            sys.stdout.flush()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
