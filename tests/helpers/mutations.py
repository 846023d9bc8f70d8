"""Sound inputs made unsound, for tests that want thousands of them: texts of configs, and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

HOSTILE = (
    *("\x1b[31m", "\x1b]0;owned\x07", "\x00", "\x07", "\r", "\x7f", "\x9b2J", "\u202e", "\u200b", "\u2028", "\ue000"),
    *("$\\frac$", "$", "\\", "[bold]", "%s", "{0}", "é", "日本", "\U0001f600", "x" * 5000, "'", '"', "<!-- -->", "#"),
)
"""What names should not hold, and do."""

YAML_PIECES = (
    *('"\\x1b[31m"', '"\\u202e"', '"\\ud800"', '"\\0"', "[]", "{}", "null", "true", "-1", "0", "1e999", ".nan", "99"),
    *("rbf", "acc", "all", "[1, x]", "{a: 1}", "'", "&a", "*a", "!!x", "- ", ": ", "\n", "  ", "~", "given", "2/3"),
    *("~nobody/x.csv", "../../../etc/passwd", "class_kernels", "tune", "expected"),
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


def mutated_values(rng: random.Random, sound: dict[str, str]) -> str:
    """Replace the YAML of a key of a config, or a word within it, by something else."""
    changed = dict(sound)
    key = rng.choice(list(sound))
    piece = rng.choice((*YAML_PIECES, *(f'"{each}"' for each in HOSTILE if each.isascii() and '"' not in each)))
    if rng.random() < 0.5:
        changed[key] = piece
    else:
        words = changed[key].split(" ")
        words[rng.randrange(len(words))] = piece
        changed[key] = " ".join(words)
    return "".join(f"{name}: {value}\n" for name, value in changed.items())


def mutated_table(rng: random.Random, sound: list[list[str]]) -> str:
    """Put other names and cells into a table, as CSV."""
    rows = [list(row) for row in sound]
    for _ in range(rng.randint(1, 3)):
        row = rows[0] if rng.random() < 0.6 else rng.choice(rows)
        row[rng.randrange(len(row))] = rng.choice((*HOSTILE, "", "nan", "1e308", "-1e-308", "inf", "x,y"))
    return "\n".join(",".join(row) for row in rows) + "\n"
