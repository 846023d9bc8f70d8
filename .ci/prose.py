"""Finds wording that users should not have to decode: phrases with a plainer equivalent, in texts that they read."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PLAINER = {
    r"\bmend(?:s|ed|ing)?\b": "correct, fix",
    r"\blearnt\b": "fitted, learned",
    r"\bwhoever\b": "who; or address the reader",
    r"\bshipped (?:config|one)": "built-in",
    r"\bruns? the experiments of papers again\b": "reproduces published experiments",
    r"\bwhere one was missed\b": "name the case",
    r"\bare to be (?:mended|corrected|fixed)\b": "N problems",
    r"\btell nothing but\b": "print only",
    r"\bwould rather keep a feature too many\b": "say what is preferred, and the number",
    r"\bwhat cannot be (?:loaded|read|used) is named\b": "say which, and where it is named",
    r"\bholds? (?:it|them) to the contract\b": "checks it against the contract",
    r"\bhow it came to be\b": "history",
    r"\bthe house(?:'s)?\b": "the project, the architecture",
    r"\bas it were\b": "leave it out",
    r"\bso to speak\b": "leave it out",
    r"\bnot a few\b": "several",
    r"\bthereof\b": "of it",
    r"\bwhilst\b": "while",
    r"\bupon\b": "on",
    r"\bamongst\b": "among",
}
"""Patterns, in any case, with what to write instead."""


def texts() -> list[Path]:
    """List the texts that users read: pages, help, messages and docstrings."""
    pages = [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "generated"]
    return [*sorted(ROOT.glob("*.md")), *pages, *sorted((ROOT / "fsvm_cli").rglob("*.py")), ROOT / "pyproject.toml"]


def findings(text: str) -> list[tuple[int, str, str]]:
    """Find the listed phrases in a text: the line, the phrase, and what to write instead."""
    return sorted(
        (text.count("\n", 0, found.start()) + 1, " ".join(found[0].split()), instead)
        for pattern, instead in PLAINER.items()
        for found in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE)
    )


def main() -> int:
    """Print what is found; return 1 where there is anything."""
    lines = [
        f"{path.relative_to(ROOT)}:{line}: '{phrase}': {instead}"
        for path in texts()
        if path.name != "CHANGELOG.md"  # its older sections stay as they were published
        for line, phrase, instead in findings(path.read_text(encoding="utf-8"))
    ]
    print("\n".join(lines), end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
