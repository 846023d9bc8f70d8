"""The page as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.files import write_atomically
from fsvm_cli.page.reading import read_content
from fsvm_cli.page.render import render

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PAGE_NAME = "index.html"
HEADING = "Feature selection with support vector machines: results"
"""Of a page of several experiments; that of one has its title."""


def write_page(folders: Sequence[Path], path: Path) -> Path:
    """Write the page of results folders, and return its path.

    Raises
    ------
    DataError
        If results are damaged, or the file cannot be written.
    """
    content = read_content(folders)
    heading = content.experiments[0].title if len(content.experiments) == 1 else HEADING
    write_atomically(path, render(content, heading).encode())
    return path
