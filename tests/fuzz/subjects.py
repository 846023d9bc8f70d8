"""What the campaign attacks: each subject makes inputs from a stream of random numbers, and takes one from a file."""

from __future__ import annotations

import fnmatch
import functools
import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fsvm_cli.data.dataset import Dataset
from fsvm_cli.data.scaling import SCALINGS, fit_scaling
from fsvm_cli.data.source import fixed_source
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.numerics import check_input_range
from fsvm_cli.own_data.rank import rank_features
from fsvm_cli.own_data.request import ranking_request
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.report.style import COLUMN_WIDTH, drawn, figure, legible, series_style
from tests.data.test_fuzz import READERS, Reader, damaged
from tests.fuzz.campaign import Subject
from tests.fuzz.documents import document_subjects
from tests.helpers.hostile import MODEST
from tests.helpers.mutations import mutated_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from random import Random


def reader_subject(reader: Reader) -> Subject:
    """Attack a reader with damaged files."""
    return Subject(lambda rng: damaged(reader.sound, rng), reader.read)


KERNELS: list[list[str]] = [
    [],
    [],
    ["kernel=linear"],
    ["kernel=gaussian"],
    ["kernel=gaussian", "theta=1e-300"],
    ["kernel=gaussian", "theta=1e300"],
    ["kernel=laplace", "theta=2"],
    ["kernel=polynomial", "degree=3"],
    ["kernel=polynomial", "degree=20"],
]
COSTS = ["C=1e-300", "C=1e-3", "C=1", "C=1e6", "C=1e300"]
LARGEST, LEAST = np.finfo(np.float64).max, 5e-324
ODD_VALUES = [0.0, -0.0, 1.0, -1.0, LEAST, -LEAST, 1e-308, 1e308, LARGEST, -LARGEST, 2.0**53, 2.0**53 + 2, 1e16 + 2]


Columns: TypeAlias = list[list[float]]


def other_unit(rng: Random, columns: Columns, y: list[int]) -> None:
    unit, j = 10.0 ** rng.uniform(-323, 307), rng.randrange(len(columns))
    with np.errstate(over="ignore"):  # infinity is one of the mutations
        columns[j] = [value * unit for value in columns[j]]


def other_origin(rng: Random, columns: Columns, y: list[int]) -> None:
    mean, j = 10.0 ** rng.uniform(-20, 20), rng.randrange(len(columns))
    columns[j] = [mean + value for value in columns[j]]


def constant(rng: Random, columns: Columns, y: list[int]) -> None:
    columns[rng.randrange(len(columns))] = [rng.choice(ODD_VALUES)] * len(y)


def copied(rng: Random, columns: Columns, y: list[int]) -> None:
    columns[rng.randrange(len(columns))] = list(rng.choice(columns))


def odd_values(rng: Random, columns: Columns, y: list[int]) -> None:
    columns[rng.randrange(len(columns))] = [rng.choice(ODD_VALUES) for _ in y]


def odd_value(rng: Random, columns: Columns, y: list[int]) -> None:
    rng.choice(columns)[rng.randrange(len(y))] = rng.choice(ODD_VALUES)


def like_the_classes(rng: Random, columns: Columns, y: list[int]) -> None:
    columns[rng.randrange(len(columns))] = [float(code) for code in y]


def coarse(rng: Random, columns: Columns, y: list[int]) -> None:
    j = rng.randrange(len(columns))
    columns[j] = [float(np.round(value)) for value in columns[j]]


def rows_alike(rng: Random, columns: Columns, y: list[int]) -> None:
    row = rng.randrange(len(y))
    for column in columns:
        column[row] = column[0]


ODDITIES = [other_unit, other_unit, other_origin, constant, copied, odd_values, odd_value, like_the_classes, coarse]
ODDITIES += [rows_alike]


def odd_table(rng: Random) -> tuple[list[list[float]], list[int]]:
    """Draw a small table of ordinary numbers, with a few oddities, and its classes."""
    n_classes, n_features = rng.choice([2, 2, 3, 4]), rng.randint(1, 5)
    n_samples = rng.randint(n_classes, rng.choice([n_classes, 6, 20]) + n_classes)
    y = [i if i < n_classes else rng.randrange(n_classes) for i in range(n_samples)]
    columns = [[rng.gauss(0.7 * code, 1) for code in y] for _ in range(n_features)]
    for _ in range(rng.randint(0, 4)):
        rng.choice(ODDITIES)(rng, columns, y)
    # A product may have left the doubles, which no reader lets in.
    return [[min(max(column[i], -LARGEST), LARGEST) for column in columns] for i in range(n_samples)], y


def method_subject(method: str) -> Subject:
    """Attack a ranking method, through what `fsvm rank` calls, or an extractor, with odd tables and parameters."""

    def draw(rng: Random) -> bytes:
        X, y = odd_table(rng)
        assignments = []
        if getattr(ranking_methods().get(method), "trains_machines", False) and rng.random() < 0.6:
            assignments = [*rng.choice(KERNELS), rng.choice(COSTS)]
        assignments += [f"{name}={value}" for name, value in MODEST.get(method, {}).items()]
        scaling = rng.choice([*SCALINGS, "none"])
        return json.dumps({"scaling": scaling, "set": assignments, "y": y, "X": X}).encode()

    def take(path: Path) -> None:
        drawn: dict[str, Any] = json.loads(path.read_bytes())
        X, y = np.array(drawn["X"]), np.array(drawn["y"], dtype=np.int64)
        names = tuple(f"x{j}" for j in range(X.shape[1]))
        dataset = Dataset("odd", X, y, names, tuple(map(str, range(int(y.max()) + 1))), "")
        if method in ranking_methods():
            scores = rank_features(
                fixed_source(dataset), ranking_request(method, drawn["scaling"], drawn["set"])
            ).scores
        else:
            scaled = fit_scaling(drawn["scaling"], X).transform(X)
            check_input_range(scaled, names)
            scores = extraction_methods()[method]().fit(scaled, y).transform(scaled)
        assert np.isfinite(scores).all(), f"scores that are not finite: {scores}"

    return Subject(draw, take)


def figure_subject() -> Subject:
    """Attack the figures with names of features, classes and rankings, and with titles."""

    def draw(rng: Random) -> bytes:
        sound = ("Wine, all features against the best", "proline", "gradient-angle", "accuracy")
        return json.dumps([mutated_text(rng, name) for name in sound]).encode()

    def take(path: Path) -> None:
        title, *names = map(legible, json.loads(path.read_bytes()))
        with figure(COLUMN_WIDTH, 2.0) as drawing:
            axes = drawing.subplots()
            handles = axes.plot(names, range(len(names)), label=names[0], **series_style(0))
            axes.set_title(title, loc="left", wrap=True)
            drawing.suptitle(title, x=0.01, ha="left", wrap=True)
            axes.set(xlabel=names[1], ylabel=names[2])
            axes.legend(handles=handles)
            ET.fromstring(drawn(drawing, "svg"))

    return Subject(draw, take)


@functools.cache
def subjects() -> Mapping[str, Subject]:
    """List all subjects by name; what is added here is attacked with the rest."""
    readers = {f"reader {name}": reader_subject(reader) for name, reader in READERS.items()}
    methods = {f"method {name}": method_subject(name) for name in [*ranking_methods(), *extraction_methods()]}
    return readers | methods | document_subjects() | {"names in figures": figure_subject()}


def subjects_like(pattern: str) -> Mapping[str, Subject]:
    """List the subjects whose names match a pattern, as of file names."""
    return {name: subject for name, subject in subjects().items() if fnmatch.fnmatchcase(name, pattern)}
