"""Settings of every test."""

from __future__ import annotations

import os

from hypothesis import settings

# scikit-learn checks array-API input only where scipy was told of it before its first import.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# How long an example takes says how busy the machine is, and nothing about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
