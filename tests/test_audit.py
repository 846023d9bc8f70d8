"""An audit that could look nothing up is told apart from one that found nothing."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

AUDIT = Path(__file__).parents[1] / ".ci" / "audit.py"
CLEAN = {"name": "click", "version": "8.1.7", "vulns": []}
SKIPPED = {"name": "click", "skip_reason": "Dependency not found on PyPI and could not be audited: click (8.1.7)"}
VULNERABLE = {
    "name": "certifi",
    "version": "2023.5.7",
    "vulns": [{"id": "PYSEC-2023-135", "fix_versions": ["2023.7.22"], "aliases": [], "description": ""}],
}


@pytest.mark.parametrize(
    ("packages", "is_clean", "parts"),
    [
        ([CLEAN, CLEAN], True, ["2 of 2 packages", " 0 known"]),
        ([CLEAN, SKIPPED], False, ["1 of 2 packages", " 0 known", "not clean"]),
        ([SKIPPED, SKIPPED], False, ["any of 2 packages", "nothing was audited"]),
        ([CLEAN, VULNERABLE], False, ["certifi 2023.5.7: PYSEC-2023-135; mended in: 2023.7.22", " 1 known"]),
    ],
)
def test_what_was_looked_up_is_told(packages: list[dict[str, Any]], is_clean: bool, parts: list[str]) -> None:
    verdict = runpy.run_path(str(AUDIT))["judge"](json.dumps({"dependencies": packages, "fixes": []}), "")
    assert verdict.is_clean is is_clean
    for part in parts:
        assert part in "\n".join(verdict.lines)


@pytest.mark.parametrize("report", ["", "{}", "[]", "null"])
def test_no_report_is_no_clean_bill(report: str) -> None:
    verdict = runpy.run_path(str(AUDIT))["judge"](report, "Traceback\nrequests.exceptions.ConnectionError: no route\n")
    assert not verdict.is_clean
    assert not verdict.is_vulnerable
    assert verdict.lines == [
        "audit: the advisories cannot be reached, and nothing was audited "
        "(requests.exceptions.ConnectionError: no route)"
    ]
