"""Parameters of a Bayesian machine, which configs share, and caveats of its ascent; imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Lt

Approximation = Literal["mixed", "exact", "bound"]
LengthScales = Literal["per-feature", "common"]
Rule = Literal["magnitude", "evidence"]


@dataclass(eq=False, repr=False)
class TuningParameters:
    """How hyperparameters climb the evidence; see `AutomaticRelevance`."""

    loss: Literal["hinge", "squared-hinge", "trigonometric"] = "hinge"
    approximation: Approximation = "bound"
    n_landmarks: Annotated[int, Ge(1)] = 200
    n_eigenvectors: Annotated[int, Ge(1)] = 40
    rule: Rule = "evidence"
    stop: Annotated[float, Gt(0), Lt(1)] = 0.3
    max_steps: Annotated[int, Ge(0)] = 100
    step: Annotated[float, Gt(0)] = 0.3
    decay: Annotated[float, Gt(0)] = 40.0
    sampler: Literal["weighted", "chains", "paper"] = "weighted"
    n_permutations: Annotated[int, Ge(0)] = 19


ValidationShare = Annotated[float, Ge(0), Lt(1)]

AT_BOUNDS, WITHIN_ERROR = "hyperparameters at bounds", "steps within their error"
"""Names in tables for the number of hyperparameters that ascents kept within bounds, and of steps whose gradient is
smaller than its Monte Carlo error."""
ROUGH = "steps by rough draws"
"""Number of steps whose draws are rough; see `SamplerReport`."""
UNMOVED = "ascents without a length scale moved"
"""Number of ascents that left all length scales where they began."""
BLIND, NOT_APART = "ascents that ended blind", "ascents no higher than with permuted labels"
"""Number of ascents whose evidence is no better than that of a machine that uses no feature, and of others that end no
higher than some on permuted labels."""
SATURATED = "length scales below their feature's steps"
"""Number of features with few values whose length scale no longer affects the kernel."""
NOTHING_FOUND = frozenset({BLIND, NOT_APART})
"""Caveats under which the length scales are no finding."""
CAVEATS = {
    AT_BOUNDS: "hyperparameters ran a factor of e^10 from where the ascent began, and were kept there",
    WITHIN_ERROR: "steps of the ascent had a gradient smaller than its Monte Carlo error",
    ROUGH: "steps of the ascent had a gradient whose error is not known: R-hat above 1.05, or Pareto k-hat above 0.7",
    UNMOVED: "ascents ended with all length scales where they began, as where features are not scaled: "
    "they tell none apart",
    BLIND: "ascents ended where the evidence is no better than that of a machine that looks at no feature, at equal "
    "classes a coin's: their length scales and relevances say nothing",
    NOT_APART: "ascents ended no higher than ascents on permuted labels: no feature stands out, and the relevances are "
    "those of noise",
    SATURATED: "features have so few values, and so short a length scale, that the kernel does not depend on it any "
    "more: how large their relevance is says nothing, as of a column of zeros and ones",
}
"""The sentence that reports each caveat."""
