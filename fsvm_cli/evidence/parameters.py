"""The parameters of a Bayesian machine, which configs share; nothing heavy is imported for them."""

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
