"""The words for what is learned and for what margin, which configs share; nothing heavy is imported for them."""

from __future__ import annotations

from typing import Literal

Combine = Literal["alignment", "centred-alignment", "qcqp", "sdp"]
MarginKind = Literal["hard", "1-norm", "2-norm", "learned-2-norm"]
