"""Parquet files whose footer or headers of pages say what is not so.

Both are structures in Thrift's compact protocol: here ``{number of the field: (kind, value)}``, as Parquet's definition
numbers them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Fields: TypeAlias = dict[int, tuple[int, Any]]
I32, I64 = 5, 6
STRUCT = 12
MAGIC = b"PAR1"


def rewritten(
    source: Path, target: Path, of_pages: Callable[[Fields], None], of_footer: Callable[[Fields], None]
) -> None:
    """Write a file again, with the headers of its pages and its footer changed."""
    content = source.read_bytes()
    n_bytes = int.from_bytes(content[-8:-4], "little")
    footer, _ = _decoded(content, len(content) - 8 - n_bytes, STRUCT)
    body = MAGIC
    for chunk in chunks_of(footer):
        starts = {number: chunk[number][1] for number in (11, 9) if number in chunk}
        at, end = min(starts.values()), min(starts.values()) + chunk[7][1]
        begin = len(body)
        moved: Fields = {}
        while at < end:
            moved |= {number: (I64, len(body)) for number, start in starts.items() if start == at}
            header, rest = _decoded(content, at, STRUCT)
            at = rest + header[3][1]
            of_pages(header)
            body += _encoded(STRUCT, header) + content[rest:at]
        chunk.update(moved | {7: (I64, len(body) - begin)})
    of_footer(footer)
    tail = _encoded(STRUCT, footer)
    target.write_bytes(body + tail + len(tail).to_bytes(4, "little") + MAGIC)


def groups_of(footer: Fields) -> list[Fields]:
    """List the groups of rows of a footer."""
    groups: list[Fields] = footer[4][1][1]
    return groups


def chunks_of(footer: Fields) -> list[Fields]:
    """List what a footer says of each chunk of a column."""
    return [chunk[3][1] for group in groups_of(footer) for chunk in group[1][1][1]]


def _number_at(text: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (text[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if text[at - 1] < 128:
            return value, at


def _integer_at(text: bytes, at: int) -> tuple[int, int]:
    value, at = _number_at(text, at)
    return (value >> 1) ^ -(value & 1), at


def _decoded(text: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in {1, 2}:
        return kind == 1, at
    if kind in {4, 5, 6}:
        return _integer_at(text, at)
    if kind in {3, 7, 8}:
        n_bytes, at = _number_at(text, at) if kind == 8 else ({3: 1, 7: 8}[kind], at)
        return text[at : at + n_bytes], at + n_bytes
    if kind == 9:
        length, inner = text[at] >> 4, text[at] & 15
        length, at = _number_at(text, at + 1) if length == 15 else (length, at + 1)
        items = []
        for _ in range(length):
            item, at = (text[at : at + 1], at + 1) if inner in {1, 2} else _decoded(text, at, inner)
            items.append(item)
        return (inner, items), at
    fields: Fields = {}
    number = 0
    while text[at]:
        inner, step = text[at] & 15, text[at] >> 4
        number, at = (number + step, at + 1) if step else _integer_at(text, at + 1)
        value, at = _decoded(text, at, inner)
        fields[number] = inner, value
    return fields, at + 1


def _number(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _number(value >> 7)


def _integer(value: int) -> bytes:
    return _number(2 * value if value >= 0 else -2 * value - 1)


def _encoded(kind: int, value: Any) -> bytes:
    if kind in {1, 2}:
        return b""
    if kind in {4, 5, 6}:
        return _integer(value)
    if kind in {3, 7, 8}:
        return (_number(len(value)) if kind == 8 else b"") + bytes(value)
    if kind == 9:
        inner, items = value
        head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner]) + _number(len(items))
        return head + b"".join(item if inner in {1, 2} else _encoded(inner, item) for item in items)
    text = b"".join(
        bytes([inner]) + _integer(number) + _encoded(inner, item) for number, (inner, item) in value.items()
    )
    return text + b"\0"
