"""Memory that tables need, checked before they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli import memory_check as memory
from fsvm_cli.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

NUMBER_COPIES = 2
"""Copies of the numbers in memory at a time: the columns and the matrix, later the rows of each part."""
TEXT_COPIES = 3
"""Copies of a text that is read as a whole: bytes, lines and fields."""
COMPRESSED_SUFFIXES = frozenset({".gz", ".bz2", ".zst", ".lz4", ".br"})
DECOMPRESSION_BLOCK_BYTES = 1 << 22
MEMORY_REMEDY = "draw fewer rows, take columns out of the file, or use a computer with more memory"


def check_memory_for_table(name: str, n_rows: float, n_columns: int) -> None:
    """Refuse a table that does not fit into the free memory.

    Parameters
    ----------
    name : str
        For the message.
    n_rows : float
        May be an estimate.
    n_columns : int

    Raises
    ------
    UsageError
        With the rows, the bytes, and what else can be done.
    """
    needed, free = 8.0 * NUMBER_COPIES * n_rows * n_columns, memory.free_memory()
    if needed > free:
        raise UsageError(
            f"{name}: about {n_rows:,.0f} rows of {n_columns:,} columns need {needed / memory.GIGABYTE:,.1f} GB, and "
            f"{free / memory.GIGABYTE:,.1f} GB are free; {MEMORY_REMEDY}"
        )


def text_bytes(path: Path) -> int:
    """Count the bytes of a text, once decompressed where its suffix is that of a compressed file.

    Counting stops beyond the free memory.
    """
    if path.suffix not in COMPRESSED_SUFFIXES:
        return path.stat().st_size
    import pyarrow as pa  # noqa: PLC0415 - slow to import, and few files are packed

    size, free = 0, memory.free_memory()
    with pa.input_stream(str(path)) as stream:
        while size <= free and (block := stream.read(DECOMPRESSION_BLOCK_BYTES)):
            size += len(block)
    return size


def check_memory_for_text(path: Path) -> None:
    """Refuse a text that is read as a whole and does not fit into the free memory.

    Raises
    ------
    UsageError
        With the bytes, and what else can be done.
    OSError
        If it cannot be read.
    """
    size, free = text_bytes(path), memory.free_memory()
    if (needed := TEXT_COPIES * size) > free:
        raise UsageError(
            f"{path}: a text of {size / memory.GIGABYTE:,.1f} GB or more needs {needed / memory.GIGABYTE:,.1f} GB, and "
            f"{free / memory.GIGABYTE:,.1f} GB are free; {MEMORY_REMEDY}"
        )


def check_memory_for_words(name: str, size: int) -> None:
    """Refuse columns of words that do not fit into the free memory.

    Raises
    ------
    UsageError
        With their bytes, and what else can be done.
    """
    if (needed := TEXT_COPIES * size) > (free := memory.free_memory()):
        raise UsageError(
            f"{name}: columns of words that are {size / memory.GIGABYTE:,.1f} GB, row by row, need "
            f"{needed / memory.GIGABYTE:,.1f} GB, and {free / memory.GIGABYTE:,.1f} GB are free; {MEMORY_REMEDY}"
        )


def out_of_memory(path: Path) -> str:
    """Message for a ``MemoryError`` that no check foresaw."""
    return f"{path}: needs more memory than there is; {MEMORY_REMEDY}"
