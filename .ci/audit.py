"""`make audit`: what pip-audit says of the locked dependencies, and how much of them it could look up.

pip-audit takes a package that its source of advisories does not know for one without advisories, and ends with a
traceback where it reaches none at all. Neither is a finding, and neither is a clean bill: this says which it was.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

LOCK = "requirements-dev.lock"
COMMAND = [
    *(sys.executable, "-m", "pip_audit"),
    *("--requirement", LOCK, "--require-hashes", "--disable-pip", "--format", "json", "--progress-spinner", "off"),
]


@dataclass(frozen=True)
class Verdict:
    """What an audit found.

    Attributes
    ----------
    lines : list of str
        For people.
    is_clean : bool
        Whether every package could be looked up, and no vulnerability is known.
    is_vulnerable : bool
        Whether a vulnerability is known.
    """

    lines: list[str]
    is_clean: bool
    is_vulnerable: bool


def judge(report: str, complaint: str) -> Verdict:
    """Judge by pip-audit's JSON `report` and by what it wrote to standard error."""
    try:
        packages = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        reason = complaint.strip().splitlines()[-1:] or ["no answer"]
        return Verdict(
            [f"audit: the advisories cannot be reached, and nothing was audited ({reason[0][:200]})"], False, False
        )
    audited = [package for package in packages if "skip_reason" not in package]
    if not audited:
        said = f"audit: no advisories on any of {len(packages)} packages can be had; nothing was audited"
        return Verdict([said], False, False)
    found = [
        f"audit: {package['name']} {package['version']}: {each['id']}; mended in: {', '.join(each['fix_versions'])}"
        for package in audited
        for each in package["vulns"]
    ]
    summary = (
        f"audit: {len(audited)} of {len(packages)} packages of {LOCK} looked up, {len(found)} known vulnerabilities"
    )
    is_whole = len(audited) == len(packages)
    missing = [] if is_whole else ["audit: not clean: the other packages could not be looked up"]
    return Verdict([*found, summary, *missing], is_whole and not found, bool(found))


def main() -> None:
    """Audit; exit code 1 where a vulnerability is known, 2 where not all could be looked up.

    With ``--allow-incomplete``, for machines that do not reach the advisories, the latter is told and exit code 0.
    """
    answer = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    verdict = judge(answer.stdout, answer.stderr)
    print("\n".join(verdict.lines))
    if verdict.is_vulnerable:
        sys.exit(1)
    if not verdict.is_clean and "--allow-incomplete" not in sys.argv[1:]:
        sys.exit(2)


if __name__ == "__main__":
    main()
