"""What a document prints, as figures show it beside the curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fsvm_cli.spec.claims.kinds.best_of import BestOfClaim
from fsvm_cli.spec.claims.kinds.count import CountClaim
from fsvm_cli.spec.claims.kinds.single_run import SingleRunClaim
from fsvm_cli.spec.claims.kinds.value import ValueClaim
from fsvm_cli.spec.rankings import ALL_FEATURES

if TYPE_CHECKING:
    from fsvm_cli.spec.schema import Config


class PrintedPoint(NamedTuple):
    """A printed figure of merit at a number of features, in per cent, with its printed standard deviation, if any."""

    label: str
    n_features: int
    percent: float
    sd: float | None


class PrintedSizes(NamedTuple):
    """A printed size of the best subset of a ranking, or a range of sizes."""

    label: str
    low: int
    high: int


def printed_points(
    config: Config, metric: str, train_size: int, *, largest: int, n_features: int
) -> list[PrintedPoint]:
    """List what the claims of a config print of a figure of merit, each once.

    Parameters
    ----------
    config : Config
    metric : str
    train_size : int
        Of the figure; a claim that names none speaks of the largest.
    largest : int
        The largest training size.
    n_features : int
        All of them.
    """
    points = []
    for claim in config.expected:
        if isinstance(claim, ValueClaim | SingleRunClaim):
            at, sd = claim.at, getattr(claim, "published_sd", None)
            if (at.metric, at.part) != (metric, config.parts[0]) or (at.train_size or largest) != train_size:
                continue
            features, label = at.features, at.ranking
        elif isinstance(claim, BestOfClaim) and (claim.metric, train_size) == (metric, largest):
            # Whichever of the named methods was best.
            features, label, sd = claim.features, ALL_FEATURES, None
        else:
            continue
        if not isinstance(features, tuple):
            points.append(PrintedPoint(label, n_features if features == "all" else features, claim.published, sd))
    return list(dict.fromkeys(points))


def printed_sizes(config: Config, metric: str) -> list[PrintedSizes]:
    """List the sizes of best subsets that the claims of a config print."""
    counts = (claim for claim in config.expected if isinstance(claim, CountClaim) and claim.metric == metric)
    return [PrintedSizes(claim.ranking, min(claim.published), max(claim.published)) for claim in counts]
