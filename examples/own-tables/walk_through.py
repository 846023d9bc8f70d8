"""Run the commands of `docs/own-data.md` again, and write what they print into it: `python walk_through.py [FOLDER]`.

A block that begins with ```console holds commands, each behind a dollar sign, and below each what it printed. They run
one after the other in one folder, by default a temporary one, where `make_tables.py` has put the tables.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from make_tables import write_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Path(__file__).parents[2] / "docs" / "own-data.md"
PROMPT = "$ "
WIDTH = 116
PROGRESS = "fsvm run"
"""Of this command the page shows how it ends, not what it says of its progress."""
ENDS = ("Recommended: ", "No subset is recommended", "No ranking is better than chance")
"""How the end of a run begins."""


def commands_of(page: str) -> Iterator[str]:
    """Yield the commands of a page, in their order."""
    for line in page.splitlines():
        if line.startswith(PROMPT):
            yield line.removeprefix(PROMPT)


def with_outputs(page: str, run: Callable[[str], str]) -> str:
    """Write below each command of a page what it prints now."""
    lines: list[str] = []
    is_output = False
    for line in page.splitlines():
        is_output = is_output and line != "```" and not line.startswith(PROMPT)
        if not is_output:
            lines.append(line)
        if line.startswith(PROMPT):
            lines += shown(line.removeprefix(PROMPT), run(line.removeprefix(PROMPT)))
            is_output = True
    return "\n".join(lines) + "\n"


def shown(command: str, printed: str) -> list[str]:
    """Give the lines of a page for what a command printed: wrapped, and of a run its end."""
    begins = [printed.index(end) for end in ENDS if end in printed]
    text = printed[min(begins) :] if command.startswith(PROGRESS) else printed
    wrapped = [textwrap.wrap(line, WIDTH, break_on_hyphens=False) or [""] for line in text.rstrip().splitlines()]
    return [line for lines in wrapped for line in lines]


def run_command(command: str) -> str:
    """Run a command of fsvm here; give what it prints, of a run that which is no progress."""
    words = [sys.executable, "-m", "fsvm_cli", *shlex.split(command)[1:]]
    messages = subprocess.DEVNULL if command.startswith(PROGRESS) else subprocess.STDOUT
    environment = os.environ | {"COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=messages, check=False, text=True, env=environment)
    return done.stdout


def main() -> None:
    """Write the page; what the commands leave stays where a folder is named."""
    with contextlib.ExitStack() as stack:
        named = sys.argv[1:] or [stack.enter_context(tempfile.TemporaryDirectory())]
        os.chdir(named[0])
        stack.callback(os.chdir, PAGE.parent)
        for config in Path().glob("*.yaml"):
            config.unlink()
        write_tables(Path())
        PAGE.write_text(with_outputs(PAGE.read_text(encoding="utf-8"), run_command), encoding="utf-8")


if __name__ == "__main__":
    main()
