r"""The one gate through which text leaves for a terminal: nothing in it steers the terminal.

Names of columns, classes and files, texts of configs and answers of servers are other people's. A terminal obeys
control sequences in them, and characters without a shape (marks of direction, joiners) make a name look like another;
all of them are shown as Python writes them, ``\x1b`` or ``\u202e``. What the console's encoding lacks is replaced.

Consoles for tables and bars, by Rich.

A bar for bytes that come from a disk or a server: on a terminal alone, and not where a command is to be quiet.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import json
import sys
import unicodedata
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.text import Text

WITHOUT_SHAPE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode's categories of control and format characters, surrogates, private characters, line and paragraph breaks."""

PLAINER = {"±": "+-", "−": "-", "–": "-", "—": "-", "…": "...", "×": "x", "≤": "<=", "≥": ">=", "’": "'", "²": "^2"}
"""What a console shows whose encoding lacks a sign."""

BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""

LONGEST_NAME = 200
"""Characters of a name that a message repeats whole."""


def visible(text: str, *, lines: bool = False) -> str:
    """Show the characters that have no shape as escapes.

    Parameters
    ----------
    text : str
    lines : bool
        Whether line ends are left as they are.
    """
    if text.isprintable():
        return text
    return "".join(_escaped(each) if _has_no_shape(each) and not (lines and each == "\n") else each for each in text)


def brief(name: str) -> str:
    """Give a name for a line of a message: whole, or the beginning of one that nobody reads to its end."""
    return visible(name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME // 2]}… ({len(name):,} characters)")


def _has_no_shape(character: str) -> bool:
    return unicodedata.category(character) in WITHOUT_SHAPE


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _in_plainer_signs(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks by a sign that every encoding has, or by an escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(PLAINER.get(each) or _escaped(each) for each in lacking), error.end


PLAIN_SIGNS = "fsvm.plain-signs"
codecs.register_error(PLAIN_SIGNS, _in_plainer_signs)


class _SanitisedStream(io.TextIOBase):
    """A text stream that lets only visible characters through to another.

    It has no `buffer`, on purpose: what writes bytes would go past it.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN_SIGNS)

    def write(self, text: str | bytes) -> int:
        if isinstance(text, bytes):
            if not text:  # with which click asks whether this is a stream of bytes: it goes on to ask for text
                raise TypeError("the terminal takes text")
            self._write_untranslated(visible(text.decode(), lines=True))
        else:
            self.stream.write(visible(text, lines=True))
        return len(text)

    def _write_untranslated(self, text: str) -> None:
        """Write what click gave as bytes, its proposals to a shell, for which a line ends in LF on Windows, too."""
        self.stream.flush()
        if isinstance(self.stream, io.TextIOWrapper):
            self.stream.buffer.write(text.encode())
        else:
            self.stream.write(text)

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        return self.stream.isatty()

    def fileno(self) -> int:
        return self.stream.fileno()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self.stream, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return PLAIN_SIGNS


@contextlib.contextmanager
def sanitised() -> Iterator[None]:
    """Put the gate before standard output and standard error, whoever writes to them."""
    gates = {
        name: _SanitisedStream(stream) for name in ("stdout", "stderr") if (stream := getattr(sys, name)) is not None
    }
    for name, gate in gates.items():
        setattr(sys, name, gate)
    try:
        yield
    finally:
        for name, gate in gates.items():
            # Someone else may have put something before the gate since, to stay there.
            if getattr(sys, name) is gate:
                gate.flush()
                setattr(sys, name, gate.stream)


def sanitised_output(stream: TextIO) -> TextIO:
    """Give the stream behind the gate to what draws on a terminal, and shows other people's text by `visible` only."""
    while isinstance(stream, _SanitisedStream):
        stream = stream.stream
    return stream


def sanitise_standard_streams(stream: TextIO) -> None:
    """Let what is written to standard error go to another stream, through the gate where there is one."""
    if isinstance(sys.stderr, _SanitisedStream):
        sys.stderr = _SanitisedStream(stream)
    else:
        sys.stderr = stream


def json_text(content: Any) -> str:
    """Write JSON in visible characters: what has no shape, or no sign on this console, is escaped by JSON."""
    is_unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    text = json.dumps(content, indent=2, ensure_ascii=not is_unicode)
    # Outside of strings JSON has nothing but ASCII, and inside every character may be written by its code.
    escaped = [json.dumps(each)[1:-1] if each != "\n" and _has_no_shape(each) else each for each in text]
    return "".join(escaped) + "\n"


def without_formulas(text: str) -> str:
    """Put a quote before what a spreadsheet would take for a formula, in the fields of CSV that are no numbers."""
    stream = io.StringIO()
    usual = csv.field_size_limit(max(len(text), 1))
    try:
        rows = csv.reader(io.StringIO(text, newline=""))
        csv.writer(stream, lineterminator="\n").writerows(map(_without_formula, row) for row in rows)
    finally:
        csv.field_size_limit(usual)
    return stream.getvalue()


def _without_formula(field: str) -> str:
    if not field.startswith(BEGINS_FORMULA):
        return field
    try:
        float(field)
    except ValueError:
        return f"'{field}"
    return field


def write_for_machines(text: str) -> None:
    """Write CSV, JSON or Markdown to standard output: on a terminal as any text, elsewhere as it is, in UTF-8."""
    stream = sanitised_output(sys.stdout)
    bytes_below = getattr(stream, "buffer", None)
    if stream.isatty() or bytes_below is None:
        sys.stdout.write(text)
        return
    stream.flush()
    bytes_below.write(text.encode("utf-8", "surrogateescape"))
    bytes_below.flush()


WIDTH_WITHOUT_TERMINAL = 160
"""Characters; a pipe has no width, and what is cut off there is lost."""


def open_console(*, stderr: bool = False) -> Console:
    """Open a Rich console on standard output or standard error that shows texts as they are, without markup.

    Rich draws by control sequences of its own; those within the texts are escaped.
    """
    from rich import console  # noqa: PLC0415 - takes longer than `fsvm --help`

    class _VisibleConsole(console.Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(visible(text, lines=True), **options)

    stream = sanitised_output(sys.stderr if stderr else sys.stdout)
    width = None if stream.isatty() else WIDTH_WITHOUT_TERMINAL
    return _VisibleConsole(
        file=cast("IO[str]", stream), width=width, highlight=False, markup=False, emoji=False, soft_wrap=False
    )


QUIET = "fsvm.quiet"
"""Under which a command notes, in click's context, that it was asked to be quiet."""


def is_quiet() -> bool:
    """Whether the command that runs was asked to be quiet."""
    context = click.get_current_context(silent=True)
    return bool(context is not None and context.meta.get(QUIET))


def byte_progress(name: str, total: int | None, done: int = 0) -> Any:
    """Open a bar, a context manager whose ``update`` is told of bytes that have come.

    Parameters
    ----------
    name : str
        Of the file.
    total : int or None
        Bytes of all of it; None where nobody knows.
    done : int
        Bytes that are there already.
    """
    import tqdm  # noqa: PLC0415 - most commands show no bar

    return tqdm.tqdm(
        total=total,
        initial=done,
        unit="B",
        unit_scale=True,
        desc=visible(name),
        disable=True if is_quiet() else None,
        file=sanitised_output(sys.stderr),
    )
