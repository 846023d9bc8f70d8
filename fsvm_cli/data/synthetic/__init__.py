"""Distributions to draw data from, by the paper that describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.data.synthetic import hermes

if TYPE_CHECKING:
    from fsvm_cli.data.synthetic.generator import Generator

GENERATORS: dict[str, Generator] = {
    "plane": hermes.PLANE,
    "noise20": hermes.NOISE20,
}
