"""Standard streams that are closed or lose their reader, and names of files that are no UTF-8, in every command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.cli import COMMANDS
from tests.helpers.calling import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

RESULTS = CHECKOUT / "results" / "wine"
TABLE = "a,b,kind\n" + "".join(f"{n % 7},{n * 5 % 11},{'uv'[n % 2]}\n" for n in range(24))
ARGUMENTS = {
    "rank": "{table} --target kind --method fisher --out {out} --keep 1",
    "init": "{table} --target kind --out {out}",
    "report": "{results} --out {out}",
    "methods": "",
    "schema": "",
    "doctor": "",
    "datasets": "list",
    "experiments": "list",
    "completion": "bash",
    "check": "wine",
    "run": "wine --dry-run",
    "table": "{results}",
    "compare": "{results}",
    "plot": "{missing}",
    "verify": "{missing}",
    "stats": "{missing}",
    "export": "{missing}",
    "predict": "{missing} {table}",
    "evaluate": "{missing} {table}",
    "certify": "{missing} {table}",
    "benchmark": "{missing}",
}


def test_every_command_is_tried() -> None:
    assert ARGUMENTS.keys() == COMMANDS.keys()


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes, and a shell closes streams, on Linux")
@pytest.mark.parametrize(
    ("ending", "redirection"), [(b"", "| true"), (b"", ">&-"), (b"", ">&- 2>&- <&-"), (b"\xe9", "")]
)
@pytest.mark.parametrize("command", ARGUMENTS)
def test_the_work_is_done_to_its_end(command: str, redirection: str, ending: bytes, tmp_path: Path) -> None:
    places = {name: tmp_path / os.fsdecode(name.encode() + ending) for name in ("out", "results", "missing")}
    places["out"] = places["out"].with_suffix(".yaml")
    places["table"] = tmp_path / os.fsdecode(b"table" + ending + b".csv")
    places["table"].write_text(TABLE)
    shutil.copytree(RESULTS, places["results"], ignore=shutil.ignore_patterns("*.png", "trials.*"))
    arguments = ARGUMENTS[command].format(**places)
    line = f"set -o pipefail; '{sys.executable}' -m fsvm_cli {command} {arguments} {redirection}"
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    answer = subprocess.run(["bash", "-c", os.fsencode(line)], capture_output=True, check=False, env=environment)
    assert b"Traceback" not in answer.stderr
    may_be_refused = ending or "{missing}" in ARGUMENTS[command]
    assert answer.returncode in ({0, 2, 3} if may_be_refused else {0}), answer.stderr
    assert ending or places["out"].exists() == ("{out}" in ARGUMENTS[command])
