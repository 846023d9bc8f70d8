"""DNA, the one set of infoprop2001 whose printed numbers can be met exactly: on the archive's own rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli.data.opening import open_source
from fsvm_cli.data.source_spec import NamedSpec
from fsvm_cli.evaluation.metrics import accuracy, confusion_matrix
from fsvm_cli.numerics import relative_classifier_information
from fsvm_cli.ranking.base import order_of
from fsvm_cli.ranking.infoprop import Infoprop
from fsvm_cli.svm import Linear, nested_curves

if TYPE_CHECKING:
    from fsvm_cli.svm import Solver

# Accuracy and RCI in per cent, by number of features; at 80, two rows of 1,186 lie between the solvers.
STOPPED_AS_IN_2001 = {30: (95.36, 79.92), 80: (96.12, 81.95), 180: (94.77, 77.14)}
CONVERGED = {30: (95.36, 79.92), 80: (95.95, 81.41), 180: (94.77, 77.14)}


@pytest.mark.slow
@pytest.mark.usefixtures("_offline")
@pytest.mark.parametrize(
    ("solver", "tolerance", "expected"), [("libsvm", 1e-3, STOPPED_AS_IN_2001), ("auto", 1e-6, CONVERGED)]
)
def test_table_1_of_infoprop2001(
    mirror_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    solver: Solver,
    tolerance: float,
    expected: dict[int, tuple[float, float]],
) -> None:
    monkeypatch.setenv("FSVM_MIRROR", str(mirror_folder))
    source = open_source(NamedSpec(name="dna"), base_folder=Path(), announce=lambda _: None)
    dna, (train, test) = source.draw(np.random.default_rng(0)), source.given_splits[0]
    X, y, X_test, y_test = dna.X[train], dna.y[train], dna.X[test], dna.y[test]
    ranker = Infoprop(credit_on="test", tolerance=tolerance, solver=solver).fit(X, y, X_test=X_test, y_test=y_test)
    sizes = tuple(expected)
    curves = nested_curves(
        Linear(), 1.0, X, y, X_test, [order_of(ranker.scores_)], sizes, n_classes=3, tolerance=tolerance, solver=solver
    )
    assert ranker.converged_
    assert curves.converged.all()
    for size, predicted in zip(sizes, curves.test_predicted[0], strict=True):
        confusion = confusion_matrix(y_test, predicted, 3)
        found = 100 * accuracy(confusion), 100 * relative_classifier_information(confusion)
        assert found == pytest.approx(expected[size], abs=0.01)
