"""Single files out of archives and compressed files, those of the Unix program ``compress`` (``.Z``) included.

Sizes and names that an archive states are not trusted.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import tarfile
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMPRESS_MAGIC = b"\x1f\x9d"
FIRST_CODE_BITS = 9
CLEAR_CODE = 256
"""Resets the table of codes."""


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
    if packed[:2] != COMPRESS_MAGIC or len(packed) < 3:
        raise DataError("not a file that the program 'compress' wrote")
    widest, has_clear = packed[2] & 0x1F, bool(packed[2] & 0x80)
    if not FIRST_CODE_BITS <= widest <= 16:
        raise DataError(f"codes of {widest} bits, where 'compress' writes 9 to 16")
    body = packed[3:]
    literals = [bytes([value]) for value in range(256)] + ([b""] if has_clear else [])
    table, previous, width = literals.copy(), b"", FIRST_CODE_BITS
    unpacked, size = [], 0
    # Codes are written in groups of eight; what is left of a group when the width changes is padding.
    bit = group = 0
    while bit + width <= 8 * len(body) and size <= limit:
        code = int.from_bytes(body[bit // 8 : bit // 8 + 4], "little") >> bit % 8 & (1 << width) - 1
        bit += width
        if has_clear and code == CLEAR_CODE:
            table, previous = literals.copy(), b""
            bit = group = _end_of_group(bit, group, width)
            width = FIRST_CODE_BITS
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


MAX_UNPACKED_BYTES = 1_000_000_000
TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
COMPRESSED_SUFFIXES = (".Z", ".gz", ".bz2", ".xz")


def is_packed(name: str) -> bool:
    """Whether the ending of `name` is one that `extract` knows."""
    return name.endswith((".zip", *TAR_SUFFIXES, *COMPRESSED_SUFFIXES))


def extract(packed: Path, name: str, member: str, limit: int) -> bytes:
    """Take one file out of an archive, or the content out of a compressed file.

    Nothing is written, so that no name within an archive can lead anywhere, and reading stops at `limit`, so that
    no archive can unfold to more.

    Parameters
    ----------
    packed : Path
        The archive or compressed file.
    name : str
        The name whose ending says what it is.
    member : str
        Name of the file within an archive, itself perhaps compressed; empty for a compressed file. ``ARCHIVE#MEMBER``
        names a file of an archive within a zip file.
    limit : int
        Size of the content, in bytes.

    Returns
    -------
    bytes
        The content.

    Raises
    ------
    DataError
        If it is no such archive, is damaged, has no such file, or the file is larger than `limit`.
    """
    try:
        with packed.open("rb") as stream:
            content = _content(stream, name, member, limit)
    # Damaged streams make bz2 and zipfile raise OSError, names and numbers in them ValueError and struct.error.
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        lzma.LZMAError,
        zlib.error,
        struct.error,
        OSError,
        ValueError,
        EOFError,
    ) as error:
        # tarfile lists, line by line, what each kind of compression says.
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise DataError(f"a damaged archive ({reason})") from error
    except (NotImplementedError, RuntimeError) as error:  # what zipfile says of unknown methods and passwords
        raise DataError(f"an archive that cannot be read ({error})") from error
    if len(content) > limit:
        raise DataError(f"unfolds to more than {limit:,} bytes")
    return content


def _content(stream: BinaryIO, name: str, member: str, limit: int) -> bytes:
    if name.endswith(".zip"):
        return _from_zip(stream, member, limit)
    if name.endswith(TAR_SUFFIXES):
        return _from_tar(stream, member, limit)
    return _decompress(stream, name, limit)


def _from_zip(stream: BinaryIO, path: str, limit: int) -> bytes:
    member, _, within = path.partition("#")
    with zipfile.ZipFile(stream) as archive:
        if member not in archive.namelist():
            raise DataError(f"the archive holds no '{member}'")
        with archive.open(member) as inner:
            return _content(cast("BinaryIO", inner), member, within, limit)


def _from_tar(stream: BinaryIO, member: str, limit: int) -> bytes:
    with tarfile.open(fileobj=stream, mode="r:*") as archive:
        for entry in archive:
            if entry.offset_data + entry.size > MAX_UNPACKED_BYTES:
                raise DataError(f"unfolds to more than {MAX_UNPACKED_BYTES:,} bytes")
            if str(PurePosixPath(entry.name)) == member and entry.isfile():
                inner = archive.extractfile(entry)
                assert inner is not None
                return _decompress(cast("BinaryIO", inner), member, limit)
    raise DataError(f"the archive holds no '{member}'")


def _decompress(stream: BinaryIO, name: str, limit: int) -> bytes:
    if name.endswith(".Z"):
        return decompress(stream.read(limit + 1), limit)
    openers: dict[str, Callable[[BinaryIO], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    opener = openers.get(PurePosixPath(name).suffix)
    if opener is None:
        return stream.read(limit + 1)
    with opener(stream) as inner:
        return cast("bytes", inner.read(limit + 1))
