"""Figures on the page, compressed together with the tables and files of the experiments.

They are shown as images, in which no script of a file runs.

All figures share the outlines of their letters, which are a third of their bytes: the page holds each outline once, and
its script inserts them when a figure is shown. Lines of text are written by their letters alone, since each letter
stands where the advance of the one before ends, but for kerning. Places are rounded to a tenth of a point, less than a
pixel, and those of lines are relative to the previous point; metadata, empty elements, and ids that nothing refers to
are removed.
"""

from __future__ import annotations

import base64
import json
import lzma
import math
import re
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GLYPH_PATTERN = re.compile(
    r'\s*<path id="(?P<id>DejaVu[\w-]*-[0-9a-f]+)"(?: d="(?P<shape>[^"]*)")? transform="scale\(0\.015625\)"/>'
)
"""The outline of a character, as written by matplotlib; a space has none."""
LETTER_PATTERN = re.compile(
    r'\s*<use xlink:href="#(?P<id>DejaVu[\w-]*-[0-9a-f]+)"(?: transform="translate\((?P<x>-?[\d.]+) 0\)")?/>'
)
"""A character of a line of text, and where it stands."""
LINE_PATTERN = re.compile(rf"(?:{LETTER_PATTERN.pattern.replace('?P<id>', '').replace('?P<x>', '')})+")
FIRST_SIGN, N_PLAIN_SIGNS, FIRST_FURTHER_SIGN = 63, 64, 161
"""Signs that stand for letters in the page: none is a digit, a point or markup."""
MAX_DRIFT = 0.5
"""Hundredths of the size of letters by which one may stand beside its place."""
INVISIBLE_MARKUP = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<!DOCTYPE.*?>", re.DOTALL)
POLYLINE = re.compile(r' d="(M [^"A-KN-Ya-y]*)"')
"""A path of straight lines, as written by matplotlib: M and L, each with the coordinates of a point, and z."""
WIDTH_ATTRIBUTE = re.compile(r'<svg\b[^>]*\bwidth="([\d.]+)pt"')
FEATURE_NAMES = re.compile(r'("feature_names": \[)([^\]]*)')
STREAM_CHARACTERS = 2_000_000
"""From which on a stream is full: one of several experiments, which repeat each other, is smaller by a fifth, and a
browser decompresses it in a tenth of a second."""
MIN_SHARED = 2000
"""Characters of a list of features from which on the page holds it once."""
CAPTIONS = {
    "forest": "values as printed and as obtained",
    "overview": "values as printed and as obtained, by experiment",
    "scores": "scores of the features",
    "ascent": "ascent on the evidence",
    "row-orders": "features selected in each order of the rows",
}
"""By the name of the file, where this says too little."""
UNABBREVIATED = {"rci": "RCI", "gap": "duality gap", "roc": "ROC curves", "auc": "AUC"}
MAX_SINGLE_PANEL_PT = 330.0
"""Wider figures have several panels side by side."""
MAX_SCALE, POINTS_PER_REM = 1.5, 12.0
PLACE = re.compile(r' (?:[xy]="-?[\d.]+"|transform="translate\(-?[\d.]+ -?[\d.]+\))')
"""Where an element stands."""
FRACTIONAL = re.compile(r"-?\d+\.\d+")
EMPTY_ELEMENT = re.compile(r"<g/>|<defs></defs>|<g></g>")
EXCESS_DIGITS = re.compile(r"(?<![\w.])(-?[1-9]\d*\.\d\d)\d+")
"""Decimals beyond the second of numbers of magnitude 1 or more; smaller numbers may be scale factors."""
COMPRESSION = {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 2**22, "pb": 0}
WITHOUT_MARKUP = str.maketrans("&<>", ",./")
"""Signs of base 85, as Python writes it, that would be markup, and what stands for them."""
ID_ATTRIBUTE, ID_REFERENCE = re.compile(r' id="([^"]*)"'), re.compile(r'((?:href="|url\()#)([^")]*)')


@dataclass(frozen=True)
class Picture:
    """One figure of an experiment.

    Attributes
    ----------
    name : str
        Of the file, without its ending.
    says : str
        What it shows, in words.
    svg : str
        The figure as the file has it.
    """

    name: str
    says: str
    svg: str

    @property
    def is_wide(self) -> bool:
        """Whether it has several panels side by side, which need the width of several pictures."""
        return self._width > MAX_SINGLE_PANEL_PT

    @property
    def widest(self) -> float:
        """How wide it is shown at most, in rem, so that no picture's letters are much larger than another's."""
        return round(MAX_SCALE * self._width / POINTS_PER_REM, 1)

    @property
    def _width(self) -> float:
        width = WIDTH_ATTRIBUTE.search(self.svg)
        return 0.0 if width is None else float(width[1])


def read_pictures(folder: Path) -> tuple[Picture, ...]:
    """Read the figures of a results folder, sorted by name.

    Raises
    ------
    DataError
        If one cannot be read.
    """
    return tuple(_picture(path) for path in sorted(folder.glob("*.svg")))


def _picture(path: Path) -> Picture:
    try:
        svg = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise DataError(f"{path}: cannot be read ({reason}); 'fsvm plot' draws it again") from error
    return Picture(path.stem, CAPTIONS.get(path.stem) or in_words(path.stem), svg)


def in_words(name: str) -> str:
    """Say what a figure shows by the name of its file."""
    words = name.replace("-vs-", " against ").replace("-", " ").split()
    return " ".join(UNABBREVIATED.get(word, word) for word in words)


@dataclass
class Packer:
    """Packs the pictures of one page.

    Attributes
    ----------
    shapes : dict of str to str
        Of the letters that packed pictures need, by their ids; the order gives the signs that stand for them.
    advances : dict of str to float
        How far behind a letter the next one stands, in hundredths of their size.
    shared : dict of str to str
        Long lists of feature names, which the files of several experiments have, by what stands in their place.
    streams : list of str
        Filled ones, compressed.
    parts : list
        Of the stream that is being filled, each a JSON value.
    n_characters : int
        Of these parts.
    """

    shapes: dict[str, str] = field(default_factory=dict)
    advances: dict[str, float] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    streams: list[str] = field(default_factory=list)
    parts: list[str | dict[str, str]] = field(default_factory=list)
    n_characters: int = 0

    def part(self, value: str | dict[str, str]) -> str:
        """Put a value into the stream that is being filled; return the number of the stream and its place there."""
        place = f"{len(self.streams)}:{len(self.parts)}"
        self.parts.append(value)
        self.n_characters += len(value) if isinstance(value, str) else sum(map(len, value.values()))
        if self.n_characters >= STREAM_CHARACTERS:
            self.close()
        return place

    def close(self) -> None:
        """Compress the parts together, and begin a new stream."""
        if self.parts:
            self.streams.append(compressed(self.parts))
            self.parts, self.n_characters = [], 0

    def picture(self, svg: str) -> str:
        """Put a picture into the stream; see `shortened`."""
        return self.part(self.shortened(svg))

    def shortened(self, svg: str) -> str:
        """Write a picture without the shapes of its letters, and without what is not seen."""
        # An outline of another version of matplotlib may differ: then it stays in the figure.
        own = {found["id"] for found in GLYPH_PATTERN.finditer(svg) if not self._is_shared(found)}
        svg = GLYPH_PATTERN.sub(lambda found: found[0] if found["id"] in own else "", svg)
        svg = LINE_PATTERN.sub(lambda found: self._line(found[0], own), svg)
        svg = POLYLINE.sub(lambda found: f' d="{stepwise(found[1])}"', INVISIBLE_MARKUP.sub("", svg))
        svg = PLACE.sub(lambda found: FRACTIONAL.sub(lambda number: _in_tenths(10 * float(number[0])), found[0]), svg)
        svg = EXCESS_DIGITS.sub(lambda found: found[1].rstrip("0").rstrip("."), self._with_short_names(svg))
        svg = re.sub(r"\s*\n\s*", " ", svg).replace("> <", "><").replace(" />", "/>")
        return EMPTY_ELEMENT.sub("", svg)

    def _is_shared(self, found: re.Match[str]) -> bool:
        shape = found["shape"] or ""
        return self.shapes.setdefault(found["id"], shape) == shape

    def _line(self, line: str, own: set[str]) -> str:
        """Write the letters of a line by their signs, with the places of those that stand elsewhere in numbers."""
        letters = [(found["id"], float(found["x"] or 0.0)) for found in LETTER_PATTERN.finditer(line)]
        if own & {letter for letter, _ in letters}:
            return line
        signs = {letter: sign_of(number) for number, letter in enumerate(self.shapes)}
        expected, written = 0.0, []
        for (letter, x), (_, following) in zip(letters, [*letters[1:], ("", math.nan)], strict=True):
            if abs(x - expected) > MAX_DRIFT:
                expected = round(x)
                written.append(f"{expected} ")
            written.append(signs[letter])
            if not math.isnan(following):
                self.advances.setdefault(letter, round(following - x, 2))
            expected += self.advances.get(letter, 0.0)
        return f"<t>{''.join(written)}</t>"

    def _with_short_names(self, svg: str) -> str:
        """Leave out the names of elements that nothing refers to, and shorten the others, but those of letters."""
        used = sorted({name for _, name in ID_REFERENCE.findall(svg)})
        short = {name: name if name in self.shapes else f"_{number}" for number, name in enumerate(used)}
        svg = ID_ATTRIBUTE.sub(lambda found: f' id="{short[found[1]]}"' if found[1] in short else "", svg)
        return ID_REFERENCE.sub(lambda found: found[1] + short[found[2]], svg)

    def files(self, files: Sequence[tuple[str, str]]) -> str:
        """Put files by their names into the stream, but for the lists of features that files share."""
        return self.part({name: FEATURE_NAMES.sub(self._without_names, text) for name, text in files})

    def _without_names(self, found: re.Match[str]) -> str:
        if len(found[2]) < MIN_SHARED:
            return found[0]
        key = f"\0{zlib.crc32(found[2].encode()):08x}\0"
        while self.shared.setdefault(key, found[2]) != found[2]:
            key = f"\0{key[1:-1]}0\0"
        return f"{found[1]}{key}"

    def letters(self) -> list[tuple[str, str, str, float]]:
        """List the letters that all pictures share: sign, id, shape and advance."""
        return [
            (sign_of(number), name, " ".join(shape.split()), self.advances.get(name, 0.0))
            for number, (name, shape) in enumerate(self.shapes.items())
        ]


def sign_of(number: int) -> str:
    """Give the sign that stands for the letter of a number."""
    plain = number < N_PLAIN_SIGNS
    return chr(FIRST_SIGN + number if plain else FIRST_FURTHER_SIGN + number - N_PLAIN_SIGNS)


def stepwise(path: str) -> str:
    """Write a path of straight lines by its steps, in tenths that add up to where each point is, rounded."""
    written: list[str] = []
    here = start = (0, 0)
    tokens = iter(path.split())
    before = ""
    for command in tokens:
        if command == "z":
            written.append("z")
            here, before = start, "z"
            continue
        there = round(10 * float(next(tokens))), round(10 * float(next(tokens)))
        if command == "M":
            written.append(f"M{_pair(*there)}")
            start = there
        else:
            step = _pair(there[0] - here[0], there[1] - here[1])
            written.append(f"{'l' if before != 'L' else '' if step.startswith('-') else ' '}{step}")
        here, before = there, command
    return "".join(written)


def _pair(x: int, y: int) -> str:
    first, second = _in_tenths(x), _in_tenths(y)
    return f"{first}{second}" if second.startswith("-") else f"{first} {second}"


def _in_tenths(number: float) -> str:
    return f"{round(number) / 10:.1f}".removesuffix(".0")


def compressed(value: object) -> str:
    """Compress a JSON value by LZMA, and write it in 85 signs, none of which is markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    packed = lzma.compress(text.encode(), lzma.FORMAT_ALONE, filters=[COMPRESSION])
    return base64.b85encode(packed).decode("ascii").translate(WITHOUT_MARKUP)
