"""Measures where the texts of a figure stand, and which of them overlap or leave it."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT = re.compile(
    r"<!-- (?P<text>.*?) -->\s*<g[^>]*transform=\"translate\((?P<x>[-\d.]+) (?P<y>[-\d.]+)\)"
    r"(?: rotate\((?P<angle>[-\d.]+)\))? scale\((?P<scale>[\d.]+) -[\d.]+\)\"[^>]*>(?P<letters>.*?)</g>",
    re.DOTALL,
)
"""A text as matplotlib writes it: in a comment, and letter by letter."""
LETTER = re.compile(r'<use xlink:href="#[^"]*"(?: transform="translate\((?P<x>[-\d.]+) (?P<y>[-\d.]+)\)[^"]*")?/>')
LAST_LETTER, CAPITAL = 55.0, 73.0
"""Width of the last letter, about, and height of a capital, in hundredths of the size."""
SIZE = re.compile(r'viewBox="0 0 (?P<width>[\d.]+) (?P<height>[\d.]+)"')
TOUCHING_PT, BEYOND_PT = 1.0, 3.0
"""Points by which boxes may reach into each other, or beyond the figure, since widths of last letters are not known."""


class Box(NamedTuple):
    """A text and the box that holds it, in points from the upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


def texts_of(svg: str) -> Iterator[Box]:
    """Yield the texts of a figure that stand upright, or turned by a right angle."""
    for found in TEXT.finditer(svg):
        places = [(float(each["x"] or 0), float(each["y"] or 0)) for each in LETTER.finditer(found["letters"])]
        scale, angle = float(found["scale"]), math.radians(float(found["angle"] or 0))
        cosine, sine = round(math.cos(angle), 6), round(math.sin(angle), 6)
        if not places or cosine * sine:
            continue
        across = (0.0, scale * (max(x for x, _ in places) + LAST_LETTER))
        up = (scale * min(y for _, y in places), scale * (max(y for _, y in places) + CAPITAL))
        corners = [
            (float(found["x"]) + cosine * u + sine * v, float(found["y"]) + sine * u - cosine * v)
            for u, v in itertools.product(across, up)
        ]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        yield Box(found["text"].strip(), min(xs), min(ys), max(xs), max(ys))


def faults_of(svg: str) -> list[str]:
    """Say which texts of a figure overlap, and which leave it."""
    size = SIZE.search(svg)
    assert size is not None
    width, height = float(size["width"]), float(size["height"])
    boxes = list(texts_of(svg))
    faults = [
        f"'{each.text}' leaves the figure"
        for each in boxes
        if min(each.left, each.top) < -BEYOND_PT or each.right > width + BEYOND_PT or each.bottom > height + BEYOND_PT
    ]
    for first, second in itertools.combinations(boxes, 2):
        across = min(first.right, second.right) - max(first.left, second.left)
        down = min(first.bottom, second.bottom) - max(first.top, second.top)
        if min(across, down) > TOUCHING_PT:
            faults.append(f"'{first.text}' overlaps '{second.text}'")
    return faults
