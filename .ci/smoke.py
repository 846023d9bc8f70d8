"""Install the wheel outside the checkout, and use it there: `make smoke` and `make smoke-lowest`.

    python .ci/smoke.py            # into an empty environment: what the wheel asks for, in the versions of the lock
    python .ci/smoke.py --lowest   # the oldest versions that are allowed, extras included

The second asks for the oldest Python, for which those versions have wheels; with another it says so, and does nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST_PYTHON = (3, 11)
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "--python")
"""The pip of this environment, which fills the other."""
TABLE = (
    "from sklearn.datasets import load_wine; frame = load_wine(as_frame=True).frame; "
    "frame.columns = [name.replace('/', '-') for name in frame.columns]; "
)
OURS = ("FSVM_", "PYTHON", "NUMBA_", "XDG_CACHE_HOME", "VIRTUAL_ENV")
"""What an environment variable begins with that would let the checkout, or what is compiled already, in."""


def main() -> None:
    """Install and use; exit code 1 where a command fails, or does not leave what it should."""
    is_lowest = "--lowest" in sys.argv[1:]
    if is_lowest and sys.version_info[:2] != OLDEST_PYTHON:
        print("smoke: not run: the oldest versions have wheels for Python 3.11")
        return
    begin = time.monotonic()
    (wheel,) = (ROOT / "dist").glob("*.whl")
    with tempfile.TemporaryDirectory(prefix="fsvm-smoke-") as name:
        folder = Path(name).resolve()
        venv.create(folder / "environment")
        programs = folder / "environment" / ("Scripts" if sys.platform == "win32" else "bin")
        python, fsvm = str(programs / "python"), str(programs / "fsvm")
        pip = (sys.executable, *PIP, python)
        install = (*pip, "install", "--no-compile")
        if is_lowest:
            _call(folder, *install, "--require-hashes", "--requirement", str(ROOT / "requirements-lowest.lock"))
            _call(folder, *install, "--no-deps", str(wheel))
        else:
            # Without hashes, which would have to be those of all that is installed, the wheel included.
            lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
            pins = re.findall(r"^([^\s#].*?==.*?) \\$", lock, re.MULTILINE)
            (folder / "constraints.txt").write_text("\n".join(pins) + "\n", encoding="utf-8")
            _call(folder, *install, "--constraint", "constraints.txt", str(wheel))
        _call(folder, *pip, "check")
        _call(folder, fsvm, "run", "wine", "--splits", "5", "--format", "svg", "--quiet")
        _call(folder, python, "-c", f"{TABLE}frame.to_csv('table.csv', index=False)")
        _call(folder, fsvm, "rank", "table.csv", "--target", "target", "--quiet")
        if is_lowest:
            _call(folder, python, "-c", f"{TABLE}frame.to_excel('table.xlsx', index=False)")
            _call(folder, fsvm, "rank", "table.xlsx", "--target", "target", "--method", "fisher", "--quiet")
            _call(folder, fsvm, "run", "wine", "--splits", "6", "--dask", "local:1", "--format", "svg", "--quiet")
        _call(folder, fsvm, "report", "results/with-overrides", "--out", "page.html")
        for left in ("page.html", "results/with-overrides/protocol.splits=5/wine/accuracy-vs-features.svg"):
            if not (folder / left).stat().st_size:
                sys.exit(f"smoke: {left} is empty")
    kind = "the oldest versions that are allowed" if is_lowest else "the wheel in an empty environment"
    print(f"smoke: run, rank and report work with {kind} ({time.monotonic() - begin:.0f} s)")


def _call(folder: Path, *command: str) -> None:
    variables = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    variables["XDG_CACHE_HOME"] = str(folder / "cache")
    # pip keeps what it has loaded.
    if "pip" in command:
        variables.pop("XDG_CACHE_HOME")
    answer = subprocess.run(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if answer.returncode or "Traceback" in answer.stdout:
        sys.exit(f"{answer.stdout[-4000:]}\nsmoke: exit code {answer.returncode}: {' '.join(command)}")


if __name__ == "__main__":
    main()
