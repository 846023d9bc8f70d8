"""Distributions to draw data from, by the paper that describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.data.synthetic import hermes, infoprop, weston

if TYPE_CHECKING:
    from fsvm_cli.data.synthetic.generator import Generator

GENERATORS: dict[str, Generator] = {
    "led24": infoprop.LED24,
    "noise20": hermes.NOISE20,
    "plane": hermes.PLANE,
    "three-class": infoprop.THREE_CLASS,
    "waveform40": infoprop.WAVEFORM40,
    "weston-linear": weston.LINEAR,
    "weston-nonlinear": weston.NONLINEAR,
}
