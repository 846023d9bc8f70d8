"""Values of a document that options set over its text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fsvm_cli.documents import parse_document
from fsvm_cli.errors import UsageError
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from fsvm_cli.documents import Document
    from fsvm_cli.mistakes import Location


def with_override(document: Document, assignment: str) -> Document:
    """Set one value of a document by its dotted path, as in ``protocol.splits=20``.

    Parameters
    ----------
    document : Document
    assignment : str
        ``KEY=VALUE``; KEY is a dotted path with an index, from 0, for each sequence on the way, VALUE is YAML.

    Raises
    ------
    UsageError
        If it is no assignment, the value is no YAML, or the path leads through something that has no keys.
    """
    option = f"--set {brief(assignment)}"
    key, equals, text = assignment.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"{option}: write KEY=VALUE, for example --set protocol.splits=20")
    parts = key.strip().split(".")
    try:
        value = parse_document(f"value: {text}", option).content["value"]
    except UsageError as error:
        # A line and a column say nothing of an option.
        raise UsageError(re.sub(rf"^{re.escape(option)}:\d+:\d+", lambda _: option, str(error))) from error
    content, location = _with_value(document.content, parts, value, option)
    positions = {known: where for known, where in document.positions.items() if known[: len(location)] != location}
    for end in range(1, len(location) + 1):
        positions.setdefault(location[:end], option)
        positions.setdefault((*location[:end], "<key>"), option)
    return replace(
        document,
        content=content,
        positions=positions,
        overrides=document.overrides | {key.strip(): value},
    )


def _with_value(content: Any, parts: list[str], value: Any, option: str) -> tuple[Any, Location]:
    """Copy `content` with `value` at the path `parts`; also the path as a location."""
    if not parts:
        return value, ()
    head, rest = parts[0], parts[1:]
    if isinstance(content, tuple):
        if not head.isdigit() or int(head) >= len(content):
            raise UsageError(f"{option}: '{brief(head)}' is not in a list of {len(content)}; the first is 0")
        index = int(head)
        inner, location = _with_value(content[index], rest, value, option)
        return (*content[:index], inner, *content[index + 1 :]), (index, *location)
    if not isinstance(content, dict):
        raise UsageError(f"{option}: what stands before '{brief(head)}' is a plain value; it has no keys")
    inner, location = _with_value(content.get(head, {}), rest, value, option)
    return content | {head: inner}, (head, *location)
