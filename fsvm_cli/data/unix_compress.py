"""Files that the Unix program ``compress`` wrote (``.Z``), as the older parts of the archive hold them."""

from __future__ import annotations

from fsvm_cli.errors import DataError

MAGIC = b"\x1f\x9d"
FIRST_WIDTH = 9
CLEAR = 256


def decompress(packed: bytes, limit: int) -> bytes:
    """Undo LZW compression with codes of 9 to 16 bits.

    Parameters
    ----------
    packed : bytes
        The whole file.
    limit : int
        Bytes beyond which decompression stops.

    Returns
    -------
    bytes
        The content, or its first `limit` bytes and a few more.

    Raises
    ------
    DataError
        If `packed` was not written by ``compress``.
    """
    if packed[:2] != MAGIC or len(packed) < 3:
        raise DataError("not a file that the program 'compress' wrote")
    widest, has_clear = packed[2] & 0x1F, bool(packed[2] & 0x80)
    if not FIRST_WIDTH <= widest <= 16:
        raise DataError(f"codes of {widest} bits, where 'compress' writes 9 to 16")
    body = packed[3:]
    literals = [bytes([value]) for value in range(256)] + ([b""] if has_clear else [])
    table, previous, width = literals.copy(), b"", FIRST_WIDTH
    unpacked, size = [], 0
    # Codes are written in groups of eight; what is left of a group when the width changes is padding.
    bit = group = 0
    while bit + width <= 8 * len(body) and size <= limit:
        code = int.from_bytes(body[bit // 8 : bit // 8 + 4], "little") >> bit % 8 & (1 << width) - 1
        bit += width
        if has_clear and code == CLEAR:
            table, previous = literals.copy(), b""
            bit = group = _end_of_group(bit, group, width)
            width = FIRST_WIDTH
            continue
        if code > len(table) or (code == len(table) and not previous):
            raise DataError("damaged: a code stands before its definition")
        entry = table[code] if code < len(table) else previous + previous[:1]
        if previous and len(table) < 1 << widest:
            table.append(previous + entry[:1])
        if len(table) >= 1 << width and width < widest:
            bit = group = _end_of_group(bit, group, width)
            width += 1
        unpacked.append(entry)
        size += len(entry)
        previous = entry
    return b"".join(unpacked)


def _end_of_group(bit: int, group: int, width: int) -> int:
    return bit + (group - bit) % (8 * width)
