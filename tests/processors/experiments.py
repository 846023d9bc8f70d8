"""Small experiments in which much hangs on rounding: ties, degenerate machines, lattices, directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.helpers.calling import write_config

if TYPE_CHECKING:
    from pathlib import Path

RANKINGS = "[{method: pearson}, {method: infoprop}, {method: rfe}, {method: mifs}, {method: koller-sahami}]"
TUNED = (
    "[{label: radius over margin, classifier: {type: bound-tuned, bound: radius-margin}},"
    " {label: span, classifier: {type: bound-tuned, bound: span}},"
    " {label: bound, classifier: {type: bayesian, approximation: bound, rule: evidence}}]"
)
EXTRACTORS = "[{method: pca}, {method: lda}, {method: smife}, {method: mmip}]"


def write_experiments(folder: Path) -> list[Path]:
    """Write configs, and the tables of two that have data of their own."""
    _write_lattice(folder / "lattice.csv")
    _write_overlapping(folder / "overlapping.csv")
    protocol = "{splits: 1, train: 1/2, seed: 5}"
    return [
        write_config(
            folder,
            "lattice",
            dataset="{file: lattice.csv, target: class}",
            classifier="{kernel: polynomial, degree: 2, C: 1}",
            protocol=protocol,
            rankings=RANKINGS,
            extractors=EXTRACTORS,
            subsets="[2, 4]",
            metrics="[accuracy, rci]",
        ),
        write_config(
            folder,
            "overlapping",
            dataset="{file: overlapping.csv, target: class}",
            classifier="{kernel: polynomial, degree: 2, C: 0.7, output_scaling: divided-by-margin}",
            protocol=protocol,
            rankings="[{method: infoprop}]",
            extractors="[{method: pca}]",
            subsets="[1, 2]",
            metrics="[accuracy, rci]",
        ),
        write_config(
            folder,
            "plane",
            dataset="plane",
            scaling="none",
            classifier="{kernel: gaussian, theta: 0.5, C: 10}",
            protocol=protocol,
            rankings="[{method: gradient-angle, epsilon: 0.1}]",
            subsets="all",
            record="[decision-field]",
        ),
        write_config(
            folder,
            "ascents",
            dataset="{file: lattice.csv, target: class}",
            classifier="{kernel: gaussian, theta: 2, C: 1}",
            protocol=protocol,
            rankings="[{method: ard, rule: magnitude, approximation: exact, sampler: chains, max_steps: 12, "
            "n_permutations: 0}]",
            subsets="[1, 2]",
        ),
        write_config(
            folder,
            "descents",
            dataset="{name: weston-linear, samples: 60}",
            scaling="none",
            classifier="{kernel: polynomial, degree: 1, C: 1}",
            protocol=protocol,
            rankings="[{method: radius-margin}, {method: span}]",
            subsets="[2, 20]",
        ),
        write_config(
            folder,
            "tuned",
            dataset="{name: waveform40, samples: 1100}",
            scaling="standard",
            protocol="{splits: 1, train: 100, seed: 6}",
            alternatives=TUNED,
            metrics="[accuracy]",
            record="[ascent, length-scales]",
            rankings=None,
            subsets=None,
        ),
    ]


def _write_lattice(path: Path) -> None:
    """Write features of few values, one of them twice: scores tie, and so do projections."""
    rng = np.random.default_rng(11)
    X = rng.integers(0, 3, size=(120, 6))
    X[:, 5] = X[:, 0]
    y = X[:, 0] + X[:, 1] + (X[:, 2] > rng.integers(0, 3, 120))
    _write(path, X.astype(float), np.minimum(y, 2))


def _write_overlapping(path: Path) -> None:
    """Write classes of which one, at every place, is in the minority: its machine is constant but for rounding."""
    rng = np.random.default_rng(12)
    places = rng.normal(size=(24, 4))
    X = np.vstack([places] * 6 + [places[:12] + 2])
    y = np.concatenate([np.zeros(24), rng.integers(1, 3, 120), np.full(12, 2)])
    _write(path, X, y.astype(int))


def _write(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    names = ",".join(f"x{j}" for j in range(X.shape[1]))
    rows = [",".join([*map(repr, map(float, row)), f"c{code}"]) for row, code in zip(X, y, strict=True)]
    path.write_text("\n".join([f"{names},class", *rows]) + "\n")
