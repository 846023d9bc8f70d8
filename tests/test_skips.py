"""Tests that are skipped for lack of files are told, with their number."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import NEEDED, NO_SKIPS
from tests.helpers.calling import CHECKOUT

NEEDS_ARCHIVE = "tests/data/test_dna_as_printed.py"
BETWEEN = "skips are failures from here on\n"
PROGRAM = f"""
import os, sys, pytest
print(f"exit code {{int(pytest.main(sys.argv[1:]))}}")
print({BETWEEN!r}, end="")
os.environ[{NO_SKIPS!r}] = "1"
print(f"exit code {{int(pytest.main(sys.argv[1:]))}}")
"""
"""Both in one process, most of whose time goes into imports."""


@pytest.mark.slow
def test_what_needs_files_that_nobody_named_is_counted_aloud() -> None:
    variables = {variable for variable, _ in NEEDED.values()}
    environment = {key: value for key, value in os.environ.items() if key not in {*variables, NO_SKIPS}}
    command = [sys.executable, "-c", PROGRAM, "-p", "no:xdist", NEEDS_ARCHIVE]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=CHECKOUT, env=environment)
    allowed, refused = answer.stdout.split(BETWEEN)
    for said, code in ((allowed, 0), (refused, 1)):
        assert said.splitlines()[-1] == f"exit code {code}", said
        assert "NOT TESTED: 2 tests, skipped: needs a copy of the UCI archive; FSVM_TEST_MIRROR=FOLDER" in said
