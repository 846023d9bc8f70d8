"""Measures where the texts of a figure stand: which overlap, leave it, or stand on curves, and which are too small."""

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
POINTS_PER_SCALE = 100.0
"""Of letters, whose outlines are in hundredths of their size."""
LAST_LETTER, CAPITAL = 55.0, 73.0
"""Width of the last letter, about, and height of a capital, in hundredths of the size."""
GROUP = re.compile(r"<g\b[^>]*>|</g>")
LEGEND = re.compile(r'<g id="legend_\d+">')
LINE = re.compile(r'<path d="(?P<path>M[^"A-KN-Ya-y]*)"(?P<rest>[^>]*)>')
"""A line as matplotlib writes it; the outlines of letters have an id before."""
GRID = "stroke: #dddddd"
POINT = re.compile(r"(?P<command>[ML]) (?P<x>[-\d.]+) (?P<y>[-\d.]+)")
SIZE = re.compile(r'viewBox="0 0 (?P<width>[\d.]+) (?P<height>[\d.]+)"')
TOUCHING_PT, BEYOND_PT = 1.0, 3.0
"""Points by which boxes may reach into each other, or beyond the figure, since widths of last letters are not known."""

CLEAR_PT = 2.0
"""Points that a curve keeps from a legend."""
PAGE_PT, LEAST_PT = 504.0, 5.0
"""Width of a page, and least size of the letters where a figure that is wider is fitted to it."""


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
    """Say which texts of a figure overlap, leave it or are too small, and which legends stand on curves."""
    size = SIZE.search(svg)
    assert size is not None
    width, height = float(size["width"]), float(size["height"])
    boxes = list(texts_of(svg))
    faults = [
        f"'{each.text}' leaves the figure"
        for each in boxes
        if min(each.left, each.top) < -BEYOND_PT or each.right > width + BEYOND_PT or each.bottom > height + BEYOND_PT
    ]
    shrunk = min(1.0, PAGE_PT / width)
    faults += [
        f"'{found['text'].strip()}' is too small"
        for found in TEXT.finditer(svg)
        if POINTS_PER_SCALE * float(found["scale"]) * shrunk < LEAST_PT
    ]
    legends = list(_legends(svg))
    curves = list(_curves(svg, [span for _, span in legends]))
    faults += [
        f"the legend with '{name}' covers a curve"
        for (name, *_box), _ in legends
        if any(_crosses(segment, _box) for segment in curves)
    ]
    for first, second in itertools.combinations(boxes, 2):
        across = min(first.right, second.right) - max(first.left, second.left)
        down = min(first.bottom, second.bottom) - max(first.top, second.top)
        if min(across, down) > TOUCHING_PT:
            faults.append(f"'{first.text}' overlaps '{second.text}'")
    return faults


def _legends(svg: str) -> Iterator[tuple[Box, tuple[int, int]]]:
    """Yield each legend's box with some space around, named by its first text, and where it begins and ends."""
    for begin in LEGEND.finditer(svg):
        depth, end = 0, begin.end()
        for tag in GROUP.finditer(svg, begin.start()):
            depth += -1 if tag[0] == "</g>" else 1
            end = tag.end()
            if depth == 0:
                break
        content = svg[begin.start() : end]
        texts = list(texts_of(content))
        xs = [float(point["x"]) for line in LINE.finditer(content) for point in POINT.finditer(line["path"])]
        if texts:
            left, right = min(xs + [each.left for each in texts]), max(each.right for each in texts)
            top, bottom = min(each.top for each in texts), max(each.bottom for each in texts)
            box = Box(texts[0].text, left - CLEAR_PT, top - CLEAR_PT, right + CLEAR_PT, bottom + CLEAR_PT)
            yield box, (begin.start(), end)


def _curves(svg: str, without: list[tuple[int, int]]) -> Iterator[tuple[float, ...]]:
    """Yield the segments of what is drawn within axes, but for their grid."""
    for line in LINE.finditer(svg):
        is_in_legend = any(begin <= line.start() < end for begin, end in without)
        if is_in_legend or "clip-path" not in line["rest"] or GRID in line["rest"]:
            continue
        points = [(each["command"], float(each["x"]), float(each["y"])) for each in POINT.finditer(line["path"])]
        for (_, *start), (command, *stop) in itertools.pairwise(points):
            if command == "L":
                yield (*start, *stop)


def _crosses(segment: tuple[float, ...], box: list[float]) -> bool:
    """Whether a segment passes through a box, by clipping it as Liang and Barsky do."""
    x, y, to_x, to_y = segment
    left, top, right, bottom = box
    begin, end = 0.0, 1.0
    for step, low, high in ((to_x - x, left - x, right - x), (to_y - y, top - y, bottom - y)):
        if step == 0.0:
            if low > 0.0 or high < 0.0:
                return False
            continue
        entry, leave = sorted((low / step, high / step))
        begin, end = max(begin, entry), min(end, leave)
    return begin < end
