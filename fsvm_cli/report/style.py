"""How the curves of each method look: the same colour in every figure, whatever else is in it."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from fsvm_cli.figures import COLOURS, MARKERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fsvm_cli.spec.rankings import Extraction, Ranking
    from fsvm_cli.spec.schema import Config

BLUE, VERMILION, GREEN, PINK, SKY, ORANGE, BLACK = COLOURS
INDIGO, WINE, OLIVE, GREY = "#332288", "#882255", "#999933", "#888888"
"""Tol's, for further methods, and what a control has."""

OF_METHODS: Mapping[str, tuple[str, str]] = {
    "gradient-angle": (BLUE, "o"),
    "infoprop": (VERMILION, "^"),
    "kpd": (GREEN, "s"),
    "ard": (PINK, "D"),
    "radius-margin": (ORANGE, "v"),
    "span": (SKY, "P"),
    "rfe": (BLACK, "X"),
    "random": (GREY, "d"),
    "average-separation": (WINE, "s"),
    "fisher": (INDIGO, "D"),
    "relief-f": (OLIVE, "v"),
    "mutual-information": (SKY, "o"),
    "koller-sahami": (WINE, "P"),
    "eubafes": (PINK, "v"),
    "mifs": (GREEN, "v"),
    "pearson": (WINE, "^"),
    "pearson-redundancy": (WINE, "v"),
    "kolmogorov-smirnov": (OLIVE, "D"),
    "wrapper": (INDIGO, "v"),
    "kernel-selection": (GREEN, "D"),
    "forest": (ORANGE, "o"),
    "boruta": (ORANGE, "D"),
    "l1-svm": (BLUE, "v"),
    "mrmr": (GREEN, "P"),
    "pca": (BLACK, "o"),
    "lda": (BLUE, "P"),
    "smife": (PINK, "s"),
    "mmip": (SKY, "^"),
}
"""Colour and marker by method. Those that papers compare have different colours; no two have the same of both."""

Line = Literal["-", "--", "-.", ":", "none"]
LINES: tuple[Line, ...] = ("-", "--", "-.", ":")
SHADES = (0.0, 0.45, -0.4)
"""Of several curves of one method: as it is, lighter, darker."""


class Style(NamedTuple):
    """How one curve looks."""

    colour: str
    marker: str
    line: Line

    def of_line(self) -> dict[str, str]:
        """Give the style of a line in matplotlib's words."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line}


PLAIN = Style("#444444", "o", "-")
"""Of what no method has ordered: all features."""


def styles_of(config: Config) -> dict[str, Style]:
    """Give the style of each ranking and extractor, by its label.

    A method has one colour in all figures; several curves of it in one figure differ in shade, marker and line.
    """
    seen: Counter[str] = Counter()
    styles = {}
    everything: tuple[Ranking | Extraction, ...] = (*config.rankings, *config.extractors)
    for compared in everything:
        number = seen[compared.method]
        seen[compared.method] += 1
        colour, marker = style_of_method(compared.method)
        turn = MARKERS.index(marker) + number if marker in MARKERS else number - 1
        styles[compared.label] = Style(
            _shaded(colour, SHADES[number % len(SHADES)]),
            MARKERS[turn % len(MARKERS)] if number else marker,
            LINES[number % len(LINES)],
        )
    return styles


def style_of_method(method: str) -> tuple[str, str]:
    """Give the colour and the marker of a method; one of another package has those that its name decides."""
    if method in OF_METHODS:
        return OF_METHODS[method]
    known = list(OF_METHODS.values())
    return known[int.from_bytes(hashlib.sha256(method.encode()).digest()[:4], "big") % len(known)]


def _shaded(colour: str, shade: float) -> str:
    """Blend a colour with white (above 0) or black (below 0)."""
    target = 255 if shade > 0 else 0
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(part + abs(shade) * (target - part)):02X}" for part in parts)
