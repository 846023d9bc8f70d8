"""Certified eliminations of `rfe` against exact machines: a campaign.

``python -m tests.ranking.certified_rankings 300`` prints every elimination that counts as decided and that an exact
solver would make otherwise, and every cost outside its interval.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli import RecursiveFeatureElimination
from tests.svm.exact_machines import exact_weights, hostile_samples

if TYPE_CHECKING:
    from fractions import Fraction


def mistakes(seed: int, counts: Counter[str]) -> list[str]:
    """Return what is wrong with the certificate of one ranking; count its verdicts where the exact machine is known."""
    X, y, C = hostile_samples(seed)
    tolerance, step = (1e-2, 1e-3, 1e-6)[seed % 3], (1, 1, 2)[seed // 3 % 3]
    ranker = RecursiveFeatureElimination(C=C, tolerance=tolerance, step=step, certify=True).fit(X, y)
    table, found = ranker.certificate_, []
    left = list(range(X.shape[1]))
    batch: list[int] = []
    costs: dict[int, Fraction] | None = None
    for place, feature in enumerate(table["feature"].tolist()):
        if not batch:
            w = exact_weights(X[:, left], y, np.full(len(y), C))
            costs = None if w is None else {j: v * v for j, v in zip(left, w, strict=True)}
            batch = table["feature"][place : place + min(step, len(left) - 1)].tolist()
            going = list(batch)
        batch.remove(feature)
        if costs is None:
            counts["unknown"] += 1
        else:
            verdict = table["verdict"][place]
            counts[verdict] += 1
            if not table["lower"][place] <= costs[feature] <= table["upper"][place]:
                found.append(f"seed {seed}, place {place}: cost {float(costs[feature])} outside its interval")
            before = going[: going.index(feature)]
            rivals = [j for j in left if j != feature]
            wrong = [j for j in rivals if (costs[j] >= costs[feature]) if j in before]
            wrong += [j for j in rivals if costs[j] <= costs[feature] and j not in before]
            if verdict == "decided" and wrong:
                found.append(f"seed {seed}, place {place}: decided, but {wrong} cost no more than {feature}")
            if verdict == "copy":
                found += [
                    f"seed {seed}, place {place}: {j} is no copy of {feature}"
                    for j in ranker.tied_with_[feature].tolist()
                    if costs[j] != costs[feature]
                ]
        if not batch:
            left = [j for j in left if j not in going]
    return found


def main() -> None:
    """Hold certified rankings against exact machines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    wrong = 0
    for seed in range(options.first, options.first + options.n):
        for line in mistakes(seed, counts):
            wrong += 1
            sys.stdout.write(line + "\n")
    sys.stdout.write(f"{options.n} rankings: {dict(counts)}; {wrong} mistakes\n")


if __name__ == "__main__":
    main()
