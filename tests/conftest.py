"""Settings of every test."""

from __future__ import annotations

import os

# scikit-learn checks array-API input only where scipy was told of it before its first import.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
