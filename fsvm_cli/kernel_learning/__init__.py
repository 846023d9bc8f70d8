"""Weights of base kernels, learned with a machine on their sum, each with its certificate."""

from typing import Literal

Combine = Literal["alignment", "centred-alignment", "qcqp", "sdp"]
MarginKind = Literal["hard", "1-norm", "2-norm", "learned-2-norm"]
"""What is learned, and for which margin: here, because configs share the names and import no solver."""
