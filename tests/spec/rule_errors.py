"""How often the rules of claims are wrong, on made trials with known truth: a campaign by hand.

`python -m tests.spec.rule_errors` writes a table as Markdown. The test suite runs a few thousand problems.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.evaluation.statistics import mean_interval, p_value
from fsvm_cli.spec.claims.base import Comparison, Place
from fsvm_cli.spec.claims.kinds.numbers import ValueClaim
from fsvm_cli.spec.claims.kinds.orders import NonInferiorityClaim
from fsvm_cli.spec.claims.rules import agreement

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fsvm_cli.spec.claims.base import Verdict

TEXTS = {"id": "c", "claim": "c", "where": "w"}


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw runs with a standard deviation of 1."""
    return rng.standard_normal(shape)


def counted(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw whole numbers with a standard deviation of about 1.7, as of features."""
    return rng.binomial(12, 0.4, shape).astype(float)


def failing_at_times(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw errors that are small in most runs, and near 45 % in one of six, as of a selection that fails."""
    return np.where(rng.random(shape) < 1 / 6, 45 + 3 * rng.standard_normal(shape), 3 + rng.standard_normal(shape))


class Printed(NamedTuple):
    """A printed mean of runs, and the trials that it is compared with.

    Attributes
    ----------
    name : str
    draw : callable
        Runs, from a generator and a shape.
    sd : float
        Standard deviation of a run.
    tolerance : float
    n_printed, n_trials : int
    states_sd : bool
        Whether the standard deviation is printed.
    decimals : int
    """

    name: str
    draw: Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.float64]]
    sd: float
    tolerance: float
    n_printed: int
    n_trials: int
    states_sd: bool = False
    decimals: int = 2

    @property
    def printed_error(self) -> float:
        """What 95 % of the printed means are off by, at most, about."""
        return 1.96 * self.sd / np.sqrt(self.n_printed)


CASES = (
    Printed("one run, a count", counted, 1.70, 1.0, 1, 50, decimals=0),
    Printed("one run, 20 trials", counted, 1.70, 1.0, 1, 20, decimals=0),
    Printed("one run, a number", normal, 1.0, 0.5, 1, 100),
    Printed("one run of several that fail", failing_at_times, 15.7, 2.0, 1, 200),
    Printed("mean of 20, spread printed", normal, 1.0, 1.0, 20, 20, states_sd=True),
    Printed("the same, 50 trials", normal, 1.0, 1.0, 20, 50, states_sd=True),
    Printed("mean of 30, tolerance too small", normal, 1.0, 0.35, 30, 30),
    Printed("the same, 300 trials", normal, 1.0, 0.35, 30, 300),
    Printed("mean of 30 that fail at times", failing_at_times, 15.7, 2.0, 30, 30),
    Printed("the same, 300 trials", failing_at_times, 15.7, 2.0, 30, 300),
)


def verdicts_on(case: Printed, shift: float, n_problems: int, seed: int = 0) -> dict[Verdict, float]:
    """Find which share of printed numbers, made as ours but for a shift, have which verdict."""
    rng = np.random.default_rng(seed)
    ours = case.draw(rng, (n_problems, case.n_trials))
    printed = np.round(case.draw(rng, (n_problems, case.n_printed)).mean(axis=1) + shift, case.decimals)
    spread = {"published_sd": case.sd if case.states_sd else None, "published_n": case.n_printed}
    claim = ValueClaim(
        kind="value", at=Place(), published=0.0, decimals=case.decimals, tolerance=case.tolerance, **TEXTS
    )
    found = Counter(
        agreement(claim.model_copy(update={"published": number}), values, "points", **spread).verdict
        for number, values in zip(printed.tolist(), ours, strict=True)
    )
    return {verdict: count / n_problems for verdict, count in found.items()}


class _Differences:
    """Findings that know one difference."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        found = mean_interval(values)
        self.comparison = Comparison(found, p_value(found), found, "interval")

    def compared(self, higher: Place, lower: Place) -> Comparison:
        return self.comparison


def verdicts_on_difference(
    shift: float, margin: float, n_trials: int, n_problems: int, seed: int = 0
) -> dict[Verdict, float]:
    """Find which share of differences of this mean, in deviations of a trial, is judged how by a non-inferiority."""
    rng = np.random.default_rng(seed)
    claim = NonInferiorityClaim(kind="non-inferiority", higher=Place(), lower=Place(), margin=margin, **TEXTS)
    found = Counter(
        claim.judge(_Differences(shift + rng.standard_normal(n_trials))).verdict  # type: ignore[arg-type]
        for _ in range(n_problems)
    )
    return {verdict: count / n_problems for verdict, count in found.items()}


if __name__ == "__main__":
    rows = []
    for case in CASES:
        far = case.tolerance + 2 * max(case.printed_error, 1.96 * case.sd / np.sqrt(case.n_trials))
        for off, shift in (("0", 0.0), ("the tolerance", case.tolerance), ("that and two errors more", far)):
            rows.append((case.name, off, verdicts_on(case, shift, 20_000)))
    for n in (30, 100):
        for shift in (0.0, -0.25, -0.5, -1.0):
            shares = verdicts_on_difference(shift, 0.5, n, 20_000)
            rows.append((f"non-inferiority, {n} trials", f"{shift:g} of a margin of .5 (sd 1)", shares))
    lines = ["| rule | truth is off by | reproduced | inconclusive | differs |", "| --- | --- | --- | --- | --- |"]
    for name, off, shares in rows:
        cells = [f"{100 * shares.get(word, 0.0):.1f}" for word in ("reproduced", "inconclusive", "differs")]
        lines.append(f"| {name} | {off} | {' | '.join(cells)} |")
    sys.stdout.write("\n".join(lines) + "\n")
