"""Words of tables in one form: without outer blanks, accents composed; and words that differ by capitals alone."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from fsvm_cli.console import brief
from fsvm_cli.data.messages import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

BLANKS = "".join(
    map(chr, [*range(33), *range(127, 161), 0xAD, 0x61C, 0x1680, 0x180E, *range(0x2000, 0x2010)])
) + "".join(map(chr, [*range(0x2028, 0x2030), *range(0x205F, 0x2070), 0x3000, 0xFEFF]))
"""Characters that nobody sees at the ends of a word: blanks, no-break and of no width, and marks of control."""
_INVISIBLE = dict.fromkeys(ord(blank) for blank in BLANKS if not blank.isspace())


def plain_word(word: str) -> str:
    """Return a word without outer blanks, with letters and their accents composed (Unicode's NFC)."""
    return unicodedata.normalize("NFC", word).strip(BLANKS)


class ChangedWord(NamedTuple):
    """A word of a file that is read as another one.

    Attributes
    ----------
    written : str
    read : str or None
        None for a missing value.
    n_rows : int
    """

    written: str
    read: str | None
    n_rows: int


def with_plain_words(
    table: pa.Table, marks: Collection[str] = ()
) -> tuple[pa.Table, dict[str, tuple[ChangedWord, ...]]]:
    """Put the words of all columns into their plain form; return also what was changed, by column.

    Parameters
    ----------
    table : pyarrow.Table
    marks : collection of str
        What stands for a missing value in a word that had to be changed.
    """
    missing = {plain_word(mark) for mark in marks}
    changes: dict[str, tuple[ChangedWord, ...]] = {}
    for index, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if not len(column) or not _holds_words(column.type):
            continue
        is_coded = pa.types.is_dictionary(column.type)
        coded = (column if is_coded else column.dictionary_encode()).unify_dictionaries().combine_chunks()
        written = coded.dictionary.to_pylist()
        read = [None if word is None else plain_word(word) for word in written]
        if read == written:
            continue
        read = [None if new in missing and new != old else new for new, old in zip(read, written, strict=True)]
        place = {word: number for number, word in enumerate(dict.fromkeys(word for word in read if word is not None))}
        codes = pa.array([None if word is None else place[word] for word in read], pa.int32()).take(coded.indices)
        plain = pa.DictionaryArray.from_arrays(
            codes, pa.array([*place], coded.type.value_type), ordered=coded.type.ordered
        )
        table = table.set_column(index, name, pa.chunked_array([plain if is_coded else plain.cast(column.type)]))
        counts = np.bincount(coded.indices.drop_null().to_numpy(), minlength=len(written)).tolist()
        found = zip(written, read, counts, strict=True)
        changes[name] = tuple(ChangedWord(old, new, n) for old, new, n in found if old != new and n)
    return table, changes


def _holds_words(kind: pa.DataType) -> bool:
    own = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(own) or pa.types.is_large_string(own))


def about_changes(changes: Mapping[str, Sequence[ChangedWord]]) -> list[str]:
    """Name the columns whose words were changed, with the number of rows and an example."""
    listed = []
    for name, words in changes.items():
        if words:
            example = f"{brief(repr(words[0].written))} as {brief(repr(words[0].read))}"
            listed.append(f"'{brief(name)}' ({sum(word.n_rows for word in words)} rows, such as {example})")
    if not listed:
        return []
    return [f"words are read without outer blanks, and accents in one form: {shown(listed)}"]


def look_of(word: str) -> str:
    """Return what is alike for words that differ by capitals, inner blanks and forms of letters alone."""
    plain = word if word.isascii() else unicodedata.normalize("NFKC", word).translate(_INVISIBLE)
    return " ".join(plain.lower().split())


def alike(words: Sequence[str], codes: NDArray[np.integer]) -> str:
    """List the words of the same look, with the rows of each; empty where all look different.

    Parameters
    ----------
    words : sequence of str
    codes : ndarray of int
        The place in `words` of the word of each row.
    """
    by_look: dict[str, list[int]] = defaultdict(list)
    for code, word in enumerate(words):
        by_look[look_of(word)].append(code)
    counts = np.bincount(codes, minlength=len(words)).tolist()
    several = [own for own in by_look.values() if len(own) > 1]
    return shown([" and ".join(f"{brief(repr(words[code]))} ({counts[code]} rows)" for code in own) for own in several])
