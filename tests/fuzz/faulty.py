"""Subjects that fail, or kill their process, at one of two inputs; the processes of a campaign import nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.fuzz.campaign import Subject

if TYPE_CHECKING:
    import random
    from pathlib import Path


def faulty() -> dict[str, Subject]:
    def draw(rng: random.Random) -> bytes:
        return rng.choice([b"sound", b"odd"])

    def fails(path: Path) -> None:
        if path.read_bytes() == b"odd":
            raise KeyError("odd")

    def dies(path: Path) -> None:
        if path.read_bytes() == b"odd":
            os._exit(3)

    return {"fails": Subject(draw, fails), "dies": Subject(draw, dies)}
