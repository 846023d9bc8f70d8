"""Names of what is learned and for which margin, which configs share; imports nothing heavy."""

from __future__ import annotations

from typing import Literal

Combine = Literal["alignment", "centred-alignment", "qcqp", "sdp"]
MarginKind = Literal["hard", "1-norm", "2-norm", "learned-2-norm"]
