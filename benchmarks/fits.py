"""`python -m benchmarks.fits`: which solver ended each fit of the figures' work, in how many steps, at which gap."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.curves import C, Split, splits
from benchmarks.harness import RESULTS
from benchmarks.large_curves import noise_split
from fsvm_cli.svm import Gaussian, Kernel, Linear, Polynomial, nested_curves

if TYPE_CHECKING:
    from collections.abc import Iterator

FITS = RESULTS.with_name("fits.csv")
COLUMNS = ("work", "kernel", "fits", "smo", "interior_point", "median_steps", "most_steps", "largest_gap")


def all_work() -> Iterator[tuple[str, list[Split], Kernel]]:
    """Yield the work by name: splits and a kernel."""
    for name, number, theta in (("wine", 60, 13.0), ("wdbc", 5, 30.0)):
        for kernel in (Linear(), Gaussian(theta), Polynomial(2)):
            yield f"{name}, {number} splits", splits(name, number), kernel
    yield "noise20, 10 runs", [noise_split(seed) for seed in range(10)], Polynomial(2)


def row_of(work: str, items: list[Split], kernel: Kernel) -> tuple[object, ...]:
    found = [
        nested_curves(kernel, C, s.X_train, s.y_train, s.X_test, s.orders, s.sizes, n_classes=s.n_classes)
        for s in items
    ]
    solver = np.concatenate([each.solver.ravel() for each in found])
    steps = np.concatenate([each.iterations.ravel() for each in found])
    gap = max(float(each.duality_gap.max()) for each in found)
    by_solver = [int((solver == name).sum()) for name in ("smo", "interior-point")]
    return work, kernel.name, len(solver), *by_solver, int(np.median(steps)), int(steps.max()), f"{gap:.0e}"


def main() -> None:
    with FITS.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for work, items, kernel in all_work():
            row = row_of(work, items, kernel)
            print(*row, sep=", ")
            writer.writerow(row)


if __name__ == "__main__":
    main()
