"""Pictures as the page carries them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.page.pictures import (
    ID_REFERENCE,
    LETTER_PATTERN,
    LINE_PATTERN,
    MAX_DRIFT,
    POLYLINE,
    Packer,
    Picture,
    stepwise,
)

RESULTS = Path(__file__).parents[2] / "results"
PLACES = st.tuples(st.floats(-2000, 2000), st.floats(-2000, 2000))
PIECES = st.lists(st.tuples(st.lists(PLACES, min_size=1, max_size=5), st.booleans()), min_size=1, max_size=4)


def places_of(path: str) -> list[tuple[str, float, float]]:
    """Follow a path of lines as a browser does: each command, and where it leads."""
    found: list[tuple[str, float, float]] = []
    x = y = start_x = start_y = 0.0
    for command, numbers in re.findall(r"([MLlz])([^MLlz]*)", path):
        if command == "z":
            x, y = start_x, start_y
            found.append(("z", x, y))
        values = list(map(float, re.findall(r"-?\d+(?:\.\d+)?", numbers)))
        for first, second in zip(values[::2], values[1::2], strict=True):
            x, y = (x + first, y + second) if command == "l" else (first, second)
            if command == "M":
                start_x, start_y = x, y
            found.append((command.upper(), x, y))
    return found


@given(PIECES)
def test_steps_lead_to_every_place_to_the_tenth(pieces: list[tuple[list[tuple[float, float]], bool]]) -> None:
    lines = []
    for places, is_closed in pieces:
        lines += [f"{'L' if number else 'M'} {x:.6f} {y:.6f}" for number, (x, y) in enumerate(places)]
        lines += ["z"] if is_closed else []
    path = " \n".join(lines)
    expected, found = places_of(path), places_of(stepwise(path))
    assert [command for command, _, _ in found] == [command for command, _, _ in expected]
    for (_, *here), (_, *there) in zip(found, expected, strict=True):
        assert here == pytest.approx(there, abs=0.050001)


def test_paths_of_lines_and_no_others_are_written_by_steps() -> None:
    svg = (RESULTS / "wine" / "accuracy-vs-features.svg").read_text(encoding="utf-8")
    paths = re.findall(r' d="([^"]*)"', svg)
    lines = [found[1] for found in POLYLINE.finditer(svg)]
    assert lines == [path for path in paths if set(re.sub(r"[-\d.\s]", "", path)) <= set("MLz")]
    assert 0 < len(lines) < len(paths)
    assert sum(map(len, map(stepwise, lines))) < 0.5 * sum(map(len, lines))


@pytest.mark.parametrize(
    ("name", "is_wide"), [("wine/accuracy-vs-features", False), ("kpd-sonar-kernels/scores", True)]
)
def test_pictures_of_several_panels_are_wide(name: str, is_wide: bool) -> None:
    svg = (RESULTS / f"{name}.svg").read_text(encoding="utf-8")
    assert Picture(name, name, svg).is_wide == is_wide


def test_letters_of_a_picture_are_never_shown_much_larger_than_drawn() -> None:
    narrow, wide = (Picture("a", "a", f'<svg width="{points}pt"/>') for points in (352.8, 504))
    assert narrow.widest * 12 / 352.8 == pytest.approx(1.5, abs=0.01)
    assert wide.widest * 12 / 504 == pytest.approx(1.5, abs=0.01)


def others(svg: str) -> int:
    """Count the references to other things than letters."""
    return sum("DejaVu" not in name for _, name in ID_REFERENCE.findall(svg))


def test_letters_of_a_packed_picture_stand_where_they_stood() -> None:
    packer = Packer()
    paths = [*sorted((RESULTS / "wine").glob("*.svg")), RESULTS / "why-grid-vehicle" / "forest.svg"]
    packed = [packer.shortened(path.read_text(encoding="utf-8")) for path in paths]
    letters = {sign: (name, advance) for sign, name, _, advance in packer.letters()}
    for path, each in zip(paths, packed, strict=True):
        svg = path.read_text(encoding="utf-8")
        expected = [
            [(letter["id"], float(letter["x"] or 0)) for letter in LETTER_PATTERN.finditer(line[0])]
            for line in LINE_PATTERN.finditer(svg)
        ]
        found = []
        for line in re.findall("<t>([^<]*)</t>", each):
            x, places = 0.0, []
            for token in re.findall(r"-?\d+ |.", line):
                if token in letters:
                    places.append((letters[token][0], x))
                    x += letters[token][1]
                else:
                    x = float(token)
            found.append(places)
        assert [[name for name, _ in line] for line in found] == [[name for name, _ in line] for line in expected]
        for line, original in zip(found, expected, strict=True):
            assert [x for _, x in line] == pytest.approx([x for _, x in original], abs=MAX_DRIFT + 0.011)


def test_a_packed_picture_keeps_the_names_that_it_refers_to_and_no_others() -> None:
    packer = Packer(shapes={"DejaVuSans-41": "M 0 0 of another version"})
    for path in sorted((RESULTS / "wine").glob("*.svg")):
        svg = path.read_text(encoding="utf-8")
        packed = packer.shortened(svg)
        named, used = re.findall(r' id="([^"]*)"', packed), {name for _, name in ID_REFERENCE.findall(packed)}
        assert len(named) == len(set(named))
        assert set(named) <= used <= set(named) | packer.shapes.keys(), path
        assert others(packed) == others(svg), path
        assert 'id="DejaVuSans-41"' in packed or "DejaVuSans-41" not in svg, path
    assert len(packer.shapes) > 1
