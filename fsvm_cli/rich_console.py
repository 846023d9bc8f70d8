"""Consoles for tables and bars, by Rich."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Any, cast

from rich.console import Console

from fsvm_cli.console import sanitised_output, visible

if TYPE_CHECKING:
    from rich.text import Text

WIDTH_WITHOUT_TERMINAL = 160
"""Characters; a pipe has no width, and what is cut off there is lost."""


class _VisibleConsole(Console):
    """Rich's console, which draws by control sequences of its own; those of others in its texts are shown."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text, lines=True), **options)


def open_console(*, stderr: bool = False) -> Console:
    """Open a console on standard output or standard error, for texts that are other people's: no markup in them."""
    stream = sanitised_output(sys.stderr if stderr else sys.stdout)
    width = None if stream.isatty() else WIDTH_WITHOUT_TERMINAL
    return _VisibleConsole(
        file=cast("IO[str]", stream), width=width, highlight=False, markup=False, emoji=False, soft_wrap=False
    )
