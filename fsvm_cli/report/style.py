"""How figures look: legible in one column of a paper and to colour-blind readers, one colour per method, stable bytes.

matplotlib takes most of a second to import: it is imported by the first figure, not by this module.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import io
import re
import warnings
from collections import Counter
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fsvm_cli.console import visible
from fsvm_cli.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from fsvm_cli.spec.rankings import Extraction, Ranking
    from fsvm_cli.spec.schema import Config

COLUMN_WIDTH = 3.5
"""Inches; a page is twice as wide."""

# Okabe and Ito's palette, without the yellow that vanishes on white; markers distinguish the curves in grey as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.2,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "svg.hashsalt": "fsvm",
    # Names from outside may hold dollar signs; none of our texts is a formula.
    "text.parse_math": False,
    "figure.dpi": 100,
    "savefig.dpi": 300,
}

MISSING_GLYPH_WARNING = "Glyph .* missing from font"
"""A box stands for a sign that the font lacks; the tables have the name."""
POINTS_PER_INCH = 72.0
LEGEND_ROWS_IN_HEIGHT, LEGEND_ROW_INCHES = 5, 0.145
"""Legend rows within the given height; each further row adds so many inches."""

MAX_NAME_CHARACTERS = 80
"""Characters of a name that a figure shows."""

MAX_TITLE_CHARACTERS = 300

_CLIP = re.compile(rb'(?<=url\(#)p[0-9a-f]{10}(?=\))|(?<=<clipPath id=")p[0-9a-f]{10}(?=")')
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def legible(name: object, at_most: int = MAX_NAME_CHARACTERS) -> str:
    """Show a name from outside: what has no shape as escapes, and of a name that has no end the beginning."""
    text = visible(str(name))
    return text if len(text) <= at_most else f"{text[: at_most - 1]}…"


def series_style(number: int) -> dict[str, Any]:
    """Give the colour and the marker of a series, by its number from 0; no two of the first 49 share both."""
    turns, index = divmod(number, len(COLOURS))
    return {"color": COLOURS[index], "marker": MARKERS[(index + turns) % len(MARKERS)]}


def use_logarithms(axes: Axes) -> None:
    """Make the horizontal axis logarithmic, with powers of ten that are no formulas."""
    from matplotlib.ticker import FuncFormatter  # noqa: PLC0415

    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _power_of_ten(value)))


def _power_of_ten(value: float) -> str:
    mantissa, exponent = f"{value:.0e}".split("e")
    power = "10" + str(int(exponent)).translate(_RAISED)
    return power if mantissa == "1" else f"{mantissa}×{power}"


@contextlib.contextmanager
def figure(width: float, height: float) -> Iterator[Figure]:
    """Open a figure of a size in inches, in the style of this package, whatever the user's settings are."""
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context(), _without_garbage_collection():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield Figure(figsize=(width, height), layout="constrained")


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Postpone garbage collection: the many objects of a figure are in use until its end."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


CELL_INCHES, CELL_FONT_SIZE = 0.19, 7.0
"""Height of a row of a heat map, and the size of its letters, in points."""
DARKEST_LOSS = 20.0
"""Points from which on a cell has the full colour."""
WHITE_TEXT_FROM = 0.85
"""Shade of a cell, from 0 to 1, from which on its text is white; before, black has the higher contrast."""


def shades_of_losses(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how dark cells of points below the best are, from 0 to 1: as the eye takes them, the first count most."""
    import numpy as np  # noqa: PLC0415

    shades: NDArray[np.float64] = np.sqrt(np.minimum(losses, DARKEST_LOSS) / DARKEST_LOSS)
    return shades


def draw_cells(
    axes: Axes, shades: NDArray[np.float64], texts: Sequence[Sequence[str]], font_size: float = CELL_FONT_SIZE
) -> None:
    """Draw a heat map, the first row on top, with a text in each cell.

    Parameters
    ----------
    axes : Axes
    shades : ndarray of shape (n_rows, n_columns)
        From 0, white, to 1; NaN where there is nothing.
    texts : sequence of sequence of str
        Of the rows.
    font_size : float
        Of the texts, in points.
    """
    from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415

    colours = LinearSegmentedColormap.from_list("cells", ["#FFFFFF", BLUE])
    axes.pcolormesh(shades, cmap=colours, vmin=0.0, vmax=1.0, edgecolors="#FFFFFF", linewidth=0.4)
    axes.invert_yaxis()
    axes.grid(visible=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)
    for row, of_row in enumerate(texts):
        for column, text in enumerate(of_row):
            colour = "#FFFFFF" if shades[row, column] > WHITE_TEXT_FROM else "#000000"
            axes.text(column + 0.5, row + 0.53, text, ha="center", va="center", fontsize=font_size, color=colour)


def explain(drawing: Figure, handles: Sequence[Artist], n_columns: int = 2) -> None:
    """Put the legend below a figure, in fewer columns where labels would be cut off; the figure grows with it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415

    renderer: RendererAgg = FigureCanvasAgg(drawing).get_renderer()  # type: ignore[no-untyped-call]
    for n in range(n_columns, 0, -1):
        key = drawing.legend(handles=handles, loc="outside lower left", ncols=n, handlelength=2.6)
        blank = 2 * key.borderpad * STYLE["legend.fontsize"] * drawing.dpi / POINTS_PER_INCH
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", MISSING_GLYPH_WARNING)
            width = key.get_window_extent(renderer).width - blank
        if n == 1 or width <= drawing.bbox.width:
            break
        key.remove()
    n_rows = -(-len(handles) // n)
    drawing.set_figheight(drawing.get_figheight() + LEGEND_ROW_INCHES * max(n_rows - LEGEND_ROWS_IN_HEIGHT, 0))


def save(drawing: Figure, folder: Path, name: str, formats: Sequence[str]) -> list[Path]:
    """Write a figure in each format.

    Parameters
    ----------
    drawing : Figure
    folder : Path
        Where the files go; it is made where it is missing.
    name : str
        Of the files, without their ending.
    formats : sequence of {"svg", "png", "pdf"}

    Returns
    -------
    list of Path
        The files.
    """
    paths = []
    for extension in formats:
        path = folder / f"{name}.{extension}"
        write_atomically(path, drawn(drawing, extension))
        paths.append(path)
    return paths


def drawn(drawing: Figure, extension: str) -> bytes:
    """Give a figure as the bytes of a file: "svg", "png" or "pdf", the same each time."""
    # Dates and version numbers would make two equal figures two different files.
    metadata = {
        "svg": {"Date": None, "Creator": None},
        "png": {"Software": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    _keep_wrapped_text_plain(drawing)
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", MISSING_GLYPH_WARNING)
        # Beside very long names no room is left for the axes: these then lie where they do by default.
        warnings.filterwarnings("ignore", "constrained_layout not applied")
        with _laid_out(drawing, extension):
            drawing.savefig(stream, format=extension, metadata=metadata[extension])
    return _with_clips_by_number(stream.getvalue()) if extension == "svg" else stream.getvalue()


def _keep_wrapped_text_plain(drawing: Figure) -> None:
    """Escape the dollar signs of texts that wrap: matplotlib measures these as formulas even where it draws none."""
    from matplotlib.text import Text  # noqa: PLC0415

    # Only titles wrap; a search of all artists would make every tick first.
    for owner in (drawing, *drawing.axes):
        for text in owner.get_children():
            if isinstance(text, Text) and text.get_wrap() and not text.get_parse_math():
                text.set(text=text.get_text().replace("$", r"\$"), parse_math=True)


def _with_clips_by_number(svg: bytes) -> bytes:
    """Name the clipping paths of a figure by their order.

    matplotlib names each by a hash of its place, whose last digit, which is not written, differs between processors.
    """
    numbers = {name: b"clip%d" % number for number, name in enumerate(dict.fromkeys(_CLIP.findall(svg)), 1)}
    return _CLIP.sub(lambda found: numbers[found[0]], svg)


@contextlib.contextmanager
def _laid_out(drawing: Figure, extension: str) -> Iterator[None]:
    """Lay a figure out for a format, and no longer: to do so, `savefig` would draw everything once more.

    Where one layout has put the axes, another would begin; so they go back to where they were, and a file depends on no
    other format that is written.
    """
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.backend_bases import get_registered_canvas_class  # noqa: PLC0415

    get_registered_canvas_class(extension)(drawing)
    layout, dpi = drawing.get_layout_engine(), drawing.dpi
    assert layout is not None
    before = [(axes, axes.get_position(original=True).frozen(), axes.get_in_layout()) for axes in drawing.axes]
    drawing.dpi = mpl.rcParams["savefig.dpi"]
    layout.execute(drawing)
    drawing.dpi = dpi
    drawing.set_layout_engine(None)
    try:
        yield
    finally:
        drawing.set_layout_engine(layout)
        for axes, place, is_in_layout in before:
            axes.set_position(place)
            axes.set_in_layout(is_in_layout)


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
    "l1-logistic": (BLUE, "s"),
    "elastic-net": (INDIGO, "o"),
    "stability-selection": (BLACK, "D"),
    "permutation-importance": (ORANGE, "s"),
    "knockoffs": (INDIGO, "^"),
    "shap": (ORANGE, "^"),
    "mrmr": (GREEN, "P"),
    "multi-task": (VERMILION, "v"),
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


FIRST_TO_LAST = ("#A5DB36", "#35B779", "#26828E", "#3E4A89", "#440154")
"""From light to dark, so that grey prints keep the order: of viridis, without what is too light on white."""


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

    A method has one colour in all figures; several curves of it in one figure differ in shade, marker and line. Where
    machines are stopped after numbers of steps, the colours go with these, from light to dark.
    """
    if stops := steps_of(config):
        shades = shades_in_order(len(stops))
        return {
            label: Style(shade, MARKERS[number % len(MARKERS)], "-")
            for number, (label, shade) in enumerate(zip(stops, shades, strict=True))
        }
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


def steps_of(config: Config) -> dict[str, float]:
    """Give the steps after which machines are stopped, ascending; infinity at the optimum.

    Returns
    -------
    dict of str to float
        By the label of the ranking or alternative; without entries where no machine is stopped.
    """
    classifiers = {ranking.label: config.classifier_of(ranking) for ranking in config.rankings}
    classifiers |= {alternative.label: alternative.classifier for alternative in config.alternatives}
    steps = {label: float(getattr(each, "stop_after", None) or "inf") for label, each in classifiers.items()}
    return dict(sorted(steps.items(), key=lambda item: item[1])) if min(steps.values(), default=inf) < inf else {}


def shades_in_order(n: int) -> list[str]:
    """Give colours from light to dark, as many as are asked for."""
    shades = []
    for number in range(n):
        place = number * (len(FIRST_TO_LAST) - 1) / max(n - 1, 1)
        first = min(int(place), len(FIRST_TO_LAST) - 2)
        ends = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in FIRST_TO_LAST[first : first + 2]]
        shades.append(
            "#" + "".join(f"{round(low + (place - first) * (high - low)):02X}" for low, high in zip(*ends, strict=True))
        )
    return shades


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
