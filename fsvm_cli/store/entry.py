"""What the store keeps under a key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A text, whose form the store does not know, with the sizes that it covers.

    Attributes
    ----------
    sizes : str
        Whole numbers, ascending, with blanks between them: by these a run sees what is missing without reading texts.
    text : str
    """

    sizes: str
    text: str
