"""Figures that are not drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.helpers.pictures import written_alone

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def _plain_figures() -> Iterator[None]:
    """Spare the drawing of figures of which another test draws one of the kind: their names and texts are here."""
    with written_alone():
        yield
