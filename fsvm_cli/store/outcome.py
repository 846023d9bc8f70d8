"""What a trial finds, and its form in the store."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SubsetResult:
    """The machine on one subset of the features.

    Attributes
    ----------
    train, test : tuple of tuple of int
        Confusion matrices of the two parts: rows are true classes, columns assigned ones.
    n_unconverged : int
        Binary machines that missed the duality gap.
    duality_gap : float
        The largest relative duality gap of its machines.
    """

    train: tuple[tuple[int, ...], ...]
    test: tuple[tuple[int, ...], ...]
    n_unconverged: int
    duality_gap: float


@dataclass(frozen=True)
class Outcome:
    """What one ranking led to on one split.

    Attributes
    ----------
    scores : tuple of float
        Score of each feature; empty where nothing was ranked.
    ranking_converged : bool
        Whether every machine that the method itself trained reached its duality gap.
    subsets : dict of int to SubsetResult
        By number of retained features.
    chosen : dict of str to value
        What was chosen on the training part for the machine and by the method, by the name that configs give it.

    Raises
    ------
    ValueError
        If a score or a duality gap is not finite: neither can be ordered, averaged or stored.
    """

    scores: tuple[float, ...]
    ranking_converged: bool
    subsets: dict[int, SubsetResult] = field(default_factory=dict)
    chosen: dict[str, float | int | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, self.scores)):
            raise ValueError("the ranking gave scores that are not finite")
        if not all(math.isfinite(result.duality_gap) for result in self.subsets.values()):
            raise ValueError("a machine ended with a duality gap that is not finite")

    def merged_with(self, later: Outcome) -> Outcome:
        """Add subsets that were computed later, for the same split and ranking."""
        subsets = dict(sorted({**self.subsets, **later.subsets}.items()))
        return Outcome(self.scores, self.ranking_converged and later.ranking_converged, subsets, self.chosen)

    def to_json(self) -> str:
        """Write as JSON, from which `from_json` makes an equal outcome."""
        subsets = {
            size: [result.train, result.test, result.n_unconverged, result.duality_gap]
            for size, result in self.subsets.items()
        }
        content = {"scores": self.scores, "ranking_converged": self.ranking_converged, "subsets": subsets}
        if self.chosen:
            content["chosen"] = self.chosen
        return json.dumps(content, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Outcome:
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError
            If the text is anything else.
        """
        try:
            content: dict[str, Any] = json.loads(text)
            subsets = {
                int(size): SubsetResult(_matrix(train), _matrix(test), int(n_unconverged), float(gap))
                for size, (train, test, n_unconverged, gap) in content["subsets"].items()
            }
            scores = tuple(map(float, content["scores"]))
            return cls(scores, bool(content["ranking_converged"]), subsets, dict(content.get("chosen", {})))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not an outcome: {error!r}") from error


@dataclass(frozen=True, slots=True)
class PackedOutcome:
    """An outcome in the form in which it travels from a worker and lies in the store.

    Attributes
    ----------
    sizes : str
        Numbers of retained features that it covers, ascending, with blanks between them.
    text : str
        The outcome as JSON.
    """

    sizes: str
    text: str

    @classmethod
    def of(cls, outcome: Outcome) -> PackedOutcome:
        """Pack."""
        return cls(" ".join(map(str, outcome.subsets)), outcome.to_json())

    def unpacked(self) -> Outcome:
        """Unpack; a text that is no outcome raises a ValueError."""
        return Outcome.from_json(self.text)


def _matrix(rows: Any) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(map(int, row)) for row in rows)
