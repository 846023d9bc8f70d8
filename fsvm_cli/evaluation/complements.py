"""Errors: what documents print of some figures of merit, the rest to 100 %."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPLEMENTS: Mapping[str, str] = {"error": "accuracy", "balanced-error": "balanced-accuracy"}
"""The figure of merit that each is computed from."""

COMPLEMENT_OF: Mapping[str, str] = {metric: error for error, metric in COMPLEMENTS.items()}
