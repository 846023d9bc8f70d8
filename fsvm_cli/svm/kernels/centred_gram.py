"""Gram matrices around the samples' mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsvm_cli.svm.vectors import Array


def centred(gram: Array) -> Array:
    """Return the Gram matrix around the samples' mean.

    Neither a machine with a bias, nor a ball, nor a span depends on the origin; what all samples share would cost
    digits.
    """
    means = gram.mean(axis=0)
    moved: Array = gram - means[:, None] - means + means.mean()
    return moved
