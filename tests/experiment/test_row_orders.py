"""What `rfe` keeps when only the order of the rows changes: the record against scikit-learn's RFE, and its figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

from fsvm_cli import RecursiveFeatureElimination
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.plan import plan
from fsvm_cli.experiment.records.row_orders import _bounds, _eliminated, _n_shared
from fsvm_cli.report.diagnostics import RecordToDraw, draw_record
from tests.helpers.small import recorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.spec.config import LoadedConfig

CONFIG: dict[str, Any] = {
    "dataset": {"name": "noise20", "samples": 60},
    "classifier": {"kernel": "linear", "C": 1},
    "rankings": [{"method": "rfe"}],
    "subsets": [3],
    "record": ["row-orders"],
}


def test_exact_orders_do_not_depend_on_the_order_of_the_rows(load: Callable[..., LoadedConfig], tmp_path: Path) -> None:
    loaded = load(**CONFIG)
    experiment = plan(loaded, print)
    tables = recorded(experiment, "row-orders")
    shared = tables["row-orders"]
    assert set(shared["n_features"]) == {4, 8}
    counts = shared.groupby(["solver", "tolerance"])["row_order"].nunique()
    assert (counts.drop(["certified", "one row less"]) == 11).all()
    exact = shared[shared["solver"].isin(["certified", "rfe"]) | (shared["tolerance"] == 1e-6)]
    exact = exact[exact["solver"] != "one row less"]
    assert (exact["n_same"] == exact["n_features"]).all()
    assert shared["n_same"].between(0, shared["n_features"]).all()
    bounds = tables["elimination-bounds"]
    assert len(bounds) == 19
    assert (bounds["by_gap"] > bounds["by_first_order"]).mean() > 0.9
    data = {"class_names": experiment.source.class_names}
    (path,) = draw_record("row-orders", RecordToDraw(tables, loaded.config, data, {}, tmp_path, ("svg",)))
    assert "SVC, 1e-06" in path.read_text()


def test_the_elimination_is_that_of_scikit_learn(rng: np.random.Generator) -> None:
    X = rng.standard_normal((30, 7))
    y = (X[:, 0] + 0.3 * rng.standard_normal(30) > 0).astype(int)
    machine = SVC(kernel="linear", tol=1e-6)
    expected = RFE(machine, n_features_to_select=1).fit(X, y).ranking_
    np.testing.assert_array_equal(np.argsort(_eliminated(machine, X, y, RecursiveFeatureElimination())) + 1, expected)


def test_the_elimination_of_several_classes_is_that_of_rfe(rng: np.random.Generator) -> None:
    X = rng.standard_normal((40, 6))
    y = np.digitize(X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(40), [-0.7, 0.7])
    expected = RecursiveFeatureElimination(tolerance=1e-9).fit(X, y).ranking_
    np.testing.assert_array_equal(
        np.argsort(_eliminated(SVC(kernel="linear", tol=1e-9), X, y, RecursiveFeatureElimination())) + 1, expected
    )
    eliminated = np.argsort(-expected)[:-1].tolist()
    bounds = _bounds(X, y, 1.0, eliminated, np.arange(6))
    assert len(bounds) == 5
    assert (bounds["difference"] > 0.0).all()


def test_of_copies_as_many_count_as_both_sets_have() -> None:
    assert _n_shared(np.array([0, 0, 1, 5]), np.array([0, 1, 1, 2])) == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"classifier": {"kernel": "gaussian", "C": 1}}, "row orders need the linear kernel, not gaussian"),
        ({"rankings": [{"method": "fisher"}]}, "a row orders shows a rfe ranking"),
    ],
)
def test_what_has_no_such_record_is_refused(
    planned: Callable[..., Experiment], changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        planned(**(CONFIG | changes))
