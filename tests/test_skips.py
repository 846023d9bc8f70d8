"""Tests that are skipped for lack of files are told, with their number."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import NEEDED, NO_SKIPS
from tests.helpers.calling import CHECKOUT

NEEDS_ARCHIVE = "tests/data/test_dna_as_printed.py"


@pytest.mark.parametrize(("settings", "code"), [({}, 0), ({NO_SKIPS: "1"}, 1)])
def test_what_needs_files_that_nobody_named_is_counted_aloud(settings: dict[str, str], code: int) -> None:
    variables = {variable for variable, _ in NEEDED.values()}
    environment = {key: value for key, value in os.environ.items() if key not in {*variables, NO_SKIPS}} | settings
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", NEEDS_ARCHIVE]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CHECKOUT, env=environment)
    assert answer.returncode == code, answer.stdout
    assert "NOT TESTED: 2 tests, skipped: needs a copy of the UCI archive; FSVM_TEST_MIRROR=FOLDER" in answer.stdout
