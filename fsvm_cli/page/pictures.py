"""Figures on the page: compressed, and shown as images, in which no script of a file runs.

All figures share the outlines of their letters, which are a third of their bytes: the page holds each outline once, and
its script inserts them when a figure is shown. Coordinates are rounded to a hundredth of a unit, and those of lines are
relative to the previous point; metadata, and ids that nothing refers to, are removed.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

GLYPH_PATTERN = re.compile(
    r'\s*<path id="(?P<id>DejaVu[\w-]*-[0-9a-f]+)" d="(?P<shape>[^"]*)" transform="scale\(0\.015625\)"/>'
)
"""The outline of a character, as written by matplotlib."""
INVISIBLE_MARKUP = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<!DOCTYPE.*?>", re.DOTALL)
POLYLINE = re.compile(r' d="(M [^"A-KN-Ya-y]*)"')
"""A path of straight lines, as written by matplotlib: M and L, each with the coordinates of a point, and z."""
WIDTH_ATTRIBUTE = re.compile(r'<svg\b[^>]*\bwidth="([\d.]+)pt"')
MAX_SINGLE_PANEL_PT = 330.0
"""Wider figures have several panels side by side."""
MAX_SCALE, POINTS_PER_REM = 1.5, 12.0
EXCESS_DIGITS = re.compile(r"(?<![\w.])(-?[1-9]\d*\.\d\d)\d+")
"""Decimals beyond the second of numbers of magnitude 1 or more; smaller numbers may be scale factors."""
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
    return Picture(path.stem, path.stem.replace("-vs-", " against ").replace("-", " "), svg)


@dataclass
class Packer:
    """Packs the pictures of one page.

    Attributes
    ----------
    shapes : dict of str to str
        Of the letters that packed pictures need, by their ids.
    """

    shapes: dict[str, str] = field(default_factory=dict)

    def packed(self, svg: str) -> str:
        """Pack a picture: without the shapes of its letters, as `compressed`."""
        # An outline of another version of matplotlib may differ: then it stays in the figure.
        svg = GLYPH_PATTERN.sub(lambda found: "" if self._is_shared(found) else found[0], svg)
        svg = POLYLINE.sub(lambda found: f' d="{stepwise(found[1])}"', INVISIBLE_MARKUP.sub("", svg))
        svg = EXCESS_DIGITS.sub(lambda found: found[1].rstrip("0").rstrip("."), self._with_short_names(svg))
        return compressed(re.sub(r"\s*\n\s*", " ", svg).replace("> <", "><"))

    def _is_shared(self, found: re.Match[str]) -> bool:
        return self.shapes.setdefault(found["id"], found["shape"]) == found["shape"]

    def _with_short_names(self, svg: str) -> str:
        """Leave out the names of elements that nothing refers to, and shorten the others, but those of letters."""
        used = sorted({name for _, name in ID_REFERENCE.findall(svg)})
        short = {name: name if name in self.shapes else f"_{number}" for number, name in enumerate(used)}
        svg = ID_ATTRIBUTE.sub(lambda found: f' id="{short[found[1]]}"' if found[1] in short else "", svg)
        return ID_REFERENCE.sub(lambda found: found[1] + short[found[2]], svg)

    def packed_shapes(self) -> str:
        """Pack the shapes that all packed pictures share, as JSON."""
        shapes = {name: " ".join(shape.split()) for name, shape in sorted(self.shapes.items())}
        return compressed(json.dumps(shapes))


def stepwise(path: str) -> str:
    """Write a path of straight lines by its steps, in hundredths that add up to where each point is, rounded."""
    written: list[str] = []
    here = start = (0, 0)
    tokens = iter(path.split())
    before = ""
    for command in tokens:
        if command == "z":
            written.append("z")
            here, before = start, "z"
            continue
        there = round(100 * float(next(tokens))), round(100 * float(next(tokens)))
        if command == "M":
            written.append(f"M{_pair(*there)}")
            start = there
        else:
            step = _pair(there[0] - here[0], there[1] - here[1])
            written.append(f"{'l' if before != 'L' else '' if step.startswith('-') else ' '}{step}")
        here, before = there, command
    return "".join(written)


def _pair(x: int, y: int) -> str:
    first, second = (f"{number / 100:.2f}".rstrip("0").rstrip(".") for number in (x, y))
    return f"{first}{second}" if second.startswith("-") else f"{first} {second}"


def compressed(text: str) -> str:
    """Compress as zlib does, and write in base 64."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")
