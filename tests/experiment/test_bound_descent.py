"""The record of bounds beside the errors that they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.svm import SVC

from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.plan import plan
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.ranking.radius_margin import RadiusMargin
from fsvm_cli.report.diagnostics import RecordToDraw, draw_record
from tests.helpers.small import recorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.spec.config import LoadedConfig

RECORD: dict[str, Any] = {
    "dataset": {"name": "noise20", "samples": 80},
    "classifier": {"kernel": "linear", "C": 0.1},
    "rankings": [{"method": "fisher"}, {"method": "radius-margin", "finish": 2, "ridge": 0.5}, {"method": "span"}],
    "record": ["bound-descent"],
}


def test_the_errors_are_those_of_machines_that_are_trained_anew(
    load: Callable[..., LoadedConfig], tmp_path: Path
) -> None:
    loaded = load(**RECORD)
    experiment = plan(loaded, print)
    tables = recorded(experiment, "bound-descent")
    table = tables["bound-descent"]
    by_ranking = dict([*table.groupby("ranking", sort=False)])
    assert [*by_ranking] == ["radius-margin", "span"]
    assert by_ranking["radius-margin"]["n_features"].tolist() == [20, 10, 5, 3, 2, 1]
    assert by_ranking["span"]["n_features"].tolist() == [20, 10, 5, 3, 2]
    # The last round has one feature, whose scale and ridge cancel: the machine of the unscaled feature.
    parts = draw_parts(experiment, Trial(40, 0))
    last = by_ranking["radius-margin"].iloc[-1]
    y, n = np.where(parts.y_train == 1, 1, -1), len(parts.y_train)

    best = int(RadiusMargin(C=0.1, finish=2, ridge=0.5).fit(parts.X_train, parts.y_train).ranking_.argmin())
    x, test = parts.X_train[:, [best]], parts.X_test[:, [best]]
    gram = x @ x.T + 0.5 * x.var() * np.eye(n)
    machine = SVC(C=1e8, kernel="precomputed", tol=1e-8)
    left_out = [
        machine.fit(gram[np.ix_(rest, rest)], y[rest]).predict(gram[[p]][:, rest])[0] != y[p]
        for p, rest in enumerate(np.delete(np.arange(n), p) for p in range(n))
    ]
    assert last["leave_one_out"] == pytest.approx(np.mean(left_out))
    wrong = machine.fit(gram, y).predict(test @ x.T) != np.where(parts.y_test == 1, 1, -1)
    assert last["test_error"] == pytest.approx(wrong.mean())
    assert (table["radius_margin"] >= table["leave_one_out"] / 4).all()
    (path,) = draw_record("bound-descent", RecordToDraw(tables, loaded.config, {}, {}, tmp_path, ("svg",)))
    assert "<!-- leave-one-out" in path.read_text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dataset": "wine"}, "a bound descent needs 2 classes; wine has 3"),
        ({"rankings": [{"method": "fisher"}]}, "a bound descent shows a radius-margin or span ranking; list one"),
    ],
)
def test_what_descends_no_bound_is_refused(
    load: Callable[..., LoadedConfig], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=rf"small\.yaml:\d+:\d+: {message}"):
        plan(load(**(RECORD | changes)), print)
