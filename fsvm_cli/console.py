r"""Sanitised output: text, tables and progress bars for a terminal, in which nothing steers the terminal.

Names of columns, classes and files, texts of configs and responses of servers are untrusted. A terminal obeys control
sequences in them, and characters without a shape (marks of direction, joiners) make a name look like another; all of
them are written as Python's escapes, ``\x1b`` or ``\u202e``. Characters that the console's encoding lacks are replaced.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import json
import os
import sys
import unicodedata
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.text import Text

INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode's categories of control and format characters, surrogates, private characters and line breaks."""

ASCII_REPLACEMENTS = {
    "±": "+-",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "...",
    "×": "x",
    "≤": "<=",
    "≥": ">=",
    "’": "'",
    "²": "^2",
}
"""ASCII replacements for characters that the console's encoding lacks."""

COMPLETION_VARIABLE = "_FSVM_COMPLETE"
"""Environment variable in which a shell requests completions."""

FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")
"""First characters by which a spreadsheet recognises a formula."""

MAX_NAME_LENGTH = 200
"""Characters; longer names are abbreviated in messages."""


def visible(text: str, *, keep: str = "") -> str:
    """Write characters without a shape as escapes.

    Parameters
    ----------
    text : str
    keep : str
        Characters that are left as they are, such as line ends.
    """
    if text.isprintable():
        return text
    return "".join(_escaped(each) if _has_no_shape(each) and each not in keep else each for each in text)


def brief(name: str) -> str:
    """Write a name for a line of a message, abbreviated if it is longer than `MAX_NAME_LENGTH`."""
    return visible(
        name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH // 2]}… ({len(name):,} characters)"
    )


def _has_no_shape(character: str) -> bool:
    return unicodedata.category(character) in INVISIBLE_CATEGORIES


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _in_plain_signs(error: UnicodeError) -> tuple[str, int]:
    """Error handler of an encoding: replace characters that it lacks by ASCII."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(ASCII_REPLACEMENTS.get(each) or _escaped(each) for each in lacking), error.end


ASCII_ERROR_HANDLER = "fsvm.plain-signs"
codecs.register_error(ASCII_ERROR_HANDLER, _in_plain_signs)


class _OutlivingFile(io.FileIO):
    """A file that takes what is written after its reader has gone, as in ``| head -1``: the work goes on to its end."""

    is_lost = False

    def write(self, data: Any, /) -> int:
        if not self.is_lost:
            try:
                return super().write(data)
            except OSError as error:
                self.is_lost = True  # what is still buffered would raise again at the end
                if not isinstance(error, BrokenPipeError):
                    raise
        return len(data)


def _outliving(stream: TextIO) -> TextIO:
    """Return a standard stream that outlives its reader; one that is no file of the system stays as it is."""
    buffer = getattr(stream, "buffer", None)
    if type(getattr(buffer, "raw", buffer)) is not io.FileIO:
        return stream
    stream.flush()
    below = io.BufferedWriter(_OutlivingFile(stream.fileno(), "wb", closefd=False))
    return io.TextIOWrapper(
        below, stream.encoding, ASCII_ERROR_HANDLER, line_buffering=cast("io.TextIOWrapper", stream).line_buffering
    )


def open_closed_streams() -> None:
    """Open closed standard streams (``>&-``) on the null device: files opened later would take their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115, PTH123 - open as long as the process
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


class _SanitisedStream(io.TextIOBase):
    """A text stream that passes only visible characters on to another.

    It has no `buffer`, which would bypass it.
    """

    def __init__(self, stream: TextIO, kept: str) -> None:
        self.stream = stream
        self.kept = kept
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ASCII_ERROR_HANDLER)

    def write(self, text: str | bytes) -> int:
        if isinstance(text, bytes):
            if not text:  # click tests with it whether this is a stream of bytes
                raise TypeError("the terminal takes text")
            self._write_untranslated(visible(text.decode(), keep=self.kept))
        else:
            self.stream.write(visible(text, keep=self.kept))
        return len(text)

    def _write_untranslated(self, text: str) -> None:
        """Write click's completions for a shell, which end in LF on Windows, too."""
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
        return ASCII_ERROR_HANDLER


@contextlib.contextmanager
def sanitised(kept: str = "\n") -> Iterator[None]:
    """Sanitise standard output and standard error within a ``with`` block.

    Parameters
    ----------
    kept : str
        Control characters that are passed on as they are.
    """
    usual = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    streams = {name: _SanitisedStream(_outliving(stream), kept) for name, stream in usual.items()}
    for name, sanitising in streams.items():
        setattr(sys, name, sanitising)
    try:
        yield
    finally:
        for name, sanitising in streams.items():
            # A stream that has replaced this one in the meantime stays.
            if getattr(sys, name) is sanitising:
                sanitising.flush()
                setattr(sys, name, usual[name])


def sanitised_output(stream: TextIO) -> TextIO:
    """Return the stream below, for what draws by control sequences and writes untrusted text by `visible` only."""
    while isinstance(stream, _SanitisedStream):
        stream = stream.stream
    return stream


def sanitise_standard_streams(stream: TextIO) -> None:
    """Send standard error to another stream, sanitised where it was before."""
    if isinstance(sys.stderr, _SanitisedStream):
        sys.stderr = _SanitisedStream(stream, sys.stderr.kept)
    else:
        sys.stderr = stream


def json_text(content: Any) -> str:
    """Write JSON; characters without a shape, or that the console's encoding lacks, become JSON's escapes."""
    is_unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    text = json.dumps(content, indent=2, ensure_ascii=not is_unicode)
    # Outside of strings JSON is ASCII; within them, any character may be escaped.
    escaped = [json.dumps(each)[1:-1] if each != "\n" and _has_no_shape(each) else each for each in text]
    return "".join(escaped) + "\n"


def without_formulas(text: str) -> str:
    """Prefix fields of CSV that a spreadsheet would take for formulas, and that are no numbers, with a quote."""
    stream = io.StringIO()
    usual = csv.field_size_limit(max(len(text), 1))
    try:
        rows = csv.reader(io.StringIO(text, newline=""))
        csv.writer(stream, lineterminator="\n").writerows(map(_without_formula, row) for row in rows)
    finally:
        csv.field_size_limit(usual)
    return stream.getvalue()


def _without_formula(field: str) -> str:
    if not field.startswith(FORMULA_PREFIXES):
        return field
    try:
        float(field)
    except ValueError:
        return f"'{field}"
    return field


def write_for_machines(text: str) -> None:
    """Write CSV, JSON or Markdown to standard output: sanitised on a terminal, elsewhere unchanged, in UTF-8."""
    stream = sanitised_output(sys.stdout)
    bytes_below = getattr(stream, "buffer", None)
    if stream.isatty() or bytes_below is None:
        sys.stdout.write(text)
        return
    stream.flush()
    bytes_below.write(text.encode("utf-8", "surrogateescape"))
    bytes_below.flush()


WIDTH_WITHOUT_TERMINAL = 160
"""Characters per line where the output is no terminal, such as a pipe."""


def open_console(*, stderr: bool = False) -> Console:
    """Open a Rich console on standard output or standard error that shows texts as they are, without markup.

    Rich draws by control sequences of its own; those within the texts are escaped.
    """
    from rich import console  # noqa: PLC0415 - takes longer than `fsvm --help`

    class _VisibleConsole(console.Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(visible(text, keep="\n"), **options)

    stream = sanitised_output(sys.stderr if stderr else sys.stdout)
    width = None if stream.isatty() else WIDTH_WITHOUT_TERMINAL
    return _VisibleConsole(
        file=cast("IO[str]", stream), width=width, highlight=False, markup=False, emoji=False, soft_wrap=False
    )


QUIET_KEY = "fsvm.quiet"
"""Key in click's context under which a command stores ``--quiet``."""


def is_quiet() -> bool:
    """Whether the command that runs has ``--quiet``."""
    context = click.get_current_context(silent=True)
    return bool(context is not None and context.meta.get(QUIET_KEY))


def byte_progress(name: str, total: int | None, done: int = 0) -> Any:
    """Open a progress bar of bytes, a context manager whose ``update`` takes the number of further bytes.

    It is shown on a terminal only, and not by commands with ``--quiet``.

    Parameters
    ----------
    name : str
        Of the file.
    total : int or None
        Size in bytes; None where it is unknown.
    done : int
        Bytes that are present already.
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
