"""A ranking method and a data set for fsvm, in a package of their own."""

from pathlib import Path

CARDS = Path(__file__).parent / "cards"
