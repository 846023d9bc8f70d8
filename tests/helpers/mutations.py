"""Sound inputs made unsound, for tests that want thousands of them: documents as texts and as values, and tables."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

Container: TypeAlias = dict[str, Any] | list[Any]

HOSTILE = (
    *("\x1b[31m", "\x1b]0;owned\x07", "\x00", "\x07", "\r", "\x7f", "\x9b2J", "\u202e", "\u200b", "\u2028", "\ue000"),
    *("$\\frac$", "$", "\\", "[bold]", "%s", "{0}", "é", "日本", "\U0001f600", "x" * 5000, "'", '"', "<!-- -->", "#"),
)
"""What names should not hold, and do."""

YAML_PIECES = (
    *('"\\x1b[31m"', '"\\u202e"', '"\\ud800"', '"\\0"', "[]", "{}", "null", "true", "-1", "0", "1e999", ".nan", "99"),
    *("rbf", "acc", "all", "[1, x]", "{a: 1}", "'", "&a", "*a", "!!x", "- ", ": ", "\n", "  ", "~", "given", "2/3"),
    *("~nobody/x.csv", "../../../etc/passwd", "class_kernels", "tune", "expected"),
    *("9" * 5000, "0x" + "f" * 5000, "&a [*a]", "&a {x: *a}", "<<: *a", "? [1]\n: 2\n", "!!binary eA==", "2026-11-22"),
    *("%YAML 1.1\n---\n", "\t", "|\n", ">-\n", "@", "`", "}", "]", "---\n", "title: again\n", "extends: wine\n"),
)


def mutated_text(rng: random.Random, sound: str, pieces: tuple[str, ...] = (*HOSTILE, *YAML_PIECES)) -> str:
    """Cut, repeat, overwrite or fill in a few places of a text."""
    text = sound
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 0, 1, 3, 12)))
        piece = rng.choice((rng.choice(pieces), text[start:end] * 2, ""))
        text = text[:start] + piece + text[end:]
    return text


def mutated_lines(rng: random.Random, sound: str) -> str:
    """Repeat, drop, move or indent a few lines of a text: keys that stand twice, or in another place."""
    lines = sound.splitlines()
    for _ in range(rng.randint(1, 3)):
        place, other = rng.randrange(len(lines)), rng.randrange(len(lines) + 1)
        line = lines[place]
        changed = rng.choice(([], [line, line], [f"  {line}"], [line.lstrip()], [f"{line} {rng.choice(YAML_PIECES)}"]))
        lines[place : place + 1] = changed
        lines.insert(other, line)
    return "\n".join(lines) + "\n"


ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 99, 10**30, -(10**400), 0.5, -0.5, 1e-320, 1e308, float("inf"), float("nan")),
    *("", "all", "given", "rbf", "leave-one-out", "2/3", "1/0", "-1/2", "no", [], {}, [[]], [{}], {"": 0}, [1, "x"]),
    *({"file": "x.csv"}, {"openml": 1}, {"kernel": "linear"}, {"name": "wine"}, "wine", "\ud800", "a\nb", *HOSTILE),
)
"""What stands in a document in the place of something else."""


def _places(value: Any) -> Iterator[tuple[Container, Any]]:
    """Yield every container of a document with each of its keys."""
    if isinstance(value, dict | list):
        for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield value, key
            yield from _places(inner)


def misspelt(rng: random.Random, word: str) -> str:
    """Make a slip of the pen, or something worse."""
    at = rng.randrange(len(word) + 1)
    worse = word[:at] + rng.choice(HOSTILE) + word[at:]
    slips = (word[:at] + word[at + 1 :], word[:at] + word[at : at + 1] * 2 + word[at + 1 :], word.upper(), f"{word}s")
    return rng.choice((*slips, word.replace("_", "-"), word[::-1], worse))


def mutated_content(rng: random.Random, sound: dict[str, Any]) -> dict[str, Any]:
    """Change a few places of a document: a key or word misspelt, a value of another kind, of another place, nested."""
    content = copy.deepcopy(sound)
    for _ in range(rng.randint(1, 3)):
        places = list(_places(content))
        if not places:
            break
        container, key = rng.choice(places)
        other, other_key = rng.choice(places)
        value: Any = container[key]
        new: Any = rng.choice((rng.choice(ODD_VALUES), copy.deepcopy(other[other_key]), [value], {str(key): value}))
        if isinstance(value, str) and rng.random() < 0.3:
            new = misspelt(rng, value)
        elif isinstance(value, int | float) and rng.random() < 0.5:
            new = value * rng.choice((-1, 0, 1000, 1e-9, 1e300))
        if rng.random() < 0.02:
            for _ in range(40):
                new = [new]
        if isinstance(container, dict) and rng.random() < 0.3:
            new = container.pop(key) if rng.random() < 0.8 else new
            key = misspelt(rng, str(key))
            if rng.random() < 0.2:
                continue
        container[key] = new
    return content


def mutated_document(rng: random.Random, text: str, content: dict[str, Any]) -> str:
    """Change a YAML document as a text, by its lines, or by its values."""
    way = rng.random()
    if way < 0.25:
        return mutated_text(rng, text)
    if way < 0.45:
        return mutated_lines(rng, text)
    changed = json.dumps(mutated_content(rng, content), ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1)))
    return mutated_text(rng, changed) if rng.random() < 0.1 else changed


def mutated_assignment(rng: random.Random, content: dict[str, Any]) -> str:
    """Change an assignment to a place of a document, as `--set` takes it."""
    path: list[str] = []
    inner: Any = content
    while isinstance(inner, dict | list) and inner and (not path or rng.random() < 0.8):
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = rng.choice(keys)
        path.append(str(key))
        inner = inner[key]
    if rng.random() < 0.3:
        place = rng.randrange(len(path))
        path[place] = rng.choice((misspelt(rng, path[place]), "", "-1", "99", "²"))
    value = rng.choice((json.dumps(rng.choice(ODD_VALUES)), rng.choice(YAML_PIECES), json.dumps(inner)))
    return ".".join(path) + rng.choice(("=", "=", "=", "=", "", "==", " = ")) + value


def mutated_table(rng: random.Random, sound: list[list[str]]) -> str:
    """Put other names and cells into a table, as CSV."""
    rows = [list(row) for row in sound]
    for _ in range(rng.randint(1, 3)):
        row = rows[0] if rng.random() < 0.6 else rng.choice(rows)
        row[rng.randrange(len(row))] = rng.choice((*HOSTILE, "", "nan", "1e308", "-1e-308", "inf", "x,y"))
    return "\n".join(",".join(row) for row in rows) + "\n"
