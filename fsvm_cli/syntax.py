"""What is wrong with the syntax of a YAML text, in plain English: the parser's findings without its vocabulary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ruamel import yaml

from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from ruamel.yaml.error import YAMLError

QUOTE = "put a text with signs into quotes"

IN_WORDS: tuple[tuple[str, str], ...] = (
    (r"mapping values are not allowed", f"a ':' where none can stand; {QUOTE}, or indent the line as its neighbours"),
    (
        r"incompatible YAML document|duplicate YAML directive|expected a digit",
        "a line %YAML that names no version 1.1 or 1.2, or a second one; leave it out",
    ),
    (r"expected ':'", "a key without ':'; write 'key: value'"),
    (r"expected <block end>", "the line is indented unlike its neighbours; indent the lines of one part alike"),
    (
        r"sequence entries are not allowed",
        "a '-' where no list can stand; put it at the beginning of a line",
    ),
    (r"mapping keys are not allowed", f"a '?' where none can stand; {QUOTE}"),
    (r"found character '\\t'", "a tab where none can stand; write blanks"),
    (r"found character (?P<sign>.+) that cannot", f"{{sign}} cannot begin a value; {QUOTE}"),
    (r"expected ',' or '(?P<sign>[\]}}])', but got", "a ',' or '{sign}' is missing before this; write it, or quotes"),
    (r"but found another document|end of document marker|document end marker", "a second document; keep one"),
    (r"found undefined alias (?P<sign>.+)", f"there is nothing called {{sign}}; {QUOTE}"),
    (r"found duplicate anchor (?P<sign>.+)", f"{{sign}} is given twice; {QUOTE}"),
    (r"unexpected end of stream", "the quotes are never closed; write the second one"),
    (r"found unexpected document separator", "the quotes are not closed before '---'; write the second one"),
    (
        r"found unknown escape character (?P<sign>.+)",
        "{sign} after \\ means nothing; write single quotes",
    ),
    (r"expected the node content", "a value is missing here, or a bracket is not closed; write it"),
    (r"found unexpected ':'", f"a ':' where none can stand; {QUOTE}"),
)
"""What the parser says, as a pattern; the same in words."""


def syntax_in_words(error: YAMLError, text: str) -> tuple[tuple[int, int] | None, str]:
    """Say what is wrong, and in which line and column, both from 1, where this is known."""
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position]
        place = before.count("\n") + 1, error.position - before.rfind("\n")
        return place, f"the character U+{error.character:04X} cannot stand in a text; leave it out"
    if not isinstance(error, yaml.error.MarkedYAMLError):
        return None, f"{_line_of(error)}; {QUOTE}"
    mark = error.problem_mark or error.context_mark
    said = str(error.problem or error.context)
    for pattern, words in IN_WORDS:
        if found := re.search(pattern, said):
            message = words.format(**{name: brief(value) for name, value in found.groupdict().items()})
            break
    else:
        message = f"{brief(' '.join(said.split()))}; {QUOTE}"
    return (mark.line + 1, mark.column + 1) if mark else None, message


def _line_of(error: YAMLError) -> str:
    return brief(str(error).partition("\n")[0])
